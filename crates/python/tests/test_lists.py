"""Lists of words, numbers and arrays together, and words of one lane where there may be many."""

from __future__ import annotations

from typing import Any

import duologue as duo
import numpy as np
import pytest
from duologue import Alice, Bob, Both, bit, f32, f64, fixed, i8, i16, i32, i64, sint, u8, u16, u32, u64, uint


def test_lists_take_a_common_type() -> None:
    weights = np.array([9, 300, 5], np.uint16)

    def function(x: Any, y: Any) -> Any:
        low, middle, high = duo.sort([x, weights, y])
        return {
            "low": low, "middle": middle, "high": high, "dot": duo.dot([x, y, 3], [300, 2, weights]),
            "read": duo.lookup(x, [x, 300, y, weights]), "arrays": duo.lookup(x, [weights, weights + np.uint16(1)]),
            "products": duo.dot([duo.cast(x, f32), 2], [duo.cast(y, f64), 0.5]),
        }  # fmt: skip

    program = duo.program(x=Alice(u8, lanes=3), y=Bob(u32, lanes=3), to=Both)(function)
    assert program.check(3).numpy == "equal"
    x, y = np.array([1, 2, 3], np.uint8), np.array([70000, 8, 4], np.uint32)
    came = program.plain({"x": x, "y": y})
    ordered = np.sort([x, weights, y], axis=0)
    assert (came["low"] == ordered[0]).all() and (came["high"] == ordered[2]).all() and came["low"].dtype == np.uint32
    assert came["dot"].tolist() == [
        300 * int(a) + 2 * int(b) + 3 * int(w) for a, b, w in zip(x, y, weights, strict=True)
    ]
    assert came["read"].tolist() == [300, 8, 5] and came["arrays"].tolist() == [10, 300, 6]


def test_words_of_one_lane_are_stacked_with_numbers() -> None:
    def function(x: Any, y: Any) -> Any:
        return {"all": duo.stack([x, 300, y, np.uint16(7)]), "sum": duo.stack([y, x]).sum()}

    program = duo.program(x=Alice(u8, lanes=1), y=Bob(u32, lanes=1), to=Both)(function)
    assert program.plain({"x": 5, "y": 70000})["all"].tolist() == [5, 300, 70000, 7]
    assert program.check().numpy == "equal"


def test_one_lane_where_there_are_many() -> None:
    """Which NumPy gives as a scalar."""

    def function(x: Any, one: Any) -> Any:
        last, results = duo.scan(lambda state, a, b: (state + a, state ^ b), one, x, one)
        return {
            "last": last, "results": results, "fold": duo.reduce(lambda a, b: (a[0] + b[1], a[1] ^ b[0]), x, one)[0],
            "sorted": duo.sort(x), "words": duo.stack(duo.unstack(x)[::-1]), "read": duo.lookup(x, [one, one + 1, 7]),
            "table": duo.lookup(x & 1, [np.uint16(9), np.uint16(4)]),
        }  # fmt: skip

    for lanes in (1, 2, 5):
        program = duo.program(x=Alice(u16, lanes=lanes), one=Bob(u16, lanes=1), to=Both)(function)
        assert program.check().numpy == "equal"


def test_the_first_state_of_a_scan_has_a_type() -> None:
    def function(x: Any) -> Any:
        last, before = duo.scan(lambda s, v: (s + v, s), 0, x)
        wide, _ = duo.scan(lambda s, v: (s + v, s), 0, x, type=u64)
        (total, parity), _ = duo.scan(lambda s, v: ((s[0] + v, s[1] ^ v), v), (1, np.uint8(0)), x)
        return {"last": last, "before": before, "wide": wide, "total": total, "parity": parity}

    program = duo.program(x=Alice(u8), to=Both)(function)
    for lanes in (1, 4, 300):
        assert program.check(lanes, protocols=()).numpy == "equal"
    assert [port.type for port in program.outputs] == ["uint(8)", "uint(8)", "uint(64)", "uint(8)", "uint(8)"]
    points = duo.program(x=Alice(fixed(32, 16)), to=Both)(lambda x: duo.scan(lambda s, v: (s + v, s), 0.5, x)[0])
    assert points.plain({"x": [1.25, 2]})["out"].tolist() == [3.75]
    with pytest.raises(duo.UsageError, match="scan: expected a word of many lanes"):
        duo.scan(lambda s, v: (s, v), 0)


WIDE = [
    (u8, u16, True), (u16, u8, False), (u8, i16, True), (u8, i8, False), (i8, u64, False), (i32, f64, True),
    (i64, f64, False), (u32, f32, False), (sint(25), f32, True), (uint(24), f32, True), (uint(25), f32, False),
    (f32, f64, True), (f64, f32, False), (duo.Type("float(40, 8)"), f64, True), (duo.Type("float(48, 15)"), f64, False),
    (duo.Type("float(16, 5)"), f32, True), (uint(11), duo.Type("float(17, 4)"), False), (uint(7), duo.Type("float(17, 4)"), True),
    (bit, f64, True), (bit, fixed(8, 6), True), (bit, fixed(8, 7), False), (bit, u8, True), (bit, sint(1), False),
    (duo.bits(9), duo.bits(9), True), (duo.bits(9), duo.bits(10), False), (fixed(16, 8), fixed(32, 16), True),
    (fixed(16, 8), fixed(16, 9), False), (i8, fixed(16, 8), True), (u8, fixed(16, 8), False), (fixed(32, 16), f64, False),
]  # fmt: skip


@pytest.mark.parametrize(("narrow", "wide", "holds"), WIDE)
def test_what_a_type_has_room_for(narrow: duo.Type, wide: duo.Type, holds: bool) -> None:
    make = duo.program(x=Alice(narrow), to=Both)
    if holds:
        assert make(lambda x: duo.widen(x, wide)).outputs[0].type == wide.name
    else:
        with pytest.raises(duo.UsageError, match="has no room for all of"):
            make(lambda x: duo.widen(x, wide))


def test_single_and_double_floats_meet_and_no_others() -> None:
    made = duo.program(x=Alice(f32), y=Bob(f64), to=Both)(lambda x, y: {"a": x + y, "b": y + x})
    assert [port.type for port in made.outputs] == [f64.name] * 2
    for other in ("float(40, 8)", "float(48, 15)", "float(16, 5)"):
        for order in (lambda x, y: x + y, lambda x, y: y + x):
            with pytest.raises(duo.UsageError, match="cast one of them"):
                duo.program(x=Alice(duo.Type(other)), y=Bob(f64), to=Both)(order)


@pytest.mark.parametrize("type", [f32, f64])
def test_floats_are_sorted_and_have_places(type: duo.Type) -> None:
    """As NumPy has it: NaN is the last in order, and the place of the best is that of the first NaN."""

    def function(x: Any, y: Any) -> Any:
        v = x + y
        return {
            "up": duo.sort(v), "down": duo.sort(v, descending=True), "low": duo.sort([v, y])[0],
            "least": duo.argmin(v), "greatest": duo.argmax(v),
        }  # fmt: skip

    lanes = 6
    program = duo.program(x=Alice(type, lanes=lanes), y=Bob(type, lanes=lanes), to=Both)(function)
    assert program.check(seed=3).numpy == "equal"
    inf = np.inf
    for values, more in (
        ([3.5, -2.0, 0.0, 1e-40, -1e-40, 7.0], [0.0] * 6),
        ([inf, -inf, 0.0, -1.0, inf, 2.0], [1.0] * 6),
        ([-0.0, 0.0, -0.0, 0.0, -0.0, 0.0], [-0.0] * 6),
        ([-1.0, -0.0, 0.0, -0.0, 1.0, -1.0], [-0.0] * 6),
        # An infinity less another is NaN.
        ([1.0, inf, -inf, inf, inf, 0.0], [0.0, -inf, 0.0, -inf, 0.0, 0.0]),
        ([-inf, 5.0, -5.0, -inf, 2.0, 1.0], [inf, 5.0, 5.0, inf, 2.0, 1.0]),
    ):
        x, y = np.array(values, type.dtype), np.array(more, type.dtype)
        came = program.plain({"x": x, "y": y})
        with np.errstate(invalid="ignore"):
            expected = function(x, y)
        for name, value in expected.items():
            assert np.array_equal(came[name], np.atleast_1d(value), equal_nan=name in ("up", "down", "low")), (name, x)


def test_results_of_blocks_on_one_lane_are_made_once() -> None:
    def twice(x: Any, y: Any) -> Any:
        return x + duo.blocks.square_root(y)[0] ^ x * duo.blocks.square_root(y)[0]

    def once(x: Any, y: Any) -> Any:
        root = duo.blocks.square_root(y)[0]
        return x + root ^ x * root

    def ands(function: Any) -> int:
        program = duo.program(x=Alice(u16), y=Bob(u32, lanes=1), to=Both)(function)
        return program.cost(sizes={"lanes": 9}, protocol="yao")[0].ands

    assert ands(twice) == ands(once)


def test_sizes_that_meet_are_refused_by_name() -> None:
    for function in (lambda x, y: x + y, lambda x, y: duo.where(x > 3, x, y), lambda x, y: duo.sort([x, y])[0]):
        with pytest.raises(duo.UsageError, match=r"words of n lanes and of m: both must have as many, or one of them one"):
            duo.program(x=Alice(u8, lanes="n"), y=Bob(u8, lanes="m"), to=Both)(function)
    with pytest.raises(duo.UsageError, match=r"n lanes: how many has to be a number in the program"):
        duo.program(x=Alice(u8, lanes="n"), to=Both)(lambda x: duo.sort(x))
    place = duo.program(x=Alice(u8, lanes="n"), to=Both)(lambda x: x.argmin())
    assert place.plain({"x": [4, 2, 9, 2]})["out"][0] == 1

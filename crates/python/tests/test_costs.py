"""How many ANDs programs have that are functions: what is repeated, constant or short costs no more than it must."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duologue as duo
import numpy as np
import pytest
from duologue import Alice, Bob, Both, f32, f64, i32, i64, u8, u16, u32, u64


def ands(program: duo.Program) -> int:
    return program.cost(sizes=dict.fromkeys(program.sizes, 1), protocol="yao")[0].ands


def of(function: Callable[..., Any], **inputs: duo.Input) -> duo.TracedProgram:
    return duo.program(**inputs, to=Both)(function)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: (x * y) ^ (x * y + 1),
        lambda x, y: (x * duo.cast(y, u32)) ^ (x * duo.cast(y, u32) + y),
        lambda x, y: duo.where(x > y, x - y, x + y) + (x > y) * y,
        lambda x, y: (x // y) + (x % y) * y,
    ],
)
def test_one_lane_is_repeated_once(function: Callable[[Any, Any], Any]) -> None:
    """A word of one lane at several places costs what a word of as many lanes does."""
    for type in (u32, u16):
        each = of(function, x=Alice(u32), y=Bob(type))
        one = of(function, x=Alice(u32), y=Bob(type, lanes=1))
        assert ands(one) == ands(each)
        x = np.array([7, 8, 2**32 - 1], np.uint32)
        assert (one.plain({"x": x, "y": 5})["out"] == each.plain({"x": x, "y": [5] * 3})["out"]).all()


def test_operations_of_one_lane_are_made_once() -> None:
    twice = of(lambda x, y: x + (y * y + 3) ^ x * (y * y + 3), x=Alice(u32, lanes="n"), y=Bob(u32, lanes=1))
    once = of(lambda x, y: (lambda z: x + z ^ x * z)(y * y + 3), x=Alice(u32, lanes="n"), y=Bob(u32, lanes=1))
    assert ands(twice) == ands(once)


def test_an_array_is_repeated_once() -> None:
    weights = np.arange(8, dtype=np.uint32) * 12345
    twice = of(lambda x: (x * weights) ^ (x * weights.copy() + 1), x=Alice(u32, lanes=8))
    once = of(lambda x: (lambda z: z ^ (z + 1))(x * weights), x=Alice(u32, lanes=8))
    assert ands(twice) == ands(once)
    x = np.arange(8, dtype=np.uint32) + 2**30
    assert (twice.plain({"x": x})["out"] == (x * weights) ^ (x * weights + np.uint32(1))).all()


def test_casts_of_constants_are_constants() -> None:
    half = ands(of(lambda x: x * 0.5, x=Alice(f64)))
    assert ands(of(lambda x: x * np.float32(0.5), x=Alice(f64))) == half
    assert ands(of(lambda x: x * np.True_, x=Alice(u32))) == 0
    assert ands(of(lambda x: x * np.uint8(1), x=Alice(u32))) == 0
    assert ands(of(lambda x: x + np.int8(-3), x=Alice(i64))) == ands(of(lambda x: x + -3, x=Alice(i64)))
    assert ands(of(lambda x: x // np.uint8(8), x=Alice(u32))) == 0
    wide = of(lambda x: x + np.int64(-5), x=Alice(duo.sint(200)))
    assert int.from_bytes(bytes(wide.plain({"x": np.zeros((1, 25), np.uint8)})["out"][0]), "little") == 2**200 - 5
    single = of(lambda x: x * np.float64(0.1), x=Alice(f32))
    values = np.array([1, 3, -7.5], np.float32)
    assert (single.plain({"x": values})["out"] == values * np.float64(0.1)).all()


def test_products_of_widened_numbers_are_exact_ones() -> None:
    exact = ands(duo.program("block:multiply:32"))
    made = of(lambda x, y: duo.cast(x, u64) * duo.cast(y, u64), x=Alice(u32), y=Bob(u32))
    assert ands(made) <= exact < ands(duo.program("block:multiply_low:64"))
    signed = of(lambda x, y: duo.cast(x, i64) * duo.cast(y, i64), x=Alice(i32), y=Bob(i32))
    mixed = of(lambda x, y: duo.cast(x, i64) * duo.cast(y, i64), x=Alice(u32), y=Bob(i32))
    assert max(ands(signed), ands(mixed)) < 1.1 * exact
    square = of(lambda x: duo.cast(x, u64) * duo.cast(x, u64), x=Alice(u32))
    assert ands(square) <= 541
    assert ands(of(lambda x, y: (x > 3) * y, x=Alice(u8), y=Bob(u32))) <= 8 + 32
    edges = {
        kind: np.array(ends) for kind, ends in (("u", [0, 1, 2**31, 2**32 - 1]), ("i", [-(2**31), -1, 0, 2**31 - 1]))
    }
    for program, (a, b) in ((made, "uu"), (signed, "ii"), (mixed, "ui")):
        x, y = (side.reshape(-1) for side in np.meshgrid(edges[a], edges[b]))
        came = program.plain({"x": x, "y": y})["out"].tolist()
        wrap = (1 << 64) - 1
        assert [value & wrap for value in came] == [int(p) * int(q) & wrap for p, q in zip(x, y, strict=True)]


@pytest.mark.parametrize("wide", [duo.uint(48), duo.sint(48), duo.sint(130)])
def test_products_of_short_numbers_of_any_width(wide: duo.Type) -> None:
    random = np.random.default_rng(4)
    pairs = [
        (duo.uint(5), duo.sint(11)),
        (duo.sint(9), duo.sint(40)),
        (duo.uint(1), duo.sint(7)),
        (duo.uint(30), duo.uint(29)),
    ]
    for a, b in pairs:
        program = of(lambda x, y: {"out": duo.cast(x, wide) * duo.cast(y, wide)}, x=Alice(a), y=Bob(b))
        x, y = (
            random.integers(-(1 << t.width - 1) if t.kind == "int" else 0, 1 << t.width - (t.kind == "int"), 60)
            for t in (a, b)
        )
        came = program.plain({"x": x, "y": y})["out"]
        mask = (1 << wide.width) - 1
        numbers = (
            [int.from_bytes(bytes(row), "little") for row in came] if came.ndim == 2 else [int(n) & mask for n in came]
        )
        assert numbers == [int(p) * int(q) & mask for p, q in zip(x, y, strict=True)]

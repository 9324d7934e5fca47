"""Programs that are written as functions."""

from __future__ import annotations

import operator
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duologue as duo
import numpy as np
import pytest
from duologue import Alice, Bob, Both, Public, Shared, bit, f32, f64, i16, i32, sint, u8, u16, u32, u64, uint
from duologue.traced import _random


@duo.circuit
def score(age: Any, income: Any, late: Any) -> Any:
    base = 300 + 2 * duo.minimum(income // 1000, 200)
    return base - duo.where(late > 3, 120, 20 * late) - duo.where(age < 21, 30, 0)


@duo.program(age=Alice(u8), income=Alice(u32), late=Bob(u8), to=Bob)
def rating(age: Any, income: Any, late: Any) -> Any:
    return {"score": score(age, income, late)}


def test_one_function_for_words_arrays_and_numbers() -> None:
    age, income, late = np.array([20, 40], np.uint8), np.array([50_000, 999_999], np.uint32), np.array([2, 9], np.uint8)
    expected = [300 + 100 - 40 - 30, 300 + 400 - 120]
    assert rating.plain({"age": age, "income": income, "late": late})["score"].tolist() == expected
    assert score(age, income, late).tolist() == expected
    assert [score(20, 50_000, 2), score(40, 999_999, 9)] == expected
    check = rating.check(300)
    assert check.numpy == "equal" and check.protocols == ("yao", "gmw", "gmw-masked") and check.lanes == 300


def test_a_program_says_what_it_is(tmp_path: Path) -> None:
    assert rating.name == "rating" and rating.outputs[0].who == "bob"
    assert [port.type for port in rating.inputs] == ["uint(8)", "uint(32)", "uint(8)"]
    assert "bob learns" in str(rating) and rating.sizes == {"lanes": (0, 1 << 32)}
    rating.save(tmp_path / "rating.duo")
    again = duo.load(tmp_path / "rating.duo")
    assert again.digest == rating.digest and isinstance(rating, duo.Program)
    assert rating.cost(sizes={"lanes": 1000}, protocol="yao")[0].ands > 0
    none = np.array([], np.uint8)
    assert rating.plain({"age": none, "income": none, "late": none})["score"].tolist() == []


def test_check_finds_what_differs() -> None:
    @duo.program(x=Alice(u8), to=Both)
    def wrong(x: Any) -> Any:
        return x + (1 if isinstance(x, duo.Word) else 2)

    with pytest.raises(AssertionError, match=r"'wrong': output 'out', lane 0: \d+ in the clear, \d+ by NumPy"):
        wrong.check(10)
    assert duo.program(x=Alice(uint(13)), to=Both)(lambda x: x + 1).check(5).numpy == "NumPy has no uint(13)"


def test_lanes_meet() -> None:
    """One lane is repeated; sizes by name; an array of NumPy is a public number a lane."""

    @duo.program(x=Alice(u16, lanes="n"), y=Bob(u16, lanes=1), z=Public(u16, lanes=duo.size("n") * 1), to=Both)
    def program(x: Any, y: Any, z: Any) -> Any:
        return {"sum": x + y * 3 + z, "one": y + 1}

    came = program.plain({"x": [1, 2, 3], "y": 10, "z": [100, 200, 300]})
    assert came["sum"].tolist() == [131, 232, 333] and came["one"].tolist() == [11]

    @duo.program(x=Alice(i32, lanes=4), y=Bob(i32, lanes=1), to=Both)
    def weighted(x: Any, y: Any) -> Any:
        weights = np.array([1, -2, 3, 4], np.int32)
        return {"a": x * weights, "b": weights - y, "c": (weights == x) | np.array([True, False, False, False])}

    x, weights = np.array([5, -6, 3, 8], np.int32), np.array([1, -2, 3, 4], np.int32)
    came = weighted.plain({"x": x, "y": 7})
    assert (came["a"] == x * weights).all() and (came["b"] == weights - 7).all()
    assert came["c"].tolist() == [True, False, True, False]
    assert weighted.check(4).numpy == "equal"
    with pytest.raises(duo.UsageError, match=r"words of n lanes and of m: both must have as many"):
        duo.program(x=Alice(u8, lanes="n"), y=Bob(u8, lanes="m"), to=Both)(operator_named("add"))


def operator_named(name: str) -> Any:
    return lambda x, y: getattr(operator, name)(x, y)


def test_functions_over_lanes() -> None:
    @duo.program(x=Alice(i16), y=Bob(u8), to=Both)
    def program(x: Any, y: Any) -> Any:
        return {
            "sum": x.sum(), "narrow": duo.sum(y, u8), "count": (x > 0).sum(), "max": x.max(), "min": x.min(),
            "argmax": x.argmax(), "argmin": y.argmin(), "any": (x == y_as(x, y)).any(), "all": (y < 255).all(),
            "spread": x.max() - x, "product": duo.reduce(lambda a, b: a * b, y),
        }  # fmt: skip

    random = np.random.default_rng(3)
    for lanes in (1, 2, 3, 8, 100):
        x, y = random.integers(-9, 9, lanes, dtype=np.int16), random.integers(0, 7, lanes, dtype=np.uint8)
        came = program.plain({"x": x, "y": y})
        expected = {
            "sum": x.sum(), "narrow": y.sum(dtype=np.uint8), "count": (x > 0).sum(), "max": x.max(), "min": x.min(),
            "argmax": x.argmax(), "argmin": y.argmin(), "any": (x == y).any(), "all": (y < 255).all(),
        }  # fmt: skip
        for name, value in expected.items():
            assert came[name].tolist() == [value], name
        assert came["sum"].dtype == np.int64 and came["argmax"].dtype == np.int64
        assert (came["spread"] == x.max() - x).all() and came["product"][0] == np.prod(y, dtype=np.uint8)
    assert program.sizes == {"lanes": (1, 1 << 32)}
    assert program.check(37).numpy == "equal"
    with pytest.raises(duo.UsageError, match="no lanes has no result"):
        duo.sum(np.zeros(0, np.uint8))


@pytest.mark.parametrize("most", [1, 2, 7, 8, 9, 1000])
def test_sums_and_places_have_the_bits_that_they_need(most: int) -> None:
    """As many lanes as there may be, of the extremes of the type; and no more ANDs than that takes."""
    n = duo.size("n", min=1, max=most)

    @duo.program(x=Alice(i16, lanes=n), y=Bob(u8, lanes=n), to=Both)
    def program(x: Any, y: Any) -> Any:
        return {"sum": x.sum(), "bytes": y.sum(), "count": (y == 255).sum(), "place": x.argmax(), "last": y.argmin()}

    for lanes in {1, most // 2 + 1, most}:
        for value in (-32768, 32767, -1):
            x, y = np.full(lanes, value, np.int16), np.full(lanes, 255, np.uint8)
            x[-1], y[-1] = (-32767, 254) if value == -32768 else (value, 254)
            came = {name: int(found[0]) for name, found in program.plain({"x": x, "y": y}).items()}
            assert came["sum"] == x.astype(np.int64).sum() and came["bytes"] == 255 * lanes - 1
            assert came["count"] == lanes - 1
            assert came["place"] == x.argmax() and came["last"] == lanes - 1

    @duo.program(x=Alice(u8, lanes=n), to=Both)
    def total(x: Any) -> Any:
        return x.sum()

    ands = next(iter(total.cost(link="lan", sizes={"n": most}))).ands
    assert ands <= (most - 1) * (7 + (most - 1).bit_length())


@pytest.mark.parametrize("lanes", [1, 2, 3, 5, 6, 7, 11])
def test_a_reduction_is_a_tree_over_neighbours(lanes: int) -> None:
    """Of a function that is not associative, of two words."""

    def fold(left: Any, right: Any) -> Any:
        (a, b), (c, d) = left, right
        return a * 3 - c, b ^ (d << 1)

    program = duo.program(a=Alice(i32), b=Bob(u8), to=Both)(
        lambda a, b: dict(zip(("a", "b"), duo.reduce(fold, a, b), strict=True))
    )

    def tree(values: list[tuple[int, int]]) -> tuple[int, int]:
        while len(values) > 1:
            pairs = list(zip(values[::2], values[1::2], strict=False))
            made = [(x[0] * 3 - y[0], x[1] ^ (y[1] << 1 & 255)) for x, y in pairs]
            values = made + values[2 * len(pairs) :]
        return values[0]

    random = np.random.default_rng(lanes)
    a, b = random.integers(-99, 99, lanes, dtype=np.int32), random.integers(0, 256, lanes, dtype=np.uint8)
    came = program.plain({"a": a, "b": b})
    assert (came["a"][0], came["b"][0]) == tree(list(zip(a.tolist(), b.tolist(), strict=True)))
    assert program.check(lanes, protocols=("gmw",)).numpy == "equal"


def y_as(x: Any, y: Any) -> Any:
    return duo.cast(y, i16)


def test_a_scan_goes_lane_after_lane() -> None:
    """Balances, and the first lane at which they fall below zero."""

    def step(state: Any, change: Any) -> Any:
        balance = state + change
        return balance, (balance, balance < 0)

    @duo.program(start=Alice(i32, lanes=1), change=Bob(i32, lanes="n"), to=Both)
    def program(start: Any, change: Any) -> Any:
        last, (balances, below) = duo.scan(step, start, change)
        return {"last": last, "balances": balances, "below": below}

    change = np.array([5, -20, 7, -100, 300], np.int32)
    came = program.plain({"start": 10, "change": change})
    assert came["balances"].tolist() == (10 + change.cumsum()).tolist() and came["last"].tolist() == [202]
    assert came["below"].tolist() == [False, True, False, True, False]
    assert program.check(9).numpy == "equal"

    @duo.program(x=Alice(u8), to=Both)
    def pairs(x: Any) -> Any:
        (a, b), seen = duo.scan(lambda state, x: ((state[1], x), state[0] ^ x), (u8(0), u8(0)), x)
        return {"a": a, "b": b, "seen": seen}

    assert pairs.plain({"x": [1, 2, 4, 8]})["seen"].tolist() == [1, 2, 5, 10]


def test_lanes_as_words() -> None:
    @duo.program(x=Alice(i16, lanes=7), to=Both)
    def program(x: Any) -> Any:
        lanes = duo.unstack(x)
        return {
            "sorted": duo.sort(x), "down": duo.sort(x, descending=True), "turned": duo.stack(lanes[::-1]),
            "first": lanes[0], "dot": duo.dot(lanes[:3], lanes[3:6]),
        }  # fmt: skip

    x = np.array([3, -1, 500, -700, 3, 0, 9], np.int16)
    came = program.plain({"x": x})
    assert (came["sorted"] == np.sort(x)).all() and (came["down"] == np.sort(x)[::-1]).all()
    assert (came["turned"] == x[::-1]).all() and came["first"].tolist() == [3]
    assert came["dot"][0] == np.dot(x[:3], x[3:6]) and program.outputs[0].type == "int(16)"
    assert program.check(7).numpy == "equal"


def test_bits_of_words() -> None:
    @duo.program(x=Alice(u8), y=Bob(uint(5)), to=Both)
    def program(x: Any, y: Any) -> Any:
        joined = duo.concat(x, y)
        return {
            "low": x[0], "top": x[-1], "middle": x[2:6], "joined": duo.cast(joined, uint(13)),
            "ones": duo.count_ones(joined), "flipped": ~joined, "odd": x[0] ^ y[0] & True,
        }  # fmt: skip

    x, y = np.arange(0, 256, 3, dtype=np.uint8), np.arange(86, dtype=np.uint8) % 32
    came = program.plain({"x": x, "y": y})
    whole = x.astype(int) | y.astype(int) << 8
    assert (came["low"] == x % 2).all() and (came["top"] == x // 128).all() and (came["joined"] == whole).all()
    assert (came["middle"][:, 0] == (x >> 2) % 16).all()
    assert came["ones"].tolist() == [int(number).bit_count() for number in whole]
    assert came["flipped"].tolist() == [[(~n) & 255, (~n >> 8) & 31] for n in whole.tolist()]
    assert (came["odd"] == ((x ^ y) & 1).astype(bool)).all()


def test_tables() -> None:
    squares = [n * n for n in range(11)]

    @duo.program(i=Alice(u8), a=Bob(i16), b=Bob(i16), to=Both)
    def program(i: Any, a: Any, b: Any) -> Any:
        return {
            "public": duo.lookup(i, squares, u16),
            "array": duo.lookup(i & 1, np.array([-5, 7], np.int8)),
            "secret": duo.lookup(i, [a, b, 9]),
            "single": duo.lookup(i, [a]) + duo.lookup(i, [5], i16),
        }

    i, a, b = np.arange(24, dtype=np.uint8), np.arange(24, dtype=np.int16), -np.arange(24, dtype=np.int16)
    came = program.plain({"i": i, "a": a, "b": b})

    def entry(index: int, table: list[int]) -> int:
        top = 1 << (len(table) - 1).bit_length()
        index %= top
        return table[index if index < len(table) else index - top // 2]

    assert came["public"].tolist() == [entry(n, squares) for n in range(24)]
    assert came["array"].tolist() == [[-5, 7][n % 2] for n in range(24)]
    assert came["secret"].tolist() == [entry(n, [n, -n, 9]) for n in range(24)]
    assert (came["single"] == a + 5).all()
    # By the same rule on arrays.
    assert duo.lookup(i, squares, u16).tolist() == came["public"].tolist()


def test_checked_operations() -> None:
    for type in (u8, duo.i8):
        for check, does in (
            (duo.add_checked, operator.add),
            (duo.subtract_checked, operator.sub),
            (duo.multiply_checked, operator.mul),
        ):
            program = duo.program(a=Alice(type), b=Bob(type), to=Both)(
                lambda a, b, check=check: dict(zip(("result", "over"), check(a, b), strict=True))
            )
            a, b = (side.reshape(-1) for side in np.meshgrid(*[np.arange(256, dtype=np.uint8).view(type.dtype)] * 2))
            came = program.plain({"a": a, "b": b})
            exact = does(a.astype(int), b.astype(int))
            assert (came["result"] == exact.astype(type.dtype)).all()
            assert (came["over"] == (exact != exact.astype(type.dtype))).all()
            assert program.check(100, protocols=()).numpy == "equal"


def test_casts() -> None:
    """Whole numbers wrap; to a float and back as NumPy, saturating where NumPy has no rule."""

    @duo.program(a=Alice(i32), b=Bob(f64), c=Bob(u64), to=Both)
    def program(a: Any, b: Any, c: Any) -> Any:
        return {
            "byte": duo.cast(a, u8), "single": duo.cast(a, f32), "double": duo.widen(a, f64), "whole": duo.cast(b, i16),
            "natural": duo.cast(b, u32), "narrow": duo.cast(b, f32), "bit": duo.cast(a, bit), "some": duo.cast(b, bit),
            "rounded": duo.cast(c, f64), "wide": duo.widen(duo.cast(c, u32), u64), "counted": (a > 0) * a,
            "mixed": duo.cast(b, f32) + b,
        }  # fmt: skip

    assert program.check(400).numpy == "equal"
    edges = [
        0.0,
        -0.0,
        0.5,
        -0.99,
        32767.9,
        32768.0,
        -32769.0,
        4294967295.5,
        4294967296.0,
        1e300,
        -1e300,
        np.inf,
        -np.inf,
    ]
    given = {"a": np.arange(13), "b": edges, "c": np.full(13, 2**64 - 1, np.uint64)}
    came = program.plain(given)
    assert came["whole"].tolist() == [0, 0, 0, 0, 32767, 32767, -32768, 32767, 32767, 32767, -32768, 32767, -32768]
    assert came["natural"].tolist() == [0, 0, 0, 0, 32767, 32768, 0, 2**32 - 1, 2**32 - 1, 2**32 - 1, 0, 2**32 - 1, 0]


def test_wide_numbers() -> None:
    """Beyond 128 bits, with constants of either sign."""

    @duo.program(x=Alice(sint(300)), y=Bob(uint(200)), to=Both)
    def program(x: Any, y: Any) -> Any:
        return {"a": x * -3 - 1, "b": y * y // 7 + 2**100, "c": x < -5, "d": y >> 190}

    x, y = [-(12345678901234567890**3), 5, -(1 << 299)], [3, 1 << 199, (1 << 200) - 1]
    rows = np.array([list((value % (1 << 300)).to_bytes(38, "little")) for value in x], np.uint8)
    others = np.array([list(value.to_bytes(25, "little")) for value in y], np.uint8)
    came = program.plain({"x": rows, "y": others})

    def number(row: Any) -> int:
        return int.from_bytes(bytes(row), "little")

    assert [number(row) for row in came["a"]] == [(value * -3 - 1) % (1 << 300) for value in x]
    assert [number(row) for row in came["b"]] == [
        (value * value % (1 << 200) // 7 + 2**100) % (1 << 200) for value in y
    ]
    assert came["c"].tolist() == [True, False, True] and [number(row) for row in came["d"]] == [
        value >> 190 for value in y
    ]


def test_shared_values_and_recipients() -> None:
    @duo.program(x=Shared(u32), y=Alice(u32), to={"sum": Shared, "less": Bob, "both": Both})
    def program(x: Any, y: Any) -> Any:
        return {"sum": x + y, "less": x < y, "both": x ^ y}

    assert [port.who for port in program.outputs] == ["shared", "bob", "both"]
    assert program.check(50).numpy == "equal"


def test_dead_operations_are_dropped() -> None:
    def small(x: Any, y: Any) -> Any:
        return x + y

    def large(x: Any, y: Any) -> Any:
        for _ in range(50):
            (x * y) // 3
        return x + y

    large.__name__ = "small"
    made = [duo.program(x=Alice(u32), y=Bob(u32), to=Both)(function) for function in (small, large)]
    assert made[0].digest == made[1].digest
    add = duo.program("block:add:32").cost(sizes={"lanes": 1}, protocol="yao")[0].ands
    assert made[0].cost(sizes={"lanes": 1}, protocol="yao")[0].ands == add == 31


def test_goals() -> None:
    made = {
        goal: duo.program(x=Alice(u32), y=Bob(u32), to=Both, goal=goal)(lambda x, y: x * y + 1)
        for goal in ("size", "depth")
    }
    costs = {goal: program.cost(sizes={"lanes": 1}, protocol="gmw")[0] for goal, program in made.items()}
    assert costs["size"].ands < costs["depth"].ands and costs["size"].depth > costs["depth"].depth
    made["depth"].check(20)


def test_a_profile_names_lines() -> None:
    @duo.program(x=Alice(u32), y=Bob(u32), to=Both)
    def program(x: Any, y: Any) -> Any:
        product = x * y
        return (product + 1).sum()

    first = program.function.__code__.co_firstlineno
    product = duo.program("block:multiply_low:32").cost(sizes={"lanes": 1}, protocol="yao")[0].ands
    profile = program.profile(sizes={"lanes": 1000})
    assert [line.line - first for line in profile] == [2, 3] and all(line.file == __file__ for line in profile)
    assert profile[0].text == "product = x * y" and profile[0].ands == 1000 * product
    assert profile[0].ands + profile[1].ands == program.cost(sizes={"lanes": 1000}, protocol="yao")[0].ands
    table = str(profile).splitlines()
    assert table[0].split() == ["ANDs", "share", "depth", "line"] and "test_traced.py:" in table[1] and len(table) == 3
    assert abs(sum(line.share for line in profile) - 1) < 1e-9


def party(address: str) -> duo.Party:
    return duo.connect(address, party="alice", insecure_plaintext=True, wait=60)


DIGEST = """
import duologue as duo
from duologue import *

@duo.program(x=Alice(u32), y=Bob(i64), flag=Public(bit), to={"a": Both, "b": Alice})
def program(x, y, flag):
    parts = {name: duo.cast(y, u32) + len(name) for name in ("ab", "c", "def")}
    total = x
    for name in sorted({"ab", "c", "def"}):
        total = total * parts[name] + duo.blocks.square_root(parts[name])[0]
    return {"a": duo.where(flag, total, x).sum(), "b": duo.lookup(duo.cast(y, u8), [3, 1, 4], u8)}

print(program.digest)
"""


def test_traces_are_deterministic(tmp_path: Path) -> None:
    """Hash seeds, other lines, other files, other versions of Python."""
    others = os.environ.get("DUOLOGUE_PYTHONS", "").split()
    seen = set()
    for number, python in enumerate([sys.executable] * 3 + others):
        file = tmp_path / f"program{number}.py"
        file.write_text("\n" * number + DIGEST)
        environment = {**os.environ, "PYTHONHASHSEED": str(number)}
        done = subprocess.run([python, str(file)], capture_output=True, text=True, env=environment, timeout=120)
        assert done.returncode == 0, done.stderr
        seen.add(done.stdout)
    assert len(seen) == 1 and len(seen.pop().strip()) == 64


def test_the_first_difference_has_a_line(tmp_path: Path) -> None:
    def made(function: Any, **more: Any) -> duo.TracedProgram:
        function.__name__ = "same"
        return duo.program(**{"x": Alice(u32), "y": Bob(u32), "to": Both} | more)(function)

    def one(x: Any, y: Any) -> Any:
        product = x * y
        limit = product + 7
        return duo.where(limit < x, limit, y)

    def two(x: Any, y: Any) -> Any:
        product = x * y
        limit = product + 9
        return duo.where(limit < x, limit, y)

    ours, theirs = made(one), made(two)
    theirs.save(tmp_path / "theirs.duo")
    found = ours.difference(duo.load(tmp_path / "theirs.duo"))
    assert found is not None
    assert found.startswith(f"test_traced.py:{one.__code__.co_firstlineno + 2}, step 2: a circuit of ")
    assert ours.difference(ours) is None
    learns = str(ours.difference(made(one, to=Alice)))
    assert "step 3: the output 'out' to both; of the other the output 'out' to alice" in learns
    assert "step 1: the input 'y' of" in str(ours.difference(made(one, y=Alice(u32))))
    assert "; of the other the output 'a' to both" in str(ours.difference(made(lambda x, y: {"a": x, "b": y})))
    few = duo.size("lanes", max=9)
    assert "the sizes" in str(ours.difference(made(one, x=Alice(u32, lanes=few), y=Bob(u32, lanes=few))))


def test_a_program_carries_no_file_names(tmp_path: Path) -> None:
    rating.save(tmp_path / "rating.duo")
    saved = (tmp_path / "rating.duo").read_bytes()
    assert b"test_traced" not in saved and b".py" not in saved


def test_a_traced_program_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(rating)


# Too large for a test of every block.
LARGE = {"sha512", "sha384", "keccak_f1600", "sha3_224", "sha3_256", "sha3_384", "sha3_512"}


def is_large(name: str) -> bool:
    return name in LARGE or "aes" in name and "decrypt" in name or name in ("aes192", "aes256")


def block_program(name: str, whole: duo.Program) -> duo.TracedProgram:
    """The block of its usual size, on inputs a0, a1 and so on."""
    size = duo._core.about_block(name).split(" At ")[1].split(": (")[0]

    def function(**words: Any) -> Any:
        made = getattr(duo.blocks, name)(*words.values(), size=size or None)
        made = made if isinstance(made, tuple) else (made,)
        return {port.name: word for port, word in zip(whole.outputs, made, strict=True)}

    inputs = {f"a{place}": Alice(duo.Type(port.type)) for place, port in enumerate(whole.inputs)}
    return duo.program(**inputs, to=Both)(function)


def test_every_block_by_its_name() -> None:
    """The block in a program of its own gives what the block by itself gives."""
    random, seen = np.random.default_rng(11), 0
    for name in filter(lambda name: not is_large(name), dir(duo.blocks)):
        whole = duo.program(f"block:{name}")
        if whole.cost(sizes={"lanes": 1}, protocol="yao")[0].ands > 20_000:
            continue
        values = [_random(random, duo.Type(port.type), 6) for port in whole.inputs]
        expected = whole.plain({port.name: value for port, value in zip(whole.inputs, values, strict=True)})
        came = block_program(name, whole).plain({f"a{place}": value for place, value in enumerate(values)})
        for output, value in expected.items():
            assert np.array_equal(value, came[output], equal_nan=value.dtype.kind == "f"), (name, output)
        seen += 1
    assert seen > 150


def test_blocks_take_their_size_from_operands() -> None:
    @duo.program(x=Alice(u32), y=Bob(u32), z=Bob(f32), p=Alice(duo.fixed(32, 16)), to=Both)
    def program(x: Any, y: Any, z: Any, p: Any) -> Any:
        root, rest = duo.blocks.square_root(x)
        return {
            "root": root, "rest": rest, "sum": duo.blocks.sum([x, y, x]), "fp": duo.blocks.fp_sqrt_ieee(z),
            "fixed": duo.blocks.fixed_sqrt(p), "min": duo.blocks.minimum(x, y), "plain": duo.blocks.add(x, 5),
        }  # fmt: skip

    x, y = np.array([0, 1, 99, 2**32 - 1], np.uint32), np.array([7, 8, 9, 10], np.uint32)
    z, p = np.array([0.25, 2, 9, -1], np.float32), np.array([0.25, 2, 9, -1])
    came = program.plain({"x": x, "y": y, "z": z, "p": p})
    assert came["root"].tolist() == [0, 1, 9, 65535] and came["rest"].tolist() == [0, 0, 18, 131070]
    assert came["sum"].tolist() == [2 * int(a) + int(b) for a, b in zip(x, y, strict=True)]
    with np.errstate(invalid="ignore"):
        assert np.array_equal(came["fp"], np.sqrt(z), equal_nan=True)
    assert came["fixed"].tolist() == [0.5, 1.4142150878906250, 3, 0]
    assert (came["plain"] == x + np.uint32(5)).all() and (came["min"] == np.minimum(x, y)).all()
    # The same on arrays and scalars, in the clear.
    assert duo.blocks.square_root(x)[0].tolist() == [0, 1, 9, 65535] and duo.blocks.square_root(np.uint32(99))[1] == 18
    with pytest.raises(AttributeError, match="no block is named 'nothing'"):
        duo.blocks.nothing(x)
    assert "square root" in str(duo.blocks.square_root.__doc__) and "square_root" in dir(duo.blocks)


def test_two_processes_run_a_traced_program(other: Any) -> None:
    bob = other("""
        sys.path.insert(0, os.path.dirname(jobs.__file__))
        from test_traced import rating
        with listen() as party:
            for protocol in ("yao", "gmw", "gmw-masked", "auto"):
                result = party.run(rating, {"late": np.array([2, 9, 0], np.uint8)}, protocol=protocol)
                print(result["score"].tolist(), flush=True)
    """)
    given = {"age": np.array([20, 40, 60]), "income": np.array([50_000, 999_999, 10])}
    with party(bob.line()) as alice:
        for protocol in ("yao", "gmw", "gmw-masked", "auto"):
            assert not alice.run(rating, given, protocol=protocol)
    out, _ = bob.end()
    assert out.splitlines() == ["[330, 580, 300]"] * 4


def test_a_check_ends_at_ctrl_c(other: Any) -> None:
    process = other("""
        program = duo.program(x=duo.Alice(duo.u64), y=duo.Bob(duo.u64), to=duo.Both)(lambda x, y: x * y)
        binding = program._core.bind({"lanes": 3_000_000}, {})
        given = {name: duo._core.pack_numbers(np.arange(3_000_000, dtype=np.uint64), "uint(64)") for name in "xy"}
        settings = duo._settings.complete({"protocol": "yao"})
        try:
            print("ready", flush=True)
            duo._core.simulate(binding, settings, given)
        except KeyboardInterrupt:
            print("interrupted")
    """)
    assert process.line() == "ready"
    time.sleep(0.5)
    process.process.send_signal(signal.SIGINT)
    out, _ = process.end()
    assert out.strip() == "interrupted"


def test_two_programs_that_differ_are_not_run(other: Any) -> None:
    bob = other("""
        program = duo.program(x=duo.Alice(duo.u8), y=duo.Bob(duo.u8), to=duo.Both)(lambda x, y: x + y + 1)
        with listen() as party:
            try:
                party.run(program, {"y": 1}, protocol="yao")
            except duo.Incompatible as why:
                print(why.what)
    """)
    program = duo.program(x=Alice(u8), y=Bob(u8), to=Both)(lambda x, y: x + y)
    with party(bob.line()) as alice, pytest.raises(duo.Incompatible):
        alice.run(program, {"x": 1}, protocol="yao")
    out, _ = bob.end()
    assert out.strip() == "the program"

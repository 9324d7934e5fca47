"""Random expressions: as programs, by the rules on Python's integers, and on arrays of NumPy."""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

import duologue as duo
import numpy as np
import pytest
import rules
from duologue.traced import _random
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

LANES = 24

BINARY = ["add", "sub", "mul", "floordiv", "mod", "and_", "or_", "xor", "lshift", "rshift"]
COMPARISONS = ["lt", "le", "gt", "ge", "eq", "ne"]
UNARY = ["neg", "abs", "invert"]
NATIVE = [duo.u8, duo.u16, duo.u32, duo.u64, duo.i8, duo.i16, duo.i32, duo.i64]

Expression = tuple[Any, ...]


def narrower(type: duo.Type, types: list[duo.Type]) -> list[duo.Type]:
    return [other for other in types if other.kind == type.kind and other.width <= type.width]


@st.composite
def numbers(draw: st.DrawFn, types: list[duo.Type], type: duo.Type, depth: int) -> Expression:
    """An expression of this type over variables of these types."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return ("variable", types.index(type))
    match draw(st.sampled_from(["binary", "binary", "plain", "unary", "where", "least", "cast"])):
        case "binary":
            other = draw(st.sampled_from(narrower(type, types)))
            first, second = draw(numbers(types, type, depth - 1)), draw(numbers(types, other, depth - 1))
            name = draw(st.sampled_from(BINARY))
            if draw(st.booleans()) and "shift" not in name:
                first, second = second, first
            return ("binary", name, first, second)
        case "plain":
            name = draw(st.sampled_from(BINARY))
            half = 1 << type.width - 1
            least, most = (-half, half - 1) if type.kind == "int" else (0, 2 * half - 1)
            number = draw(st.integers(least, most) | st.integers(max(least, -9), min(most, 9)))
            if draw(st.booleans()):
                return ("reversed", name, number, draw(numbers(types, type, depth - 1)))
            if "shift" in name:
                number = min(abs(number), type.width + 2, most)
            return ("plain", name, draw(numbers(types, type, depth - 1)), number)
        case "unary":
            return ("unary", draw(st.sampled_from(UNARY)), draw(numbers(types, type, depth - 1)))
        case "where":
            condition = draw(conditions(types, depth - 1))
            other = draw(st.sampled_from(narrower(type, types)))
            return ("where", condition, draw(numbers(types, type, depth - 1)), draw(numbers(types, other, depth - 1)))
        case "least":
            name = draw(st.sampled_from(["minimum", "maximum"]))
            other = draw(st.sampled_from(narrower(type, types)))
            return (name, draw(numbers(types, type, depth - 1)), draw(numbers(types, other, depth - 1)))
        case _:
            return ("cast", draw(numbers(types, draw(st.sampled_from(types)), depth - 1)), type)


@st.composite
def conditions(draw: st.DrawFn, types: list[duo.Type], depth: int) -> Expression:
    if depth > 0 and draw(st.booleans()):
        name = draw(st.sampled_from(["and_", "or_", "xor", "eq", "ne"]))
        return ("binary", name, draw(conditions(types, depth - 1)), draw(conditions(types, depth - 1)))
    type = draw(st.sampled_from(types))
    other = draw(st.sampled_from(narrower(type, types)))
    sides = draw(numbers(types, type, max(depth - 1, 0))), draw(numbers(types, other, max(depth - 1, 0)))
    return ("binary", draw(st.sampled_from(COMPARISONS)), *sides)


def value(expression: Expression, variables: list[Any]) -> Any:
    """What it is, whatever the variables are."""
    of = lambda one: value(one, variables)  # noqa: E731
    match expression:
        case ("variable", place):
            return variables[place]
        case ("binary", name, a, b):
            return getattr(operator, name)(of(a), of(b))
        case ("plain", name, a, number):
            return getattr(operator, name)(of(a), number)
        case ("reversed", name, number, a):
            return getattr(operator, name)(number, of(a))
        case ("unary", name, a):
            return getattr(operator, name)(of(a))
        case ("cast", a, type):
            return rules.cast(of(a), type)
        case (name, *parts):
            return getattr(rules, name)(*map(of, parts))


@st.composite
def cases(draw: st.DrawFn, native: bool, depth: int = 4) -> tuple[list[duo.Type], Expression, int]:
    odd = st.builds(duo.uint, st.integers(1, 64)) | st.builds(duo.sint, st.integers(1, 64))
    types = draw(st.lists(st.sampled_from(NATIVE) if native else odd, min_size=1, max_size=4, unique=True))
    expression = draw(numbers(types, draw(st.sampled_from(types)), depth) | conditions(types, depth))
    return types, expression, draw(st.integers(0, 1 << 32))


def program_of(types: list[duo.Type], expression: Expression, goal: str) -> duo.TracedProgram:
    owners = [duo.Alice, duo.Bob, duo.Alice, duo.Public]
    inputs = {f"x{place}": owner(type) for place, (owner, type) in enumerate(zip(owners, types, strict=False))}

    def function(**variables: Any) -> Any:
        return value(expression, list(variables.values()))

    return duo.program(**inputs, to=duo.Both, goal=goal)(function)


def values_of(types: list[duo.Type], seed: int) -> list[Any]:
    random = np.random.default_rng(seed)
    values = [_random(random, type, LANES) for type in types]
    # So that some are equal, and some divisors small.
    for one, type in zip(values, types, strict=True):
        random.shuffle(one)
        one[: LANES // 4] &= one.dtype.type(3 if type.width > 2 else type.kind == "uint")
    return values


SLOW = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@SLOW
@given(cases(native=False), st.sampled_from(["size", "depth"]))
def test_expressions_of_any_width(case: tuple[list[duo.Type], Expression, int], goal: str) -> None:
    types, expression, seed = case
    program, values = program_of(types, expression, goal), values_of(types, seed)
    came = program.plain({f"x{place}": one for place, one in enumerate(values)})["out"]
    expected = value(expression, [rules.Number.of(one, type) for one, type in zip(values, types, strict=True)])
    assert [int(one) for one in came] == list(expected.values), expression
    assert program.outputs[0].type == f"{expected.kind}({expected.width})"


@SLOW
@given(cases(native=True))
def test_expressions_are_those_of_numpy(case: tuple[list[duo.Type], Expression, int]) -> None:
    types, expression, seed = case
    program, values = program_of(types, expression, "size"), values_of(types, seed)
    came = program.plain({f"x{place}": one for place, one in enumerate(values)})["out"]
    with np.errstate(all="ignore"):
        expected = value(expression, values)
    assert came.dtype == expected.dtype and (came == expected).all(), expression


@settings(SLOW, max_examples=12)
@given(cases(native=False, depth=3), st.sampled_from(["size", "depth"]))
def test_expressions_by_protocols(case: tuple[list[duo.Type], Expression, int], goal: str) -> None:
    types, expression, seed = case
    program_of(types, expression, goal).check(20, seed=seed)


@settings(SLOW, max_examples=60)
@given(
    st.lists(
        st.sampled_from(["+", "-", "*", "/", "<", "<=", "==", "!=", "least", "most", "neg", "abs"]),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([duo.f32, duo.f64]),
    st.integers(0, 1 << 32),
)
def test_floats_are_those_of_numpy(names: list[str], type: duo.Type, seed: int) -> None:
    """Bit for bit, but for the sign of NaN and of the lesser of two zeros."""
    does: dict[str, Any] = {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
        "<": lambda a, b: duo.where(a < b, a, b), "<=": lambda a, b: duo.where(a <= b, b, 1.5),
        "==": lambda a, b: duo.where(a == b, a, -b), "!=": lambda a, b: duo.where(a != b, a * 0.5, b),
        "least": duo.minimum, "most": duo.maximum, "neg": lambda a, b: -a, "abs": lambda a, b: abs(a - b),
    }  # fmt: skip

    def chain(a: Any, b: Any) -> Any:
        for name in names:
            a = does[name](a, b)
        return a

    program = duo.program(a=duo.Alice(type), b=duo.Bob(type), to=duo.Both)(chain)
    assert program.check(60, seed=seed, protocols=()).numpy == "equal"
    if {"least", "most"}.isdisjoint(names):
        # Of zeros the sign too, which comparisons do not see.
        a, b = (_random(np.random.default_rng(seed + side), type, 60) for side in (0, 1))
        a[30:40], b[30:50] = -0.0, 0.0
        came = program.plain({"a": a, "b": b})["out"]
        with np.errstate(all="ignore"):
            expected = chain(a, b)
        is_number = came == came
        assert (np.signbit(came) == np.signbit(expected))[is_number].all(), names


@pytest.mark.parametrize("left", NATIVE)
def test_shifts_of_any_two_types(left: duo.Type) -> None:
    """Where the signs let two types meet; amounts of any size and sign."""
    rights = [right for right in NATIVE if right.kind == left.kind or right.width < left.width and left.kind == "int"]
    random = np.random.default_rng(left.width)
    inputs: dict[str, duo.Input] = {"x": duo.Alice(left)} | {repr(right): duo.Bob(right) for right in rights}

    @duo.program(**inputs, to=duo.Both)
    def program(x: Any, **amounts: Any) -> Any:
        down = {f"{name}>>": x >> amount for name, amount in amounts.items()}
        return down | {f"{name}<<": x << amount for name, amount in amounts.items()}

    def some(type: duo.Type) -> Any:
        info = np.iinfo(type.dtype)
        near = random.integers(max(info.min, -70), min(info.max, 70), 300, dtype=type.dtype, endpoint=True)
        return np.where(random.random(300) < 0.1, random.integers(info.min, info.max, 300, dtype=type.dtype), near)

    values = {name: some(duo.Type(port.type)) for name, port in zip(inputs, program.inputs, strict=True)}
    came = program.plain(values)
    for name, expected in program.function(**values).items():
        assert came[name].dtype == expected.dtype and (came[name] == expected).all(), name


def test_numbers_of_numpy_have_types() -> None:
    x = np.arange(0, 256, 5, dtype=np.uint8)

    def function(x: Any) -> Any:
        return {
            "wide": x + np.uint32(1000), "wrapped": x + np.uint8(255), "cube": x**3, "seventh": x**7,
            "equal": np.uint16(5) == x,
            "bit": (x > 3) & np.bool_(True), "left": np.uint16(1) << x, "float": duo.cast(x, duo.f32) * np.float32(0.1),
            "double": duo.cast(x, duo.f32) + np.float64(0.1), "weak": duo.cast(x, duo.f32) + 0.1,
            "rest": np.uint64(1000) % x,
            "single": duo.cast(x, duo.f64) * np.float32(0.1) - np.float32(0.3), "truth": duo.cast(x, duo.f32) + np.True_,
            "square": (duo.cast(x, duo.f32) + np.float32(0.1)) ** 2,
        }  # fmt: skip

    came = duo.program(x=duo.Alice(duo.u8), to=duo.Both)(function).plain({"x": x})
    with np.errstate(all="ignore"):
        for name, expected in function(x).items():
            assert came[name].dtype == expected.dtype and (came[name] == expected).all(), name


@pytest.mark.parametrize("type", [duo.fixed(32, 16), duo.fixed(16, 4), duo.fixed(12, 0)])
def test_casts_to_and_from_fixed_point(type: duo.Type) -> None:
    """Floats go to the nearest, of two the one away from zero, and end at the ends; whole numbers wrap; of NaN 0."""
    width, fraction = (int(part) for part in type.name[6:-1].split(","))
    unit, half = Fraction(1, 1 << fraction), 1 << width - 1
    random = np.random.default_rng(2)
    units = random.integers(-2 * half, 2 * half, 100).astype(float)
    floats = np.concatenate([units, units + 0.5, units / 3, [0.5, -0.5, 1.5, -1.5, half - 0.5, -half - 0.5]]) * float(
        unit
    )
    whole = random.integers(-(1 << 31), 1 << 31, len(floats)) >> random.integers(0, 31, len(floats))

    @duo.program(f=duo.Alice(duo.f64), i=duo.Alice(duo.i32), u=duo.Alice(duo.u32), to=duo.Both)
    def program(f: Any, i: Any, u: Any) -> Any:
        point = duo.cast(f, type)
        return {"f": point, "i": duo.cast(i, type), "u": duo.cast(u, type), "back": duo.cast(point, duo.f64),
                "single": duo.cast(point, duo.f32), "nan": duo.cast(f - f, type)}  # fmt: skip

    came = program.plain({"f": floats, "i": whole, "u": whole & 0xFFFFFFFF})
    for lane, (x, n) in enumerate(zip(floats.tolist(), whole.tolist(), strict=True)):
        ratio = Fraction(x) / unit
        nearest = (2 * abs(ratio.numerator) + ratio.denominator) // (2 * ratio.denominator) * (1 if x >= 0 else -1)
        expected = min(max(nearest, -half), half - 1)
        assert came["f"][lane] / float(unit) == expected, x
        assert came["back"][lane] == expected * float(unit)
        assert came["single"][lane] == np.float32(expected * float(unit))
        assert came["i"][lane] / float(unit) == rules.wrap(n << fraction, "int", width)
        assert came["u"][lane] / float(unit) == rules.wrap((n & 0xFFFFFFFF) << fraction, "int", width)
    odd = program.plain({"f": [np.inf, -np.inf], "i": [0] * 2, "u": [0] * 2})
    assert (odd["f"] / float(unit)).tolist() == [half - 1, -half] and odd["nan"].tolist() == [0, 0]


@pytest.mark.parametrize("type", [duo.fixed(32, 16), duo.fixed(16, 4), duo.fixed(12, 0)])
def test_fixed_point(type: duo.Type) -> None:
    """Exact arithmetic on units: products to the nearest, of two the greater; quotients away from zero; all wrap."""
    width, fraction = (int(part) for part in type.name[6:-1].split(","))
    random = np.random.default_rng(1)
    a, b = random.integers(-(1 << width - 1), 1 << width - 1, (2, 200)) >> random.integers(0, width, (2, 200))
    unit = Fraction(1, 1 << fraction)

    @duo.program(a=duo.Alice(type), b=duo.Bob(type), to=duo.Both)
    def program(a: Any, b: Any) -> dict[str, Any]:
        return {
            "sum": a + b, "difference": a - b, "product": a * b, "quotient": a / b, "square": a * a,
            "negative": -a, "magnitude": abs(a), "less": a < b, "least": duo.minimum(a, b),
            "half": a * 0.5 if fraction else a, "dot": duo.dot([a, b], [b, b]), "whole": duo.cast(a, duo.i16),
            "again": duo.cast(duo.cast(a, duo.fixed(40, 20)), type),
        }  # fmt: skip

    def nearest(x: Fraction) -> int:
        return (2 * x.numerator + x.denominator) // (2 * x.denominator)

    def away(x: Fraction) -> int:
        return nearest(abs(x)) * (1 if x >= 0 else -1)

    def fit(units: int) -> int:
        return rules.wrap(units, "int", width)

    came = program.plain({"a": a * float(unit), "b": b * float(unit)})
    units = {name: np.asarray(value) / float(unit) for name, value in came.items()}
    for lane, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        expected = {
            "sum": fit(x + y), "difference": fit(x - y), "product": fit(nearest(x * y * unit)), "negative": fit(-x),
            "quotient": fit(away(Fraction(x, y) / unit)) if y else 0, "square": fit(nearest(x * x * unit)),
            "magnitude": fit(abs(x)), "least": min(x, y), "again": x, "dot": fit(nearest((x * y + y * y) * unit)),
            "half": fit(nearest(Fraction(x, 2))) if fraction else x,
        }  # fmt: skip
        for name, value in expected.items():
            assert units[name][lane] == value, (name, x, y)
        assert came["less"][lane] == (x < y)
        assert came["whole"][lane] == rules.wrap(nearest(x * unit), "int", 16)

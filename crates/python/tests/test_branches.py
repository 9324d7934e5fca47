"""What would need the value of a word raises, with the line and what to write instead."""

from __future__ import annotations

import copy
import enum
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duologue as duo
import numpy as np
import pytest
from duologue import Alice, Bob, u8

TABLE = [3, 1, 4, 1, 5]


def traced(function: Callable[[Any, Any], Any]) -> duo.TracedProgram:
    return duo.program(x=Alice(u8), y=Bob(u8), to=Alice)(function)


def statement_if(x: Any, y: Any) -> Any:
    if x > 3:
        return y
    return x


def statement_while(x: Any, y: Any) -> Any:
    while x > 3:
        x = x - 1
    return x


def matched(x: Any, y: Any) -> Any:
    match x:
        case 1:
            return y
        case _:
            return x


def taken_apart(x: Any, y: Any) -> Any:
    match x:
        case [a, b]:
            return a + b
        case _:
            return y


def asserted(x: Any, y: Any) -> Any:
    assert x < y
    return x


def chosen(x: Any, y: Any) -> Any:
    return [z for z in (x, y) if z > 3][0]


CASES: list[tuple[Callable[[Any, Any], Any], str]] = [
    (statement_if, r"cannot branch on a secret\. Write duo\.where\(x > 3, a, b\)"),
    (statement_while, r"write for _ in range\(most\), and duo\.where\(x > 3, new, old\)"),
    (matched, r"where"),
    (taken_apart, r"cannot take a secret apart\. Instead of match write duo\.where"),
    (asserted, r"Return x < y as an output"),
    (chosen, r"Write duo\.where\(z > 3, a, b\)"),
    (lambda x, y: x if x > 3 else y, r"Write duo\.where\(x > 3, a, b\)"),
    (lambda x, y: x > 3 and y > 3, r"Instead of x > 3 and y > 3 write \(a\) & \(b\)"),
    (lambda x, y: x > 3 or y > 3, r"Instead of x > 3 or y > 3 write \(a\) \| \(b\)"),
    (lambda x, y: not x > 3, r"Write ~\(x > 3\)"),
    (lambda x, y: 1 < x < 3, r"Instead of 1 < x < 3 write \(a < b\) & \(b < c\)"),
    (lambda x, y: x in [1, 2], r"Instead of x in \[1, 2\] write \(x == a\) \| \(x == b\)"),
    (lambda x, y: 1 in x, r"cannot look into a secret"),
    (lambda x, y: min(x, y), r"Write duo\.minimum\(a, b\) instead of min"),
    (lambda x, y: max([x, y]), r"Write duo\.maximum\(a, b\) instead of max"),
    (lambda x, y: sorted([x, y]), r"Write duo\.sort\(words\) instead of sorted"),
    (lambda x, y: any([x > 3, y > 3]), r"Write a \| b instead of any"),
    (lambda x, y: all([x > 3, y > 3]), r"Write a & b instead of all"),
    (lambda x, y: bool(x), r"instead of bool"),
    (lambda x, y: int(x), r"cannot make a plain number of a secret\. Write duo\.cast\(x, i64\)"),
    (lambda x, y: float(x), r"Write duo\.cast\(x, f64\)"),
    (lambda x, y: complex(x), r"plain number"),
    (lambda x, y: TABLE[x], r"cannot use a secret as an index or a count\. Write duo\.lookup\(x, table\)"),
    (lambda x, y: [x for _ in range(y)], r"How often a loop runs is public: write range\(most\)"),
    (lambda x, y: x[y], r"duo\.lookup"),
    (lambda x, y: {x: 1}, r"cannot hash a secret"),
    (lambda x, y: x in {1, 2}, r"cannot hash a secret"),
    (lambda x, y: [*x], r"cannot go through a secret\. Write duo\.unstack\(x\)"),
    (lambda x, y: f"{x}", r"cannot make text of a secret\. f'\{x!r\}'"),
    (lambda x, y: f"{x:>5}", r"cannot make text of a secret"),
    (lambda x, y: "{}".format(x), r"cannot make text of a secret"),
    (lambda x, y: str(x), r"cannot make text of a secret"),
    (lambda x, y: np.where(x > 3, x, y), r"np\.where does not take secrets\. Write duo\.where"),
    (lambda x, y: np.asarray(x), r"cannot make an array of a secret"),
    (lambda x, y: any(x), r"cannot go through a secret\. Write x\.any\(\) for all lanes"),
    (lambda x, y: all(x), r"Write x\.all\(\) for all lanes"),
    (lambda x, y: sum(x), r"Write x\.sum\(\) for all lanes"),
    (lambda x, y: min(x), r"Write x\.min\(\) for all lanes"),
    (lambda x, y: max(x), r"Write x\.max\(\) for all lanes"),
    (lambda x, y: sorted(x), r"Write duo\.sort\(x\) for all lanes"),
    (lambda x, y: len(x), r"cannot count the lanes of a word\. How many lanes there are is public"),
    (lambda x, y: round(x), r"cannot round a secret\. Write duo\.cast\(x, T\)"),
    (lambda x, y: round(x, 2), r"cannot round a secret"),
    (lambda x, y: divmod(x, 3), r"Write x // y and x % y"),
    (lambda x, y: divmod(3, x), r"Write x // y and x % y"),
    (lambda x, y: 2**x, r"cannot raise to a secret power\. Write duo\.u32\(1\) << x"),
    (lambda x, y: np.sqrt(x), r"np\.sqrt does not take secrets\. Write duo\.blocks\.fp_sqrt_ieee"),
    (lambda x, y: np.logical_and(x > 3, y > 3), r"np\.logical_and does not take secrets\. Write a & b"),
    (lambda x, y: np.add.reduce(x), r"np\.add\.reduce does not take secrets"),
    (lambda x, y: np.add(x, y, where=[True]), r"np\.add does not take secrets"),
    (lambda x, y: np.arange(3, dtype=np.uint8) @ x, r"np\.matmul does not take secrets\. Write \(x \* y\)\.sum\(\)"),
    (lambda x, y: np.sum(x), r"np\.sum does not take secrets\. Write duo\.sum"),
]


@pytest.mark.parametrize(("function", "words"), CASES)
def test_a_branch_says_what_to_write(function: Callable[[Any, Any], Any], words: str) -> None:
    with pytest.raises(duo.SecretBranch, match=words) as caught:
        traced(function)
    assert isinstance(caught.value, TypeError) and isinstance(caught.value, duo.Error)
    line = int(str(caught.value).split(":")[1])
    lines = Path(__file__).read_text().splitlines()
    first = function.__code__.co_firstlineno
    assert str(caught.value).startswith("test_branches.py:") and first <= line <= first + 4, lines[line - 1]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x, y: x.mean(), r"a word has no 'mean': write x\.sum\(\) // n"),
        (lambda x, y: x.astype(np.int64), r"a word has no 'astype': write duo\.cast\(x, T\)"),
        (lambda x, y: x.nothing, r"a word has no 'nothing'$"),
    ],
)
def test_what_arrays_have_and_words_do_not(function: Callable[[Any, Any], Any], words: str) -> None:
    with pytest.raises(AttributeError, match=r"test_branches\.py:\d+: " + words):
        traced(function)


def test_no_source_no_line_to_quote() -> None:
    scope: dict[str, Any] = {}
    exec("def function(x, y):\n    return x if x > 3 else y", scope)
    with pytest.raises(duo.SecretBranch, match=r"<string>:2: .* Write duo\.where\(condition, a, b\)"):
        traced(scope["function"])


def test_a_word_shows_its_type_alone() -> None:
    seen: list[Any] = []

    def function(x: Any, y: Any) -> Any:
        seen.append(x)
        assert repr(x) == "<Word u8 × lanes>" and f"{x > 3!r}" == "<Word bit × lanes>"
        for wrong in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="cannot be pickled or copied"):
                wrong(x)
        return x + y

    traced(function)
    assert repr(seen[0]) == "<Word of a function that has ended>"
    with pytest.raises(duo.UsageError, match="has ended"):
        seen[0] + 1
    with pytest.raises(duo.UsageError, match=r"belongs to another function"):
        traced(lambda x, y: x + seen[0])


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x, y: x + 300, r"does not fit u8: expected 0 to 2\^8 - 1"),
        (lambda x, y: x + -1, "does not fit u8"),
        (lambda x, y: x + 1.5, r"with a point and u8"),
        (lambda x, y: x / y, r"'/' of u8: write '//'"),
        (lambda x, y: x + duo.cast(y, duo.i8), r"u8 with i8, of which one has a sign: .*duo\.cast\(x, i16\)"),
        (lambda x, y: (x > 3) + (y > 3), r"add of bits"),
        (lambda x, y: -(x > 3), r"negate of bits"),
        (lambda x, y: (x > 3) * 100, r"is no bit: .* or duo\.cast\(x, u8\) of the bit"),
        (lambda x, y: (x > 3) / (y > 3), r"divide of bits, which are no numbers: write &"),
        (lambda x, y: x[:4] // y[:4], r"quotient of bits\(4\), which are no numbers: write duo\.cast\(x, uint\(4\)\)"),
        (lambda x, y: duo.blocks.sum([]) + x, r"operand: expected one word or more"),
        (lambda x, y: duo.where(x, x, y), r"the condition is u8"),
        (lambda x, y: duo.where(x > 3, 1, 2**70), r"two plain numbers that no type of 64 bits has"),
        (lambda x, y: duo.minimum(x, "a"), r"expected words or numbers"),
        (lambda x, y: duo.cast(x, duo.bits(9)), r"u8 as bits\(9\)"),
        (lambda x, y: x + np.arange(3, dtype=np.uint8), r"words of lanes lanes and of 3"),
        (lambda x, y: x + np.array([1, 2], np.complex128), r"an array of complex128 meets a word"),
        (lambda x, y: x == "a", r"compared with words and numbers, not with str"),
        (lambda x, y: x == None, r"not with NoneType"),  # noqa: E711
        (lambda x, y: x**y, r"a power: expected a plain number"),
        (lambda x, y: x ** np.uint8(2), r"a power: expected a plain number"),
        (lambda x, y: np.power(x, np.uint8(2)), r"a power: expected a plain number"),
        (
            lambda x, y: duo.reduce(lambda a, b: (a, b), x),
            r"test_branches.py:\d+: the function of reduce gave 2 results",
        ),
        (
            lambda x, y: duo.scan(lambda s, v: s, 0, x),
            r"test_branches.py:\d+: the function of scan gave something else",
        ),
        (lambda x, y: duo.reduce(lambda a, b: a, x, 5), r"test_branches.py:\d+: a plain number has no type here"),
        (lambda x, y: duo.sort([x, duo.cast(y, duo.i8)]), r"u8 with i8, of which one has a sign"),
        (lambda x, y: x**0, r"a power: expected a plain number of 1 to 64"),
        (lambda x, y: duo.cast(x, duo.f32) ** 3, r"a power of floats above 2"),
        (lambda x, y: (x > 3) < (y > 3), r"less of bits"),
        (lambda x, y: duo.minimum(x > 3, y > 3), r"minimum of bits"),
        (lambda x, y: (x > 3) << 1, r"bit is not shifted by u32"),
        (lambda x, y: duo.cast(x, duo.f32) // 2, r"'//' and '%' of f32"),
        (lambda x, y: duo.cast(x, duo.f32) & 1, r"and of f32"),
        (lambda x, y: duo.cast(x, duo.fixed(16, 4)) + duo.cast(y, duo.fixed(16, 5)), r"cast one of them"),
        (lambda x, y: duo.cast(x, duo.f32) + y, r"f32 with u8: cast one of them"),
        (lambda x, y: duo.widen(duo.cast(x, duo.u32), duo.u16), r"no room"),
        (lambda x, y: duo.lookup(x, TABLE), r"plain numbers have no type"),
        (lambda x, y: duo.lookup(duo.cast(x, duo.i8), TABLE, u8), r"expected a number without a sign"),
        (lambda x, y: duo.lookup(x, range(1 << 17), duo.u32), r"it has at most 65536"),
        (lambda x, y: duo.cast(x, duo.Type("fixed(1, 0)")), r"is no type of a word"),
        (lambda x, y: duo.cast(x, duo.Type("float(4, 3)")), r"is no type of a word"),
        (lambda x, y: duo.cast(x, duo.Type("uint(70000)")), r"is no type of a word"),
        (lambda x, y: duo.cast(x, duo.uint(300)) + (1 << 200), r"at most 127 bits"),
        (lambda x, y: duo.concat(*[duo.cast(x, duo.uint(65536))] * 257), r"at most 16777216"),
        (lambda x, y: x._trace.finish("early", [("out", "both", x)]) and x, r"has ended"),
        (lambda x, y: duo.sort(x), r"how many has to be a number in the program"),
        (lambda x, y: duo.blocks.add(x), r"add: expected|the size of add|operands"),
        (lambda x, y: duo.blocks.multiply_constant(x), r"the size of multiply_constant does not follow"),
        (lambda x, y: duo.reduce(lambda a, b: a > b, x), r"the function of reduce gave bit"),
        (lambda x, y: duo.reduce(lambda a, b: a + y, x), r"belongs to another function"),
        (lambda x, y: duo.reduce(lambda a, b: duo.sum(a, u8), x), r"nothing in it goes over lanes"),
    ],
)
def test_mistakes_have_a_line(function: Callable[[Any, Any], Any], words: str) -> None:
    with pytest.raises(duo.UsageError, match=words):
        traced(function)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: duo.program(x=Alice(u8))(lambda x: x), "to is missing"),
        (lambda: duo.program(to=Alice)(lambda: 1), "no inputs"),
        (lambda: duo.program(to=Alice(u8), x=Bob(u8)), "an input cannot be named to"),  # type: ignore[call-overload]
        (lambda: duo.program(goal=Alice(u8), to=Bob), "an input cannot be named goal"),  # type: ignore[call-overload]
        (lambda: duo.program(x=u8, to=Alice)(lambda x: x), r"expected Alice\(TYPE\)"),
        (lambda: duo.program(x=Alice(u8), to=Alice)(lambda y: y), "its arguments are not the inputs"),
        (lambda: duo.program(x=Alice(u8), to=Alice)(lambda x: 5), "expected a word that depends on inputs"),
        (lambda: duo.program(x=Alice(u8), to=Alice)(lambda x: {}), "no outputs"),
        (lambda: duo.program(x=Alice(u8), to={"y": Alice})(lambda x: {"x": x}), "to names y, and the outputs are x"),
        (lambda: duo.program(x=Alice(u8), to=u8)(lambda x: x), "expected Alice, Bob, Both or Shared"),
        (lambda: duo.program(x=Alice(u8), to=Alice, goal="fast")(lambda x: x), "is no goal"),
        (lambda: Alice(32), "expected a type"),
        (lambda: duo.Both(u8), "both supply no input"),
        (lambda: Alice(u8, lanes=0), "lanes: expected"),
        (lambda: Alice(u8, lanes=duo.Lanes(0)), "lanes: expected"),
        (lambda: traced(lambda x, y: x + y).profile(sizes={"lanes": -1}), "lanes"),
        (lambda: traced(lambda x, y: x + y).profile(sizes={"rows": 1}), "rows"),
        (lambda: duo.uint(0), "expected 1 to 65536"),
        (lambda: duo.fixed(8, 9), "expected 0 to 8 bits"),
        (lambda: u8(300), "does not fit u8"),
        (lambda: duo.uint(13)(5), r"NumPy has no uint\(13\)"),
    ],
)
def test_mistakes_of_declarations(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(duo.UsageError, match=words):
        make()


def test_words_are_over_when_their_function_failed() -> None:
    seen: list[Any] = []
    with pytest.raises(ZeroDivisionError):
        traced(lambda x, y: (seen.append(x), 1 // 0))
    with pytest.raises(duo.UsageError, match="has ended"):
        seen[0] + 1

    def inside(x: Any, y: Any) -> Any:
        with pytest.raises(ZeroDivisionError):
            duo.reduce(lambda a, b: (seen.append(a), 1 // 0), x)
        with pytest.raises(duo.UsageError, match="has ended"):
            seen[1] + 1
        return x + y

    traced(inside)


class Colour(enum.IntEnum):
    RED = 3


def test_numbers_of_enumerations_and_types_called_with_words() -> None:
    program = traced(
        lambda x, y: {
            "red": x == Colour.RED,
            "sum": Colour.RED + x,
            "wide": duo.u16(x) * duo.u16(y),
            "part": x[Colour.RED],
        }
    )
    came = program.plain({"x": [3, 250], "y": [255, 255]})
    assert came["red"].tolist() == [True, False] and came["sum"].tolist() == [6, 253]
    assert came["wide"].tolist() == [765, 63750] and came["wide"].dtype == np.uint16
    assert came["part"].tolist() == [False, True]


UFUNCS = [
    np.add, np.subtract, np.multiply, np.floor_divide, np.remainder, np.bitwise_and, np.bitwise_or, np.bitwise_xor,
    np.left_shift, np.right_shift, np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.minimum, np.maximum,
]  # fmt: skip


def test_functions_of_numpy_that_are_operators() -> None:
    array = np.array([3, 0, 200, 7], np.uint8)

    def function(x: Any, y: Any) -> Any:
        both = {f.__name__: f(x, y) for f in UFUNCS}
        left = {f"{f.__name__}_array": f(array, y) for f in UFUNCS}
        right = {f"{f.__name__}_number": f(x, np.uint8(9)) for f in UFUNCS}
        one = {f.__name__: f(x) for f in (np.negative, np.positive, np.absolute, np.invert, np.square)}
        return (
            both
            | left
            | right
            | one
            | {"cube": np.power(x, 3), "operator": array - x, "of": (array > y) | (array == x)}
        )

    program = duo.program(x=Alice(u8, lanes=4), y=Bob(u8, lanes=4), to=Alice)(function)
    x, y = np.array([1, 2, 100, 255], np.uint8), np.array([3, 1, 7, 255], np.uint8)
    came = program.plain({"x": x, "y": y})
    with np.errstate(all="ignore"):
        for name, expected in function(x, y).items():
            assert came[name].dtype == expected.dtype and (came[name] == expected).all(), name
    divided = duo.program(x=Alice(duo.f64, lanes=4), to=Alice)(
        lambda x: np.divide(np.float64(1), x) + array.astype(float) / x
    )
    assert (divided.plain({"x": [1, 2, 4, 8]})["out"] == 1 / np.array([1, 2, 4, 8.0]) + array / [1, 2, 4, 8.0]).all()


def test_a_loop_that_unrolls_far_says_so() -> None:
    def far(x: Any, y: Any) -> Any:
        wide = duo.cast(x, duo.uint(4096))
        for _ in range(3):
            wide = wide * wide
        return wide

    with pytest.warns(RuntimeWarning, match="more than 10,000,000 gates") as caught:
        with pytest.raises(ZeroDivisionError):
            # Not lowered, which would take its time.
            traced(lambda x, y: (far(x, y), 1 // 0))
    assert len(caught) == 1 and caught[0].filename == __file__
    assert caught[0].lineno == far.__code__.co_firstlineno + 3
    with pytest.warns(RuntimeWarning, match="more than 10,000,000 gates"):
        with pytest.raises(ZeroDivisionError):
            # Exclusive ors are gates too.
            traced(lambda x, y: ([duo.cast(x, duo.uint(65536)) ^ number for number in range(160)], 1 // 0))
    with pytest.raises(duo.UsageError, match="this operation alone has about"):
        traced(lambda x, y: duo.cast(x, duo.uint(65536)) * duo.cast(y, duo.uint(65536)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traced(lambda x, y: x + y)

"""What `check` finds, and what it says when there is nothing to compare."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duologue as duo
import numpy as np
import pytest
from duologue import Alice, Bob, Both, f32, f64, u8

EXAMPLES = Path(__file__).parents[3] / "examples" / "python"


def example(name: str) -> duo.TracedProgram:
    """The program of an example, which is not run."""
    source = (EXAMPLES / name).read_text().split("\nname, ")[0]
    scope: dict[str, Any] = {"__name__": "example"}
    exec(compile(source, str(EXAMPLES / name), "exec"), scope)
    return next(value for value in scope.values() if isinstance(value, duo.TracedProgram))


WRITTEN = sorted(file.name for file in EXAMPLES.glob("*.py") if "@duo.program(" in file.read_text())


@pytest.mark.parametrize("name", WRITTEN)
def test_every_example_is_its_function(name: str) -> None:
    program = example(name)
    few = min(5, *(most for _, most in program.sizes.values())) if program.sizes else 5
    for lanes in (1, few):
        check = program.check(lanes, protocols=("gmw",) if lanes == 1 else ())
        assert check.numpy == "equal" or "NumPy has no" in check.numpy
        assert lanes == 1 or not check.not_compared


def test_a_false_sum_of_floats_is_found() -> None:
    """Infinities alone would make NaN of every sum, which equals NaN."""
    trend = example("trend.py")
    honest = trend.function
    assert trend.check(50, protocols=()) == duo.Check(50, (), "equal")

    def falsified(spent: Any, sold: Any, weeks: Any) -> Any:
        return honest(spent, sold, weeks) | {"start": sold.sum() / weeks}

    trend.function = falsified
    with pytest.raises(AssertionError, match="output 'start', lane 0: .* in the clear, .* by NumPy"):
        trend.check(50, protocols=())


@pytest.mark.parametrize("lanes", [2, 3, 7, 8, 9, 100, 1000])
def test_sums_of_floats_are_added_as_a_tree(lanes: int) -> None:
    @duo.program(x=Alice(f32), y=Bob(f64), to=Both)
    def program(x: Any, y: Any) -> Any:
        chosen = duo.where(x > 0, duo.cast(x, f64), y)
        return {"a": x.sum(), "b": (x * y).sum(), "c": chosen.sum(), "d": duo.sum(x, f64), "e": (y > 0).sum()}

    check = program.check(lanes, protocols=())
    assert (check.numpy, check.not_compared) == ("equal", ())


def test_what_is_nan_everywhere_is_not_compared() -> None:
    program = duo.program(x=Alice(f64), to=Both)(lambda x: {"none": (x - x) / (x - x), "some": x * 2})
    assert program.check(20, protocols=()).not_compared == ("none",)


@pytest.mark.parametrize(
    ("otherwise", "words"),
    [
        (lambda x: {"b": x}, "outputs a in the clear, b by NumPy"),
        (lambda x: {"a": x, "b": x}, "outputs a in the clear, a, b by NumPy"),
        (lambda x: {"a": x.astype(np.uint16)}, "output 'a' is of type uint8 in the clear, uint16 by NumPy"),
        (lambda x: {"a": x[:3]}, "output 'a' is of lanes 9 in the clear, 3 by NumPy"),
        (lambda x: {"a": x[0]}, "output 'a' is of lanes 9 in the clear, 1 by NumPy"),
        (lambda x: {"a": x + np.uint8(1)}, "output 'a', lane 0: "),
    ],
)
def test_every_difference_is_one(otherwise: Callable[[Any], Any], words: str) -> None:
    program = duo.program(x=Alice(u8), to=Both)(lambda x: {"a": x} if isinstance(x, duo.Word) else otherwise(x))
    with pytest.raises(AssertionError, match=words):
        program.check(9, protocols=())


def test_masked_arrays_are_refused() -> None:
    masked = np.ma.array([1, 2, 3], mask=[False, True, False], dtype=np.uint8)
    with pytest.raises(duo.UsageError, match=r"test_check\.py:\d+: a masked array meets a word: fill it"):
        duo.program(x=Alice(u8, lanes=3), to=Both)(lambda x: x + masked)
    with pytest.raises(duo.SecretBranch, match=r"test_check\.py:\d+: the program cannot make an array of a secret"):
        duo.program(x=Alice(u8, lanes=3), to=Both)(lambda x: masked + x)

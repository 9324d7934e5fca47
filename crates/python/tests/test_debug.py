"""What the debugger shows is what NumPy computes, and both shares make up the value."""

from __future__ import annotations

from typing import Any

import duologue as duo
import numpy as np
import pytest

RANDOM = np.random.default_rng(11)
A, B = (RANDOM.integers(0, 1 << 32, 10, dtype=np.uint32) for _ in range(2))


def joined(value: duo.SeenValue) -> Any:
    return np.bitwise_xor(value.alice, value.bob)


@pytest.mark.parametrize("protocol", ["plain", "gmw", "gmw-masked", "yao"])
def test_every_value_is_there(protocol: str) -> None:
    program = duo.program("block:multiply_low:32")
    seen = duo.debug(program, alice={"a": A}, bob={"b": B}, protocol=protocol)
    assert [step.kind for step in seen] == ["input", "input", "map", "output"]
    expected = [A, B, A * B, A * B]
    for step, array in zip(seen, expected, strict=True):
        (value,) = step.values
        assert (value.value == array).all() and value.type == "uint(32)"
        if protocol == "plain":
            assert value.alice is None and value.bob is None
        else:
            assert (joined(value) == array).all()
            # A party may hold its own input as it is.
            assert step.kind == "input" or not (value.alice == array).all()


def test_back_and_forth() -> None:
    seen = duo.debug(duo.program("block:add:32"), alice={"a": A}, bob={"b": B})
    assert seen.where == 0 and seen.here.kind == "input"
    assert seen.step() is seen[1] and seen.step().kind == "map" and seen.back().number == 1
    assert seen.goto(3).kind == "output" and seen.here.values[0].name == "v2"
    assert str(seen).startswith("3: both learn out: v2") and "step 3 of 4" in repr(seen)
    for move in (seen.step, lambda: seen.goto(-1), lambda: seen.goto(4)):
        with pytest.raises(IndexError, match="the program has 0 to 3"):
            move()
    assert seen.where == 3 and len(seen) == 4 and seen[-1] is seen[3] and len(seen[1:3]) == 2


@pytest.mark.parametrize("protocol", ["plain", "gmw"])
def test_public_and_shared_values(protocol: str) -> None:
    from test_runs import DEPOSIT

    program = duo.load(DEPOSIT)
    seen = duo.debug(program, public={"amount": 45}, shared={"balance": 300}, protocol=protocol)
    values = {value.name: value for step in seen for value in step.values}
    assert seen[-1].values[0].value.tolist() == [345]
    if protocol == "gmw":
        known = [value for value in values.values() if value.value.tolist() == [45]]
        assert known and all(value.alice is None for value in known)
        assert joined(seen[-1].values[0]).tolist() == [345]


@pytest.mark.parametrize("protocol", ["plain", "yao"])
def test_programs_with_reductions_and_sizes(protocol: str) -> None:
    program = duo.program("app:social:16")
    inputs: dict[str, dict[str, Any]] = {"alice": {}, "bob": {}, "public": {}}
    for port in program.inputs:
        rows = 20 if "users" in port.lanes else 1
        kind, bits = port.type.split("(")[0], int(port.type.split("(")[1].split(",")[0].rstrip(")"))
        shape = (rows, bits) if kind == "bits" and bits > 1 else (rows,)
        inputs[port.who][port.name] = RANDOM.integers(0, 2, shape, dtype=np.uint8)
    plain = program.plain({name: value for given in inputs.values() for name, value in given.items()})
    seen = duo.debug(program, alice=inputs["alice"], bob=inputs["bob"], public=inputs["public"], protocol=protocol)
    outputs = [step.values[0].value for step in seen if step.kind == "output"]
    for got, expected in zip(outputs, plain.values(), strict=True):
        assert (np.asarray(got) == np.asarray(expected)).all()
    assert {"map", "reduce"} <= {step.kind for step in seen}


def test_what_cannot_be_is_refused() -> None:
    program = duo.program("block:add:32")
    with pytest.raises(duo.UsageError, match="the input 'b' is not given by alice=, but by bob="):
        duo.debug(program, alice={"a": A, "b": B})
    with pytest.raises(duo.UsageError, match="the input 'b' is missing"):
        duo.debug(program, alice={"a": A})
    with pytest.raises(duo.UsageError, match="look at fewer lanes"):
        duo.debug(program, alice={"a": np.zeros(1 << 27, np.uint8)}, bob={"b": np.zeros(1 << 27, np.uint8)})
    with pytest.raises(duo.Error):
        duo.debug(program, alice={"a": A}, bob={"b": B}, protocol="magic")

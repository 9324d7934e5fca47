"""Both parties in one process, step by step: what every value is, and what each party would see of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

from . import _core, notebook
from ._settings import complete
from ._values import width
from .columns import columns_of
from .errors import UsageError
from .program import Program, bind

__all__ = ["Debugger", "SeenStep", "SeenValue", "debug"]


@dataclass(frozen=True, eq=False)
class SeenValue:
    """A value of a program, as a debugger shows it."""

    name: str
    """Its place, as in `v3`; the text of steps names it so."""
    type: str
    value: Any
    """An array with a row for each lane."""
    alice: Any
    """The bits of Alice's share, as numbers where they fit into 64 bits; none in plain, and of public values."""
    bob: Any
    """The same of Bob's. Alice's XOR Bob's is the value."""


@dataclass(frozen=True, eq=False)
class SeenStep:
    """A step of a program, with the values that it defines; of an output, with the one that it delivers."""

    number: int
    kind: str
    """`input`, `constant`, `map`, `reduce`, `iterate`, `view`, `call` or `output`."""
    text: str
    """As `duologue inspect` shows it."""
    values: tuple[SeenValue, ...]

    def __str__(self) -> str:
        lines = [f"{self.number}: {self.text}"]
        for value in self.values:
            lines.append(f"    {value.name} = {value.value!r}")
            if value.alice is not None:
                lines += [
                    f"    {' ' * len(value.name)}   alice {value.alice!r}",
                    f"    {' ' * len(value.name)}   bob   {value.bob!r}",
                ]
        return "\n".join(lines)


class Debugger(Sequence[SeenStep]):
    """The steps of a program that was run, with one of them in view: `step` and `back` move on and back, `goto` anywhere.

    It has all inputs and all values in the clear.
    """

    __slots__ = ("_steps", "program", "protocol", "where")

    def __init__(self, program: Program, protocol: str, steps: list[SeenStep]) -> None:
        self.program = program
        self.protocol = protocol
        self.where = 0
        """The number of the step in view."""
        self._steps = steps

    @property
    def here(self) -> SeenStep:
        """The step in view."""
        return self._steps[self.where]

    def step(self) -> SeenStep:
        """The next step; an `IndexError` behind the last."""
        return self.goto(self.where + 1)

    def back(self) -> SeenStep:
        """The step before; an `IndexError` before the first."""
        return self.goto(self.where - 1)

    def goto(self, number: int) -> SeenStep:
        """The step of this number, counted from 0."""
        if not 0 <= number < len(self._steps):
            raise IndexError(f"there is no step {number}: the program has 0 to {len(self._steps) - 1}")
        self.where = number
        return self.here

    @overload
    def __getitem__(self, place: int) -> SeenStep: ...
    @overload
    def __getitem__(self, place: slice) -> list[SeenStep]: ...
    def __getitem__(self, place: int | slice) -> SeenStep | list[SeenStep]:
        return self._steps[place]

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[SeenStep]:
        return iter(self._steps)

    def __repr__(self) -> str:
        return f"<Debugger {self.program.name!a} by {self.protocol}, step {self.where} of {len(self)}>"

    def __str__(self) -> str:
        return str(self.here)

    def _repr_html_(self) -> str:
        return notebook.step(self.here)


def debug(
    program: Program,
    *,
    alice: Mapping[str, object] | None = None,
    bob: Mapping[str, object] | None = None,
    public: Mapping[str, object] | None = None,
    shared: Mapping[str, object] | None = None,
    sizes: Mapping[str, int] | None = None,
    protocol: str = "plain",
) -> Debugger:
    """Runs both parties here, and keeps every value of the program, to be looked at step by step.

    `alice`, `bob`, `public` and `shared` have the inputs by who supplies them; of shared ones the values themselves, which
    become Alice's share, while Bob's is zero. By `plain` a value is what it is; by a protocol (`gmw`, `yao`, ...) both
    shares are there, too: those with which each value would leave the run, of a program that puts out all of them. Ctrl-C
    waits until it is done.

    >>> from duologue import program
    >>> seen = debug(program("block:add:8"), alice={"a": [1]}, bob={"b": [2]}, protocol="gmw")
    >>> [step.kind for step in seen]
    ['input', 'input', 'map', 'output']
    >>> value = seen.goto(2).values[0]
    >>> value.value.tolist(), (value.alice ^ value.bob).tolist()
    ([3], [3])
    """
    given = {"alice": columns_of(alice or {}), "bob": columns_of(bob or {})}
    given |= {"public": columns_of(public or {}), "shared": columns_of(shared or {})}
    _check_owners(program, given)
    everything = {name: value for values in given.values() for name, value in values.items()}
    ports = [replace(port, who="public") for port in program.inputs]
    binding, matrices = bind(program, everything, sizes, ports)
    settings = None if protocol == "plain" else complete({"protocol": protocol})
    steps, values = _core.trace_values(binding, settings, *_inputs(program, matrices, protocol))
    return Debugger(program, protocol, _seen(steps, [_value(number, *value) for number, value in enumerate(values)]))


def _check_owners(program: Program, given: Mapping[str, Mapping[str, object]]) -> None:
    owners = {port.name: port.who for port in program.inputs}
    for who, inputs in given.items():
        for name in inputs:
            if owners.get(name, who) != who:
                raise UsageError(f"the input {name!r} is not given by {who}=, but by {owners[name]}=")


def _inputs(
    program: Program, matrices: dict[str, _core.Matrix], protocol: str
) -> tuple[dict[str, _core.Matrix], dict[str, _core.Matrix]]:
    if protocol == "plain":
        return matrices, {}
    both = [port.name for port in program.inputs if port.who == "public"]
    shared = [port.name for port in program.inputs if port.who == "shared"]
    hers = [port.name for port in program.inputs if port.who == "alice"] + both + shared
    his = [port.name for port in program.inputs if port.who == "bob"] + both
    zeros = {name: matrices[name].zeros() for name in shared}
    return {name: matrices[name] for name in hers}, {name: matrices[name] for name in his} | zeros


def _value(number: int, type: str, matrix: _core.Matrix, shares: tuple[_core.Matrix, _core.Matrix] | None) -> SeenValue:
    _, bits = width(type)
    raw = f"uint({bits})" if 1 < bits <= 64 else f"bits({bits})"
    alice, bob = (None, None) if shares is None else (share.array(raw) for share in shares)
    return SeenValue(f"v{number}", type, matrix.array(type), alice, bob)


def _seen(steps: list[tuple[str, str, list[int], list[int]]], values: list[SeenValue]) -> list[SeenStep]:
    return [
        SeenStep(number, kind, text, tuple(values[place] for place in (reads if kind == "output" else defines)))
        for number, (kind, text, reads, defines) in enumerate(steps)
    ]

"""Programs: what is computed, who supplies its inputs, and who learns its outputs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from . import _core, notebook
from ._settings import Settings, complete
from ._values import pack, unpack
from .columns import columns_of
from .errors import UsageError
from .report import Cost, Costs

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Port", "Program", "load", "program"]


@dataclass(frozen=True)
class Port:
    """An input or an output of a program."""

    name: str
    who: str
    """Who supplies an input (`alice`, `bob`; `public` by both alike) or learns an output (`alice`, `bob`, `both`);
    `shared` if each party has a share."""
    type: str
    """The type of a lane, as in `uint(32)`."""
    lanes: str
    """How many lanes an input has, in numbers or in terms of the sizes; of outputs nothing, `Program.cost` and runs
    know."""
    about: str = ""
    """The meaning, of an application that is built in."""


class Program:
    """What two parties compute. `duo.load` reads one from a file, `duo.program` takes one that is built in.

    As text it says who supplies and who learns what: look at it before you run a program of somebody else's.
    """

    __slots__ = ("_core", "digest", "inputs", "name", "outputs", "sizes")

    def __init__(self, core: _core.Program) -> None:
        self._core = core
        meanings = core.meanings
        self.name: str = core.name
        self.digest: str = core.digest
        """The digest that both parties compare before a run, in hexadecimal. It covers all that is computed."""
        self.sizes: dict[str, tuple[int, int]] = {name: (least, most) for name, least, most in core.sizes}
        """The least and the greatest value of each public size."""
        self.inputs: tuple[Port, ...] = tuple(Port(*port, meanings.get(port[0], "")) for port in core.inputs)
        self.outputs: tuple[Port, ...] = tuple(Port(*port, meanings.get(port[0], "")) for port in core.outputs)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the program as a `.duo` file, which the peer can load, and the command too."""
        content = self._core.to_bytes()
        with open(file, "wb") as out:
            out.write(content)

    def plain(self, inputs: Mapping[str, object], *, sizes: Mapping[str, int] | None = None) -> dict[str, Any]:
        """All outputs, computed here in the clear on the inputs of both parties: for tests, and to see what a run
        gives.

        >>> program("block:add:32").plain({"a": [1, 2], "b": [10, 20]})["out"].tolist()
        [11, 22]

        Ctrl-C waits until it is done.
        """
        values = [replace(port, who="public") for port in self.inputs]
        binding, matrices = bind(self, inputs, sizes, values)
        outputs = binding.plain(matrices)
        return {port.name: unpack(replace(port, who="both"), outputs[port.name]) for port in self.outputs}

    def cost(self, *, link: str = "lan", sizes: Mapping[str, int] | None = None, **settings: Unpack[Settings]) -> Costs:
        """What a run takes over a line, by each protocol, or by the one that is named.

        `link` is `"20ms,100Mbit"`, round trip and bits a second, or `lan`, `internet`, `transatlantic`. Bytes and
        rounds are exact, times predicted. `sizes` gives every public size.
        """
        check_sizes(self, sizes or {})
        binding = self._core.bind(dict(sizes or {}), {})
        return Costs(Cost._of(cost) for cost in binding.cost(link, complete(settings)))

    def _place(self, start: tuple[int, int | None], end: tuple[int, int | None]) -> str | None:
        """The lines of the source from one step, or gate of its circuit, to another."""
        return None

    def __repr__(self) -> str:
        return f"<Program {self.name!a} {self.digest[:16]}>"

    def _repr_html_(self) -> str:
        return notebook.program(self, self._core.steps)

    def __str__(self) -> str:
        lines = [f"program  {self.name!a}", f"digest   {self.digest}"]
        lines += [f"size     {name!a} = {least} to {most}" for name, (least, most) in self.sizes.items()]
        rows = [(_SUPPLIES[port.who], port) for port in self.inputs]
        rows += [(_LEARNS[port.who], port) for port in self.outputs]
        wide = max((len(f"{port.name!a}") for _, port in rows), default=0)
        for who, port in rows:
            lanes = f" × {port.lanes}" if port.lanes else ""
            lines.append(f"{who:<18}{f'{port.name!a}':<{wide}}  {port.type}{lanes}")
        lines += [f"{port.name}: {port.about}" for _, port in rows if port.about]
        return "\n".join(lines)


_SUPPLIES = {"alice": "alice supplies", "bob": "bob supplies", "public": "both know", "shared": "both hold a share"}
_LEARNS = {"alice": "alice learns", "bob": "bob learns", "both": "both learn", "shared": "both get a share"}


def load(file: str | os.PathLike[str]) -> Program:
    """Loads a program from a `.duo` file: of `Program.save`, or of the command (`duologue export`, `compile`,
    `import`)."""
    with open(file, "rb") as given:
        return Program(_core.Program.from_bytes(os.fspath(file), given.read()))


def program(name: str) -> Program:
    """A program that is built in, by the name that the command gives it: `block:NAME[:SIZE][:size|depth]`, a circuit on
    every lane whose first input is Alice's and the others Bob's, or `app:NAME[:WIDTH][:size|depth]`, an application.

    `duologue blocks` lists them.

    >>> [port.who for port in program("block:greater:32").inputs]
    ['alice', 'bob']
    """
    return Program(_core.Program.built_in(name))


def bind(
    program: Program, inputs: object, sizes: Mapping[str, int] | None, wanted: Iterable[Port]
) -> tuple[_core.Binding, dict[str, _core.Matrix]]:
    """Packs the wanted inputs, and fixes the sizes by their rows where these are not given."""
    ports = {port.name: port for port in wanted}
    check_sizes(program, sizes or {})
    inputs = columns_of(inputs)
    _check_names(program, inputs)
    for name in ports:
        if name not in inputs:
            raise UsageError(f"the input '{name}' is missing: {ports[name].lanes} × {ports[name].type}")
    matrices = {name: pack(port, inputs[name]) for name, port in ports.items()}
    binding = program._core.bind(dict(sizes or {}), {name: matrix.lanes for name, matrix in matrices.items()})
    check_lanes(binding, matrices)
    return binding, matrices


def _check_names(program: Program, inputs: Mapping[str, object]) -> None:
    known = [port.name for port in program.inputs]
    for name in inputs:
        if name not in known:
            raise UsageError(f"the program has no input {name!r}: its inputs are {', '.join(known)}")


def check_sizes(program: Program, sizes: Mapping[str, int]) -> None:
    for name, value in sizes.items():
        if name not in program.sizes:
            known = ", ".join(program.sizes) or "none"
            raise UsageError(f"the program has no size {name!r}: it has {known}")
        least, most = program.sizes[name]
        if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= value <= most:
            raise UsageError(f"the size {name!r}: expected a number of {least} to {most}")


def check_lanes(binding: _core.Binding, matrices: Mapping[str, _core.Matrix]) -> None:
    """Compares the rows that are given with those that the sizes say."""
    lanes = binding.input_lanes
    for name, matrix in matrices.items():
        if matrix.lanes != lanes[name]:
            sizes = ", ".join(f"{size} = {value}" for size, value in binding.sizes.items())
            given = f" with {sizes}" if sizes else ""
            raise UsageError(f"the input '{name}' has {matrix.lanes} rows: expected {lanes[name]}{given}")

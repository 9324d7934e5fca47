"""Programs that are written as functions."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, overload

from . import _core
from . import program as _programs
from ._core import Word
from ._settings import complete
from ._values import pack, unpack
from .errors import UsageError
from .program import Port, Program
from .types import PACKAGE, Holder, Input, Type

__all__ = ["Check", "Line", "Profile", "TracedProgram", "circuit", "program"]

P = ParamSpec("P")
T = TypeVar("T")

_RECIPIENTS = ("alice", "bob", "both", "shared")
_PROTOCOLS = ("yao", "gmw", "gmw-masked")


@dataclass(frozen=True)
class Line:
    """What a line of the source costs."""

    file: str
    line: int
    ands: int
    """ANDs over all lanes."""
    depth: int
    """ANDs on a longest path of each step that it is part of, added up."""
    share: float
    """Of all ANDs."""
    text: str
    """The line."""


class Profile(tuple[Line, ...]):
    """What the lines of a program cost, the most expensive first; as text a table."""

    __slots__ = ()

    def __str__(self) -> str:
        rows = [("ANDs", "share", "depth", "line", "")]
        for line in self:
            where = f"{os.path.basename(line.file)}:{line.line}"
            rows.append((f"{line.ands:,}", f"{line.share:.1%}", f"{line.depth:,}", where, line.text))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(_row(row, widths) for row in rows)


def _row(row: tuple[str, ...], widths: list[int]) -> str:
    numbers = "  ".join(cell.rjust(width) for cell, width in zip(row[:3], widths[:3], strict=True))
    return f"{numbers}  {row[3].ljust(widths[3])}  {row[4]}".rstrip()


@dataclass(frozen=True)
class Check:
    """What `TracedProgram.check` compared, all of which agreed."""

    lanes: int
    protocols: tuple[str, ...]
    numpy: str
    """`equal`, or why the function was not compared with NumPy."""
    not_compared: tuple[str, ...] = ()
    """Outputs that were NaN on all lanes, so that nothing is said of them."""


class TracedProgram(Program):
    """A program that a function describes: what the function does to its words was recorded when it was defined.

    It is run, saved and costed as any other. `check` holds it to its function, `profile` says what lines cost.
    """

    __slots__ = ("_profile", "function")

    def __init__(self, core: _core.Program, profile: _core.Profile, function: Callable[..., Any]) -> None:
        super().__init__(core)
        self._profile = profile
        self.function = function
        """The function, which runs on arrays of NumPy as well."""

    def profile(self, *, sizes: Mapping[str, int] | None = None) -> Profile:
        """What each line of the source costs, for given sizes; those that are not given are 1."""
        import linecache

        _programs.check_sizes(self, sizes or {})
        everything = {name: max(least, 1) for name, (least, _) in self.sizes.items()} | dict(sizes or {})
        lines = self._profile.lines(self._core.bind(everything, {}))
        total = sum(ands for _, _, ands, _ in lines) or 1
        text = (linecache.getline(file, line).strip() for file, line, _, _ in lines)
        return Profile(Line(*row, row[2] / total, said) for row, said in zip(lines, text, strict=True))

    def difference(self, other: Program) -> str | None:
        """Where another program differs from this one first, and the line of this one's source: for two parties whose
        digests differ, when one has loaded what the other saved. None if both are the same."""
        found = _core.first_difference(self._core, other._core)
        if found is None:
            return None
        step, gate, ours, theirs = found
        place = self._place((step, gate), (step, gate))
        where = f"{place}, " if place else ""
        return f"{where}step {step}: {ours}; of the other {theirs}"

    def _place(self, start: tuple[int, int | None], end: tuple[int, int | None]) -> str | None:
        lines = self._profile.lines_between(start, end)
        if not lines:
            return None
        file = lines[0][0]
        numbers = [number for of, number in lines if of == file]
        first, last = min(numbers), max(numbers)
        return f"{os.path.basename(file)}:{first}" + (f" to {last}" if last > first else "")

    def check(
        self,
        lanes: int = 1000,
        *,
        sizes: Mapping[str, int] | None = None,
        protocols: tuple[str, ...] = _PROTOCOLS,
        seed: int = 0,
    ) -> Check:
        """Computes the program on random inputs in the clear, by each protocol between two parties in this process, and
        the function on arrays of NumPy, and compares all outputs: names, types, numbers of lanes, values. Floats are
        moderate numbers first, and in a second run infinities are among them. `lanes` is the value of every size that is
        not given.

        Raises `AssertionError` at the first difference, with the output, the lane and the values, which are random.
        """
        import numpy as np

        _programs.check_sizes(self, sizes or {})
        random = np.random.default_rng(seed)
        everything = {name: min(max(lanes, least), most) for name, (least, most) in self.sizes.items()}
        binding = self._core.bind(everything | dict(sizes or {}), {})
        counts = binding.input_lanes
        undefined: set[str] = set(port.name for port in self.outputs)
        numpy = "equal"
        for is_finite in (True, False) if any(Type(port.type).kind == "float" for port in self.inputs) else (False,):
            values = {port.name: _random(random, Type(port.type), counts[port.name], is_finite) for port in self.inputs}
            plain, numpy = self._run(binding, values, protocols)
            undefined &= {name for name, value in plain.items() if np.all(value != value)}
        return Check(lanes, tuple(protocols), numpy, tuple(sorted(undefined)))

    def _run(
        self, binding: _core.Binding, values: dict[str, Any], protocols: tuple[str, ...]
    ) -> tuple[dict[str, Any], str]:
        """The outputs in the clear, with which all others agree; and what was compared with NumPy."""
        matrices = {port.name: pack(_known(port), values[port.name]) for port in self.inputs}
        plain = self._unpacked(binding.plain(matrices))
        for protocol in protocols:
            ran = self._unpacked(_core.simulate(binding, complete({"protocol": protocol}), matrices))
            self._compare(plain, ran, protocol)
        return plain, self._against_numpy(values, plain)

    def _unpacked(self, matrices: dict[str, _core.Matrix]) -> dict[str, Any]:
        return {port.name: unpack(_known(port), matrices[port.name]) for port in self.outputs}

    def _compare(self, plain: dict[str, Any], other: dict[str, Any], name: str) -> None:
        import numpy as np

        if set(plain) != set(other):
            raise AssertionError(
                f"{self.name!a}: outputs {', '.join(plain)} in the clear, {', '.join(other)} by {name}"
            )
        found = {output: np.atleast_1d(np.asarray(other[output])) for output in plain}
        for what, of in (("of type", lambda value: value.dtype), ("of lanes", len)):
            for output, value in plain.items():
                if of(value) != of(found[output]):
                    raise AssertionError(
                        f"{self.name!a}: output {output!r} is {what} {of(value)} in the clear, {of(found[output])} by {name}"
                    )
        for output, value in plain.items():
            came = found[output]
            same = (value == came) | (value != value) & (came != came)
            if not np.all(same):
                lane = int(np.argmin(same.reshape(len(value), -1).all(axis=1)))
                raise AssertionError(
                    f"{self.name!a}: output {output!r}, lane {lane}: {value[lane]} in the clear, {came[lane]} by {name}"
                )

    def _against_numpy(self, values: dict[str, Any], plain: dict[str, Any]) -> str:
        import numpy as np

        for port in (*self.inputs, *self.outputs):
            if Type(port.type).dtype is None:
                return f"NumPy has no {Type(port.type)!r}"
        lanes = _lanes()
        given = {name: value[0] if len(value) == 1 else value.view(lanes) for name, value in values.items()}
        with np.errstate(all="ignore"):
            returned = _named(self.function(**given))
        self._compare(plain, returned, "NumPy")
        return "equal"


def _known(port: Port) -> Port:
    return Port(port.name, "public", port.type, port.lanes)


@functools.cache
def _lanes() -> Any:
    """Arrays whose sums go by the tree of a program, so that floats are rounded alike."""
    import numpy as np

    from .functions import sum as tree

    class Lanes(np.ndarray):
        def sum(self, *args: Any, **more: Any) -> Any:
            if args or more or self.dtype.kind != "f":
                return super().sum(*args, **more)
            return tree(np.asarray(self))

        def __array_function__(self, function: Any, types: Any, args: Any, more: Any) -> Any:
            made = super().__array_function__(function, types, args, more)
            return made.view(Lanes) if type(made) is np.ndarray else made

    return Lanes


def _random(random: Any, type: Type, lanes: int, is_finite: bool = False) -> Any:
    """Random numbers of a type, the extremes among them; of floats moderate ones alone, if they are to be finite."""
    values = _numbers(random, type, lanes, is_finite)
    return values if type.dtype is None else values.astype(type.dtype)


def _numbers(random: Any, type: Type, lanes: int, is_finite: bool) -> Any:
    import numpy as np

    kind, width = type.kind, type.width
    if kind == "float":
        exponents = random.integers(-8, 8, lanes) if is_finite else random.integers(-40, 40, lanes)
        values = np.ldexp(random.standard_normal(lanes), exponents).astype(type.dtype or np.float64)
        return values if is_finite else _with(values, [0.0, -0.0, 1.0, np.inf, -np.inf])
    if width > 64 or kind == "bits" and width > 1:
        octets = random.integers(0, 256, (lanes, -(-width // 8)), dtype=np.uint8)
        octets[:, -1] &= 0xFF >> (-width % 8)
        return octets
    units = random.integers(0, 1 << 64, lanes, dtype=np.uint64) >> np.uint64(64 - width)
    units >>= random.integers(0, width, lanes, dtype=np.uint64)
    if kind == "bits":
        return units.astype(bool)
    if kind == "uint":
        return _with(units, [0, 1, (1 << width) - 1])
    signed = (units << np.uint64(64 - width)).view(np.int64) >> np.int64(64 - width)
    ends = [0, -1, -(1 << width - 1), (1 << width - 1) - 1]
    signed = _with(signed, ends)
    if kind == "int":
        return signed
    return np.ldexp((signed >> np.int64(max(width - 53, 0))).astype(np.float64), -int(type.name.split(",")[1][:-1]))


def _with(values: Any, ends: list[Any]) -> Any:
    """With these numbers somewhere, if there is room."""
    count = min(len(ends), len(values) // 2)
    values[:count] = ends[:count]
    return values


def _named(returned: Any) -> dict[str, Any]:
    if isinstance(returned, Mapping):
        return dict(returned)
    return {"out": returned}


def circuit(function: Callable[P, T]) -> Callable[P, T]:
    """Marks a function of words as a part of programs: it runs on words, on arrays of NumPy, and on plain numbers."""

    @functools.wraps(function)
    def call(*args: P.args, **more: P.kwargs) -> T:
        return function(*args, **more)

    return call


@overload
def program(name: str, /) -> Program: ...
@overload
def program(
    *, to: Holder | Mapping[str, Holder], goal: str = "size", **inputs: Input
) -> Callable[[Callable[..., Any]], TracedProgram]: ...
def program(
    name: str | None = None, /, *, to: Holder | Mapping[str, Holder] | None = None, goal: str = "size", **inputs: Input
) -> Program | Callable[[Callable[..., Any]], TracedProgram]:
    """A program that is built in, by its name; or one that a function describes, as a decorator.

    A name is what the command gives it: `block:NAME[:SIZE][:size|depth]`, a circuit on every lane whose first input is
    Alice's and the others Bob's, or `app:NAME[:WIDTH][:size|depth]`, an application. `duologue blocks` lists them.

    A function gets a word for each input and gives a word, or a dict of words by the names of outputs:

        @duo.program(alice=Alice(u32), bob=Bob(u32), to=Alice)
        def richer(alice, bob):
            return {"richer": alice > bob}

    `to` says who learns the outputs: `Alice`, `Bob`, `Both`, `Shared` for nobody (each gets a share), or a dict of
    these by output. `goal` is what circuits keep low: `size`, ANDs, or `depth`, layers of them. The function is called
    once, here.
    """
    if name is not None:
        if to is not None or inputs:
            raise UsageError("a program by its name has no inputs to declare")
        return _programs.program(name)
    for name, of in (("to", to), ("goal", goal)):
        if isinstance(of, Input):
            raise UsageError(f"an input cannot be named {name}, by which @duo.program takes something else: rename it")
    if to is None:
        raise UsageError("to is missing: who learns the outputs, as in to=Alice or to={'sum': Both}")
    learns = to

    def made(function: Callable[..., Any]) -> TracedProgram:
        return _traced(function, inputs, learns, goal)

    return made


def _traced(
    function: Callable[..., Any], inputs: dict[str, Input], to: Holder | Mapping[str, Holder], goal: str
) -> TracedProgram:
    name = getattr(function, "__name__", "program").strip("<>")
    trace = _core.Trace(PACKAGE, goal)
    _check_inputs(function, name, inputs)
    words = {port: trace.input(port, of.who, of.type.name, of.lanes.given) for port, of in inputs.items()}
    try:
        outputs = _outputs(name, function(**words), to)
        core, profile = trace.finish(name, outputs)
    finally:
        trace.end()
    return TracedProgram(core, profile, function)


def _check_inputs(function: Callable[..., Any], name: str, inputs: dict[str, Input]) -> None:
    if not inputs:
        raise UsageError(f"{name}: it has no inputs: write one for each argument, as in alice=Alice(u32)")
    for port, of in inputs.items():
        if not isinstance(of, Input):
            raise UsageError(
                f"{name}: the input {port!r}: expected Alice(TYPE), Bob(TYPE), Public(TYPE) or Shared(TYPE)"
            )
    import inspect

    try:
        inspect.signature(function).bind(**inputs)
    except TypeError as why:
        raise UsageError(f"{name}: its arguments are not the inputs that are declared: {why}") from None


def _outputs(name: str, returned: Any, to: Holder | Mapping[str, Holder]) -> list[tuple[str, str, Word]]:
    words = _named(returned)
    if not words:
        raise UsageError(f"{name}: it gives no outputs")
    for output, word in words.items():
        if not isinstance(output, str) or not isinstance(word, Word):
            raise UsageError(
                f"{name}: the output {output!r}: expected a word that depends on inputs, or a dict of words by name"
            )
    if isinstance(to, Mapping) and set(to) != set(words):
        raise UsageError(f"{name}: to names {', '.join(to)}, and the outputs are {', '.join(words)}")
    return [
        (output, _recipient(name, to[output] if isinstance(to, Mapping) else to), word)
        for output, word in words.items()
    ]


def _recipient(name: str, to: object) -> str:
    if not isinstance(to, Holder) or to.name not in _RECIPIENTS:
        raise UsageError(f"{name}: to: expected Alice, Bob, Both or Shared, or a dict of these by output")
    return to.name

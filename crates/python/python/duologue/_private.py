"""Private functions: what either party gives, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _core
from ._values import check_whole, pack
from .errors import UsageError
from .program import Port, Program
from .report import PrivateRuns


class PrivateWords:
    """The flags of the command."""

    def __init__(self, method: str, allow_linear: bool, assume_link: str | None, threads: int) -> None:
        if not isinstance(allow_linear, bool):
            raise UsageError("allow_linear: expected True or False")
        self.words = [f"--method={_text('method', method)}"]
        self.words += ["--allow-linear"] if allow_linear else []
        self.words += [] if assume_link is None else [f"--assume-link={_text('assume_link', assume_link)}"]
        # The other methods take one thread.
        self.words += [f"--threads={threads}"] if method == "dh" or allow_linear else []

    def of_alice(self, runs: int, gates: int | None, additions: int | None) -> list[str]:
        numbers = {"runs": (runs, 1), "gates": (gates, 0), "additions": (additions, 0)}
        given = {name: checked(name, *number) for name, number in numbers.items() if number[0] is not None}
        return self.words + [f"--{name}={number}" for name, number in given.items()]


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name}: expected text in place of {type(value).__name__}")
    return value


def checked(name: str, number: object, least: int) -> int:
    """A number that the library can take."""
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number < 1 << 63:
        raise UsageError(f"{name}: expected a number of at least {least}")
    return number


class Alice:
    """The function."""

    def __init__(self, function: object, own: Mapping[str, object] | None, words: list[str]) -> None:
        if not isinstance(function, (Program, str)):
            raise UsageError("alice gives the function: a program, or its name; the data are bob's")
        self._function = function._core if isinstance(function, Program) else function
        self._own = _packed(function, own or {})
        self._words = words

    def run(self, meeting: _core.Meeting, canceller: _core.Canceller) -> PrivateRuns:
        return PrivateRuns(**_core.hold_private(meeting, canceller, self._function, self._own, self._words))


def _packed(function: Program | str, own: Mapping[str, object]) -> dict[str, _core.Matrix]:
    if not isinstance(function, Program):
        if own:
            raise UsageError("own is for a function that is a program")
        return {}
    ports = {port.name: Port(port.name, "public", port.type, port.lanes) for port in function.inputs}
    for name in own:
        if name not in ports:
            raise UsageError(f"the function has no input {name!r}: its inputs are {', '.join(ports)}")
    return {name: pack(ports[name], value) for name, value in own.items()}


class Bob:
    """The data."""

    def __init__(self, data: object, words: PrivateWords, most_gates: int) -> None:
        if isinstance(data, (Program, str)):
            raise UsageError("bob gives data: the function is alice's")
        self._rows = _rows(data)
        self._words = words.words
        self._most_gates = checked("most_gates", most_gates, 0)

    def run(self, meeting: _core.Meeting, canceller: _core.Canceller) -> PrivateRuns:
        data = (self._rows.tobytes(), self._rows.shape[1])
        y, told, why = _core.ask_private(meeting, canceller, data, self._words, self._most_gates)
        rows = y.array(f"bits({y.width})").view("u1").reshape(y.lanes, -1)
        runs = PrivateRuns(**told, y=rows)
        if why is not None:
            why.runs = runs
            raise why
        return runs


def _rows(data: object) -> Any:
    import numpy as np

    if isinstance(data, (list, tuple)):
        return _columns([_column(number, column) for number, column in enumerate(data)])
    _check_whole("the data", data)
    rows = np.asarray(data)
    if rows.ndim != 2 or rows.dtype not in (np.dtype(np.uint8), np.dtype(bool)) or 0 in rows.shape:
        raise UsageError("the data: expected rows of bytes, or of 0 and 1, or a list of columns of integers")
    return np.ascontiguousarray(rows, np.uint8)


def _check_whole(what: str, value: object) -> None:
    try:
        check_whole(value, "integers")
    except UsageError as why:
        raise UsageError(f"{what}: {why}") from None


def _column(number: int, column: object) -> Any:
    """A column by its own dtype: a list has none, and may as well be meant as a row."""
    import numpy as np

    what = f"the data: column {number}"
    if not hasattr(column, "__array__"):
        raise UsageError(f"{what}: it is a {type(column).__name__}, which has no width: expected an array of integers")
    _check_whole(what, column)
    array = np.atleast_1d(np.asarray(column))
    if array.ndim != 1:
        raise UsageError(f"{what}: it has {array.ndim} dimensions: expected one")
    return array


def _columns(columns: list[Any]) -> Any:
    """The bytes of all columns after one another."""
    import numpy as np

    lengths = {len(column) for column in columns}
    if len(lengths) != 1 or 0 in lengths or any(column.dtype.kind not in "iu" for column in columns):
        raise UsageError("the data: expected columns of integers, of a dtype of as many bytes, with as many rows each")
    wide: list[Any] = []
    for column in columns:
        wide.append(column.reshape(-1, 1).astype(column.dtype.newbyteorder("<")).view(np.uint8))
    return np.ascontiguousarray(np.hstack(wide))

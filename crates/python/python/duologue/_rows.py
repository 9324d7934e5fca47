"""A party's table as a query needs it: the strings of its keys, what it tests, its groups, its numbers."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core
from ._values import pack, width
from .columns import names_of
from .errors import UsageError
from .program import Port
from .types import Type

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .tables import Table

_SIGNS = {"<": "less", "<=": "less_equal", "=": "equal", "!=": "not_equal", ">=": "greater_equal", ">": "greater"}


@dataclass(frozen=True)
class Text:
    """A column of text."""

    form: str = "text"

    def constant(self, name: str, sign: str, value: object) -> tuple[str, str]:
        if sign not in ("=", "!="):
            raise UsageError(f"the column {name!r} is text, which is compared by == and != alone")
        if not isinstance(value, str):
            raise UsageError(f"the column {name!r} is text: expected text in place of {type(value).__name__}")
        return sign, value


@dataclass(frozen=True)
class Number:
    """A column of numbers, which are whole multiples of a power of two."""

    form: str
    bits: int
    """Of a number with its sign."""
    fraction: int = 0
    """Bits after the point."""

    @classmethod
    def of(cls, name: str, kind: object) -> Number:
        form = ", ".join(part.strip() for part in (kind.name if isinstance(kind, Type) else str(kind)).split(","))
        why = f"the column {name!r}: expected key, text, uint(1) to uint(63), int(1) to int(64) or fixed(WIDTH, FRACTION)"
        try:
            what, bits = width(form)
        except UsageError:
            raise UsageError(f"{why} of up to 64 bits") from None
        fraction = int(form.rstrip(")").rpartition(",")[2]) if what == "fixed" else 0
        bits += what == "uint"
        if what not in ("uint", "int", "fixed") or not 1 <= bits <= 64:
            raise UsageError(f"{why} of up to 64 bits, not {form}")
        return cls(form, bits, fraction)

    def constant(self, name: str, sign: str, value: object) -> tuple[str, str]:
        """A comparison with a whole number of units that says the same."""
        # They take a fifth of the package's time to import.
        from fractions import Fraction
        from numbers import Integral, Rational

        try:
            if isinstance(value, Integral):
                # NumPy's integers would overflow in a fraction.
                exact = Fraction(int(value))
            else:
                exact = Fraction(value) if isinstance(value, (Rational, float)) else Fraction(str(value))
        except (ValueError, OverflowError, TypeError):
            raise UsageError(f"the column {name!r}: expected a number to compare it with") from None
        units = exact * (1 << self.fraction)
        whole = units.numerator // units.denominator
        if units.denominator != 1:
            if sign in ("=", "!="):
                raise UsageError(f"the column {name!r}: no value of {self.form} equals this constant")
            # Nothing lies between a whole number and what is rounded down to it.
            sign = {"<": "<=", ">=": ">"}.get(sign, sign)
        if not -(1 << 63) <= whole < 1 << 63:
            raise UsageError(f"the column {name!r}: the constant is beyond all values of {self.form}")
        return sign, str(whole)


class _Cells:
    """The cells of a column: whole numbers, or the places of texts among those that there are."""

    def __init__(self, cells: NDArray[Any], texts: list[str] | None = None) -> None:
        self.cells, self.texts = cells, texts

    def keep(self, rows: NDArray[Any]) -> _Cells:
        return _Cells(self.cells[rows], self.texts)

    def test(self, sign: str, value: str) -> NDArray[np.bool_]:
        import numpy as np

        compare = getattr(np, _SIGNS[sign])
        if self.texts is None:
            return np.asarray(compare(self.cells, np.int64(int(value))), dtype=bool)
        passes = np.array([(text == value) == (sign == "=") for text in self.texts], dtype=bool)
        rows: NDArray[np.bool_] = passes[self.cells]
        return rows

    def groups(self, values: list[str]) -> NDArray[np.uint32]:
        import numpy as np

        none = 2**32 - 1
        if self.texts is None:
            known = np.array([int(value) for value in values], np.int64)
            order = np.argsort(known)
            place = order[np.searchsorted(known, self.cells, sorter=order).clip(max=len(known) - 1)]
            return np.where(known[place] == self.cells, place, none).astype(np.uint32)
        places = {value: place for place, value in enumerate(values)}
        rows: NDArray[np.uint32] = np.array([places.get(text, none) for text in self.texts], dtype=np.uint32)[self.cells]
        return rows


def pack_rows(query: _core.Query, name: str, table: Table, frame: Any, pad: object) -> _core.Rows:
    """Checks and packs a table, before anything is sent."""
    if pad is not None and (isinstance(pad, bool) or not isinstance(pad, int) or pad < 1):
        raise UsageError(f"pad[{name!r}]: expected a number of rows")
    tests, groups = query.tests(table.party), query.groups(table.party)
    numbers = query.numbers(table.party)
    used = {test[0] for test in tests} | {by[0] for by in groups} | {number[0] for number in numbers}
    strings = _keys(name, table, _column(name, frame, table.key))
    cells = {column: _cells(name, column, table, _column(name, frame, column)) for column in used}
    for column, read in cells.items():
        if len(read.cells) != len(strings):
            raise UsageError(f"{name}: {column!r} has {len(read.cells)} rows, and the key {len(strings)}")
    strings, cells = _joined(name, table, strings, cells, {column for column, _ in numbers})
    return _core.Rows(
        query,
        table.party,
        strings,
        [cells[column].test(sign, value) for column, sign, value in tests],
        [cells[column].groups(values) for column, values in groups],
        [cells[column].cells for column, _ in numbers],
        pad,
    )


def _column(name: str, frame: Any, column: str) -> Any:
    names = names_of(frame)
    if names is None:
        raise UsageError(f"{name}: expected a frame, or arrays by the names of columns")
    if column not in names:
        raise UsageError(f"{name} has no column {column!r}")
    return frame[column]


def _listed(value: Any) -> list[Any]:
    # Two columns of one name are a frame.
    dimensions = getattr(value, "ndim", 1)
    if dimensions != 1:
        raise UsageError(f"it has {dimensions} dimensions: expected one")
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(value, method):
            listed = getattr(value, method)()
            break
    else:
        listed = list(value)
    if not isinstance(listed, list):
        raise UsageError("expected a column of values")
    return listed


# How many cells are objects of Python at once, which take many times what a column takes.
_PART = 1 << 14


def _parts(value: Any) -> Iterator[list[Any]]:
    """A column's values in lists, of which only one is there at a time if the column can be cut."""
    rows = getattr(value, "iloc", value)
    is_column = getattr(value, "ndim", 1) == 1 and (hasattr(value, "dtype") or hasattr(value, "slice"))
    if rows is value and not is_column and not isinstance(value, (list, tuple)):
        yield _listed(value)
        return
    for first in range(0, max(len(value), 1), _PART):
        yield _listed(rows[first : first + _PART])


def _keys(name: str, table: Table, column: Any) -> NDArray[np.uint8]:
    import numpy as np

    strings = bytearray()
    try:
        for part in _parts(column):
            strings += _core.key_strings(part, table.how.form, len(strings) // 16)
    except UsageError as why:
        raise UsageError(f"{name}, the key {table.key!r}: {why}") from None
    return np.frombuffer(strings, np.uint8).reshape(-1, 16)


def _texts(name: str, column: str, value: Any) -> _Cells:
    import numpy as np

    places: dict[str, int] = {}
    rows = array("I")
    try:
        for part in _parts(value):
            for cell in part:
                if not isinstance(cell, str):
                    raise UsageError(f"row {len(rows)}: expected text")
                rows.append(places.setdefault(cell, len(places)))
    except UsageError as why:
        raise UsageError(f"{name}.{column}: {why}") from None
    return _Cells(np.frombuffer(rows, np.uint32) if rows else np.empty(0, np.uint32), list(places))


def _cells(name: str, column: str, table: Table, value: Any) -> _Cells:
    import numpy as np

    kind = table.columns[column]
    if isinstance(kind, Text):
        return _texts(name, column, value)
    matrix = pack(Port(f"{name}.{column}", table.party, kind.form, ""), value)
    what, bits = width(kind.form)
    units = matrix.array(f"{'uint' if what == 'uint' else 'int'}({bits})")
    return _Cells(units.astype(np.int64, copy=False))


def _joined(
    name: str, table: Table, strings: NDArray[np.uint8], cells: dict[str, _Cells], summed: set[str]
) -> tuple[NDArray[np.uint8], dict[str, _Cells]]:
    """Each key once: of repeated ones, numbers of which sums or means are asked are added up, and all else is equal."""
    import numpy as np

    keys = np.ascontiguousarray(strings).view("S16").ravel()
    ascending = np.sort(keys)
    if not (ascending[1:] == ascending[:-1]).any():
        return strings, cells
    del ascending
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    inverse = inverse.ravel()
    if table.how.repeated == "refuse":
        again = np.flatnonzero(first[inverse] != np.arange(len(keys)))[0]
        raise UsageError(
            f"{name}, the key {table.key!r}: rows {first[inverse[again]]} and {again} have the same key: a key may come "
            "once, or say key(repeated='first') or key(repeated='sum')"
        )
    order = np.argsort(first)
    kept = first[order]
    if table.how.repeated == "first":
        return strings[kept], {column: read.keep(kept) for column, read in cells.items()}
    added = {}
    for column, read in cells.items():
        kind = table.columns[column]
        if column not in summed or isinstance(kind, Text):
            differs = read.cells != read.cells[first[inverse]]
            if differs.any():
                row = int(np.flatnonzero(differs)[0])
                raise UsageError(
                    f"{name}.{column}: row {row}: it is another one than in an earlier row of its key, and only what sums or "
                    "means are asked of is added up"
                )
            added[column] = read.keep(kept)
            continue
        sums, rough = np.zeros(len(first), np.int64), np.zeros(len(first))
        np.add.at(sums, inverse, read.cells)
        np.add.at(rough, inverse, np.abs(read.cells.astype(float)))
        # Where an int64 may have overflowed, and where the column's type has no room.
        most = 1 << (kind.bits - 1)
        wide = (rough > 2.0**62) | (sums < -most) | (sums > most - 1)
        if wide.any():
            row = int(first[np.flatnonzero(wide)[0]])
            raise UsageError(
                f"{name}.{column}: row {row}: the numbers of its key, added up, have more bits than the column's type"
            )
        added[column] = _Cells(sums[order])
    return strings[kept], added

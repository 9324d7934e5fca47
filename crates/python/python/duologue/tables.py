"""Queries: counts, sums and means over the rows that two parties' tables have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from . import _core
from ._rows import Number, Text, pack_rows
from .errors import UsageError
from .report import Report

__all__ = [
    "Column",
    "Condition",
    "Figure",
    "Joined",
    "Key",
    "Query",
    "QueryResult",
    "Side",
    "Table",
    "key",
    "query",
    "text",
]

text = Text()
"""The type of a column of text, which equals itself byte by byte."""


@dataclass(frozen=True)
class Key:
    """The column of keys of a table. `key` is one that is compared as it is, each key once."""

    form: str = ""
    repeated: str = "refuse"

    def __call__(self, *, normalise: str | None = None, repeated: str | None = None) -> Key:
        """Another key column.

        `normalise="email"` drops blanks around an address and makes A to Z small letters, in both tables. `repeated`
        says what becomes of rows with the same key: `refuse`, `first` (the first row counts) or `sum` (numbers of
        which sums or means are asked are added up, all else must be equal).
        """
        form, how = self.form if normalise is None else normalise, self.repeated if repeated is None else repeated
        _core.key_form(form)
        if how not in ("refuse", "first", "sum"):
            raise UsageError(f"repeated={how!r}: expected 'refuse', 'first' or 'sum'")
        return Key(form, how)

    @property
    def meaning(self) -> str:
        """For the query, which both parties compare."""
        return f"{_core.key_form(self.form)}, repeated: {self.repeated}"


key = Key()


class Table:
    """A party's table as a query declares it: its key, and the types of the columns that the query speaks of."""

    def __init__(self, party: str, columns: Mapping[str, Any]) -> None:
        self.party = party
        keys = [name for name, kind in columns.items() if isinstance(kind, Key)]
        if len(keys) != 1:
            raise UsageError(f"{party}'s table has {len(keys)} key columns: expected one, as in table(email=key, ...)")
        self.key = keys[0]
        self.how: Key = columns[self.key]
        others = {name: kind for name, kind in columns.items() if name != self.key}
        self.columns: dict[str, Number | Text] = {
            name: kind if isinstance(kind, Text) else Number.of(name, kind) for name, kind in others.items()
        }


_Tuple = tuple[Any, ...]


class Condition:
    """What holds of a row or not, which nobody knows while the query is written."""

    def __init__(self, said: _Tuple, tables: Mapping[str, Table]) -> None:
        self._said, self._tables = said, tables

    def __and__(self, other: Condition) -> Condition:
        return self._with("all", other)

    def __or__(self, other: Condition) -> Condition:
        return self._with("any", other)

    def __invert__(self) -> Condition:
        return Condition(("not", self._said), self._tables)

    def _with(self, how: str, other: object) -> Condition:
        return Condition(_all_of(how, self._said, _said(other, self._tables)), self._tables)

    def __bool__(self) -> bool:
        raise TypeError(
            "whether a condition on rows holds is a secret: write & | ~ in place of and, or, not, "
            "with each comparison in parentheses, and rows[condition] in place of if"
        )


def _all_of(how: str, one: _Tuple, other: _Tuple) -> _Tuple:
    """Both joined, with what they have joined alike in one list: so `a | b | c` is as deep as `a | b`."""
    parts = [said[1:] if said[0] == how else (said,) for said in (one, other)]
    return (how, *parts[0], *parts[1])


def _said(condition: object, tables: Mapping[str, Table]) -> _Tuple:
    if not isinstance(condition, Condition):
        raise UsageError("expected a condition on columns, as in rows.views >= 10")
    if condition._tables is not tables:
        raise UsageError("the condition is on rows of another query")
    return condition._said


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure of a query, or one for each group: a count, a sum or a mean."""

    what: str
    number: tuple[tuple[str, str, str], int] | None
    of: _Tuple | None
    by: tuple[tuple[str, str, str], list[str]] | None
    minimum: int
    # Of the numbers of the column: the power of two that is one of them.
    fraction: int = 0
    groups: tuple[Any, ...] | None = None
    tables: Mapping[str, Table] | None = None

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise _known_later()

    def __eq__(self, other: object) -> bool:
        raise _known_later()

    def __lt__(self, other: object) -> bool:
        raise _known_later()

    __le__ = __gt__ = __ge__ = __lt__


def _known_later() -> TypeError:
    return TypeError("a figure is known after the run: return it by name, and look at result['name']")


class Column:
    """A column of rows that both tables have."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, rows: Joined, table: Table, name: str) -> None:
        self._rows, self._table, self._name = rows, table, name
        self._kind = table.columns[name]

    @property
    def _named(self) -> tuple[str, str, str]:
        return (self._table.party, self._name, self._kind.form)

    def sum(self, *, minimum: int = 0) -> Figure:
        """What it adds up to, withheld if fewer than `minimum` rows are behind it."""
        return self._number("sum", minimum)

    def mean(self, *, minimum: int = 0) -> Figure:
        """Its mean, rounded to a multiple of 2^-16 of the numbers' unit; withheld of fewer rows than `minimum`, or
        none."""
        return self._number("mean", minimum)

    def _number(self, what: str, minimum: int) -> Figure:
        if not isinstance(self._kind, Number):
            raise UsageError(f"the column {self._name!r} is text, which is not added up")
        figure = self._rows._figure(what, minimum)
        return replace(figure, number=(self._named, self._kind.bits), fraction=self._kind.fraction)

    def _test(self, sign: str, value: object) -> Condition:
        sign, constant = self._kind.constant(self._name, sign, value)
        return Condition(("test", self._named, sign, constant), self._rows._tables)

    def __lt__(self, value: object) -> Condition:
        return self._test("<", value)

    def __le__(self, value: object) -> Condition:
        return self._test("<=", value)

    def __gt__(self, value: object) -> Condition:
        return self._test(">", value)

    def __ge__(self, value: object) -> Condition:
        return self._test(">=", value)

    def __eq__(self, value: object) -> Condition:  # type: ignore[override]
        return self._test("=", value)

    def __ne__(self, value: object) -> Condition:  # type: ignore[override]
        return self._test("!=", value)

    def __bool__(self) -> bool:
        raise TypeError("a column is a secret: compare it, as in rows[rows.views >= 10]")


class Joined:
    """Rows that both tables have, or some of them, or groups of them."""

    def __init__(self, tables: Mapping[str, Table], of: _Tuple | None = None, by: Any = None) -> None:
        self._tables, self._of, self._by = tables, of, by

    def __getattr__(self, name: str) -> Column:
        # Also for those who copy: until then there are no tables. A column of such a name is rows["_name"].
        if name.startswith("_"):
            raise AttributeError(name)
        return self._column(name)

    def __getitem__(self, what: str | Condition) -> Any:
        """The column of a name, or of a table and a name as in `"shop.amount"`; or the rows of which a condition
        holds."""
        if isinstance(what, str):
            return self._column(what)
        said = _said(what, self._tables)
        if self._by is not None:
            raise UsageError("choose rows first, and group them then")
        return Joined(self._tables, said if self._of is None else _all_of("all", self._of, said))

    def count(self, *, minimum: int = 0) -> Figure:
        """How many rows there are, withheld if they are fewer than `minimum`."""
        return self._figure("count", minimum)

    def group_by(self, column: Column, values: Iterable[Any]) -> Joined:
        """The rows by groups: those in which the column has each of these values, which both parties know."""
        if self._by is not None:
            raise UsageError("rows are grouped by one column")
        if not isinstance(column, Column):
            raise UsageError("expected a column, as in rows.group_by(rows.region, ['north', 'south'])")
        if column._rows._tables is not self._tables:
            raise UsageError("the column is of rows of another query")
        groups = tuple(values)
        constants = [column._kind.constant(column._name, "=", value)[1] for value in groups]
        return Joined(self._tables, self._of, ((column._named, constants), groups))

    def _figure(self, what: str, minimum: int) -> Figure:
        by, groups = self._by if self._by is not None else (None, None)
        if isinstance(minimum, bool) or not isinstance(minimum, int) or minimum < 0:
            raise UsageError("minimum: expected a number of rows")
        return Figure(what, None, self._of, by, minimum, 0, groups, self._tables)

    def _column(self, name: str) -> Column:
        table, _, rest = name.rpartition(".")
        found = [
            Column(self, known, rest)
            for of, known in self._tables.items()
            if table in ("", of) and rest in known.columns
        ]
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(f"both tables have a column {name!r}: write rows['TABLE.{name}']")
        names = ", ".join(name for known in self._tables.values() for name in known.columns)
        raise UsageError(f"no column {name!r} was declared: there are {names or 'none'}")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("rows are a secret: count them, or add up a column")

    def __len__(self) -> int:
        raise TypeError("how many rows there are is a secret: rows.count() is a figure")


class Side:
    """One of the two tables, before they are joined."""

    def __init__(self, name: str, tables: Mapping[str, Table]) -> None:
        self._name, self._tables = name, tables

    def join(self, other: Side, *, on: str | tuple[str, str]) -> Joined:
        """The rows whose keys are in both tables. `on` is the name of both key columns, or the two names."""
        if not isinstance(other, Side) or other._name == self._name:
            raise UsageError("a table is joined with the other party's")
        names = (on, on) if isinstance(on, str) else tuple(on)
        keys = tuple(self._tables[name].key for name in (self._name, other._name))
        if names != keys:
            raise UsageError(f"the key columns are {keys[0]!r} and {keys[1]!r}: tables are joined on them")
        return Joined(self._tables)


class Query:
    """What two parties ask of their tables. `duo.query` makes one; as text it is what both compare before a run."""

    def __init__(self, function: Callable[..., Mapping[str, Figure]], to: object, tables: dict[str, Table]) -> None:
        parties = sorted(table.party for table in tables.values() if isinstance(table, Table))
        if len(tables) != 2 or parties != ["alice", "bob"]:
            raise UsageError("a query is of two tables: one Alice.table(...), one Bob.table(...)")
        if len({table.how.form for table in tables.values()}) != 1:
            raise UsageError("both keys are normalised alike: say so in both tables")
        self.name = function.__name__
        self.__doc__ = function.__doc__
        self.tables = tables
        self.learns = _learns(to)
        figures = function(**{name: Side(name, tables) for name in tables})
        if not isinstance(figures, Mapping) or not all(isinstance(figure, Figure) for figure in figures.values()):
            raise UsageError(f"{self.name} returns figures by name, as in {{'buyers': rows.count()}}")
        if any(figure.tables is not tables for figure in figures.values()):
            raise UsageError(f"{self.name} returns a figure of another query")
        self.figures: dict[str, Figure] = dict(figures)
        keys = [next(t for t in tables.values() if t.party == party).how.meaning for party in ("alice", "bob")]
        said = [(name, f.what, f.number, f.of, f.by, f.minimum) for name, f in self.figures.items()]
        self._core = _core.Query(self.learns, keys, said)

    @property
    def text(self) -> str:
        """All of it, a line for each part: both parties must have the same."""
        return self._core.text

    def _run(
        self,
        session: Callable[[], AbstractContextManager[_core.Party]],
        party: str,
        inputs: Mapping[str, Any],
        pad: Any,
    ) -> QueryResult:
        """Checks and packs this party's table, then meets the peer."""
        (own,) = [name for name, table in self.tables.items() if table.party == party]
        if pad is not None and not isinstance(pad, Mapping):
            raise UsageError(f"pad: expected a number of rows by the table's name, as in pad={{{own!r}: 1024}}")
        for name in [*inputs, *(pad or {})]:
            if name != own:
                raise UsageError(f"{name!r} is not given here: this party's table is {own!r}")
        if own not in inputs:
            raise UsageError(f"the table {own!r} is missing")
        rows = pack_rows(self._core, own, self.tables[own], inputs[own], (pad or {}).get(own))
        with session() as met:
            answers, sizes, report = met.query(self._core, rows)
        told = {} if answers is None else dict(zip(self.figures, answers, strict=True))
        values = {name: _told(self.figures[name], found) for name, found in told.items()}
        return QueryResult(values, (sizes[0], sizes[1]), Report._of(report))

    def __str__(self) -> str:
        return f"query  {self.name!a}\n{self.text}"

    def __repr__(self) -> str:
        return f"<Query {self.name!a} of {', '.join(self.tables)}>"


def _learns(to: object) -> str:
    names = [str(party).lower() for party in (to if isinstance(to, (tuple, list)) else [to])]
    match sorted(set(names)):
        case [("alice" | "bob" | "both") as name]:
            return name
        case ["alice", "bob"]:
            return "both"
        case _:
            raise UsageError("to: expected Alice, Bob, or both of them: (Alice, Bob)")


def _told(figure: Figure, answers: list[int | None]) -> Any:
    numbers = [_number(figure, answer) for answer in answers]
    return numbers[0] if figure.groups is None else dict(zip(figure.groups, numbers, strict=True))


def _number(figure: Figure, answer: int | None) -> int | float | None:
    bits = figure.fraction + (16 if figure.what == "mean" else 0)
    is_whole = figure.what != "mean" and bits == 0
    return answer if answer is None or is_whole else answer / (1 << bits)


class QueryResult(Mapping[str, Any]):
    """The figures of a query that this party learns, by name: a number, or of groups a number for each; `None` where a
    figure is withheld.

    It shows names; the values are in `result["name"]`.
    """

    __slots__ = ("_figures", "report", "rows")

    def __init__(self, figures: dict[str, Any], rows: tuple[int, int], report: Report) -> None:
        self._figures = figures
        self.rows = rows
        """How many rows Alice's table and Bob's have, as far as both know: with padding."""
        self.report = report
        """What the run took."""

    def __getitem__(self, name: str) -> Any:
        return self._figures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._figures)

    def __len__(self) -> int:
        return len(self._figures)

    def __repr__(self) -> str:
        return f"<QueryResult {', '.join(self._figures)}>"

    def to_pandas(self) -> Any:
        """A frame with a column for each figure, and a row for each group, or one; withheld figures are missing
        values. Figures of several groupings do not go into one frame."""
        # Only who asks for it needs it.
        pd: Any = import_module("pandas")

        groups = {tuple(figure) if isinstance(figure, dict) else None for figure in self._figures.values()}
        if len(groups) > 1:
            raise UsageError("the figures have different groups: take result['name'] for each")
        index = next(iter(groups), None)
        columns = {}
        for name, figure in self._figures.items():
            values = list(figure.values()) if isinstance(figure, dict) else [figure]
            is_real = any(isinstance(value, float) for value in values)
            columns[name] = pd.array(values, dtype="Float64" if is_real else "Int64")
        return pd.DataFrame(columns, index=None if index is None else list(index))


def query(*, to: object, **tables: Table) -> Callable[[Callable[..., Mapping[str, Figure]]], Query]:
    """Makes a query of a function on two tables, which it gets by name.

    It joins them, chooses rows and returns figures by name, for the party `to`, or both: `(Alice, Bob)`. The function
    runs once, here, on no data.
    """
    return lambda function: Query(function, to, tables)

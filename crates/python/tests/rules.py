"""The rules of the book's table, written a second time: on Python's own integers, with no gate, no NumPy and no
wrapping but the one that the table says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import duologue as duo


@dataclass(frozen=True, eq=False)
class Number:
    """Lanes of integers of a type."""

    values: tuple[int, ...]
    kind: str
    width: int

    @classmethod
    def of(cls, values: Any, type: duo.Type) -> Number:
        return cls(tuple(int(value) for value in values), type.kind, type.width)

    def like(self, values: Any) -> Number:
        """Wrapped into this type."""
        return Number(tuple(wrap(value, self.kind, self.width) for value in values), self.kind, self.width)

    def _with(self, other: Any, does: Callable[[int, int], int], *, kind: str | None = None) -> Number:
        if isinstance(other, int):
            other = self.like([other] * len(self.values))
        wider = self if self.width >= other.width else other
        values = [does(a, b) for a, b in zip(self.values, other.values, strict=True)]
        return Number(tuple(values), "bits", 1) if kind else wider.like(values)

    def __add__(self, other: Any) -> Number:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Number:
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other: Any) -> Number:
        return self._with(other, lambda a, b: a * b)

    def __floordiv__(self, other: Any) -> Number:
        return self._with(other, lambda a, b: a // b if b else 0)

    def __mod__(self, other: Any) -> Number:
        return self._with(other, lambda a, b: a % b if b else 0)

    def __and__(self, other: Any) -> Number:
        return self._with(other, lambda a, b: a & b)

    def __or__(self, other: Any) -> Number:
        return self._with(other, lambda a, b: a | b)

    def __xor__(self, other: Any) -> Number:
        return self._with(other, lambda a, b: a ^ b)

    def __lshift__(self, other: Any) -> Number:
        amount = _amount(self, other)
        return self._with(other, lambda a, b: a << b if 0 <= b < amount else 0)

    def __rshift__(self, other: Any) -> Number:
        amount = _amount(self, other)
        return self._with(other, lambda a, b: a >> (b if 0 <= b < amount else amount))

    def __neg__(self) -> Number:
        return self.like([-value for value in self.values])

    def __abs__(self) -> Number:
        return self.like([abs(value) for value in self.values])

    def __invert__(self) -> Number:
        if self.kind == "bits":
            return self.like([1 - value for value in self.values])
        return self.like([~value for value in self.values])

    def __lt__(self, other: Any) -> Number:
        return self._with(other, lambda a, b: int(a < b), kind="bits")

    def __le__(self, other: Any) -> Number:
        return self._with(other, lambda a, b: int(a <= b), kind="bits")

    def __gt__(self, other: Any) -> Number:
        return self._with(other, lambda a, b: int(a > b), kind="bits")

    def __ge__(self, other: Any) -> Number:
        return self._with(other, lambda a, b: int(a >= b), kind="bits")

    def __eq__(self, other: Any) -> Number:  # type: ignore[override]
        return self._with(other, lambda a, b: int(a == b), kind="bits")

    def __ne__(self, other: Any) -> Number:  # type: ignore[override]
        return self._with(other, lambda a, b: int(a != b), kind="bits")


def _reversed(name: str) -> Callable[[Number, int], Number]:
    """A plain number on the left."""

    def does(right: Number, left: int) -> Number:
        operator: Callable[[Number, Number], Number] = getattr(Number, f"__{name}__")
        return operator(right.like([left] * len(right.values)), right)

    return does


for _name in ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift"):
    setattr(Number, f"__r{_name}__", _reversed(_name))


def _amount(number: Number, other: Any) -> int:
    return number.width if isinstance(other, int) else max(number.width, other.width)


def wrap(value: int, kind: str, width: int) -> int:
    """Modulo 2^width, between the ends of the type."""
    value &= (1 << width) - 1
    return value - (1 << width) if kind == "int" and value >> (width - 1) else value


def where(condition: Any, a: Any, b: Any) -> Any:
    if not isinstance(condition, Number):
        return duo.where(condition, a, b)
    chosen = a._with(b, lambda x, y: x)
    other = a._with(b, lambda x, y: y)
    return chosen.like([x if c else y for c, x, y in zip(condition.values, chosen.values, other.values, strict=True)])


def minimum(a: Any, b: Any) -> Any:
    return a._with(b, min) if isinstance(a, Number) else duo.minimum(a, b)


def maximum(a: Any, b: Any) -> Any:
    return a._with(b, max) if isinstance(a, Number) else duo.maximum(a, b)


def cast(a: Any, type: duo.Type) -> Any:
    if not isinstance(a, Number):
        return duo.cast(a, type)
    if type == duo.bit:
        return Number(tuple(int(value != 0) for value in a.values), "bits", 1)
    return Number(tuple(wrap(value, type.kind, type.width) for value in a.values), type.kind, type.width)


def count_ones(a: Any) -> Any:
    if not isinstance(a, Number):
        return duo.count_ones(a)
    return Number(tuple((value & ((1 << a.width) - 1)).bit_count() for value in a.values), "uint", 8)

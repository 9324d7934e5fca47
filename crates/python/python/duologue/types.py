"""Types of the words of programs, and who supplies and learns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core
from ._values import width as _parts
from .errors import UsageError

if TYPE_CHECKING:
    import numpy as np

    from .tables import Table

__all__ = [
    "Alice",
    "Bob",
    "Both",
    "Holder",
    "Input",
    "Lanes",
    "Public",
    "Shared",
    "Type",
    "bit",
    "bits",
    "f32",
    "f64",
    "fixed",
    "i8",
    "i16",
    "i32",
    "i64",
    "sint",
    "size",
    "u8",
    "u16",
    "u32",
    "u64",
    "uint",
]

# The folder of this package: its lines are not what a program is made of.
PACKAGE = __file__[: -len("types.py")]

_SHORT = {f"{kind}({width})": f"{kind[0]}{width}" for kind in ("uint", "int") for width in (8, 16, 32, 64)}
_SHORT |= {"bits(1)": "bit", "float(32, 8)": "f32", "float(64, 11)": "f64"}

_DTYPES = {
    short: ("uint" if short[0] == "u" else "int") + short[1:] for short in _SHORT.values() if short[1:].isdigit()
}
_DTYPES |= {"bit": "bool", "f32": "float32", "f64": "float64"}


@dataclass(frozen=True, repr=False)
class Type:
    """The type of a word, by the name that programs have for it."""

    name: str
    """As programs write it: `uint(32)`."""

    def __repr__(self) -> str:
        short = _SHORT.get(self.name, self.name)
        return f"s{short}" if short.startswith("int(") else short

    @property
    def kind(self) -> str:
        """`uint`, `int`, `bits`, `fixed` or `float`."""
        return _parts(self.name)[0]

    @property
    def width(self) -> int:
        """How many bits."""
        return _parts(self.name)[1]

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """NumPy's type of the same numbers; none where NumPy has none."""
        import numpy as np

        name = _DTYPES.get(repr(self))
        return None if name is None else np.dtype(name)

    def __call__(self, number: float | _core.Word) -> Any:
        """The number as a scalar of NumPy of this type, which has a type where a plain number has none; of a word, the
        word as this type, by the rules of `cast`."""
        import numpy as np

        if isinstance(number, _core.Word):
            return number._trace.cast(number, self.name)
        dtype = self.dtype
        if dtype is None:
            raise UsageError(f"NumPy has no {self!r}: a plain number takes the type of the word that it meets")
        if dtype.kind in "iu" and not (
            float(number).is_integer() and int(np.iinfo(dtype).min) <= number <= int(np.iinfo(dtype).max)
        ):
            raise UsageError(f"the number does not fit {self!r}")
        return dtype.type(number)


u8, u16, u32, u64 = (Type(f"uint({width})") for width in (8, 16, 32, 64))
i8, i16, i32, i64 = (Type(f"int({width})") for width in (8, 16, 32, 64))
f32, f64 = Type("float(32, 8)"), Type("float(64, 11)")
bit = Type("bits(1)")


def uint(width: int) -> Type:
    """Integers of 0 to 2^width - 1."""
    return Type(f"uint({_number(width, 1)})")


def sint(width: int) -> Type:
    """Integers of -2^(width - 1) to 2^(width - 1) - 1."""
    return Type(f"int({_number(width, 1)})")


def bits(width: int) -> Type:
    """Strings of bits, which are no numbers."""
    return Type(f"bits({_number(width, 1)})")


def fixed(width: int, fraction: int) -> Type:
    """Fixed-point numbers: integers of a sign and `width` bits in all, in units of 2^-fraction."""
    width = _number(width, 2)
    if not 0 <= fraction <= width:
        raise UsageError(f"fixed: expected 0 to {width} bits after the point")
    return Type(f"fixed({width}, {fraction})")


def _number(width: int, least: int) -> int:
    if isinstance(width, bool) or not isinstance(width, int) or not least <= width <= 1 << 16:
        raise UsageError(f"the width of a type: expected {least} to 65536")
    return width


@dataclass(frozen=True)
class Lanes:
    """A number of lanes: a factor times public sizes."""

    factor: int
    sizes: tuple[tuple[str, int, int], ...] = ()
    """Names, least and greatest values."""

    def __mul__(self, other: int | Lanes) -> Lanes:
        other = lanes_of(other)
        return Lanes(self.factor * other.factor, tuple(sorted(self.sizes + other.sizes)))

    __rmul__ = __mul__

    @property
    def given(self) -> tuple[int, list[tuple[str, int, int]]]:
        """As the compiled part takes it."""
        return self.factor, list(self.sizes)


# What a size may be unless a limit is given.
_MOST = 1 << 32


def size(name: str, *, max: int = _MOST, min: int = 0) -> Lanes:
    """A public size, known to both parties when the program is run: the number of lanes of inputs that name it."""
    if not 0 <= min <= max < 1 << 63:
        raise UsageError(f"the size {name!r}: expected 0 <= min <= max < 2^63")
    return Lanes(1, ((name, min, max),))


def lanes_of(lanes: int | str | Lanes | None) -> Lanes:
    """Lanes as they are given; by default the size that all inputs have in common."""
    match lanes:
        case None:
            return size("lanes")
        case Lanes() if 1 <= lanes.factor < 1 << 63:
            return lanes
        case str():
            return size(lanes)
        case int() if not isinstance(lanes, bool) and 1 <= lanes < 1 << 63:
            return Lanes(lanes)
        case _:
            raise UsageError("lanes: expected a number of 1 or more, the name of a size, or duo.size(...)")


@dataclass(frozen=True)
class Input:
    """An input of a program: whose it is, its type and its lanes."""

    who: str
    type: Type
    lanes: Lanes


@dataclass(frozen=True, repr=False)
class Holder:
    """Who supplies an input, when called with its type, or who learns an output."""

    name: str

    def __repr__(self) -> str:
        return self.name.capitalize()

    def __call__(self, type: Type, *, lanes: int | str | Lanes | None = None) -> Input:
        """An input of this type. Without `lanes`, all inputs have as many: the size `lanes`."""
        if self.name == "both":
            raise UsageError("both supply no input together: write Alice, Bob, Public or Shared")
        if not isinstance(type, Type):
            raise UsageError(f"{self!r}(...): expected a type, such as u32")
        return Input(self.name, type, lanes_of(lanes))

    def table(self, **columns: Any) -> Table:
        """Alice's or Bob's table in a query: `email=key` and the types of columns, `views=u16`, `region=text`."""
        if self.name not in ("alice", "bob"):
            raise UsageError("a table is Alice's or Bob's")
        from .tables import Table

        return Table(self.name, columns)


Alice = Holder("alice")
Bob = Holder("bob")
Public = Holder("public")
Shared = Holder("shared")
Both = Holder("both")

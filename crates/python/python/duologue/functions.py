"""What functions are written with: each takes words of a program, arrays of NumPy and plain numbers alike.

On arrays the numbers come out as they do in the program; where NumPy by itself would give others, the page of the book
on programs in Python says so.
"""

from __future__ import annotations

import builtins
import contextlib
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import _arrays, _core
from ._branches import here
from ._core import Word
from .errors import UsageError
from .types import Type, bit, bits, f64, i8, i16, i32, i64, sint, u8, u16, u32, u64, uint

__all__ = [
    "add_checked",
    "all",
    "any",
    "argmax",
    "argmin",
    "cast",
    "concat",
    "count_ones",
    "dot",
    "lookup",
    "max",
    "maximum",
    "min",
    "minimum",
    "multiply_checked",
    "reduce",
    "scan",
    "sort",
    "stack",
    "subtract_checked",
    "sum",
    "unstack",
    "where",
    "widen",
]


def _refused(text: str) -> UsageError:
    """A misuse at the line of the caller."""
    return UsageError(f"{here()}: {text}")


def _trace(*values: object) -> _core.Trace | None:
    """The trace of the first word among these values and lists; none if there is no word."""
    for value in _flat(values):
        if isinstance(value, Word):
            return value._trace
    return None


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value


def type_of(value: Any) -> Type:
    """The type of a word, or of an array of NumPy."""
    if isinstance(value, Word):
        return Type(value._ty)
    import numpy as np

    from ._operands import _TYPES

    name = _TYPES.get(np.asarray(value).dtype.name)
    if name is None:
        raise UsageError(f"an array of {np.asarray(value).dtype}: expected booleans, integers, float32 or float64")
    return Type(name)


def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, else `b`; both are computed. The result has the wider type of both; two plain
    numbers have the smallest of `u8` to `u64`, or of `i8` to `i64` if one is below zero, or else `f64` or `bit`."""
    if _arrays.is_plain(condition, a, b):
        return a if condition else b
    if _arrays.is_plain(a, b):
        type = _smallest(a, b)
        a, b = type(a), type(b)
    trace = _trace(condition, a, b)
    if trace is not None:
        return trace.select(trace.constant(condition, bit.name), a, b)
    import numpy as np

    return np.where(condition, a, b)[()]


def _smallest(a: float, b: float) -> Type:
    """The type that has both."""
    if isinstance(a, float) or isinstance(b, float):
        return f64
    if isinstance(a, bool) and isinstance(b, bool):
        return bit
    least, most = builtins.min(a, b), builtins.max(a, b)
    for type in (i8, i16, i32, i64) if least < 0 else (u8, u16, u32, u64):
        ends = (-(1 << type.width - 1), 1 << type.width - 1) if least < 0 else (0, 1 << type.width)
        if ends[0] <= least and most < ends[1]:
            return type
    raise UsageError("two plain numbers that no type of 64 bits has: give one of them a type")


def minimum(a: Any, b: Any) -> Any:
    """The lesser of two, lane by lane; of floats NaN if one is."""
    return _extreme(a, b, False)


def maximum(a: Any, b: Any) -> Any:
    """The greater of two, lane by lane; of floats NaN if one is."""
    return _extreme(a, b, True)


def _extreme(a: Any, b: Any, greatest: bool) -> Any:
    trace = _trace(a, b)
    if trace is not None:
        return trace.extreme(a, b, greatest)
    if _arrays.is_plain(a, b):
        return builtins.max(a, b) if greatest else builtins.min(a, b)
    import numpy as np

    return (np.maximum if greatest else np.minimum)(a, b)


def cast(x: Any, type: Type) -> Any:
    """The number as another type: whole numbers wrap, numbers with a point are rounded."""
    if isinstance(x, Word):
        return x._trace.cast(x, type.name)
    import numpy as np

    array = np.asanyarray(x)
    dtype = _arrays.dtype(type)
    if dtype.kind == "b":
        return (array != 0)[()]
    if array.dtype.kind == "f" and dtype.kind in "iu":
        return _arrays.towards_zero(array, dtype)[()]
    return array.astype(dtype)[()]


def widen(x: Any, type: Type) -> Any:
    """The same number in a type that has room for all numbers of its own."""
    own = type_of(x)
    if not _holds(type, own):
        raise UsageError(f"{type!r} has no room for all of {own!r}: write duo.cast, which wraps or rounds")
    return cast(x, type)


def _holds(wide: Type, narrow: Type) -> bool:
    if wide == narrow:
        return True
    if narrow == bit:
        narrow = uint(1)
    if narrow.kind == "bits" or wide.kind == "bits":
        return False
    if wide.kind == narrow.kind == "float":
        (w, e), (n, f) = _format(wide), _format(narrow)
        return e >= f and w - e >= n - f
    if narrow.kind == "float" or narrow.kind == "fixed" and wide.kind != "fixed":
        return False
    # All others are whole numbers in units: above the point, a sign apart, and below it.
    (whole, below) = _places(narrow)
    if wide.kind == "float":
        width, exponent = _format(wide)
        return width - exponent >= whole and (1 << exponent - 1) - 1 >= whole
    (room, fraction) = _places(wide)
    is_signed = wide.kind != "uint" or narrow.kind == "uint"
    return is_signed and room >= whole and fraction >= below


def _places(type: Type) -> tuple[int, int]:
    """Bits above the point without the sign, and below it."""
    if type.kind == "fixed":
        width, fraction = _format(type)
        return width - 1 - fraction, fraction
    return type.width - (type.kind == "int"), 0


def _format(type: Type) -> tuple[int, int]:
    """The numbers in the brackets: of a float its width and the exponent's, of a fixed-point number its fraction's."""
    width, part = type.name[type.name.index("(") + 1 : -1].split(",")
    return int(width), int(part)


def count_ones(x: Any) -> Any:
    """How many bits are one, of a negative number those of its two's complement; as `u8`, up to 255 bits."""
    if isinstance(x, Word):
        return x._trace.count_ones(x)
    import numpy as np

    array = np.asarray(x)
    if array.dtype.kind not in "iub":
        raise UsageError(f"the bits of {array.dtype} are not counted")
    octets = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(array.size, array.dtype.itemsize)
    return np.unpackbits(octets, axis=1).sum(axis=1, dtype=np.uint8).reshape(array.shape)[()]


def concat(*words: Word) -> Word:
    """The bits of words after one another, those of the first lowest."""
    if not words or not builtins.all(isinstance(word, Word) for word in words):
        raise UsageError("concat: expected words; arrays have no bits to join")
    return words[0]._trace.concat(list(words))


def add_checked(a: Any, b: Any) -> tuple[Any, Any]:
    """The sum of two integers, which wraps, and whether it did."""
    return _checked(a, b, operator.add, lambda width: width + 1)


def subtract_checked(a: Any, b: Any) -> tuple[Any, Any]:
    """The difference of two integers, which wraps, and whether it did."""
    return _checked(a, b, operator.sub, lambda width: width + 1)


def multiply_checked(a: Any, b: Any) -> tuple[Any, Any]:
    """The product of two integers, which wraps, and whether it did."""
    return _checked(a, b, operator.mul, lambda width: 2 * width)


def _checked(a: Any, b: Any, does: Callable[[Any, Any], Any], wide: Callable[[int], int]) -> tuple[Any, Any]:
    trace = _trace(a, b)
    if trace is None:
        return _arrays.checked(a, b, does)
    like = a if isinstance(a, Word) else b
    first, second = trace.constant(a, like._ty), trace.constant(b, like._ty)
    own = type_of(first + second)
    if own.kind not in ("uint", "int"):
        raise UsageError(f"a checked operation of {own!r}: expected integers")
    more = Type(f"{own.kind}({wide(own.width)})")
    exact = does(cast(first, more), cast(second, more))
    result = cast(exact, own)
    return result, cast(result, more) != exact


def dot(left: Sequence[Any], right: Sequence[Any]) -> Any:
    """The sum of the products of two lists, lane by lane: of integers it wraps, of fixed-point numbers it is rounded
    once, of floats after each operation, from the first."""
    left, right = list(left), list(right)
    if len(left) != len(right) or not left:
        raise UsageError(f"dot: expected two lists of one length, not {len(left)} and {len(right)}")
    trace = _trace(left, right)
    factors = _alike(trace, left + right)
    left, right = factors[: len(left)], factors[len(left) :]
    if trace is not None and type_of(left[0]).kind != "float":
        return trace.dot(left, right)
    total = left[0] * right[0]
    for a, b in zip(left[1:], right[1:], strict=True):
        total = total + a * b
    return total


def _alike(trace: _core.Trace | None, values: Sequence[Any]) -> list[Any]:
    """Words, arrays and numbers with a type that all have in common; of a trace also as many lanes."""
    if trace is not None:
        return list(trace.alike(list(values), True))
    if _arrays.is_plain(*values):
        return list(values)
    import numpy as np

    dtype = np.result_type(*(np.asanyarray(value).dtype for value in values if not _arrays.is_plain(value)))
    return [np.asanyarray(value, dtype)[()] for value in values]


def lookup(index: Any, table: Sequence[Any], type: Type | None = None) -> Any:
    """Entry `index` of a table: of plain numbers, whose type is given or the array's, or of words.

    The index has no sign. Of an index beyond the table the highest bits are dropped, as many as it takes.
    """
    entries = list(table)
    if not entries:
        raise UsageError("lookup: the table is empty")
    trace = _trace(entries)
    if trace is not None or isinstance(index, Word) and builtins.any(getattr(entry, "ndim", 0) for entry in entries):
        trace = trace or index._trace
        return trace.read(trace.constant(index, u32.name), _alike(trace, entries))
    if type is None:
        if _arrays.is_plain(*entries):
            raise _refused("lookup: plain numbers have no type: write lookup(index, table, u8) or another")
        entries = _alike(None, entries)
        type = type_of(entries[0])
    if isinstance(index, Word):
        plain = [entry.item() if hasattr(entry, "item") else entry for entry in entries]
        return index._trace.table(index, plain, type.name)
    return _arrays.lookup(index, entries, type)


def reduce(function: Callable[..., Any], *words: Any) -> Any:
    """All lanes folded to one: `function(a, b)` of two neighbours, by a tree (0 with 1, 2 with 3; an odd last one
    waits). Of several words `a` and `b` are tuples, and so is the result. The function is associative, or its results
    depend on how many lanes there are."""
    trace = _trace(words)
    if trace is None:
        return _arrays.reduce(function, words)
    given = trace.alike(list(words), False)
    types = [type_of(word) for word in given]
    with _function(trace) as inner:
        sides = [
            [inner.argument(f"{side}{place}", type.name) for place, type in enumerate(types)]
            for side in ("left", "right")
        ]
        results = _results(inner, _arrays.one_or_all(function, *sides), types, "reduce")
        return _arrays.as_given(trace.reduce(given, inner, results))


@contextlib.contextmanager
def _function(trace: _core.Trace) -> Iterator[_core.Trace]:
    """The trace of a function of reduce or scan, which is over when that is, whatever happens."""
    inner = trace.fork()
    try:
        yield inner
    finally:
        inner.end()


def _results(inner: _core.Trace, returned: Any, types: list[Type], name: str) -> list[Word]:
    results = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    if len(results) != len(types):
        raise _refused(f"the function of {name} gave {len(results)} results: expected {len(types)}")
    words = [inner.constant(result, type.name) for result, type in zip(results, types, strict=True)]
    for word, type in zip(words, types, strict=True):
        if word._ty != type.name:
            raise _refused(f"the function of {name} gave {type_of(word)!r}: expected {type!r}, as it was given")
    return words


def scan(function: Callable[..., Any], state: Any, *words: Any, type: Type | None = None) -> tuple[Any, Any]:
    """Lane after lane: `function(state, x)` gives the next state and a result; the last state, and all results. Of
    several words the function has as many further arguments. `state` is one word of one lane, or a tuple of several;
    a plain number among them has the type that is given, or that of the first word that is gone through."""
    trace = _trace(state, words)
    if not words or _arrays.is_plain(words[0]):
        raise _refused("scan: expected a word of many lanes, or an array")
    own = type or type_of(words[0])
    if trace is None:
        return _arrays.scan(function, _arrays.typed(state, own), words)
    states = list(state) if isinstance(state, (tuple, list)) else [state]
    states = [trace.constant(one, own.name) for one in states]
    with _function(trace) as inner:
        return _scan(
            (trace, inner), function, (states, isinstance(state, (tuple, list))), trace.alike(list(words), False)
        )


def _scan(
    traces: tuple[_core.Trace, _core.Trace],
    function: Callable[..., Any],
    given: tuple[list[Any], bool],
    words: list[Word],
) -> tuple[Any, Any]:
    (trace, inner), (states, is_tuple) = traces, given
    types = [type_of(one) for one in states]
    inside = [inner.argument(f"state{place}", type.name) for place, type in enumerate(types)]
    each = [inner.argument(f"x{place}", type_of(word).name) for place, word in enumerate(words)]
    returned = function(tuple(inside) if is_tuple else inside[0], *each)
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise _refused("the function of scan gave something else than two things: the next state, and a result")
    after = _results(inner, returned[0], types, "scan")
    results = returned[1] if isinstance(returned[1], (tuple, list)) else [returned[1]]
    if not builtins.all(isinstance(result, Word) for result in results):
        raise _refused("the function of scan gave a result that is no word")
    made = trace.scan(states, words, inner, after + list(results))
    last, lanes = made[: len(states)], made[len(states) :]
    return (tuple(last) if is_tuple else last[0]), (
        tuple(lanes) if isinstance(returned[1], (tuple, list)) else lanes[0]
    )


def sort(x: Any, *, descending: bool = False) -> Any:
    """The lanes of a word in order, whose number is fixed (`Alice(u32, lanes=8)`); or words of one type in order, lane
    by lane. NaN counts as greater than all floats."""
    if isinstance(x, Word):
        return stack(_sorted(x._trace, x._trace.unstack(x), descending))
    trace = _trace(x) if isinstance(x, (list, tuple)) else None
    if trace is not None:
        return _sorted(trace, _alike(trace, x), descending)
    import numpy as np

    is_list = isinstance(x, (list, tuple))
    lanes = np.stack(np.broadcast_arrays(*_alike(None, x))) if is_list else np.atleast_1d(x)
    ordered = np.sort(lanes, axis=0)
    ordered = ordered[::-1] if descending else ordered
    return list(ordered) if is_list else ordered


def _sorted(trace: _core.Trace, words: list[Word], descending: bool) -> list[Word]:
    own = type_of(words[0])
    if own.kind != "float":
        return trace.sort(words, descending)
    # Floats by whole numbers that are in the same order, and back.
    top = 1 << own.width - 1
    keys = trace.sort([_key(word, True) for word in words], descending)
    return [cast(cast(where((key & top) != 0, key ^ top, ~key), bits(own.width)), own) for key in keys]


def _key(x: Word, is_nan_greatest: bool) -> Any:
    """A whole number that is less where a float is; of NaN the greatest or the least."""
    width = type_of(x).width
    top = 1 << width - 1
    # Of both zeros the one without a sign.
    pattern = where(x == 0, 0, cast(cast(x, bits(width)), uint(width)))
    ordered = where((pattern & top) != 0, ~pattern, pattern | top)
    return where(x != x, 2 * top - 1 if is_nan_greatest else 0, ordered)


def unstack(x: Any) -> list[Any]:
    """The lanes as words of one lane; how many is fixed, as in `Alice(u32, lanes=8)`."""
    if isinstance(x, Word):
        return x._trace.unstack(x)
    import numpy as np

    return list(np.atleast_1d(x))


def stack(words: Sequence[Any]) -> Any:
    """Words of one lane as the lanes of one."""
    words = list(words)
    trace = _trace(words)
    if trace is not None:
        return trace.stack(_alike(trace, words))
    import numpy as np

    return np.stack([np.reshape(word, ()) for word in _alike(None, words)])


def sum(x: Any, type: Type | None = None) -> Any:
    """The sum of all lanes, in 64 bits like NumPy's, or in another type, in which it wraps. It costs as many bits as the
    sum can have: say how many lanes there are at most, as in `duo.size("n", max=1000)`. Of fixed-point numbers and floats it has their type; floats are added as a tree."""
    own = type_of(x)
    if type is None:
        short = own == bit or own.kind in ("uint", "int") and own.width <= 64
        type = (u64 if own.kind == "uint" else i64) if short else own
    if isinstance(x, Word) and own.kind in ("bits", "uint", "int"):
        return cast(reduce(operator.add, cast(x, _of_sums(x, own, type))), type)
    return reduce(operator.add, cast(x, type))


def _of_sums(x: Word, own: Type, type: Type) -> Type:
    """The type in which sums are made: no wider than the most lanes need, since what is wider costs ANDs."""
    width = own.width + (x._most_lanes - 1).bit_length()
    if type.kind not in ("uint", "int") or width >= type.width:
        return type
    return sint(width) if own.kind == "int" else uint(width)


def max(x: Any) -> Any:
    """The greatest lane."""
    return reduce(maximum, x)


def min(x: Any) -> Any:
    """The least lane."""
    return reduce(minimum, x)


def any(x: Any) -> Any:
    """Whether some lane is not zero."""
    return reduce(operator.or_, cast(x, bit))


def all(x: Any) -> Any:
    """Whether no lane is zero."""
    return reduce(operator.and_, cast(x, bit))


def argmax(x: Any) -> Any:
    """The place of the greatest lane, the first one of several; as `i64`. Of floats that of the first NaN if one is."""
    return _place(x, operator.gt)


def argmin(x: Any) -> Any:
    """The place of the least lane, the first one of several; as `i64`. Of floats that of the first NaN if one is."""
    return _place(x, operator.lt)


def _place(x: Any, is_better: Callable[[Any, Any], Any]) -> Any:
    own = type_of(x)
    if own.kind == "bits":
        raise UsageError(f"the place of the best lane of {own!r}: expected numbers")
    if isinstance(x, Word) and own.kind == "float":
        x = _key(x, is_better is operator.gt)
    if not isinstance(x, Word):
        return i64(int(x.argmin() if is_better is operator.lt else x.argmax()))

    def better(left: Any, right: Any) -> Any:
        # The left one of two blocks is full, so that the other's places grow by its length.
        (key, place, length), (other, behind, _) = left, right
        wins = is_better(other, key)
        return where(wins, other, key), where(wins, behind ^ length, place), length << 1

    # The last length may wrap: no block stands behind that one.
    places = uint(builtins.max(1, (x._most_lanes - 1).bit_length()))
    start = [x._trace.constant(number, places.name) for number in (0, 1)]
    return cast(reduce(better, x, *start)[1], i64)

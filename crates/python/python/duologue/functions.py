"""What functions are written with: each takes words of a program, arrays of NumPy and plain numbers alike.

On arrays the numbers come out as they do in the program; where NumPy by itself would give others, the page of the book
on programs in Python says so.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import _core
from ._core import Word
from .errors import UsageError
from .types import Type, bit, f64, i8, i16, i32, i64, sint, u8, u16, u32, u64, uint

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


def _trace(*values: object) -> _core.Trace | None:
    """The trace of the first word among these values and lists; none if there is no word."""
    for value in _flat(values):
        if isinstance(value, Word):
            return value.trace
    return None


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value


def _is_plain(*values: object) -> bool:
    return builtins.all(type(value) in (int, float, bool) for value in values)


def type_of(value: Any) -> Type:
    """The type of a word, or of an array of NumPy."""
    if isinstance(value, Word):
        return Type(value.ty)
    import numpy as np

    from ._operands import _TYPES

    name = _TYPES.get(np.asarray(value).dtype.name)
    if name is None:
        raise UsageError(f"an array of {np.asarray(value).dtype}: expected booleans, integers, float32 or float64")
    return Type(name)


def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, else `b`; both are computed. The result has the wider type of both; two plain
    numbers have the smallest of `u8` to `u64`, or of `i8` to `i64` if one is below zero, or else `f64` or `bit`."""
    if _is_plain(condition, a, b):
        return a if condition else b
    if _is_plain(a, b):
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
    if _is_plain(a, b):
        return builtins.max(a, b) if greatest else builtins.min(a, b)
    import numpy as np

    return (np.maximum if greatest else np.minimum)(a, b)


def cast(x: Any, type: Type) -> Any:
    """The number as another type: whole numbers wrap, numbers with a point are rounded."""
    if isinstance(x, Word):
        return x.trace.cast(x, type.name)
    import numpy as np

    array = np.asarray(x)
    dtype = _dtype(type)
    if dtype.kind == "b":
        return (array != 0)[()]
    if array.dtype.kind == "f" and dtype.kind in "iu":
        return _towards_zero(array, dtype)[()]
    return array.astype(dtype)[()]


def _dtype(type: Type) -> Any:
    if type.dtype is None:
        raise UsageError(f"NumPy has no {type!r}: the function runs as a program alone")
    return type.dtype


def _towards_zero(array: Any, dtype: Any) -> Any:
    """Whole numbers, the nearest ones where there is no room, and 0 for NaN."""
    import numpy as np

    info = np.iinfo(dtype)
    least, beyond = float(info.min), float(info.max) + 1 if info.bits < 64 else 2.0 ** (info.bits - (info.min < 0))
    whole = np.trunc(array.astype(np.float64))
    fits = (whole >= least) & (whole < beyond)
    made = np.where(fits, whole, 0).astype(dtype)
    made = np.where(whole >= beyond, dtype.type(info.max), made)
    return np.where(whole < least, dtype.type(info.min), made)


def widen(x: Any, type: Type) -> Any:
    """The same number in a type that has room for all numbers of its own."""
    own = type_of(x)
    if not _holds(type, own):
        raise UsageError(f"{type!r} has no room for all of {own!r}: write duo.cast, which wraps or rounds")
    return cast(x, type)


def _holds(wide: Type, narrow: Type) -> bool:
    if narrow == bit and wide.kind in ("uint", "int"):
        return wide.width > (wide.kind == "int")
    if narrow.kind == "uint" and wide.kind == "int":
        return wide.width > narrow.width
    if narrow.kind == "fixed" and wide.kind == "fixed":
        (w, f), (n, g) = _format(wide), _format(narrow)
        return f >= g and w - f >= n - g
    if narrow.kind in ("uint", "int") and wide.kind == "float":
        precision = {32: 24, 64: 53}.get(wide.width, 0)
        return narrow.width - (narrow.kind == "int") <= precision
    return wide.kind == narrow.kind and wide.width >= narrow.width and wide.kind != "bits"


def _format(type: Type) -> tuple[int, int]:
    width, fraction = type.name[len("fixed(") : -1].split(",")
    return int(width), int(fraction)


def count_ones(x: Any) -> Any:
    """How many bits are one, of a negative number those of its two's complement; as `u8`, up to 255 bits."""
    if isinstance(x, Word):
        return x.trace.count_ones(x)
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
    return words[0].trace.concat(list(words))


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
        return _checked_plain(a, b, does)
    like = a if isinstance(a, Word) else b
    first, second = trace.constant(a, like.ty), trace.constant(b, like.ty)
    own = type_of(first + second)
    if own.kind not in ("uint", "int"):
        raise UsageError(f"a checked operation of {own!r}: expected integers")
    more = Type(f"{own.kind}({wide(own.width)})")
    exact = does(cast(first, more), cast(second, more))
    result = cast(exact, own)
    return result, cast(result, more) != exact


def _checked_plain(a: Any, b: Any, does: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    import numpy as np

    if _is_plain(a, b):
        return does(a, b), False
    with np.errstate(over="ignore"):
        result = np.asarray(does(a, b))
    if result.dtype.kind not in "iu":
        raise UsageError(f"a checked operation of {result.dtype}: expected integers")
    exact = does(np.asarray(a).astype(object), np.asarray(b).astype(object))
    return result[()], np.asarray(result.astype(object) != exact, dtype=bool)[()]


def dot(left: Sequence[Any], right: Sequence[Any]) -> Any:
    """The sum of the products of two lists, lane by lane: of integers it wraps, of fixed-point numbers it is rounded
    once, of floats after each operation, from the first."""
    left, right = list(left), list(right)
    if len(left) != len(right) or not left:
        raise UsageError(f"dot: expected two lists of one length, not {len(left)} and {len(right)}")
    trace = _trace(left, right)
    like = next((type_of(value) for value in _flat([left, right]) if isinstance(value, Word)), None)
    if trace is None or like is None or like.kind == "float":
        total = left[0] * right[0]
        for a, b in zip(left[1:], right[1:], strict=True):
            total = total + a * b
        return total
    words = [[trace.constant(value, like.name) for value in side] for side in (left, right)]
    return trace.dot(*words)


def lookup(index: Any, table: Sequence[Any], type: Type | None = None) -> Any:
    """Entry `index` of a table: of plain numbers, whose type is given or the array's, or of words.

    The index has no sign. Of an index beyond the table the highest bits are dropped, as many as it takes.
    """
    entries = list(table)
    if not entries:
        raise UsageError("lookup: the table is empty")
    if _trace(entries) is not None:
        trace = _trace(entries)
        assert trace is not None
        like = next(value for value in entries if isinstance(value, Word))
        words = [trace.constant(value, like.ty) for value in entries]
        return trace.read(trace.constant(index, u32.name), words)
    own = type_of(table) if type is None and hasattr(table, "dtype") else type
    if own is None:
        raise UsageError("lookup: plain numbers have no type: write lookup(index, table, u8) or another")
    if isinstance(index, Word):
        plain = [entry.item() if hasattr(entry, "item") else entry for entry in entries]
        return index.trace.table(index, plain, own.name)
    import numpy as np

    return np.asarray(entries, _dtype(own))[_within(np.asarray(index).astype(np.uint64), len(entries))]


def _within(index: Any, entries: int) -> Any:
    """Places in a table by the rule of `lookup`."""
    import numpy as np

    bits_of_index = (entries - 1).bit_length()
    low = index & np.uint64((1 << bits_of_index) - 1)
    top = np.uint64(1 << bits_of_index >> 1)
    return np.where(low < entries, low, low ^ top).astype(np.intp)


def reduce(function: Callable[..., Any], *words: Any) -> Any:
    """All lanes folded to one: `function(a, b)` of two neighbours, by a tree (0 with 1, 2 with 3; an odd last one
    waits). Of several words `a` and `b` are tuples, and so is the result. The function is associative, or its results
    depend on how many lanes there are."""
    trace = _trace(words)
    if trace is None:
        return _reduce_plain(function, words)
    types = [type_of(word) for word in words]
    inner = trace.fork()
    sides = [
        [inner.argument(f"{side}{place}", type.name) for place, type in enumerate(types)] for side in ("left", "right")
    ]
    results = _results(inner, _one_or_all(function, *sides), types, "reduce")
    return _as_given(trace.reduce(list(words), inner, results))


def _one_or_all(function: Callable[..., Any], *sides: list[Any]) -> Any:
    """Calls it with words, or with tuples of several."""
    return function(*(side[0] if len(side) == 1 else tuple(side) for side in sides))


def _as_given(words: list[Any]) -> Any:
    return words[0] if len(words) == 1 else tuple(words)


def _results(inner: _core.Trace, returned: Any, types: list[Type], name: str) -> list[Word]:
    results = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    if len(results) != len(types):
        raise UsageError(f"the function of {name} gave {len(results)} results: expected {len(types)}")
    words = [inner.constant(result, type.name) for result, type in zip(results, types, strict=True)]
    for word, type in zip(words, types, strict=True):
        if word.ty != type.name:
            raise UsageError(f"the function of {name} gave {type_of(word)!r}: expected {type!r}, as it was given")
    return words


def _reduce_plain(function: Callable[..., Any], words: tuple[Any, ...]) -> Any:
    import numpy as np

    lanes = [np.atleast_1d(np.asarray(word)) for word in words]
    if len(lanes[0]) == 0:
        raise UsageError("a reduction of no lanes has no result")
    while len(lanes[0]) > 1:
        pairs = len(lanes[0]) // 2
        made = _one_or_all(function, [lane[0 : 2 * pairs : 2] for lane in lanes], [lane[1::2] for lane in lanes])
        made = [made] if len(lanes) == 1 else list(made)
        kept = zip(made, lanes, strict=True)
        lanes = [np.concatenate([np.broadcast_to(new, pairs), old[2 * pairs :]]) for new, old in kept]
    return _as_given([lane[0] for lane in lanes])


def scan(function: Callable[..., Any], state: Any, *words: Any) -> tuple[Any, Any]:
    """Lane after lane: `function(state, x)` gives the next state and a result; the last state, and all results. Of
    several words the function has as many further arguments. `state` is one word of one lane, or a tuple of several."""
    trace = _trace(state, words)
    if trace is None:
        return _scan_plain(function, state, words)
    if not words or not builtins.any(isinstance(word, Word) for word in words):
        raise UsageError("scan: expected a word of many lanes")
    states = list(state) if isinstance(state, (tuple, list)) else [state]
    if builtins.any(_is_plain(one) for one in states):
        raise UsageError("scan: a plain number has no type as the first state: write duo.u32(0), or a word")
    states = [trace.constant(one, type_of(one).name) for one in states]
    return _scan(trace, function, (states, isinstance(state, (tuple, list))), words)


def _scan(
    trace: _core.Trace, function: Callable[..., Any], given: tuple[list[Any], bool], words: tuple[Any, ...]
) -> tuple[Any, Any]:
    states, is_tuple = given
    types = [type_of(one) for one in states]
    inner = trace.fork()
    inside = [inner.argument(f"state{place}", type.name) for place, type in enumerate(types)]
    each = [inner.argument(f"x{place}", type_of(word).name) for place, word in enumerate(words)]
    returned = function(tuple(inside) if is_tuple else inside[0], *each)
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise UsageError("the function of scan gave something else than two things: the next state, and a result")
    after = _results(inner, returned[0], types, "scan")
    results = returned[1] if isinstance(returned[1], (tuple, list)) else [returned[1]]
    if not builtins.all(isinstance(result, Word) for result in results):
        raise UsageError("the function of scan gave a result that is no word")
    made = trace.scan(states, list(words), inner, after + list(results))
    last, lanes = made[: len(states)], made[len(states) :]
    return (tuple(last) if is_tuple else last[0]), (
        tuple(lanes) if isinstance(returned[1], (tuple, list)) else lanes[0]
    )


def _scan_plain(function: Callable[..., Any], state: Any, words: tuple[Any, ...]) -> tuple[Any, Any]:
    import numpy as np

    given = []
    for lane in zip(*words, strict=True):
        state, result = function(state, *lane)
        given.append(result)
    if given and isinstance(given[0], tuple):
        return state, tuple(np.asarray(column) for column in zip(*given, strict=True))
    return state, np.asarray(given)


def sort(x: Any, *, descending: bool = False) -> Any:
    """The lanes of a word in order, whose number is fixed (`Alice(u32, lanes=8)`); or words of one type in order, lane
    by lane."""
    if isinstance(x, Word):
        return stack(x.trace.sort(x.trace.unstack(x), descending))
    if _trace(x) is not None:
        words = list(x)
        return words[0].trace.sort(words, descending)
    import numpy as np

    is_list = isinstance(x, (list, tuple))
    ordered = np.sort(np.stack(list(x)) if is_list else np.asarray(x), axis=0)
    ordered = ordered[::-1] if descending else ordered
    return list(ordered) if is_list else ordered


def unstack(x: Any) -> list[Any]:
    """The lanes as words of one lane; how many is fixed, as in `Alice(u32, lanes=8)`."""
    return x.trace.unstack(x) if isinstance(x, Word) else list(x)


def stack(words: Sequence[Any]) -> Any:
    """Words of one lane as the lanes of one."""
    trace = _trace(list(words))
    if trace is None:
        import numpy as np

        return np.asarray(list(words))
    like = next(word for word in words if isinstance(word, Word))
    return trace.stack([trace.constant(word, like.ty) for word in words])


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
    width = own.width + (x.most_lanes - 1).bit_length()
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
    """The place of the greatest lane, the first one of several; as `i64`. Not of floats."""
    return _place(x, operator.gt)


def argmin(x: Any) -> Any:
    """The place of the least lane, the first one of several; as `i64`. Not of floats."""
    return _place(x, operator.lt)


def _place(x: Any, is_better: Callable[[Any, Any], Any]) -> Any:
    own = type_of(x)
    if own.kind == "float" or own.kind == "bits":
        raise UsageError(f"the place of the best lane of {own!r}: expected integers or fixed-point numbers")
    if not isinstance(x, Word):
        return i64(int(x.argmin() if is_better is operator.lt else x.argmax()))

    def better(left: Any, right: Any) -> Any:
        # The left one of two blocks is full, so that the other's places grow by its length.
        (key, place, length), (other, behind, _) = left, right
        wins = is_better(other, key)
        return where(wins, other, key), where(wins, behind ^ length, place), length << 1

    # The last length may wrap: no block stands behind that one.
    places = uint(builtins.max(1, (x.most_lanes - 1).bit_length()))
    start = [x.trace.constant(number, places.name) for number in (0, 1)]
    return cast(reduce(better, x, *start)[1], i64)

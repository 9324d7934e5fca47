"""The functions of this package on arrays of NumPy: each gives the numbers that a program gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import UsageError
from .types import Type


def is_plain(*values: object) -> bool:
    return all(isinstance(value, int) or type(value) is float for value in values)


def dtype(type: Type) -> Any:
    if type.dtype is None:
        raise UsageError(f"NumPy has no {type!r}: the function runs as a program alone")
    return type.dtype


def towards_zero(array: Any, dtype: Any) -> Any:
    """Whole numbers, the nearest ones where there is no room, and 0 for NaN."""
    import numpy as np

    info = np.iinfo(dtype)
    least, beyond = float(info.min), float(info.max) + 1 if info.bits < 64 else 2.0 ** (info.bits - (info.min < 0))
    whole = np.trunc(array.astype(np.float64))
    fits = (whole >= least) & (whole < beyond)
    made = np.where(fits, whole, 0).astype(dtype)
    made = np.where(whole >= beyond, dtype.type(info.max), made)
    return np.where(whole < least, dtype.type(info.min), made)


def checked(a: Any, b: Any, does: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    import numpy as np

    if is_plain(a, b):
        return does(a, b), False
    with np.errstate(over="ignore"):
        result = np.asarray(does(a, b))
    if result.dtype.kind not in "iu":
        raise UsageError(f"a checked operation of {result.dtype}: expected integers")
    exact = does(np.asarray(a).astype(object), np.asarray(b).astype(object))
    return result[()], np.asarray(result.astype(object) != exact, dtype=bool)[()]


def lookup(index: Any, entries: list[Any], type: Type) -> Any:
    import numpy as np

    place = within(np.asarray(index).astype(np.uint64), len(entries))
    if not any(getattr(entry, "ndim", 0) for entry in entries):
        return np.asarray(entries, dtype(type))[place]
    place, *lanes = np.broadcast_arrays(place, *entries)
    return np.take_along_axis(np.stack(lanes), place[None], 0)[0].astype(dtype(type))


def within(index: Any, entries: int) -> Any:
    """Places in a table by the rule of `lookup`."""
    import numpy as np

    bits_of_index = (entries - 1).bit_length()
    low = index & np.uint64((1 << bits_of_index) - 1)
    top = np.uint64(1 << bits_of_index >> 1)
    return np.where(low < entries, low, low ^ top).astype(np.intp)


def one_or_all(function: Callable[..., Any], *sides: list[Any]) -> Any:
    """Calls it with words, or with tuples of several."""
    return function(*(side[0] if len(side) == 1 else tuple(side) for side in sides))


def as_given(words: list[Any]) -> Any:
    return words[0] if len(words) == 1 else tuple(words)


def reduce(function: Callable[..., Any], words: tuple[Any, ...]) -> Any:
    import numpy as np

    lanes = list(np.broadcast_arrays(*(np.atleast_1d(np.asarray(word)) for word in words)))
    if len(lanes[0]) == 0:
        raise UsageError("a reduction of no lanes has no result")
    while len(lanes[0]) > 1:
        pairs = len(lanes[0]) // 2
        made = one_or_all(function, [lane[0 : 2 * pairs : 2] for lane in lanes], [lane[1::2] for lane in lanes])
        made = [made] if len(lanes) == 1 else list(made)
        kept = zip(made, lanes, strict=True)
        lanes = [np.concatenate([np.broadcast_to(new, pairs), old[2 * pairs :]]) for new, old in kept]
    return as_given([lane[0] for lane in lanes])


def typed(state: Any, type: Type) -> Any:
    """Plain numbers as scalars of NumPy."""
    if isinstance(state, (tuple, list)):
        return tuple(typed(one, type) for one in state)
    return type(state) if is_plain(state) else state


def scan(function: Callable[..., Any], state: Any, words: tuple[Any, ...]) -> tuple[Any, Any]:
    import numpy as np

    given = []
    lanes = np.broadcast_arrays(*map(np.atleast_1d, words), subok=True)
    for lane in zip(*lanes, strict=True):
        state, result = function(state, *lane)
        given.append(result)
    if given and isinstance(given[0], (tuple, list)):
        return state, tuple(np.asarray(column).view(type(lanes[0])) for column in zip(*given, strict=True))
    return state, np.asarray(given).view(type(lanes[0]))

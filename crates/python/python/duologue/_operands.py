"""Numbers and arrays of NumPy as operands of words: public constants with types of their own."""

from __future__ import annotations

import sys
from typing import Any

from . import _core
from ._branches import here, refusal
from ._core import Word
from .errors import UsageError
from .types import _DTYPES, _SHORT

_TYPES = {_DTYPES[short]: name for name, short in _SHORT.items()}


# NumPy's functions that are operators of words, and the operator with the sides exchanged.
_OPERATORS = {
    "add": ("add", "radd"),
    "subtract": ("sub", "rsub"),
    "multiply": ("mul", "rmul"),
    "divide": ("truediv", "rtruediv"),
    "floor_divide": ("floordiv", "rfloordiv"),
    "remainder": ("mod", "rmod"),
    "power": ("pow", "rpow"),
    "bitwise_and": ("and", "rand"),
    "bitwise_or": ("or", "ror"),
    "bitwise_xor": ("xor", "rxor"),
    "left_shift": ("lshift", "rlshift"),
    "right_shift": ("rshift", "rrshift"),
    "equal": ("eq", "eq"),
    "not_equal": ("ne", "ne"),
    "less": ("lt", "gt"),
    "less_equal": ("le", "ge"),
    "greater": ("gt", "lt"),
    "greater_equal": ("ge", "le"),
}

_UNARY = {"negative": "neg", "positive": "pos", "absolute": "abs", "invert": "invert"}


def ufunc(function: Any, method: str, args: tuple[Any, ...], more: dict[str, Any] | None) -> Any:
    """What NumPy was asked to compute of arrays and words: by the operators of words, if it is one of theirs."""
    from . import functions

    name = function.__name__
    if method != "__call__" or more:
        raise refusal(f"np.{name}" if method == "__call__" else f"np.{name}.{method}")
    if name in ("minimum", "maximum"):
        return getattr(functions, name)(*args)
    if name == "square":
        return args[0] * args[0]
    if name in _UNARY:
        return getattr(Word, f"__{_UNARY[name]}__")(args[0])
    if name not in _OPERATORS:
        raise refusal(f"np.{name}")
    (first, second), (forward, backward) = args, _OPERATORS[name]
    # By the method, since an operator between an array and a word would come here again.
    if isinstance(first, Word):
        return getattr(Word, f"__{forward}__")(first, second, *([None] if forward == "pow" else []))
    return getattr(Word, f"__{backward}__")(second, first, *([None] if forward == "pow" else []))


def of_numpy(value: object) -> tuple[str, Any] | None:
    """The type, and a plain number or the lanes of an array; nothing if it is nothing of NumPy's."""
    # Whoever has such a value has imported NumPy.
    np = sys.modules.get("numpy")
    if np is None or not isinstance(value, (np.generic, np.ndarray)):
        return None
    if isinstance(value, np.ma.MaskedArray):
        raise UsageError(
            f"{here()}: a masked array meets a word: fill it, as in array.filled(0), or give its mask by itself"
        )
    name = _TYPES.get(value.dtype.name)
    if name is None:
        raise UsageError(
            f"{here()}: an array of {value.dtype} meets a word: expected booleans, integers, float32 or float64"
        )
    if value.ndim == 0:
        return name, value.item()
    if value.ndim != 1:
        raise UsageError(
            f"{here()}: an array of {value.ndim} dimensions meets a word: expected one, a number for each lane"
        )
    native = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("="))
    return name, _core.pack_numbers(native.view(np.uint8) if native.dtype == bool else native, name)

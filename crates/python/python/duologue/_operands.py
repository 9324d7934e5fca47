"""Numbers and arrays of NumPy as operands of words: public constants with types of their own."""

from __future__ import annotations

import sys
from typing import Any

from . import _core
from .errors import UsageError

_TYPES = {f"{kind}{width}": f"{kind}({width})" for kind in ("uint", "int") for width in (8, 16, 32, 64)}
_TYPES |= {"bool": "bits(1)", "float32": "float(32, 8)", "float64": "float(64, 11)"}


def of_numpy(value: object) -> tuple[str, Any] | None:
    """The type, and a plain number or the lanes of an array; nothing if it is nothing of NumPy's."""
    # Whoever has such a value has imported NumPy.
    np = sys.modules.get("numpy")
    if np is None or not isinstance(value, (np.generic, np.ndarray)):
        return None
    name = _TYPES.get(value.dtype.name)
    if name is None:
        raise UsageError(f"an array of {value.dtype} meets a word: expected booleans, integers, float32 or float64")
    if value.ndim == 0:
        return name, value.item()
    if value.ndim != 1:
        raise UsageError(f"an array of {value.ndim} dimensions meets a word: expected one, a number for each lane")
    native = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("="))
    return name, _core.pack_numbers(native.view(np.uint8) if native.dtype == bool else native, name)

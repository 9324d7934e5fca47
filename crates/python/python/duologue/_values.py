"""What people give and get as the lanes of ports."""

from __future__ import annotations

import math
import os
import re
from typing import TYPE_CHECKING, Any

from . import _core
from .columns import Column, shared
from .errors import UsageError

if TYPE_CHECKING:
    import numpy as np

    from .program import Port

_TYPE = re.compile(r"(bits|uint|int|fixed|float)\((\d+)(?:, *(\d+))?\)")

# Integers up to this magnitude are doubles.
_MOST_EXACT = 1 << 53


class Share:
    """This party's share of a value: without the peer's it tells nothing.

    It is an output that stays shared, and serves as the shared input of a later program. It cannot be shown or pickled.
    """

    __slots__ = ("_matrix", "type")

    def __init__(self, matrix: _core.Matrix, type: str) -> None:
        self._matrix = matrix
        self.type = type
        """The type of a lane, as in `uint(32)`."""

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the share to `FILE.npy`, for its owner's eyes, as the command writes an output that stays shared. The
        file is a secret."""
        _core.save_share(_npy(file), self._matrix, self.type)

    @classmethod
    def load(cls, file: str | os.PathLike[str], type: str) -> Share:
        """Reads a share of a type, such as `uint(32)`, from `FILE.npy`, of `save` or of the command."""
        return cls(_core.load_share(_npy(file), type), type)

    def __len__(self) -> int:
        return self._matrix.lanes

    def __repr__(self) -> str:
        return f"<Share of {len(self)} × {self.type}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("a share is a secret: it cannot be pickled or copied")


def _npy(file: str | os.PathLike[str]) -> str:
    name = os.fspath(file)
    if not name.endswith(".npy"):
        raise UsageError("the file of a share ends in .npy, by which the command knows it")
    return name


def width(type: str) -> tuple[str, int]:
    """The kind of a type, and its width in bits."""
    found = _TYPE.fullmatch(type)
    if found is None:
        raise UsageError(f"'{type}' is no type")
    return found[1], int(found[2])


def pack(port: Port, value: object) -> _core.Matrix:
    """The lanes of an input."""
    try:
        return _pack(port, value)
    except UsageError as why:
        raise UsageError(f"the input '{port.name}': {why}") from None


def _pack(port: Port, value: object) -> _core.Matrix:
    if port.who == "shared" or isinstance(value, Share):
        return _share(port, value)
    if isinstance(value, Column):
        return _formed(port, value)
    if not _is_of_numbers(value):
        column = shared(value)
        if column is not None:
            return _column(port, column)
    array = _array(port, value)
    kind, bits = width(port.type)
    if array.ndim == 2 and array.shape[1] == 1 and not (kind == "bits" or bits > 128):
        array = array[:, 0]
    match array.ndim:
        case 0:
            return _numbers(port, array.reshape(1))
        case 1:
            return _numbers(port, array)
        case 2:
            return _rows(port, array)
        case dimensions:
            raise UsageError(f"it has {dimensions} dimensions: expected {_expected(port)}")


def _share(port: Port, value: object) -> _core.Matrix:
    if port.who != "shared":
        raise UsageError(f"it is a share, which only a shared input takes: expected {_expected(port)}")
    if not isinstance(value, Share):
        raise UsageError(f"it is shared: expected a Share of {port.type}, an output of an earlier run")
    if value.type != port.type:
        raise UsageError(f"it is a share of {value.type}: expected one of {port.type}")
    return value._matrix


def _is_of_numbers(value: object) -> bool:
    """Whether NumPy reads it as it is: a column of pandas, say, that has no type of its own."""
    dtype = getattr(value, "dtype", None)
    return type(dtype).__module__.startswith("numpy") and dtype is not None and dtype.kind in "biuf"


def _formed(port: Port, value: Column) -> _core.Matrix:
    column = shared(value.values)
    if column is None:
        raise UsageError("a form needs a column of polars, pyarrow, or of pandas where pyarrow is installed")
    return column.pack(port.type, value.form)


# The kinds of Arrow's types that a kind of port takes without a form.
_TAKES = {
    "bits": ("bytes", "null"),
    "uint": ("integer", "whole decimal", "null"),
    "int": ("integer", "whole decimal", "null"),
    "fixed": ("integer", "float", "decimal", "whole decimal", "null"),
    "float": ("integer", "float", "decimal", "whole decimal", "null"),
}
# What a form could be for those that need one.
_FORMS = {"date": "date", "time": "time(us)", "text": "text", "decimal": "decimal(2)"}


def _column(port: Port, column: _core.Column) -> _core.Matrix:
    kind, bits = width(port.type)
    takes = ("bool", "integer", "null") if kind == "bits" and bits == 1 else _TAKES[kind]
    if column.lanes and column.kind not in takes:
        form = _FORMS.get(column.kind)
        hint = f"; or duo.column(values, '{form}'), which says how it is meant" if form else ""
        raise UsageError(f"its Arrow type is {column.ty}: expected {_expected(port)}{hint}")
    return column.pack(port.type, None)


def _array(port: Port, value: object) -> np.ndarray[Any, Any]:
    import numpy as np

    if isinstance(value, (bytes, bytearray)):
        return _one_string(port, bytes(value))
    check_whole(value, _expected(port))
    try:
        array = np.asarray(value)
        if array.dtype.kind == "f" and _is_of_integers(value) and width(port.type)[0] in ("uint", "int"):
            # Beside numbers below 2^63, NumPy takes those above for floats.
            array = np.asarray(value, np.uint64)
    except (ValueError, TypeError, OverflowError):
        raise UsageError(f"it is no array: expected {_expected(port)}") from None
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise UsageError(f"its dtype is {_shown(array.dtype)}: expected {_expected(port)}")
    return array


def check_whole(value: object, expected: str) -> None:
    """Refuses masked arrays, whose hidden values NumPy would take for theirs."""
    import numpy as np

    if np.ma.isMaskedArray(value):
        raise UsageError(f"it is a masked array: expected {expected}, without gaps")


def _is_of_integers(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(type(one) is int for one in value)


def _one_string(port: Port, value: bytes) -> np.ndarray[Any, Any]:
    """Byte strings are one lane."""
    import numpy as np

    return np.frombuffer(value, np.uint8).reshape(1, -1)


def _shown(dtype: np.dtype[Any]) -> str:
    """The name of a dtype; numbers beyond 64 bits are among objects."""
    return "object" if dtype.kind == "O" else str(dtype)


def _numbers(port: Port, array: np.ndarray[Any, Any]) -> _core.Matrix:
    import numpy as np

    kind, bits = width(port.type)
    dtype = array.dtype
    if kind == "bits" and bits != 1 or bits > 128:
        raise UsageError(f"it has one dimension: expected {_expected(port)}")
    if dtype.kind == "b" and bits != 1:
        raise UsageError(f"its dtype is bool: expected {_expected(port)}")
    if dtype.kind == "f" and kind not in ("fixed", "float"):
        # What pandas, polars and pyarrow make of integers with gaps.
        gaps = np.isnan(array)
        first = f", and row {int(gaps.argmax())} is a gap" if gaps.any() else ""
        raise UsageError(f"its dtype is {dtype}{first}: expected {_expected(port)}")
    if dtype.kind in "biu" and kind in ("fixed", "float"):
        array = _exact(port, array)
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    array = _native(array)
    return _core.pack_numbers(array.view(np.uint8) if array.dtype == bool else array, port.type)


def _exact(port: Port, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Integers as doubles, if they are some."""
    import numpy as np

    beyond = (array > _MOST_EXACT) | (array < -_MOST_EXACT) if array.dtype.itemsize == 8 else np.zeros(0, bool)
    if beyond.any():
        raise UsageError(f"row {int(beyond.argmax())}: expected an integer of -2^53 to 2^53 for {port.type}")
    return array.astype(np.float64)


def _rows(port: Port, array: np.ndarray[Any, Any]) -> _core.Matrix:
    """Rows of bytes, or of 0 and 1."""
    import numpy as np

    _, bits = width(port.type)
    columns, dtype = array.shape[1], array.dtype
    if columns == bits and dtype in (np.dtype(bool), np.dtype(np.uint8)):
        return _core.pack_bits(_native(array.astype(np.uint8, copy=False)))
    if columns == math.ceil(bits / 8) and dtype == np.uint8:
        return _core.pack_bytes(_native(array), port.type)
    raise UsageError(f"its shape is {array.shape} of {dtype}: expected {_expected(port)}")


def _native(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Contiguous, in the machine's byte order; itself if it is that."""
    import numpy as np

    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))


def _expected(port: Port) -> str:
    kind, bits = width(port.type)
    rows = f"rows of {math.ceil(bits / 8)} bytes (uint8), or of {bits} times 0 or 1, for {port.type}"
    match kind:
        case "bits" if bits == 1:
            return "booleans, or 0 and 1"
        case "uint" | "int" if bits <= 128:
            return f"integers for {port.type}"
        case "fixed" | "float" if bits <= 64:
            return f"numbers for {port.type}"
        case _:
            return rows


def unpack(port: Port, matrix: _core.Matrix) -> Any:
    """The lanes of an output: an array, or a share."""
    if port.who == "shared":
        return Share(matrix, port.type)
    return matrix.array(port.type)

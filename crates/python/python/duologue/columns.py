"""Columns of pandas, polars, pyarrow and whatever else shares memory by Arrow's C data interface; none is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _core
from .errors import UsageError

__all__ = ["Column", "column", "columns_of", "names_of", "shared"]


class Column:
    """Values with the form in which they are written. It shows nothing of them."""

    __slots__ = ("form", "values")

    def __init__(self, values: object, form: str) -> None:
        self.values = values
        self.form = form
        """As in `decimal(2):null=0`."""

    def __repr__(self) -> str:
        return f"<Column {self.form!a}>"


def column(values: object, form: str) -> Column:
    """A column as an input whose type does not say how its values are written.

    `form` is as the command takes it behind a column's name: `decimal(2)` makes 120050 of 1200.50; `date` counts days
    and `time(s)`, `time(ms)`, `time(us)`, `time(ns)` count units since 1970 in universal time; `text` is UTF-8 filled up
    with zero bytes; a type, such as `uint(32)`, fills wider lanes with several rows each; `null=VALUE`, the last part,
    is what nulls stand for. Parts are joined by `:`.

    >>> column([1, 2], "decimal(2):null=0")
    <Column 'decimal(2):null=0'>
    """
    if not isinstance(form, str):
        raise TypeError("form: expected a string, such as 'decimal(2)'")
    return Column(values, form)


def shared(values: object) -> _core.Column | None:
    """The column that an object shares; none if it shares nothing."""
    try:
        return _shared(values)
    except ImportError:
        # pandas has it made by pyarrow.
        return None
    except (UsageError, MemoryError, AttributeError):
        raise
    except Exception:
        # What others say of their values may repeat one.
        raise UsageError("it cannot be made a column of Arrow: its values have several types, say") from None


def _shared(values: Any) -> _core.Column | None:
    if hasattr(values, "columns"):
        # A frame: rows of bytes, say, which NumPy puts side by side.
        return None
    if hasattr(values, "__arrow_c_array__"):
        return _core.Column.of_arrays([values])
    if isinstance(getattr(values, "chunks", None), list):
        chunks: list[Any] = values.chunks
        return _core.Column.of_arrays(chunks) if all(hasattr(one, "__arrow_c_array__") for one in chunks) else None
    if hasattr(values, "__arrow_c_stream__"):
        # The stream of one column is that of a frame which has no other.
        frame = values.to_frame() if hasattr(values, "to_frame") else values
        return _core.Column.of_frame(frame)
    return None


def columns_of(inputs: object) -> Mapping[str, object]:
    """A frame as a mapping of names."""
    frame: Any = inputs
    if isinstance(inputs, Mapping):
        return frame  # type: ignore[no-any-return]
    names = names_of(frame)
    if names is None:
        raise UsageError("inputs: expected a mapping of names, or a frame of pandas, polars or pyarrow")
    return {name: frame[name] for name in names}


def names_of(frame: Any) -> list[Any] | None:
    """The names of the columns of a frame or a mapping; none if it is neither."""
    if isinstance(frame, Mapping):
        return list(frame)
    names = getattr(frame, "column_names", None)
    names = getattr(frame, "columns", None) if names is None else names
    return None if names is None else list(names)

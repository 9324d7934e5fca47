"""Arrays that are written into one `.npy`, one after the other. Those in Ray's object store are written by tasks of the
cluster: the driver sees no more than how long they are."""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from io import BytesIO
from itertools import accumulate
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ..errors import UsageError

__all__ = ["Run", "here", "on_cluster", "reason", "write"]

# Bytes of the file that one task writes. However the rows are in blocks, pieces begin at the same places: so their
# digests are those of the rows, and no two machines write the same page of the file.
PIECE = 1 << 26

# Calls a function with each of these arguments.
Run = Callable[[Callable[..., Any], Iterable[Sequence[Any]]], list[Any]]


def here(function: Callable[..., Any], calls: Iterable[Sequence[Any]]) -> list[Any]:
    return [function(*call) for call in calls]


def on_cluster(ray: Any) -> Run:
    """Calls are tasks, which Ray has where the blocks are."""

    def run(function: Callable[..., Any], calls: Iterable[Sequence[Any]]) -> list[Any]:
        task = ray.remote(function)
        results: list[Any] = ray.get([task.remote(*call) for call in calls])
        return results

    return run


def write(file: Path, name: str, blocks: Sequence[Any], column: str | None, run: Run) -> bytes:
    """Writes the blocks of an input, or a column of them, into a file that is there; a digest of what it has then."""
    forms: list[_Form] = run(_form, ((block, column) for block in blocks))
    dtype, row = _common(name, forms)
    header = _header(dtype, row, sum(form.rows for form in forms))
    lengths, parts = [len(header), *(form.bytes for form in forms)], [header, *blocks]
    os.truncate(file, sum(lengths))
    pieces = _pieces(lengths, PIECE)
    digests = run(_put, ((str(file), *piece, column, *parts[of]) for *piece, of in pieces))
    return blake2b(b"".join(digests)).digest()


class _Form(NamedTuple):
    """What the driver must know of a block."""

    dtype: str
    row: tuple[int, ...]
    """The shape of a row."""
    rows: int

    @property
    def bytes(self) -> int:
        return np.dtype(self.dtype).itemsize * prod(self.row) * self.rows


def _column(block: Any, column: str | None) -> Any:
    """A block of a Dataset has an array for each column, and may have none of a block without rows."""
    return block if column is None or not isinstance(block, dict) else block.get(column, ())


def _form(block: Any, column: str | None) -> _Form:
    block = _column(block, column)
    is_masked = np.ma.is_masked(block)
    block = np.atleast_1d(np.asarray(block))
    # Ray makes NaN of an empty cell.
    has_gaps = is_masked or block.dtype.hasobject or block.dtype.kind == "f" and np.isnan(block).any()
    return _Form("O" if has_gaps else block.dtype.str, block.shape[1:], block.shape[0])


def _common(name: str, forms: Sequence[_Form]) -> tuple[str, tuple[int, ...]]:
    """The type and the shape of all rows."""
    there = [form for form in forms if form.rows > 0] or forms[:1]
    if not there:
        raise UsageError(f"input {name!r} has no block whose rows would have a type")
    if any(np.dtype(form.dtype).hasobject for form in there):
        raise UsageError(f"input {name!r} has objects, such as text, empty cells or NaN: only numbers can be an input")
    dtype, row, _ = there[0]
    for form in there:
        if (form.dtype, form.row) != (dtype, row):
            raise UsageError(f"input {name!r} has blocks of {dtype} {row} and of {form.dtype} {form.row} a row")
    return dtype, row


def _header(dtype: str, row: tuple[int, ...], rows: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    out = BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": dtype, "fortran_order": False, "shape": (rows, *row)})
    return np.frombuffer(out.getvalue(), np.uint8)


def _pieces(lengths: Sequence[int], size: int) -> Iterator[tuple[int, int, int, slice]]:
    """Of each piece of a file that has parts of these lengths: where it begins, in the file and in its first part, how
    long it is, and which parts it has a share of."""
    starts = [0, *accumulate(lengths)]
    for begin in range(0, starts[-1], size):
        end = min(begin + size, starts[-1])
        first = bisect_right(starts, begin) - 1
        yield begin, begin - starts[first], end - begin, slice(first, bisect_left(starts, end))


def _put(file: str, begin: int, skip: int, length: int, column: str | None, *parts: Any) -> bytes:
    """Writes a piece to its place; its digest. On a machine that does not have the file it fails, and makes none."""
    taken, left = [], length
    for part in parts:
        whole = np.ascontiguousarray(_column(part, column)).reshape(-1).view(np.uint8)
        taken.append(whole[skip : skip + left])
        skip, left = 0, left - len(taken[-1])
    if left:
        raise ValueError(f"{left} bytes of its blocks are not there any more")
    piece = np.concatenate(taken).data
    # Open for writing alone, NFS reads no page before it writes some of it. With O_DSYNC the bytes are there when this
    # returns: none of them changes the time of the file later, and a full disk is an error here.
    out = os.open(file, os.O_WRONLY | os.O_DSYNC)
    try:
        written = 0
        while written < length:
            written += os.pwrite(out, piece[written:], begin + written)
    finally:
        os.close(out)
    return blake2b(piece).digest()


def reason(why: Exception) -> str:
    """The last line of what Ray says of an error; of several, of the one that led to the others."""
    first, *others = str(why).split("\n\nThe above exception was the direct cause of")
    said = first if others else str(getattr(why, "cause", None) or why)
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(why).__name__

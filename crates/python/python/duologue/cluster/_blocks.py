"""Inputs that are in Ray's object store, written by the cluster into a file each: the driver sees no more than how long
the blocks are. Workers read their own rows of the file. Numbers are written, too: others see command
lines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ..errors import MachineError, UsageError

__all__ = ["reason", "written"]


@contextmanager
def written(ray: Any, folder: Path, inputs: Mapping[str, object]) -> Iterator[dict[str, str]]:
    """Where the command finds each input; files that were written for it are removed afterwards."""
    files: list[Path] = []
    try:
        yield {name: _source(ray, folder, files, name, value) for name, value in inputs.items()}
    finally:
        for file in [*files, folder / "program.duo"]:
            file.unlink(missing_ok=True)
        with suppress(OSError):  # somebody else's files stay, and so does their folder
            folder.rmdir()


def _source(ray: Any, folder: Path, files: list[Path], name: str, value: object) -> str:
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, str):
        return value
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        if isinstance(value, (int, float)):
            files.append(folder / f"input-{len(files)}.csv")
            with _private(files[-1]) as out:
                # A truth value is 0 or 1.
                out.write(f"{+value}\n".encode())
        else:
            files.append(folder / f"input-{len(files)}.npy")
            _write(ray, files[-1], name, _blocks(ray, name, value))
        # A job that goes on compares the times of its inputs, and these are written anew.
        os.utime(files[-1], (0, 0))
    except ray.exceptions.RayError as why:
        raise MachineError(f"input {name!r} cannot be written for the workers: {reason(why)}") from why
    return str(files[-1])


def _blocks(ray: Any, name: str, value: Any) -> list[Any]:
    """References of arrays, one after the other."""
    if isinstance(value, ray.ObjectRef):
        return [value]
    if isinstance(value, Sequence) and value and all(isinstance(block, ray.ObjectRef) for block in value):
        return list(value)
    if hasattr(value, "to_numpy_refs"):
        blocks: list[Any] = value.to_numpy_refs(column=_column(name, value.columns()))
        return blocks
    if hasattr(value, "__array_interface__"):
        return [ray.put(value)]
    kinds = "a file's name, a number, a NumPy array, references of such arrays, or a Dataset of Ray"
    raise UsageError(f"input {name!r} is {type(value).__name__}: it may be {kinds}")


def _column(name: str, columns: Sequence[str]) -> str:
    """The column of a Dataset that has the input's name, or its only one."""
    if name in columns:
        return name
    if len(columns) == 1:
        return columns[0]
    raise UsageError(f"the Dataset of input {name!r} has no column of this name: it has {', '.join(columns)}")


def _write(ray: Any, file: Path, name: str, blocks: Sequence[Any]) -> None:
    """Writes the blocks into a file, one after the other, each by a task where the block is."""
    forms: list[_Form] = ray.get([ray.remote(_form).remote(block) for block in blocks])
    dtype, row, _ = next((form for form in forms if form.rows > 0), forms[0])
    if np.dtype(dtype).hasobject:
        raise UsageError(f"input {name!r} has objects, such as text or empty cells: only numbers can be an input")
    for form in forms:
        if form.rows > 0 and (form.dtype, form.row) != (dtype, row):
            raise UsageError(f"input {name!r} has blocks of {dtype} {row} and of {form.dtype} {form.row} a row")
    begin = _create(file, dtype, row, sum(form.rows for form in forms))
    starts = accumulate((form.bytes for form in forms[:-1]), initial=begin)
    ray.get([ray.remote(_put).remote(str(file), at, block) for at, block in zip(starts, blocks, strict=True)])


class _Form(NamedTuple):
    """What the driver must know of a block."""

    dtype: str
    row: tuple[int, ...]
    """The shape of a row."""
    rows: int

    @property
    def bytes(self) -> int:
        return np.dtype(self.dtype).itemsize * prod(self.row) * self.rows


def _form(block: Any) -> _Form:
    block = np.asarray(block)
    if block.ndim == 0:
        block = block.reshape(1)
    return _Form("O" if block.dtype.hasobject else block.dtype.str, block.shape[1:], block.shape[0])


def _create(file: Path, dtype: str, row: tuple[int, ...], rows: int) -> int:
    """Makes the file with its header, for its owner alone; where the rows begin."""
    header = {"descr": dtype, "fortran_order": False, "shape": (rows, *row)}
    with _private(file) as out:
        np.lib.format.write_array_header_1_0(out, header)
        return out.tell()


def _private(file: Path) -> BinaryIO:
    """A new file, for its owner alone."""
    file.unlink(missing_ok=True)
    return os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")


def _put(file: str, at: int, block: Any) -> None:
    """Writes a block to its place. On a machine that does not have the file it fails, and makes none."""
    with open(file, "r+b") as out:
        out.seek(at)
        out.write(np.ascontiguousarray(block).data)


def reason(why: Exception) -> str:
    """The last line of what Ray says of an error."""
    lines = [line for line in str(getattr(why, "cause", None) or why).splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(why).__name__

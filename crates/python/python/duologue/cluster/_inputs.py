"""Inputs of a job as the command takes them. What is in no file is written into one beside the job's folder, where
workers read their rows: no value stands on a command line, which every user of a machine can see."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from ..errors import MachineError, UsageError
from ..program import Program
from ._blocks import Run, here, on_cluster, reason, write
from ._folder import Folder

__all__ = ["written"]

# Text that the command takes for a file. Any other is values.
FILE = re.compile(r"(^-|\.(npy|enc|csv|parquet|arrow|feather|json))(:|$)", re.IGNORECASE)

NUMBERS = (int, float, np.number, np.bool_)

# File systems have names of 255 bytes.
LONGEST = 200


@contextmanager
def written(
    ray: Any, state: Path, program: str | os.PathLike[str] | Program, inputs: Mapping[str, object]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Where the command finds the program and each input; files that were written for it are removed afterwards."""
    # The driver wants the job's folder to itself.
    with Folder(state.with_name(f"{state.name}.inputs")) as folder:
        of_datasets = _of_datasets(ray, inputs)
        sources = {name: _source(ray, folder, name, of_datasets.get(name, value)) for name, value in inputs.items()}
        yield _program(folder, program), sources


def _program(folder: Folder, program: str | os.PathLike[str] | Program) -> str:
    if not isinstance(program, Program):
        return os.fspath(program)

    def save(file: Path) -> bytes:
        program.save(file)
        return bytes.fromhex(program.digest)

    return folder.write("program.duo", save)


class _Columns(NamedTuple):
    """A column of a Dataset that was computed: references of its blocks."""

    blocks: list[Any]
    name: str


def _of_datasets(ray: Any, inputs: Mapping[str, object]) -> dict[str, _Columns]:
    """The columns of the inputs that are Datasets. One that several inputs have is computed once: rows that belong
    together stay together, in whichever order they are."""
    columns: dict[int, tuple[Any, dict[str, str]]] = {}
    for name, value in inputs.items():
        if hasattr(value, "to_numpy_refs"):
            with _refused(ray, name):
                columns.setdefault(id(value), (value, {}))[1][name] = _column(name, value)
    found: dict[str, _Columns] = {}
    for dataset, of in columns.values():
        with _refused(ray, *of):
            blocks = _in_order(dataset.select_columns(sorted(set(of.values())))).to_numpy_refs()
            found |= {name: _Columns(blocks, column) for name, column in of.items()}
    return found


def _column(name: str, dataset: Any) -> str:
    """The column of a Dataset that has the input's name, or its only one."""
    columns: list[str] = dataset.columns() or []
    if name in columns:
        return name
    if len(columns) == 1:
        return columns[0]
    raise UsageError(f"the Dataset of input {name!r} has no column of this name: it has {', '.join(columns)}")


def _in_order(dataset: Any) -> Any:
    """A Dataset, computed, with its rows in its order: Ray takes blocks as they come unless told."""
    options = dataset.context.execution_options
    before, options.preserve_order = options.preserve_order, True
    try:
        return dataset.materialize()
    finally:
        options.preserve_order = before


def _source(ray: Any, folder: Folder, name: str, value: object) -> str:
    """What `--input` names. A job that goes on finds an input at the same place, whichever others there are."""
    if isinstance(value, os.PathLike) or isinstance(value, str) and FILE.search(value):
        return str(os.fspath(value))
    lanes = _lanes(name, value)
    if lanes is not None:
        return folder.write(_file(name, ".csv"), lambda file: _write_lanes(file, lanes))
    blocks, column, run = _blocks(ray, name, value)

    def fill(file: Path) -> bytes:
        with _refused(ray, name):
            return write(file, name, blocks, column, run)

    return folder.write(_file(name, ".npy"), fill)


def _lanes(name: str, value: object) -> list[str] | None:
    """Values that the command reads as text, since it knows their type."""
    if isinstance(value, str):
        lanes = value.split(",") if value else []
        if any(_is_path(lane) for lane in lanes):
            endings = ".npy, .csv, .parquet or .arrow, of ciphertexts in .enc"
            raise UsageError(f"input {name!r} is text, but no numbers, and no file: names of files end in {endings}")
        return lanes
    if isinstance(value, NUMBERS):
        return [str(value)]
    if isinstance(value, (list, tuple, range)) and all(isinstance(lane, (str, *NUMBERS)) for lane in value):
        return [str(lane) for lane in value]
    return None


def _is_path(lane: str) -> bool:
    """Whether it is meant for the name of a file, and is no number."""
    if set("./").isdisjoint(lane):
        return False
    try:
        float(lane)
    except ValueError:
        return True
    return False


def _write_lanes(file: Path, lanes: Sequence[str]) -> bytes:
    # In quotes, since a line without anything is none.
    lines = ('"{}"\n'.format(lane.replace('"', '""')) for lane in lanes)
    content = "".join(lines).encode()
    file.write_bytes(content)
    return blake2b(content).digest()


def _blocks(ray: Any, name: str, value: Any) -> tuple[list[Any], str | None, Run]:
    """Arrays or references of arrays, one after the other; which column of each; and who can write them."""
    if isinstance(value, _Columns):
        return value.blocks, value.name, on_cluster(ray)
    if isinstance(value, ray.ObjectRef):
        return [value], None, on_cluster(ray)
    if isinstance(value, Sequence) and all(isinstance(block, ray.ObjectRef) for block in value):
        return list(value), None, on_cluster(ray)
    if hasattr(value, "__array_interface__"):
        # By `ray.put` it would be in the object store, too.
        return [value], None, here
    kinds = "a file's name, numbers, a NumPy array, references of such arrays, or a Dataset of Ray"
    raise UsageError(f"input {name!r} is {type(value).__name__}: it may be {kinds}")


def _file(name: str, ending: str) -> str:
    """A file's name for an input, whatever is in its own; another one for each."""
    plain = quote(name, safe="")
    return f"{plain if len(plain) <= LONGEST else blake2b(name.encode(), digest_size=16).hexdigest()}{ending}"


@contextmanager
def _refused(ray: Any, *names: str) -> Iterator[None]:
    """What Ray says of these inputs, as an error of ours."""
    try:
        yield
    except ray.exceptions.RayError as why:
        of = " and ".join(map(repr, names))
        raise MachineError(f"input {of} cannot be written for the workers: {reason(why)}") from why

"""What comes of a run, and what is left to run of one that is prepared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from . import _core, notebook
from ._values import unpack
from .errors import UsageError
from .program import Program
from .report import Report

__all__ = ["Prepared", "Result"]


class Result(Mapping[str, Any]):
    """The outputs of a run that this party learns, by name: a NumPy array, or a `Share` of a value that stays shared.

    It shows names, types and shapes; the values are in `result["name"]`.
    """

    __slots__ = ("_outputs", "report")

    def __init__(self, outputs: dict[str, Any], report: Report) -> None:
        self._outputs = outputs
        self.report = report
        """The terms and the cost of the run."""

    def __getitem__(self, name: str) -> Any:
        return self._outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    def to_pandas(self) -> Any:
        """The outputs that are numbers as a frame of pandas, a row for each lane: they have one number of lanes."""
        pd: Any = import_module("pandas")

        columns = {name: value for name, value in self._outputs.items() if getattr(value, "ndim", 0) == 1}
        left = [name for name in self._outputs if name not in columns]
        if left or len({len(value) for value in columns.values()}) > 1:
            shown = ", ".join(f"{name} {_shape(value)}" for name, value in self._outputs.items())
            raise UsageError(f"the outputs are no columns of one length: {shown}")
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        shown = (f"{name}: {_shape(value)}" for name, value in self._outputs.items())
        return f"<Result {', '.join(shown)}>"

    def _repr_html_(self) -> str:
        return notebook.result([(name, _shape(value)) for name, value in self._outputs.items()], self.report)


def _shape(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}" if hasattr(value, "dtype") else repr(value)


class Prepared:
    """A program whose setup is done; it runs once, in the session that prepared it."""

    __slots__ = ("_core", "program")

    def __init__(self, core: _core.Prepared, program: Program) -> None:
        self._core = core
        self.program = program

    def __repr__(self) -> str:
        return f"<Prepared {self.program.name!a}{'' if self._core.is_left else ', used'}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("what is prepared holds secrets: it cannot be pickled or copied")


def result_of(program: Program, outputs: dict[str, _core.Matrix], report: dict[str, Any]) -> Result:
    arrays: dict[str, Any] = {}
    for port in program.outputs:
        # Taken out one by one, so that no output is held twice for longer than it takes.
        matrix = outputs.pop(port.name, None)
        if matrix is not None:
            arrays[port.name] = unpack(port, matrix)
    return Result(arrays, Report._of(report))

"""Programs with their meaning in NumPy: both parties' processes make the same inputs of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Inputs = dict[str, np.ndarray[Any, Any]]


class Job:
    """A block on random lanes."""

    def __init__(self, name: str, dtypes: tuple[str, str], meaning: Callable[..., Any], output: str = "out") -> None:
        self.name, self.dtypes, self.meaning, self.output = name, dtypes, meaning, output

    def inputs(self, lanes: int = 70) -> Inputs:
        random = np.random.default_rng(len(self.name) * 1009 + sum(self.name.encode()))

        def column(dtype: str) -> np.ndarray[Any, Any]:
            if dtype.startswith("f"):
                return (random.standard_normal(lanes) * 1e3).astype(dtype)
            info = np.iinfo(dtype)
            values = random.integers(info.min, info.max, lanes, dtype=dtype, endpoint=True)
            # The ends of the range, and equal ones.
            values[:4] = info.min, info.max, 1, 7
            return values

        a, b = (column(dtype) for dtype in self.dtypes)
        b[3:6] = a[3:6].astype(b.dtype)
        b[b == 0] = 1
        return {"a": a, "b": b}

    def expected(self, lanes: int = 70) -> np.ndarray[Any, Any]:
        with np.errstate(all="ignore"):
            return np.asarray(self.meaning(**self.inputs(lanes)))


def _truncated(a: Any, b: Any) -> Any:
    """Towards zero, as circuits and machines divide."""
    quotient = np.abs(a.astype(np.int64)) // np.abs(b.astype(np.int64))
    return (np.sign(a.astype(np.int64)) * np.sign(b.astype(np.int64)) * quotient).astype(a.dtype)


JOBS = [
    Job("block:add:8", ("u1", "u1"), lambda a, b: a + b),
    Job("block:add:16", ("u2", "u2"), lambda a, b: a + b),
    Job("block:add:32", ("u4", "u4"), lambda a, b: a + b),
    Job("block:add:64", ("u8", "u8"), lambda a, b: a + b),
    Job("block:subtract:64:depth", ("u8", "u8"), lambda a, b: a - b),
    Job("block:multiply_low:32", ("u4", "u4"), lambda a, b: a * b),
    Job("block:multiply:32", ("u4", "u4"), lambda a, b: a.astype("u8") * b.astype("u8")),
    Job("block:signed_multiply:16", ("i2", "i2"), lambda a, b: a.astype("i4") * b.astype("i4")),
    Job("block:greater:32", ("u4", "u4"), lambda a, b: a > b),
    Job("block:signed_less:64", ("i8", "i8"), lambda a, b: a < b),
    Job("block:equal:8", ("u1", "u1"), lambda a, b: a == b),
    Job("block:minimum:16", ("u2", "u2"), lambda a, b: np.minimum(a, b)),
    Job("block:signed_maximum:8", ("i1", "i1"), lambda a, b: np.maximum(a, b)),
    Job("block:divide:16", ("u2", "u2"), lambda a, b: a // b, "quotient"),
    Job("block:signed_divide:32", ("i4", "i4"), _truncated, "quotient"),
    Job("block:absolute_difference:8", ("u1", "u1"), lambda a, b: np.maximum(a, b) - np.minimum(a, b)),
]

PROTOCOLS = ["yao", "gmw", "gmw-masked", "auto"]


def runs() -> list[tuple[Job, str]]:
    """Each job by each protocol."""
    return [(job, protocol) for job in JOBS for protocol in PROTOCOLS]

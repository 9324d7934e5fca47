"""Random frames of every library give what pandas gives."""

from __future__ import annotations

from typing import Any

import duologue as duo
import numpy as np
import pytest

hypothesis = pytest.importorskip("hypothesis")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

ADD = duo.program("block:add:64")


def _read_only(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    values = values.copy()
    values.flags.writeable = False
    return values


def _strided(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.repeat(values, 2)[::2]


def _chunked(values: np.ndarray[Any, Any], cuts: list[int]) -> list[np.ndarray[Any, Any]]:
    return np.split(values, sorted(cut % (len(values) + 1) for cut in cuts))


# How a column may come, of its values and of where it is cut.
WAYS = {
    "numpy": lambda values, cuts: values,
    "big-endian": lambda values, cuts: values.astype(values.dtype.newbyteorder(">")),
    "read-only": lambda values, cuts: _read_only(values),
    "strided": lambda values, cuts: _strided(values),
    "list": lambda values, cuts: values.tolist() if len(values) else values,
    "pandas": lambda values, cuts: pd.Series(values, index=np.arange(len(values))[::-1]),
    "pandas, nullable": lambda values, cuts: pd.array(
        values, dtype=values.dtype.name.replace("i", "I").replace("u", "U")
    ),
    "pandas, of Arrow": lambda values, cuts: pd.Series(values, dtype=pd.ArrowDtype(pa.from_numpy_dtype(values.dtype))),
    "pandas, categories": lambda values, cuts: pd.Series(values).astype("category"),
    "pyarrow": lambda values, cuts: pa.array(values),
    "pyarrow, chunked": lambda values, cuts: pa.chunked_array(
        _chunked(values, cuts), pa.from_numpy_dtype(values.dtype)
    ),
    "pyarrow, sliced": lambda values, cuts: pa.array(np.concatenate([values[:1], values, values[:1]]))[
        min(1, len(values)) : min(1, len(values)) + len(values)
    ],
    "pyarrow, a dictionary": lambda values, cuts: pa.array(values).dictionary_encode(),
    "polars": lambda values, cuts: pl.Series(values),
    "polars, chunked": lambda values, cuts: pl.concat(
        [pl.Series(part) for part in _chunked(values, cuts)], rechunk=False
    ),
}


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 1 << 32),
    lanes=st.integers(0, 300),
    dtypes=st.tuples(*[st.sampled_from(["u1", "u2", "u4", "u8"])] * 2),
    ways=st.tuples(*[st.sampled_from(sorted(WAYS))] * 2),
    cuts=st.lists(st.integers(0, 1000), max_size=5),
)
def test_any_column_gives_what_pandas_gives(
    seed: int, lanes: int, dtypes: tuple[str, str], ways: tuple[str, str], cuts: list[int]
) -> None:
    random = np.random.default_rng(seed)
    a, b = (random.integers(0, np.iinfo(dtype).max, lanes, dtype=dtype, endpoint=True) for dtype in dtypes)
    frame = pd.DataFrame({"a": a.astype("u8"), "b": b.astype("u8")})
    inputs = {"a": WAYS[ways[0]](a, cuts), "b": WAYS[ways[1]](b, cuts)}
    assert (ADD.plain(inputs, sizes={"lanes": lanes} if lanes == 0 else None)["out"] == (frame["a"] + frame["b"])).all()

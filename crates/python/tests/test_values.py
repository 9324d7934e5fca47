"""Packing against the slow way: bit by bit in Python."""

from __future__ import annotations

import duologue as duo
import numpy as np
import pytest
from duologue import _core

DTYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"]


def slow(values: list[int], width: int) -> bytes:
    """Rows of bytes, from Python's own integers."""
    return b"".join((value % (1 << width)).to_bytes((width + 7) // 8, "little") for value in values)


def as_bytes(matrix: _core.Matrix) -> bytes:
    """The lanes as rows of bytes, whatever their type."""
    return matrix.array(f"bits({matrix.width})").tobytes() if matrix.width > 1 else matrix.array("uint(1)").tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lanes", [0, 1, 63, 64, 65, 1000])
def test_numbers_are_packed_as_they_are(dtype: str, lanes: int) -> None:
    info, random = np.iinfo(dtype), np.random.default_rng(lanes)
    values = random.integers(info.min, info.max, lanes, dtype=dtype, endpoint=True)
    values[:2] = [info.min, info.max][: len(values[:2])]
    signed = "int" if info.min else "uint"
    for width in (info.bits, info.bits + 3, 100):
        matrix = _core.pack_numbers(values, f"{signed}({width})")
        assert (matrix.lanes, matrix.width) == (lanes, width)
        assert as_bytes(matrix) == slow(values.tolist(), width)
    back = _core.pack_numbers(values, f"{signed}({info.bits})").array(f"{signed}({info.bits})")
    assert back.dtype == values.dtype and (back == values).all()


def test_parts_meet() -> None:
    """More lanes than are read at once."""
    values = np.arange(3 * (1 << 16) + 77, dtype=np.uint32) * 2654435761
    assert (_core.pack_numbers(values, "uint(32)").array("uint(32)") == values).all()


@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 31, 33, 63])
def test_narrow_widths_take_their_range_and_no_more(width: int) -> None:
    top = (1 << width) - 1
    values = np.array([0, 1, top], dtype=np.uint64)
    assert (_core.pack_numbers(values, f"uint({width})").array(f"uint({width})") == values).all()
    ends = np.array([-(1 << width), (1 << width) - 1], dtype=np.int64)
    assert (_core.pack_numbers(ends, f"int({width + 1})").array(f"int({width + 1})") == ends).all()
    for beyond, type in [(top + 1, f"uint({width})"), (-1, f"uint({width})"), ((1 << width), f"int({width + 1})")]:
        with pytest.raises(duo.UsageError, match=r"row 1: expected (a number of|0 or 1)"):
            _core.pack_numbers(np.array([0, beyond], np.int64 if beyond < 1 << 63 else np.uint64), type)


def test_floats_are_their_bits() -> None:
    values = np.array([0.0, -0.0, 1.5, -2.25e-300, 1e308, np.inf, -np.inf])
    assert as_bytes(_core.pack_numbers(values, "float(64, 11)")) == values.astype("<f8").tobytes()
    singles = np.array([0.1, -3.5e-40, np.inf], dtype=np.float32)
    assert as_bytes(_core.pack_numbers(singles, "float(32, 8)")) == singles.astype("<f4").tobytes()
    # Doubles for singles are rounded as NumPy rounds them.
    doubles = np.random.default_rng(5).standard_normal(1000)
    assert (_core.pack_numbers(doubles, "float(32, 8)").array("float(32, 8)") == doubles.astype(np.float32)).all()
    halves = _core.pack_numbers(doubles, "float(16, 5)").array("float(16, 5)")
    assert (halves == doubles.astype(np.float16).astype(np.float64)).all()
    fixed = _core.pack_numbers(np.array([1.5, -0.25]), "fixed(16, 8)")
    assert as_bytes(fixed) == np.array([384, -64], dtype="<i2").tobytes()
    assert list(fixed.array("fixed(16, 8)")) == [1.5, -0.25]


@pytest.mark.parametrize("value", [float("nan"), 1e39, -1e39])
def test_a_float_that_does_not_fit_is_none(value: float) -> None:
    with pytest.raises(duo.UsageError, match=r"row 2: expected a number that float\(32, 8\) can hold"):
        _core.pack_numbers(np.array([0.0, 1.0, value]), "float(32, 8)")


def test_rows_of_bytes_and_bits() -> None:
    random = np.random.default_rng(9)
    for width in (2, 8, 13, 128, 200):
        rows = random.integers(0, 2, (70, width), dtype=np.uint8)
        packed = np.packbits(rows, axis=1, bitorder="little")
        of_bits, of_bytes = _core.pack_bits(rows), _core.pack_bytes(packed, f"bits({width})")
        assert of_bits.equals(of_bytes)
        assert (of_bits.array(f"bits({width})") == packed).all()
    with pytest.raises(duo.UsageError, match="row 1: expected bits above the 13"):
        _core.pack_bytes(np.array([[0, 0], [0, 0x20]], np.uint8), "bits(13)")
    with pytest.raises(duo.UsageError, match="row 0: expected 0 or 1 in column 1"):
        _core.pack_bits(np.array([[0, 2]], np.uint8))

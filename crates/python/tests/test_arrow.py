"""Columns of pandas, polars and pyarrow by Arrow's C data interface, against pandas and exact arithmetic."""

from __future__ import annotations

import datetime
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duologue as duo
import numpy as np
import pytest
from duologue import _core
from duologue._values import pack
from duologue.program import Port

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


def lanes(values: object, type: str) -> Any:
    """What a port of this type has of an input."""
    return pack(Port("x", "alice", type, ""), values).array(type)


def raw(values: object, type: str, as_type: str) -> list[int]:
    """The same, read as another type of the width."""
    return list(pack(Port("x", "alice", type, ""), values).array(as_type))


def refused(values: object, type: str) -> str:
    with pytest.raises(duo.UsageError) as caught:
        lanes(values, type)
    return str(caught.value)


INTEGERS = {"int8": "int(8)", "int16": "int(16)", "int32": "int(32)", "int64": "int(64)"}
INTEGERS |= {f"u{name}": f"u{type}" for name, type in INTEGERS.items()}


@pytest.mark.parametrize(("dtype", "type"), INTEGERS.items())
def test_integers_of_every_library(dtype: str, type: str) -> None:
    info, random = np.iinfo(dtype), np.random.default_rng(len(dtype))
    values = random.integers(info.min, info.max, 1000, dtype=dtype, endpoint=True)
    values[:2] = info.min, info.max
    chunks = np.split(values, [0, 1, 65, 65, 700])
    columns = [
        pa.array(values),
        pa.chunked_array(chunks),
        pa.chunked_array(chunks).slice(0),
        pl.Series(values),
        pl.concat([pl.Series(chunk) for chunk in chunks], rechunk=False),
        pd.Series(values),
        pd.Series(values, index=np.arange(1000)[::-1], dtype=dtype.replace("int", "Int").replace("uI", "UI")),
        pd.Series(values, dtype=pd.ArrowDtype(pa.array(values).type)),
    ]
    for column in columns:
        assert (lanes(column, type) == values).all()
    for start, count in ((3, 64), (64, 900), (999, 1), (1000, 0)):
        cut = values[start : start + count]
        for column in (pa.array(values), pa.chunked_array(chunks), pl.Series(values)):
            assert (lanes(column.slice(start, count), type) == cut).all()


def test_parts_meet_across_chunks() -> None:
    """More rows than are read at once, in chunks that end anywhere."""
    values = np.arange(200_001, dtype=np.uint64) * 0x9E3779B97F4A7C15
    column = pa.chunked_array(np.split(values, [5, 65_535, 65_537, 131_073]))
    assert (lanes(column, "uint(64)") == values).all()


def test_booleans_are_bits() -> None:
    values = np.random.default_rng(3).integers(0, 2, 1000).astype(bool)
    for column in (pa.array(values), pl.Series(values), pd.Series(values, dtype="boolean"), pa.array(values)[0:]):
        assert (lanes(column, "bits(1)") == values).all()
    # Nine bits from the byte's edge.
    assert (lanes(pa.array(values)[9:71], "bits(1)") == values[9:71]).all()
    assert "its Arrow type is Boolean: expected integers for uint(8)" in refused(pa.array(values), "uint(8)")


def test_floats_are_rounded_as_numpy_rounds_them() -> None:
    values = np.random.default_rng(4).standard_normal(1000) * 1e3
    for column in (pa.array(values), pl.Series(values), pa.chunked_array(np.split(values, [7]))):
        assert (lanes(column, "float(32, 8)") == values.astype(np.float32)).all()
        assert (lanes(column, "float(64, 11)") == values).all()
        assert (lanes(column, "fixed(48, 16)") == lanes(values, "fixed(48, 16)")).all()
    halves = values.astype(np.float16)
    assert (lanes(pa.array(halves), "float(32, 8)") == halves.astype(np.float32)).all()
    assert "row 1: expected a number that float(64, 11) can hold, not NaN" in refused(
        pa.array([1.0, float("nan")]), "float(64, 11)"
    )
    assert "row 0: expected a number that float(32, 8) can hold" in refused(pa.array([1e39]), "float(32, 8)")
    assert "its Arrow type is Float64: expected integers for uint(8)" in refused(pl.Series([1.5]), "uint(8)")


def test_integers_for_floats_are_exact() -> None:
    assert list(lanes(pa.array([3, -(1 << 53)]), "float(64, 11)")) == [3, -(1 << 53)]
    assert "row 1: expected an integer of -2^53 to 2^53" in refused(pl.Series([1, (1 << 53) + 1]), "float(64, 11)")
    assert list(lanes(pl.Series([3, -2], dtype=pl.Int8), "fixed(16, 8)")) == [3, -2]


NULLS = "row 2: expected a value, not a null"


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2, None]),
        pa.chunked_array([[1, 2], [None, 4]]),
        pl.Series([1, 2, None]),
        pd.Series([1, 2, None], dtype="Int64"),
        pd.Series([1, 2, None], dtype=pd.ArrowDtype(pa.int64())),
        pa.array([1, 2, None]).dictionary_encode(),
        pa.array([0, 1, 2, None])[1:],
    ],
    ids=str,
)
def test_nulls_are_named_unless_they_stand_for_something(column: Any) -> None:
    assert NULLS in refused(column, "uint(8)")
    filled = lanes(duo.column(column, "null=77"), "uint(8)").tolist()
    assert filled[2] == 77 and 77 not in filled[:2]


def test_nullable_without_nulls() -> None:
    """A validity bitmap in which all is valid, or none."""
    column = pa.array([1, None, 3, 4])[2:]
    assert column.null_count == 0 and list(lanes(column, "uint(8)")) == [3, 4]
    assert list(lanes(pd.Series([1, 2], dtype="Int32"), "int(32)")) == [1, 2]
    assert "row 0: expected a value, not a null" in refused(pa.nulls(3), "uint(8)")
    assert len(lanes(pa.chunked_array([], pa.int32()), "uint(8)")) == 0
    assert len(lanes(pl.Series([], dtype=pl.Int32), "uint(8)")) == 0


def test_decimals_are_exact_or_refused() -> None:
    amounts = [Decimal("1200.50"), Decimal("-0.25"), Decimal("0.00")]
    column = pa.array(amounts, pa.decimal128(10, 2))
    assert list(lanes(duo.column(column, "decimal(2)"), "int(64)")) == [120050, -25, 0]
    assert list(lanes(duo.column(column, "decimal(3)"), "int(64)")) == [1200500, -250, 0]
    assert "row 1: expected a decimal number with at most 1 digit" in refused(
        duo.column(column, "decimal(1)"), "int(64)"
    )
    assert list(lanes(column, "fixed(32, 8)")) == [1200.5, -0.25, 0]
    assert "row 1: expected a decimal number that fixed(32, 1) has exactly" in refused(column, "fixed(32, 1)")
    assert "row 0: expected a decimal number that fixed(32, 16) has exactly" in refused(
        pa.array([Decimal("0.1")]), "fixed(32, 16)"
    )
    assert list(lanes(pl.Series(amounts), "fixed(32, 8)")) == [1200.5, -0.25, 0]
    assert "its Arrow type is Decimal128(10, 2)" in refused(column, "int(64)") and "decimal(2)" in refused(
        column, "int(64)"
    )
    whole = pa.array([Decimal(7)], pa.decimal128(20, 0))
    assert list(lanes(whole, "uint(8)")) == [7]
    assert "row 0: expected" in refused(pa.array([Decimal(256)], pa.decimal128(20, 0)), "uint(8)")
    hundreds = pa.array([Decimal(1200), Decimal(-300)], pa.decimal128(5, -2))
    for type in ("int(16)", "fixed(32, 8)", "float(64, 11)"):
        assert list(lanes(hundreds, type)) == [1200, -300]
    assert "row 1: expected a number of 0 to 65535 for uint(16)" in refused(hundreds, "uint(16)")
    assert "its Arrow type is Decimal128(5, -2): expected booleans" in refused(hundreds, "bits(1)")
    # The nearest one.
    assert list(lanes(pa.array([Decimal("0.1")]), "float(64, 11)")) == [0.1]


@pytest.mark.parametrize("fraction", [0, 1, 3, 8, 20])
@pytest.mark.parametrize("scale", [0, 1, 3, 8])
def test_which_decimals_a_fixed_point_number_has(fraction: int, scale: int) -> None:
    random = np.random.default_rng(fraction * 10 + scale)
    numbers = [*range(-20, 20), *(int(n) * 5**scale for n in random.integers(-99, 99, 40))]
    for number in numbers:
        value = Fraction(number, 10**scale) * 2**fraction
        column = pa.array([Decimal(number).scaleb(-scale)], pa.decimal128(38, scale))
        if value.denominator == 1:
            assert raw(column, f"fixed(60, {fraction})", "int(60)") == [value.numerator]
        else:
            assert "has exactly" in refused(column, f"fixed(60, {fraction})")


def test_dates_and_times_have_a_form() -> None:
    day, moment = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30, 15, 250_000)
    micros = (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
    zone = datetime.timezone(datetime.timedelta(hours=2))
    for column in (pa.array([day]), pl.Series([day]), pd.Series([day], dtype=pd.ArrowDtype(pa.date32()))):
        assert list(lanes(duo.column(column, "date"), "int(32)")) == [19_782]
        assert "its Arrow type is Date32" in refused(column, "int(32)") and "'date'" in refused(column, "int(32)")
    times = [pa.array([moment], pa.timestamp(unit)) for unit in ("ms", "us", "ns")]
    times += [pl.Series([moment]), pd.Series([moment]), pd.Series([moment], dtype="datetime64[ms]")]
    for column in times:
        assert list(lanes(duo.column(column, "time(us)"), "int(64)")) == [micros]
        assert "time(us)" in refused(column, "int(64)")
        assert "row 0: expected" in refused(duo.column(column, "time(s)"), "int(64)")
    aware = pa.array([moment.replace(tzinfo=zone)], pa.timestamp("us", "+02:00"))
    assert list(lanes(duo.column(aware, "time(us)"), "int(64)")) == [micros - 7_200_000_000]
    assert "row 0: expected" in refused(duo.column(aware, "date"), "int(64)")


def test_text_bytes_and_categories() -> None:
    words = ["Zoë", "b", "Zoë"]
    expected = b"".join(word.encode().ljust(8, b"\0") for word in words)
    columns = [
        pa.array(words),
        pa.array(words).dictionary_encode(),
        pa.array(words, pa.string_view()),
        pl.Series(words),
    ]
    columns += [pl.Series(words, dtype=pl.Categorical), pd.Series(words), pd.Series(words, dtype="category")]
    for column in columns:
        assert lanes(duo.column(column, "text"), "bits(64)").tobytes() == expected
        assert "'text'" in refused(column, "bits(64)") and "expected integers" in refused(column, "uint(8)")
        assert "row 0: expected UTF-8 text of at most 2 bytes" in refused(duo.column(column, "text"), "bits(16)")
    # A category is what it stands for, and never its number, which the other party may give to another one.
    numbers = pd.Series([300, 7, 300], dtype="category")
    assert list(lanes(numbers, "uint(16)")) == [300, 7, 300]
    assert list(lanes(pd.Series(words, dtype="category").cat.codes, "uint(8)")) == [0, 1, 0]
    keys = pa.array([b"\x01\x02\x03\x04", b"\xff\0\0\1"], pa.binary(4))
    assert lanes(keys, "bits(32)").tobytes() == b"\x01\x02\x03\x04\xff\0\0\1"
    assert "row 0: expected" in refused(pa.array([b"\1\2"]), "bits(32)")


def test_rows_that_are_one_lane() -> None:
    column = duo.column(pa.array([1, 2, 3, 4]), "uint(32)")
    assert lanes(column, "bits(64)").tobytes() == np.arange(1, 5, dtype="<u4").tobytes()
    assert "3 rows: expected whole lanes of bits(64)" in refused(
        duo.column(pa.array([1, 2, 3]), "uint(32)"), "bits(64)"
    )


SECRET = 31337


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (pa.array([1, SECRET]), "row 1: expected a number of 0 to 2^8 - 1 for uint(8)"),
        (pa.chunked_array([[1], [2, SECRET]]), "row 2: expected"),
        (pa.array([[SECRET]]), "its Arrow type is List"),
        (pa.array([{"a": SECRET}]), "its Arrow type is Struct"),
        (pa.array([datetime.timedelta(seconds=SECRET)]), "its Arrow type is Duration"),
        (pd.Series([1, "x", SECRET], dtype=object), "it cannot be made a column of Arrow"),
        (pd.Series([1, str(SECRET)], dtype=str), "expected integers for uint(8)"),
        (duo.column(pa.array([SECRET]), "decimal(2)"), "row 0: expected a decimal number"),
        (duo.column(pa.array([SECRET]), "furlongs"), "'furlongs' says of no column"),
        (duo.column(pa.array([1]), "text"), "text is bits of whole bytes"),
        (duo.column(pa.array([1]), "null=horse"), "null='horse'"),
        (duo.column([SECRET], "decimal(2)"), "a form needs a column of polars, pyarrow"),
        (pa.table({"a": [SECRET], "b": [1]}), "its shape is (1, 2)"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_errors_name_what_is_wrong_and_no_value(values: Any, words: str) -> None:
    message = refused(values, "uint(8)")
    assert message.startswith("the input 'x': ") and words in message
    assert str(SECRET) not in message and "horse" not in message.replace("null='horse'", "")
    assert str(SECRET) not in repr(values) if isinstance(values, duo.Column) else True


def test_frames_are_inputs_by_their_columns() -> None:
    add = duo.program("block:add:32")
    table = {"a": [1, 2, 3], "b": [10, 20, 30]}
    for frame in (pd.DataFrame(table), pl.DataFrame(table), pa.table(table), pa.record_batch(table), table):
        assert list(add.plain(frame)["out"]) == [11, 22, 33]
    with pytest.raises(duo.UsageError, match="the program has no input 'c'"):
        add.plain(pl.DataFrame({**table, "c": [1, 2, 3]}))
    with pytest.raises(duo.UsageError, match="inputs: expected a mapping of names, or a frame"):
        add.plain(7)  # type: ignore[arg-type]


def test_a_run_on_frames(other) -> None:
    bob = other("""
        import polars
        with listen() as party:
            party.run(duo.program("block:add:32"), polars.DataFrame({"b": [10, 20, 30]}), protocol="gmw")
    """)
    with duo.connect(bob.line(), party="alice", insecure_plaintext=True, wait=60) as alice:
        column = pa.chunked_array([[7], [8, 9]])
        result = alice.run(duo.program("block:add:32"), pa.table({"a": column}), protocol="gmw")
    bob.end()
    assert list(result["out"]) == [17, 28, 39]


def test_what_lies_about_itself_is_refused() -> None:
    """Objects that claim to share memory, and do not."""

    class Liar:
        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return self.answer

        def __init__(self, answer: object) -> None:
            self.answer = answer

    for answer in (None, (1, 2), (), "capsule", pa.array([1]).__arrow_c_array__()[::-1]):
        with pytest.raises(duo.Error):
            lanes(Liar(answer), "uint(8)")


class Stream:
    """A column that comes as nothing but a stream, which nobody has looked at."""

    def __init__(self, array: Any) -> None:
        self.table = pa.table({"x": array})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def _words(offsets: list[int], data: bytes, type: Any = None, width: str = "<i4") -> Any:
    buffers = [None, pa.py_buffer(np.array(offsets, width).tobytes()), pa.py_buffer(data)]
    return pa.Array.from_buffers(type or pa.string(), len(offsets) - 1, buffers)


DAMAGED = {
    "offsets that fall": _words([0, 4, 2], b"horse"),
    "large offsets that fall": _words([0, 4, 2], b"horse", pa.large_string(), "<i8"),
    "offsets of bytes that fall": _words([0, 4, 2], b"horse", pa.binary()),
    "no UTF-8": _words([0, 2, 4], b"ho\xff\xfe"),
    "half a character": _words([0, 1, 2], "ë".encode()),
    "a category beyond": pa.DictionaryArray.from_arrays(pa.array([0, 7], pa.int8()), pa.array(["horse"]), safe=False),
    "a category below": pa.DictionaryArray.from_arrays(pa.array([0, -1], pa.int8()), pa.array(["horse"]), safe=False),
}


@pytest.mark.parametrize("array", DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize("stream", [False, True])
def test_damaged_columns_are_called_that(array: Any, stream: bool) -> None:
    values = Stream(array) if stream else array
    for form in ("text", "text:null=-"):
        why = refused(duo.column(values, form), "bits(64)")
        assert why == "the input 'x': it is not a valid column of Arrow"


def test_a_damaged_column_needs_no_pyarrow() -> None:
    """The reader's error is an exception of pyarrow, which may not be there to be raised."""
    code = """
import sys
import pyarrow as pa
words = pa.DictionaryArray.from_arrays(pa.array([0, 7], pa.int8()), pa.array(["horse"]), safe=False)
sys.modules["pyarrow"] = None
import duologue as duo
try:
    duo.program("block:add:8").plain({"a": duo.column(words, "text"), "b": [2, 3]})
except duo.UsageError as why:
    print(why)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "the input 'a': it is not a valid column of Arrow\n", done.stderr


def test_nothing_is_imported() -> None:
    """A frame's library is not needed, and none is loaded for NumPy's arrays."""
    code = """
import sys
import duologue as duo
duo.program("block:add:8").plain({"a": [1], "b": [2]})
assert not {"pyarrow", "pandas", "polars"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_packing_reads_memory_where_it_lies() -> None:
    """Arrow's rows and NumPy's give the same lanes, and a column is not kept."""
    values = np.random.default_rng(5).integers(0, 1 << 63, 100_000, dtype=np.uint64)
    column = _core.Column.of_arrays([pa.array(values)])
    assert column.pack("uint(64)", None).equals(_core.pack_numbers(values, "uint(64)"))

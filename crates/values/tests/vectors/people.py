"""Makes the files beside it: python3 people.py, with pyarrow 21 or later."""

import datetime
import decimal

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

day = datetime.date(2024, 2, 29)
before = 1_709_209_815_250_000
table = pa.table({
    "key": pa.array([b"\1\2\3\4", b"\xff\0\0\1", b"\0\0\0\0"], pa.binary(4)),
    "name": pa.array(["Zoë", 'a,"b"', None]),
    "u8": pa.array([0, 255, 7], pa.uint8()),
    "i64": pa.array([-(1 << 63), (1 << 63) - 1, -5], pa.int64()),
    "bool": pa.array([True, False, True]),
    "f32": pa.array([19.99, -0.5, 0], pa.float32()),
    "f64": pa.array([19.99, -0.5, 0], pa.float64()),
    "decimal": pa.array([decimal.Decimal(text) for text in ["1234.56", "-0.01", "0"]], pa.decimal128(12, 2)),
    "date": pa.array([datetime.date(1970, 1, 1), day, datetime.date(1969, 12, 31)]),
    "us": pa.array([0, before, -1], pa.timestamp("us")),
    "ns_utc": pa.array([0, before * 1000, -1], pa.timestamp("ns", "UTC")),
    "null": pa.array([1, None, 3], pa.int32()),
    "text_of_numbers": pa.array(["10", "-20", "30"]),
    "category": pa.array(["ab", "c", "ab"]).dictionary_encode(),
    "list": pa.array([[1], [], [2, 3]], pa.list_(pa.uint8())),
})
pa.parquet.write_table(table, "people.parquet")
pa.parquet.write_table(table, "zstd.parquet", compression="zstd", use_dictionary=False, data_page_version="2.0")
pa.feather.write_feather(table, "people.arrow", compression="lz4")

"""Bad inputs are refused by name, row and what was expected, never by value, and before a byte is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duologue as duo
import numpy as np
import pytest

ADD = "block:add:32"
STATISTICS = "app:statistics"


class Silent:
    """A peer that would hear of anything that is sent: nobody listens there."""

    party = duo.connect("127.0.0.1:1", party="alice", insecure_plaintext=True, wait=0.1)


@pytest.fixture
def alice() -> Iterator[duo.Party]:
    yield Silent.party


BAD: list[tuple[str, dict[str, Any], dict[str, int], str]] = [
    (ADD, {}, {}, "the input 'a' is missing: lanes × uint(32)"),
    (ADD, {"a": [1], "c": [1]}, {}, "the program has no input 'c': its inputs are a, b"),
    (ADD, {"a": [1], "b": [1]}, {}, "the input 'b' belongs to bob"),
    (ADD, {"a": [1.5]}, {}, "the input 'a': its dtype is float64: expected integers for uint(32)"),
    (
        ADD,
        {"a": [31337, np.nan]},
        {},
        "the input 'a': its dtype is float64, and row 1 is a gap: expected integers for uint(32)",
    ),
    (ADD, {"a": ["31337"]}, {}, "the input 'a': its dtype is <U5: expected integers for uint(32)"),
    (ADD, {"a": [True]}, {}, "the input 'a': its dtype is bool: expected integers for uint(32)"),
    (ADD, {"a": [1, None]}, {}, "the input 'a': its dtype is object: expected integers for uint(32)"),
    (ADD, {"a": [31337 << 80]}, {}, "the input 'a': its dtype is object: expected integers for uint(32)"),
    (ADD, {"a": [1 + 2j]}, {}, "the input 'a': its dtype is complex128"),
    (ADD, {"a": np.array(["2026-01-01"], "M8[D]")}, {}, "the input 'a': its dtype is datetime64[D]"),
    (ADD, {"a": [[1, 2], [3]]}, {}, "the input 'a': it is no array: expected integers for uint(32)"),
    (ADD, {"a": np.ma.masked_equal([1, 2], 2)}, {}, "the input 'a': it is a masked array"),
    (ADD, {"a": np.zeros((2, 2, 2), int)}, {}, "the input 'a': it has 3 dimensions"),
    (ADD, {"a": np.zeros((2, 5), int)}, {}, "the input 'a': its shape is (2, 5) of int64"),
    (ADD, {"a": [7, -31337]}, {}, "the input 'a': row 1: expected a number of 0 to 2^32 - 1 for uint(32)"),
    (ADD, {"a": [7, 31337 << 20]}, {}, "the input 'a': row 1: expected a number of 0 to 2^32 - 1 for uint(32)"),
    (ADD, {"a": np.arange(3)}, {"lanes": 4}, "the input 'a' has 3 rows: expected 4 with lanes = 4"),
    (ADD, {"a": np.arange(3)}, {"lines": 4}, "the program has no size 'lines': it has lanes"),
    (ADD, {"a": np.arange(3)}, {"lanes": -1}, "the size 'lanes': expected a number of 0 to 4294967296"),
    (ADD, {"a": np.arange(3)}, {"lanes": 1.5}, "the size 'lanes': expected a number of 0 to"),  # type: ignore[dict-item]
    (STATISTICS, {"group": np.arange(3)}, {"groups": 3}, "the input 'minimum' is missing"),
    (
        STATISTICS,
        {"group": np.arange(3), "minimum": 5},
        {},
        "the size 'groups' is not given: write sizes={...} with 1 to 4096",
    ),
    (
        STATISTICS,
        {"group": np.arange(3), "minimum": [5, 6]},
        {"groups": 3},
        "the input 'minimum' has 2 rows: expected 1",
    ),
    (
        "app:aes",
        {"blocks": bytes(15)},
        {},
        "the input 'blocks': its shape is (1, 15) of uint8: expected rows of 16 bytes",
    ),
    ("app:aes", {"blocks": [31337]}, {}, "the input 'blocks': it has one dimension: expected rows of 16 bytes"),
    ("app:proximity_utm", {"alice_x": [np.nan]}, {"places": 1}, "the input 'alice_y' is missing"),
    (
        "app:proximity_utm",
        {"alice_x": [np.nan], "alice_y": [1.0]},
        {"places": 1},
        "the input 'alice_x': row 0: expected a number that float(32, 8) can hold, not NaN",
    ),
    (
        "app:proximity_utm",
        {"alice_x": [(1 << 53) + 1], "alice_y": [1.0]},
        {"places": 1},
        "the input 'alice_x': row 0: expected an integer of -2^53 to 2^53",
    ),
]


@pytest.mark.parametrize(("name", "inputs", "sizes", "words"), BAD, ids=[row[3][:60] for row in BAD])
def test_bad_inputs(alice: duo.Party, name: str, inputs: Any, sizes: dict[str, int], words: str) -> None:
    with pytest.raises(duo.UsageError) as caught:
        alice.run(duo.program(name), inputs, sizes=sizes)
    assert words in str(caught.value)
    assert "31337" not in str(caught.value) and isinstance(caught.value, ValueError)
    assert "not open yet" in repr(alice), "a peer was looked for"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"protocol": "bgw"}, "bgw"),
        ({"protocol": "yao", "garbling": "whole-gates"}, "whole-gates"),
        ({"protocol": "yao", "garbler": "carol"}, "'carol' is no party"),
        ({"protocol": "yao", "timing": "later"}, "'later' is no timing"),
        ({"wish": "luck"}, "luck"),
        ({"correlations": "hard"}, "hard"),
    ],
)
def test_bad_settings(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(duo.UsageError, match=words):
        duo.program(ADD).cost(sizes={"lanes": 1}, **settings)
    with pytest.raises(duo.UsageError, match=words):
        Silent.party.run(duo.program(ADD), {"a": 1}, **settings)


def test_columns_of_others_are_arrays() -> None:
    """As pandas, polars and pyarrow have them: nobody imports any of these."""

    class Column:
        def __init__(self, *values: int) -> None:
            self.values = np.array(values)

        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray[Any, Any]:
            return self.values

    class Frame(dict[str, Column]):
        """Whose truth is nobody's business."""

        def __bool__(self) -> bool:
            raise ValueError("ambiguous")

    outputs = duo.program(ADD).plain(Frame(a=Column(1, 2), b=Column(3, 4)))
    assert outputs["out"].tolist() == [4, 6]
    with pytest.raises(duo.UsageError, match="the input 'b' belongs to bob"):
        Silent.party.run(duo.program(ADD), Frame(a=Column(1, 2), b=Column(3, 4)))


def test_settings_of_no_such_name() -> None:
    with pytest.raises(TypeError, match="there is no setting 'protocols': there are protocol, "):
        Silent.party.run(duo.program(ADD), {"a": 1}, protocols="yao")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"party": "carol"}, "'carol' is no party"),
        ({"key": None, "peer": "duo1"}, "key is missing"),
        ({"key": "k", "peer": None}, "peer is missing"),
        ({"insecure_plaintext": True, "key": "k"}, "insecure_plaintext takes no keys"),
        ({"insecure_plaintext": True, "threads": 0}, "threads: expected 1 to 256"),
    ],
)
def test_bad_meetings(more: dict[str, Any], words: str) -> None:
    for meet in (duo.connect, duo.listen):
        with pytest.raises(duo.UsageError, match=words):
            meet("127.0.0.1:0", **{"party": "alice", **more})


def test_bad_keys(tmp_path) -> None:
    public = duo.new_key(tmp_path / "a.key")
    with pytest.raises(duo.Error, match="a.key"):
        duo.new_key(tmp_path / "a.key")
    with pytest.raises(duo.MachineError, match="b.key"):
        duo.connect("127.0.0.1:1", party="bob", key=tmp_path / "b.key", peer=public)
    # A letter that is not the last one of the key anyway.
    mistyped = public[:-1] + ("z" if public.endswith("x") else "x")
    with pytest.raises(duo.Error):
        duo.connect("127.0.0.1:1", party="bob", key=tmp_path / "a.key", peer=mistyped)
    (tmp_path / "c.key").write_text("no key")
    with pytest.raises(duo.Error):
        duo.public_key(tmp_path / "c.key")

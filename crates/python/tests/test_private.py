"""Functions of Alice's on data of Bob's, by each method, between two processes: against NumPy."""

from __future__ import annotations

from typing import Any

import duologue as duo
import numpy as np
import pytest
from duologue import Bob, u8, u16

METHODS = ["universal", "dh", "elgamal", "bfv", "djn", "auto"]


@duo.program(age=Bob(u8, lanes=1), debt=Bob(u16, lanes=1), limit=Bob(u8, lanes=1), to=Bob)
def score(age: Any, debt: Any, limit: Any) -> Any:
    return {"score": duo.where(age < limit, 0, age + duo.cast(debt >> 8, u8))}


def meet(**more: Any) -> duo.Party:
    return duo.listen("127.0.0.1:0", party="alice", insecure_plaintext=True, wait=60, **more)


BOB = """
    import sys
    party = duo.connect({address!r}, party="bob", insecure_plaintext=True, wait=60)
    ages, debts = np.array([17, 18, 80], np.uint8), np.array([300, 70, 65000], np.uint16)
    runs = party.private([ages, debts], method={method!r}, allow_linear={linear!r})
    print(runs.y[:, 0].tolist(), runs.method, runs.gates, runs.runs, flush=True)
    assert "y" not in repr(runs).replace("bytes", "") and runs.y.shape == (3, 1)
"""


@pytest.mark.parametrize("method", METHODS)
def test_bob_learns_the_result_and_alice_nothing(other, method: str) -> None:
    alice = meet()
    bob = other(BOB.format(address=alice.address, method=method, linear=method == "auto"))
    runs = alice.private(score, own={"limit": 18}, runs=5, gates=400, method=method, allow_linear=method == "auto")
    ages, debts = np.array([17, 18, 80]), np.array([300, 70, 65000])
    expected = np.where(ages < 18, 0, (ages + (debts >> 8)) % 256).tolist()
    assert bob.line() == f"{expected} {runs.method} {runs.gates} 3"
    assert runs.y is None and runs.runs == 3 and runs.gates >= 400 and runs.sent > 0
    assert method in ("auto", runs.method)
    with pytest.raises(duo.UsageError, match="closed"):
        alice.private(score)
    bob.end()


def test_the_peer_may_run_the_command(other) -> None:
    alice = meet()
    bob = other(f"""
        sys.exit(duo._core.main([sys.executable, "-m", "duologue"], [
            "private", "--as", "bob", "--connect", {alice.address!r}, "--insecure-plaintext", "--yes",
            "--input", "x=hex:05,hex:ff"]))
    """)
    runs = alice.private("block:population_count:8", runs=2)
    assert (runs.method, runs.runs) == ("universal", 2)
    bob.end()


def test_differences_are_told_by_class(other) -> None:
    alice = meet()
    bob = other(BOB.format(address=alice.address, method="dh", linear=False))
    with pytest.raises(duo.Incompatible, match="the method"):
        alice.private(score, own={"limit": 18}, runs=5, method="universal")
    _, err = bob.end(1)
    assert "Incompatible" in err
    # Bob refuses what is too large for him, and rows that do not fit, and Alice hears it.
    for more, why in (
        ("most_gates=10", "more than most_gates=10"),
        ("method='universal'", "rows of the data have 3 columns: expected 4 bytes, or 32 times"),
    ):
        alice = meet()
        bob = other(f"""
            party = duo.connect({alice.address!r}, party="bob", insecure_plaintext=True, wait=60)
            party.private(np.zeros((1, 3), np.uint8), {more})
        """)
        with pytest.raises(duo.Aborted):
            alice.private(score, runs=5)
        _, err = bob.end(1)
        assert why in err, err


def test_what_cannot_be_is_refused_before_a_byte_is_sent() -> None:
    rows = np.zeros((2, 3), np.uint8)
    cases: list[tuple[str, Any, dict[str, Any], str]] = [
        ("alice", rows, {}, "alice gives the function"),
        ("bob", score, {}, "bob gives data"),
        ("bob", rows, {"runs": 2}, "are Alice's"),
        ("bob", rows.astype(np.float32), {}, "expected rows of bytes"),
        ("bob", [np.zeros(2, np.uint8), np.zeros(3, np.uint8)], {}, "as many rows each"),
        ("alice", score, {"own": {"size": 3}}, "no input 'size'"),
        ("alice", score, {"own": {"limit": 300}}, "the input 'limit': row 0"),
        ("alice", score, {"own": {"limit": [1, 2]}}, "the same in all runs"),
        ("alice", "block:nothing:8", {}, "nothing"),
        ("bob", rows, {"method": "best"}, "invalid value 'best' for '--method"),
    ]
    for party, given, more, why in cases:
        with pytest.raises(duo.UsageError, match=why):
            duo.connect("127.0.0.1:1", party=party, insecure_plaintext=True, wait=1).private(given, **more)


def test_waiting_is_cancelled_from_another_thread() -> None:
    import threading

    alice = meet()
    threading.Timer(0.3, alice.cancel).start()
    with pytest.raises(duo.Cancelled):
        alice.private(score)

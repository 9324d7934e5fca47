"""Functions of Alice's on data of Bob's, by each method, between two processes: against NumPy."""

from __future__ import annotations

import sys
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
    assert "y=" not in repr(runs) and runs.y.shape == (3, 1)
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
        ("method='dh', most_gates=400", "has 4000 additions, more than 8 for each of most_gates=400"),
    ):
        alice = meet()
        dh = {"method": "dh", "gates": 300, "additions": 4000} if "dh" in more else {}
        bob = other(f"""
            party = duo.connect({alice.address!r}, party="bob", insecure_plaintext=True, wait=60)
            party.private(np.zeros((1, 3), np.uint8), {more})
        """)
        with pytest.raises(duo.Aborted):
            alice.private(score, runs=5, **dh)  # type: ignore[arg-type]
        _, err = bob.end(1)
        assert why in err, err


def test_bits_are_0_and_1(other) -> None:
    alice = meet()
    bob = other(f"""
        party = duo.connect({alice.address!r}, party="bob", insecure_plaintext=True, wait=60)
        rows = np.zeros((3, 32), np.uint8)
        rows[1, 7] = 2
        party.private(rows)
    """)
    with pytest.raises(duo.Aborted):
        alice.private(score, runs=5)
    assert "row 1 of the data: expected 32 times 0 or 1" in bob.end(1)[1]


def test_columns_of_signed_numbers(other) -> None:
    @duo.program(x=Bob(duo.i16, lanes=1), y=Bob(duo.i8, lanes=1), to=Bob)
    def lower(x: Any, y: Any) -> Any:
        return x - y

    alice = meet()
    bob = other(f"""
        party = duo.connect({alice.address!r}, party="bob", insecure_plaintext=True, wait=60)
        runs = party.private([np.array([-300, 5], ">i2"), np.array([-7, 9], np.int8)])
        print(runs.y.copy().view("<i2")[:, 0].tolist(), flush=True)
    """)
    alice.private(lower, runs=2)
    assert bob.line() == "[-293, -4]"
    bob.end()


class Cut:
    """A line to an address that is cut when so many bytes have come from there."""

    def __init__(self, address: str, most: int | None) -> None:
        import socket
        import threading

        self.came = 0
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self._server.getsockname()[1]
        host, port = address.split(":")

        def serve() -> None:
            near, _ = self._server.accept()
            far = socket.create_connection((host, int(port)))
            threading.Thread(target=self._copy, args=(near, far, None), daemon=True).start()
            self._copy(far, near, most)

        threading.Thread(target=serve, daemon=True).start()

    def _copy(self, source: Any, to: Any, most: int | None) -> None:
        import socket

        try:
            while some := source.recv(1 << 12):
                self.came += len(some) if most is not None else 0
                if most is not None and self.came > most:
                    break
                to.sendall(some)
        except OSError:
            pass
        for end in (source, to):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def test_results_before_a_line_was_cut_are_there(other) -> None:
    """Of the runs that Alice has counted as used, Bob has the results."""
    code = """
        party = duo.listen("127.0.0.1:0", party="alice", insecure_plaintext=True, wait=60)
        print(party.address, flush=True)
        try:
            party.private("block:population_count:8", runs=60, method="universal")
        except duo.Error:
            pass
    """
    rows = np.arange(60, dtype=np.uint8).reshape(-1, 1)
    expected = [bin(row).count("1") for row in range(60)]

    def bob(most: int) -> tuple[Cut, duo.Party]:
        cut = Cut(other(code).line(), most)
        return cut, duo.connect(cut.address, party="bob", insecure_plaintext=True, wait=60)

    whole, party = bob(1 << 40)
    runs = party.private(rows, method="universal")
    assert runs.y is not None and runs.y[:, 0].tolist() == expected
    _, party = bob(whole.came * 3 // 4)
    with pytest.raises(duo.Error) as caught:
        party.private(rows, method="universal")
    some = caught.value.runs
    assert some is not None and some.y is not None and 0 < some.runs == len(some.y) < 60
    assert some.y[:, 0].tolist() == expected[: some.runs]


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
        ("bob", rows, {"method": "best"}, "invalid value 'best' for method"),
        ("bob", rows, {"method": "--allow-linear"}, "invalid value '--allow-linear' for method"),
        ("bob", rows, {"method": 3}, "method: expected text in place of int"),
        ("bob", rows, {"assume_link": "slow"}, "for assume_link"),
        ("bob", rows, {"allow_linear": "no"}, "allow_linear: expected True or False"),
        ("bob", rows, {"most_gates": -1}, "most_gates: expected a number of at least 0"),
        ("bob", rows, {"most_gates": "x"}, "most_gates: expected a number"),
        ("alice", score, {"runs": -1}, "runs: expected a number of at least 1"),
        ("alice", score, {"gates": 1.5}, "gates: expected a number of at least 0"),
        # Rows of bits are no columns, and a column is no rows.
        ("bob", [[1, 0, 1], [0, 1, 1]], {}, "column 0: it is a list, which has no width"),
        ("bob", [np.zeros(2, np.uint8), np.zeros((2, 2), np.uint8)], {}, "column 1: it has 2 dimensions: expected one"),
        ("bob", [np.zeros((2, 2), np.uint8)], {}, "column 0: it has 2 dimensions"),
        ("bob", [np.ma.array([1, 2], np.uint8, mask=[0, 1])], {}, "column 0: it is a masked array"),
        ("bob", np.ma.array(rows, mask=rows == 0), {}, "the data: it is a masked array"),
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
    assert "closed" in repr(alice)
    # Its port is free again.
    host, port = alice.address.split(":")
    duo.listen(f"{host}:{port}", party="alice", insecure_plaintext=True, wait=60)


@pytest.mark.skipif(sys.platform != "linux", reason="it counts threads by /proc")
def test_ctrl_c_ends_the_preparation_of_a_function(other) -> None:
    """The thread that prepares it is left alone: the signal comes when it is there, and it is still there then."""
    alice = other("""
        import threading
        threads, main = lambda: len(os.listdir("/proc/self/task")), threading.get_ident()
        def interrupt():
            while threads() <= before + 1:
                time.sleep(0.001)
            signal.pthread_kill(main, signal.SIGALRM)
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        party = duo.listen("127.0.0.1:0", party="alice", insecure_plaintext=True, wait=60)
        before, watcher = threads(), threading.Thread(target=interrupt)
        try:
            watcher.start()
            party.private("block:multiply:700", method="universal")
        except KeyboardInterrupt:
            watcher.join()
            print("interrupted", "closed" in repr(party), threads() > before, flush=True)
        os._exit(0)
    """)
    assert alice.line() == "interrupted True True"

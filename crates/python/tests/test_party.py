"""A party among threads, processes, signals and event loops."""

from __future__ import annotations

import asyncio
import copy
import multiprocessing
import os
import pickle
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

import duologue as duo
import numpy as np
import pytest
from duologue import Alice, Bob, Both, u64

# So many lanes of products that a run is far from its end when it is stopped.
LONG = 300_000
PROGRAM = "block:multiply:64"

LONG_RUN = f"""
try:
    with listen() as party:
        party.run(duo.program("{PROGRAM}"), {{"b": np.arange({LONG}, dtype=np.uint64)}}, protocol="yao")
except duo.Error as why:
    print(type(why).__name__, "cancelled" in str(why))
"""


def connect(address: str, **more: object) -> duo.Party:
    return duo.connect(address, party="alice", insecure_plaintext=True, wait=60, **more)  # type: ignore[arg-type]


def later(seconds: float, do) -> threading.Timer:
    timer = threading.Timer(seconds, do)
    timer.start()
    return timer


def when_busy(party: duo.Party, do) -> None:
    """Does it as soon as another thread has begun a run."""

    def wait() -> None:
        while party._session is None or not party._session.is_busy:
            time.sleep(1e-3)
        do()

    threading.Thread(target=wait, daemon=True).start()


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def long_run(party: duo.Party) -> duo.Result:
    return party.run(duo.program(PROGRAM), {"a": np.arange(LONG, dtype=np.uint64)}, protocol="yao")


def test_ctrl_c_ends_a_wait_for_the_peer() -> None:
    for party in (
        duo.listen("127.0.0.1:0", party="alice", insecure_plaintext=True, wait=60),
        duo.connect("127.0.0.1:1", party="alice", insecure_plaintext=True, wait=60),
    ):
        with pytest.raises(KeyboardInterrupt):
            later(0.3, interrupt)
            party.open()
        assert "not open yet" in repr(party)


def test_ctrl_c_ends_a_wait_for_a_peer_that_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(KeyboardInterrupt):
            later(0.3, interrupt)
            connect(f"127.0.0.1:{silent.getsockname()[1]}").open()


def test_ctrl_c_ends_a_run_and_the_peer_is_told(other) -> None:
    bob = other(LONG_RUN)
    with pytest.raises(KeyboardInterrupt), connect(bob.line()) as alice:
        when_busy(alice, interrupt)
        long_run(alice)
    out, _ = bob.end()
    assert out.split() == ["Aborted", "True"]
    with pytest.raises(duo.UsageError, match="this party is closed: connect again"):
        alice.run(duo.program("block:add:8"), {"a": 1})


def test_a_process_that_is_interrupted_ends_as_others_do(other) -> None:
    bob = other(f"""
        import threading

        def tell():
            while not party._session.is_busy:
                time.sleep(1e-3)
            print("busy", flush=True)

        with listen() as party:
            numbers = np.arange({LONG}, dtype=np.uint64)
            threading.Thread(target=tell, daemon=True).start()
            party.run(duo.program("{PROGRAM}"), {{"b": numbers}}, protocol="yao")
    """)
    address = bob.line()

    def interrupt_bob() -> None:
        assert bob.line() == "busy"
        bob.process.send_signal(signal.SIGINT)

    with connect(address) as alice:
        threading.Thread(target=interrupt_bob).start()
        with pytest.raises(duo.Aborted, match="cancelled"):
            long_run(alice)
        with pytest.raises(duo.Dead, match="connect again"):
            alice.run(duo.program("block:add:8"), {"a": 1})
        alice._abandon()
    _, errors = bob.end(-signal.SIGINT)
    assert "KeyboardInterrupt" in errors


def test_another_thread_cancels(other) -> None:
    bob = other(LONG_RUN)
    with pytest.raises(duo.Cancelled), connect(bob.line()) as alice:
        when_busy(alice, alice.cancel)
        long_run(alice)
    assert bob.end()[0].split() == ["Aborted", "True"]


def test_two_threads_of_one_party(other) -> None:
    bob = other(LONG_RUN)
    seen: list[BaseException] = []
    with pytest.raises(duo.Cancelled), connect(bob.line()) as alice:

        def meddle() -> None:
            for use in (lambda: alice.run(duo.program("block:add:8"), {"a": 1}), alice.close):
                try:
                    use()
                except duo.Error as why:
                    seen.append(why)
            alice.cancel()

        when_busy(alice, meddle)
        long_run(alice)
    bob.end()
    assert len(seen) == 2 and all("another thread uses this party" in str(why) for why in seen)


def test_other_threads_go_on_during_a_run(other) -> None:
    """They would stand still if a run held the interpreter lock. Counted, not timed."""
    bob = other(LONG_RUN)
    ticks, done = 0, threading.Event()
    with connect(bob.line()) as alice:

        def tick() -> None:
            nonlocal ticks
            while not done.is_set():
                ticks += 1
                if ticks == 2000:
                    alice.cancel()
                time.sleep(1e-4)

        ticking = threading.Thread(target=tick)
        try:
            with pytest.raises(duo.Cancelled):
                ticking.start()
                # Without the thread nothing ends it in time.
                for _ in range(100):
                    long_run(alice)
        finally:
            done.set()
            ticking.join()
            alice._abandon()
    assert ticks >= 2000


def test_a_forked_process_must_connect_again(other) -> None:
    bob = other("""
        with listen() as party:
            for _ in range(2):
                party.run(duo.program("block:add:8"), {"b": 1})
    """)

    def child(party: duo.Party, prepared: object, words) -> None:
        for use in (
            lambda: party.run(duo.program("block:add:8"), {"a": 1}),
            party.cancel,
            party.close,
            lambda: party._session.run(None, {}, {}),  # type: ignore[union-attr, arg-type]
        ):
            try:
                use()
                words.put("nothing was raised")
            except Exception as why:
                words.put(f"{type(why).__name__}: {why}")
        # What the process drops tells the peer nothing.
        party._session = None

    with connect(bob.line()) as alice:
        assert alice.run(duo.program("block:add:8"), {"a": 2})["out"][0] == 3
        fork = multiprocessing.get_context("fork")
        words = fork.Queue()
        process = fork.Process(target=child, args=(alice, None, words))
        process.start()
        heard = [words.get(timeout=60) for _ in range(4)]
        process.join(60)
        assert process.exitcode == 0
        assert all("forked" in word for word in heard[:3]), heard
        # The session of the parent goes on.
        assert alice.run(duo.program("block:add:8"), {"a": 5})["out"][0] == 6
    bob.end()


def test_secrets_are_not_pickled_copied_or_shown(other) -> None:
    bob = other("""
        program = duo.program("block:add:16")
        with listen() as party:
            prepared = party.prepare(program, sizes={"lanes": 1})
            party.online(prepared, {"b": 1})
    """)
    with connect(bob.line()) as alice:
        prepared = alice.prepare(duo.program("block:add:16"), sizes={"lanes": 1})
        share = duo.Share(duo._core.pack_numbers(np.array([31337]), "uint(16)"), "uint(16)")
        for secret in (alice, prepared, share, alice._session, share._matrix):
            for take in (pickle.dumps, copy.copy, copy.deepcopy):
                with pytest.raises(TypeError, match="cannot"):
                    take(secret)
        result = alice.online(prepared, {"a": 31336})
        for shown in (share, share._matrix, result, prepared, alice):
            assert "31337" not in f"{shown!r} {shown}"
    bob.end()


def test_a_party_that_is_closed(other) -> None:
    bob = other("""
        with listen() as party:
            pass
    """)
    alice = connect(bob.line())
    with alice:
        assert "open" in repr(alice)
    alice.close()
    bob.end()
    for use in (alice.open, lambda: alice.run(duo.program("block:add:8"), {"a": 1})):
        with pytest.raises(duo.UsageError, match="this party is closed"):
            use()
    never = connect("127.0.0.1:1")
    never.close()
    with pytest.raises(duo.UsageError, match="this party is closed"):
        never.open()


def test_an_error_of_the_caller_ends_the_session(other) -> None:
    bob = other("""
        try:
            with listen() as party:
                party.run(duo.program("block:add:8"), {"b": 1}, protocol="yao")
        except (duo.Aborted, duo.Closed) as why:
            print("heard")
    """)
    with pytest.raises(ZeroDivisionError), connect(bob.line()) as alice:
        assert 1 / 0
    assert "closed" in repr(alice)
    assert bob.end()[0].strip() == "heard"


def test_nobody_is_there() -> None:
    with pytest.raises(duo.Timeout) as caught:
        duo.listen("127.0.0.1:0", party="alice", insecure_plaintext=True, wait=0.2).open()
    assert isinstance(caught.value, TimeoutError)


def test_a_peer_that_dies(other) -> None:
    bob = other("""
        with listen() as party:
            print("here", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
    """)
    with connect(bob.line()) as alice:
        with pytest.raises(duo.Closed) as caught:
            alice.run(duo.program("block:add:8"), {"a": 1})
        assert isinstance(caught.value, ConnectionError)
        alice._abandon()


def test_a_peer_that_talks_nonsense() -> None:
    for words in (b"", b"HTTP/1.1 400 Bad Request\r\n\r\n" * 10, bytes(4000), b"\xff" * 4000):
        with socket.create_server(("127.0.0.1", 0)) as server:

            def answer(server=server, words=words) -> None:
                peer, _ = server.accept()
                with peer:
                    peer.sendall(words)
                    peer.shutdown(socket.SHUT_WR)
                    while peer.recv(1 << 16):
                        pass

            answering = threading.Thread(target=answer)
            answering.start()
            with pytest.raises(duo.Error):
                connect(f"127.0.0.1:{server.getsockname()[1]}").open()
            answering.join(60)


def test_coroutines(other) -> None:
    bob = other("""
        with listen() as party:
            for _ in range(2):
                party.run(duo.program("block:add:32"), {"b": np.arange(4)})
    """)
    address = bob.line()

    async def main() -> None:
        turns = 0

        async def turn() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        turning = asyncio.create_task(turn())
        async with connect(address) as alice:
            result = await alice.run_async(duo.program("block:add:32"), {"a": np.arange(4)})
            assert list(result["out"]) == [0, 2, 4, 6]
            with pytest.raises(duo.UsageError, match="the input 'a' is missing"):
                await alice.run_async(duo.program("block:add:32"))
            result = await alice.run_async(duo.program("block:add:32"), {"a": np.arange(4) + 1})
            assert list(result["out"]) == [1, 3, 5, 7]
        turning.cancel()
        assert turns > 10, "the loop stood still"

    asyncio.run(main())
    bob.end()


def test_a_cancelled_task_cancels_the_run(other) -> None:
    bob = other(LONG_RUN)
    address = bob.line()

    async def main() -> None:
        async with connect(address) as alice:
            arrays = {"a": np.arange(LONG, dtype=np.uint64)}
            running = asyncio.create_task(alice.run_async(duo.program(PROGRAM), arrays, protocol="yao"))
            while alice._session is None or not alice._session.is_busy:
                await asyncio.sleep(0.01)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            # The run has ended: nothing goes on behind our back.
            with pytest.raises(duo.Dead):
                alice.run(duo.program("block:add:8"), {"a": 1})
            alice._abandon()

    asyncio.run(main())
    assert bob.end()[0].split() == ["Aborted", "True"]


def test_a_cancelled_task_stops_waiting_for_the_peer() -> None:
    async def main() -> None:
        party = duo.listen("127.0.0.1:0", party="alice", insecure_plaintext=True, wait=60)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(party.open_async(), 0.3)

    asyncio.run(main())


def test_ctrl_c_ends_the_making_of_a_program() -> None:
    """The signal comes when the function has ended, and millions of gates are being made of it."""
    main, finishing = threading.get_ident(), threading.Event()

    def many(x: Any, y: Any) -> Any:
        for number in range(4000):
            x = x * (y + number)
        finishing.set()
        return x

    def interrupt() -> None:
        finishing.wait()
        before, now = None, None
        # Seen twice at one place of the function that has the gates made: it waits for them.
        while now is None or now != before or now[0] != "_traced":
            time.sleep(0.1)
            frame = sys._current_frames()[main]
            before, now = now, (frame.f_code.co_name, frame.f_lasti)
        signal.pthread_kill(main, signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            duo.program(x=Alice(u64), y=Bob(u64), to=Both)(many)
    finally:
        signal.signal(signal.SIGALRM, before)
    thread.join()
    assert time.monotonic() - begin < 60
    program = duo.program(x=Alice(u64), y=Bob(u64), to=Both)(lambda x, y: x + y)
    assert program.plain({"x": 1, "y": 2})["out"][0] == 3


def test_coroutines_fill_and_prepare(other, tmp_path: Path) -> None:
    bob = other("""
        program = duo.program("block:add:32")
        with listen(pool="bob.pool") as party:
            party.fill_pool(cots=1000, triples=1000, correlations="softspoken4")
            party.prepare_to("bob.runs", program, sizes={"lanes": 2})
            party.online_from("bob.runs", program, {"b": [1, 2]})
            party.argmin([7, 9], form="halves", sizes={"alice": 2}, correlations="softspoken4")
    """)
    program = duo.program("block:add:32")

    async def main() -> None:
        async with connect(bob.line(), pool=tmp_path / "alice.pool") as alice:
            pool = await alice.fill_pool_async(cots=1000, triples=1000, correlations="softspoken4")
            assert pool.left.triples >= 1000
            runs = await alice.prepare_to_async(tmp_path / "runs", program, sizes={"lanes": 2})
            assert runs.left == 1
            result = await alice.online_from_async(tmp_path / "runs", program, {"a": [10, 20]})
            assert list(result["out"]) == [11, 22]
            least = await alice.argmin_async([8, 7], form="halves", sizes={"bob": 2}, correlations="softspoken4")
            assert (least["least"][0], least["index"][0]) == (7, 1)

    asyncio.run(main())
    bob.end()


def test_the_package_imports_little() -> None:
    """NumPy, asyncio and the like come when they are used."""
    import subprocess

    code = "import duologue, sys; print([name for name in ('numpy', 'asyncio', 'pandas') if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"

"""How much of the interpreter another thread has during a run over a line of 10 ms.

    python crates/python/benches/interpreter.py

The peer is the command. A thread counts, and notes the longest time between two counts. Its rate is by its own processor
time, so that what else the machine does takes nothing from it; times of the clock are of the machine as it is.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import duologue as duo
import numpy as np

LANES, LINK = 20_000, "10ms,1Gbit"
PEER = [
    sys.executable,
    "-m",
    "duologue",
    "run",
    "block:multiply_low:64",
    "--as",
    "bob",
    "--yes",
    "--insecure-plaintext",
]


class Ticker:
    """Counts until it is stopped."""

    def __init__(self) -> None:
        self.count, self.longest, self.busy = 0, 0.0, 0.0
        self._goes_on = True
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        start, last = time.thread_time(), time.perf_counter()
        while self._goes_on:
            self.count += 1
            now = time.perf_counter()
            self.longest, last = max(self.longest, now - last), now
        self.busy = time.thread_time() - start

    def __enter__(self) -> Ticker:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._goes_on = False
        self._thread.join()

    def __str__(self) -> str:
        return f"{self.count / self.busy:,.0f} counts a second of processor, longest gap {self.longest * 1e3:.1f} ms"


def main() -> None:
    with Ticker() as free:
        time.sleep(2)
    print(f"alone:        {free}")
    for protocol in ("yao", "gmw"):
        alice = duo.listen("127.0.0.1:0", party="alice", insecure_plaintext=True, link=LINK)
        line = [
            "--connect",
            alice.address,
            "--link",
            LINK,
            "--protocol",
            protocol,
            "--input",
            "b=b.npy",
            "--output",
            "out=/dev/null",
        ]
        np.save("b.npy", np.arange(LANES, dtype=np.uint64))
        with subprocess.Popen([*PEER, *line], stderr=subprocess.DEVNULL), alice:
            start = time.perf_counter()
            with Ticker() as beside:
                alice.run(duo.program("block:multiply_low:64"), {"a": np.arange(LANES)}, protocol=protocol)
            took = time.perf_counter() - start
        ratio = beside.count / beside.busy / (free.count / free.busy)
        print(f"{protocol:<4} {took:5.1f} s: {beside}, {ratio:.2f} of alone; {beside.busy / took:.2f} of a processor")


if __name__ == "__main__":
    main()

"""How jobs gain by workers, what a lost worker costs, how fast outputs are merged, and what memory a driver takes.

    python crates/cli/benches/jobs.py target/release/duologue [throughput|shared|lost|one|pools|large ...]

Both parties' drivers and workers run on this machine. Between the workers of a pair is a simulated line of 100 Mbit/s, which
Yao fills, so that the line is the limit and not the processors. Outputs are compared with NumPy's.
"""

from __future__ import annotations

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

COMMAND = str(Path(sys.argv[1]).resolve())
LANES, SHARDS = 4_000, 8
LINE = ["--link", "1ms,100Mbit", "--protocol", "yao", "--correlations", "softspoken4"]


class Couple:
    """A folder with both parties' keys and inputs of as many lanes."""

    def __init__(self, folder: Path, program: str, lanes: int, bits: int) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.program, self.lanes = folder, program, lanes
        generator = np.random.default_rng(1)
        self.inputs = generator.integers(0, 1 << (bits - 1), (2, lanes), dtype=f"u{bits // 8}")
        for name, values in zip("ab", self.inputs, strict=True):
            np.save(folder / f"{name}.npy", values)
        self.keys = [self._key(party) for party in ("alice", "bob")]

    def _key(self, party: str) -> str:
        words = [COMMAND, "keys", "new", "--key", str(self.folder / party)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        found = re.search(r"duo1\w+", done.stdout + done.stderr)
        assert found, done
        return found.group()

    def start(self, verb: Sequence[str], party: str, more: Sequence[str], address: str | None) -> Side:
        """A party's side, by its driver or by a run."""
        number = ["alice", "bob"].index(party)
        words = [COMMAND, *verb, self.program, "--as", party, "--json", "--size", f"lanes={self.lanes}"]
        words += ["--key", str(self.folder / party), "--peer-key", self.keys[1 - number]]
        if "prepare" not in verb:
            words += ["--yes", "--input", f"{'ab'[number]}={'ab'[number]}.npy"]
        words += [*more, *(["--connect", address] if address else ["--listen", "127.0.0.1:0"])]
        return Side(subprocess.Popen(words, cwd=self.folder, stdout=-1, stderr=-1, text=True))

    def drive(self, shards: int, workers: int, settings: Sequence[str], state: str) -> list[Side]:
        more = ["--shards", str(shards), "--workers", str(workers), *settings]
        more += ["--output", f"out={state}-PARTY.npy", "--state", f"{state}-PARTY"]
        return self.both(["job", "drive"], more)

    def both(self, verb: Sequence[str], more: Sequence[str]) -> list[Side]:
        bob = self.start(verb, "bob", [word.replace("PARTY", "bob") for word in more], None)
        alice = self.start(verb, "alice", [word.replace("PARTY", "alice") for word in more], bob.address())
        return [alice, bob]

    def check(self, state: str, expected: np.ndarray) -> None:
        assert np.array_equal(np.load(self.folder / f"{state}-alice.npy"), expected)


class Side:
    """The process of a party, whose messages are read as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.lines, self.memory = process, [], 0
        self.output = ""
        self._threads = [threading.Thread(target=job) for job in (self._messages, self._results, self._watch)]
        for thread in self._threads:
            thread.start()

    def _messages(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.lines.append(line)

    def _results(self) -> None:
        assert self.process.stdout
        self.output = self.process.stdout.read()

    def _watch(self) -> None:
        """The greatest memory of the process alone."""
        while self.process.poll() is None:
            try:
                status = Path(f"/proc/{self.process.pid}/status").read_text()
            except OSError:
                return
            found = re.search(r"VmHWM:\s+(\d+) kB", status)
            self.memory = max(self.memory, int(found.group(1)) if found else 0)
            time.sleep(0.02)

    def until(self, pattern: str) -> re.Match[str]:
        while True:
            for line in list(self.lines):
                if found := re.search(pattern, line):
                    return found
            assert self.process.poll() is None, self.lines
            time.sleep(0.005)

    def address(self) -> str:
        return self.until(r"listening on (\S+:\d+)").group(1)

    def end(self) -> dict[str, Any]:
        self.process.wait(600)
        for thread in self._threads:
            thread.join()
        assert self.process.returncode == 0, "".join(self.lines)
        return json.loads(self.output)

    def children(self) -> list[int]:
        task = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(number) for number in task.read_text().split()]


def throughput(folder: Path) -> None:
    """The same eight shards by one, two, four and eight pairs of workers."""
    couple = Couple(folder, "block:multiply_low:64", LANES, 64)
    expected = couple.inputs[0] * couple.inputs[1]
    alone = None
    for pairs in (1, 2, 4, 8):
        state = f"throughput{pairs}"
        alice, bob = couple.drive(SHARDS, pairs, LINE, state)
        report = alice.end()
        bob.end()
        couple.check(state, expected)
        slowest = max(shard["seconds"] for shard in report["shards"])
        alone = alone or report["seconds"]
        gain = alone / report["seconds"]
        print(f"{pairs} pairs: {report['seconds']:.2f} s, {gain:.2f} times one pair, {gain / pairs:.2f} of N;"
              f" slowest shard {slowest:.2f} s, driver {alice.memory / 1e3:.0f} MB")


def shared(folder: Path) -> None:
    """Pairs that share one line, each with its part of the rate: as `duologue cost --workers` predicts them, and as they are."""
    program, lanes = "block:multiply_low:64", 600
    for protocol, delay, rate in (("yao", "20ms", 20), ("gmw", "100ms", 100)):
        couple = Couple(folder / protocol, program, lanes, 64)
        expected = couple.inputs[0] * couple.inputs[1]
        how = ["--protocol", protocol, "--correlations", "softspoken4"]
        words = [COMMAND, "cost", program, "--size", f"lanes={lanes}", "--shards", str(SHARDS), "--workers", "4", *how]
        words += ["--link", f"{delay},{rate}Mbit", "--json"]
        predicted = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
        for row in predicted["pairs"]:
            pairs = row["pairs"]
            state = f"shared{pairs}"
            alice, bob = couple.drive(SHARDS, pairs, ["--link", f"{delay},{rate / pairs}Mbit", *how], state)
            report = alice.end()
            bob.end()
            couple.check(state, expected)
            slowest = max(shard["seconds"] for shard in report["shards"])
            print(f"{protocol}, {delay}, {rate} Mbit/s among {pairs} pairs: predicted {row['seconds']:.2f} s, took"
                  f" {report['seconds']:.2f} s; a shard {row['shard']:.2f} s, the slowest {slowest:.2f} s;"
                  f" line full to {row['full']:.2f}")


def lost(folder: Path) -> None:
    """One worker of Alice's is killed in the middle of the shard that it begins when half of all are done."""
    couple = Couple(folder, "block:multiply_low:64", LANES, 64)
    expected = couple.inputs[0] * couple.inputs[1]
    for pairs in (1, 2, 4):
        alice, bob = couple.drive(SHARDS, pairs, LINE, f"whole{pairs}")
        whole = alice.end()["seconds"]
        bob.end()
        state = f"lost{pairs}"
        alice, bob = couple.drive(SHARDS, pairs, LINE, state)
        alice.until(f", {SHARDS // 2} of {SHARDS}")
        time.sleep(whole * pairs / SHARDS / 2)
        os.kill(alice.children()[0], signal.SIGKILL)
        report = alice.end()
        bob.end()
        couple.check(state, expected)
        attempts = sum(shard["attempts"] for shard in report["shards"])
        print(f"{pairs} pairs: {whole:.2f} s, with a lost worker {report['seconds']:.2f} s,"
              f" {report['seconds'] / whole:.2f} times; {attempts} attempts at {SHARDS} shards")


def one(folder: Path) -> None:
    """A job of one shard beside `duologue run`, and what a small shard takes besides its run."""
    couple = Couple(folder, "block:multiply_low:64", LANES // 4, 64)
    expected = couple.inputs[0] * couple.inputs[1]
    for turn in range(3):
        state = f"one{turn}"
        start = time.perf_counter()
        alice, bob = couple.drive(1, 1, LINE, state)
        job, _ = alice.end(), bob.end()
        job_wall = time.perf_counter() - start
        couple.check(state, expected)
        start = time.perf_counter()
        sides = couple.both(["run"], [*LINE, "--output", "out=run-PARTY.npy"])
        for side in sides:
            side.end()
        wall = time.perf_counter() - start
        print(f"one shard: job {job['seconds']:.2f} s ({job_wall:.2f} with its start), run {wall:.2f} s with its start")
    small = Couple(folder / "small", "block:add:8", 64, 8)
    for line in ("0ms,1Gbit", "20ms,1Gbit"):
        settings = ["--link", line, "--protocol", "gmw", "--correlations", "softspoken4"]
        alice, bob = small.drive(8, 1, settings, f"small{line[:2]}")
        seconds = statistics.median(shard["seconds"] for shard in alice.end()["shards"])
        bob.end()
        print(f"a shard of 8 lanes over {line}: {seconds * 1e3:.0f} ms")


def pools(folder: Path) -> None:
    """From `job drive` to its end by GMW over 100 Mbit/s, with pools that were made before and without."""
    couple = Couple(folder, "block:multiply_low:64", LANES, 64)
    expected = couple.inputs[0] * couple.inputs[1]
    settings = ["--link", "1ms,100Mbit", "--protocol", "gmw", "--correlations", "softspoken4"]
    for pairs in (1, 4):
        taken, prepared = {}, 0.0
        for name in ("without", "with"):
            state = f"{name}{pairs}"
            if name == "with":
                more = ["--shards", str(SHARDS), "--workers", str(pairs), *settings, "--state", f"{state}-PARTY"]
                prepared = [side.end() for side in couple.both(["job", "prepare"], more)][0]["seconds"]
            alice, bob = couple.drive(SHARDS, pairs, settings, state)
            taken[name] = alice.end()
            bob.end()
            couple.check(state, expected)
        seconds = {name: report["seconds"] for name, report in taken.items()}
        sent = {name: sum(shard["sent"] for shard in report["shards"]) / 1e6 for name, report in taken.items()}
        print(f"{pairs} pairs: without pools {seconds['without']:.2f} s, {sent['without']:.1f} MB sent by a party;"
              f" with pools, made in {prepared:.2f} s, {seconds['with']:.2f} s, {sent['with']:.1f} MB")


def large(folder: Path) -> None:
    """Ten million lanes: the driver's memory, and how fast parts become one file."""
    couple = Couple(folder, "block:add:64", 10_000_000, 64)
    settings = ["--protocol", "gmw", "--correlations", "silent", "--no-merge"]
    more = ["--shards", "16", "--workers", "8", *settings, "--state", "large-PARTY"]
    sides = couple.both(["job", "drive"], more)
    report = [side.end() for side in sides][0]
    memory = max(side.memory for side in sides)
    start = time.perf_counter()
    words = [COMMAND, "job", "merge", "large-alice", "--output", "out=large-alice.npy"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    seconds = time.perf_counter() - start
    merged = (folder / "large-alice.npy").stat().st_size
    couple.check("large", couple.inputs[0] + couple.inputs[1])
    print(f"10^7 lanes in 16 shards by 8 pairs: {report['seconds']:.1f} s, driver {memory / 1e3:.0f} MB;"
          f" merged {merged / 1e6:.0f} MB in {seconds:.3f} s, {merged / seconds / 1e9:.2f} GB/s")


ALL: dict[str, Callable[[Path], None]] = {
    "throughput": throughput, "shared": shared, "lost": lost, "one": one, "pools": pools, "large": large,
}

if __name__ == "__main__":
    for name in sys.argv[2:] or ALL:
        with tempfile.TemporaryDirectory() as scratch:
            ALL[name](Path(scratch))

"""A job of one shard through Ray beside `duologue run`, and how long a job takes to start where Ray is up.

    ray start --head
    python jobs_by_ray.py [LANES] [ROUNDS]

Both parties use the cluster of RAY_ADDRESS, or the one on this machine, which is for measuring alone.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duologue as duo
import numpy as np
import ray
from duologue.cluster import ray as cluster

HERE = Path(__file__).absolute()
PROGRAM, INPUT = "block:multiply:64", {"alice": "a", "bob": "b"}


def drive(party: str, peer: str, address: str, lanes: int) -> tuple[float, cluster.JobReport]:
    """One party's side of a job, and the seconds that it took in all."""
    shutil.rmtree(party, ignore_errors=True)
    end: Any = {"listen" if party == "alice" else "connect": address}
    start = time.perf_counter()
    report = cluster.drive(
        PROGRAM,
        party=party,
        peer=peer,
        key=f"{party}.key",
        state=party,
        shards=1,
        inputs={INPUT[party]: f"{lanes}.npy"},
        outputs={"out": f"{party}-out.npy"},
        protocol="yao",
        on_progress=lambda _: None,
        **end,
    )
    return time.perf_counter() - start, report


def other(words: list[str], command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen([*command, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def job(keys: dict[str, str], lanes: int) -> tuple[float, float]:
    """Seconds of all of a job, and of its shard."""
    bob = other(["--bob", keys["alice"], "127.0.0.1:7791", str(lanes)], [sys.executable, str(HERE)])
    assert bob.stdout is not None and bob.stdout.readline() == "ready\n"
    seconds, report = drive("alice", keys["bob"], "127.0.0.1:7791", lanes)
    bob.wait()
    return seconds, report.shards[0].seconds


def run(keys: dict[str, str], lanes: int) -> tuple[float, float]:
    """Seconds of both processes of `duologue run`, and of its run alone."""
    words = {
        name: ["run", PROGRAM, "--as", name, "--peer-key", keys[peer], "--key", f"{name}.key", "--yes", "--json"]
        + [
            "--input",
            f"{INPUT[name]}={lanes}.npy",
            "--output",
            f"out={name}-run.npy",
            "--protocol",
            "yao",
            "--threads",
            "1",
        ]
        for name, peer in (("alice", "bob"), ("bob", "alice"))
    }
    start = time.perf_counter()
    alice = other([*words["alice"], "--listen", "127.0.0.1:7792"], [sys.executable, "-m", "duologue"])
    bob = other([*words["bob"], "--connect", "127.0.0.1:7792"], [sys.executable, "-m", "duologue"])
    report = json.loads(alice.communicate()[0])
    bob.wait()
    return time.perf_counter() - start, report["setup"]["seconds"] + report["online"]["seconds"]


def bob(peer: str, address: str, lanes: str) -> None:
    ray.init(log_to_driver=False, logging_level="ERROR")
    print("ready", flush=True)
    drive("bob", peer, address, int(lanes))


def main(lanes: int = 100_000, rounds: int = 5) -> None:
    keys = {name: duo.new_key(f"{name}.key") for name in INPUT}
    for count in (1, lanes):
        np.save(f"{count}.npy", np.arange(count, dtype=np.uint64))
    ray.init(log_to_driver=False, logging_level="ERROR")
    start_up, ratios = [], []
    for _ in range(rounds):
        seconds, shard = job(keys, 1)
        start_up.append(seconds - shard)
        _, by_run = run(keys, lanes)
        _, by_ray = job(keys, lanes)
        assert (np.load("alice-out.npy") == np.load("alice-run.npy")).all()
        ratios.append(by_run / by_ray)
        print(f"start-up {start_up[-1]:.2f} s; {lanes} lanes: run {by_run:.3f} s, shard {by_ray:.3f} s", flush=True)
    print(
        f"medians: start-up and end {statistics.median(start_up):.2f} s, speed {statistics.median(ratios):.3f} of run's"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--bob"]:
        bob(*sys.argv[2:])
    else:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            main(*map(int, sys.argv[1:]))

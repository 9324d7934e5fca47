"""A party's side of a job by Ray: the driver beside the program that calls `drive`, the workers as actors of this
party's cluster.

Each party has a cluster of its own: whoever may submit to a cluster sees everything that is computed on it, so two
parties on one cluster are protected from nobody.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Unpack

from .. import _core
from ..program import Program
from ._child import PAUSE
from ._connection import connected, listened, reached
from ._driver import Driver, JobReport, JobSettings, Progress, progress
from ._inputs import written
from ._workers import RESTARTS, Crew

__all__ = ["JobReport", "JobSettings", "Progress", "drive"]

LISTENING = "listening on "
# What is said from there on is in the error that is raised.
FAILED = "error: "


def drive(
    program: str | os.PathLike[str] | Program,
    *,
    party: str,
    peer: str,
    state: str | os.PathLike[str],
    shards: int | None = None,
    by: str | None = None,
    workers: int = 1,
    listen: str | None = None,
    connect: str | None = None,
    key: str | os.PathLike[str] | None = None,
    inputs: Mapping[str, object] | None = None,
    outputs: Mapping[str, str | os.PathLike[str]] | None = None,
    sizes: Mapping[str, int] | None = None,
    resume: bool = False,
    wait: int = 120,
    silence: int = 30,
    deadline: int = 3600,
    driver_host: str | None = None,
    worker_ports: str | None = None,
    address: str | None = None,
    options: Mapping[str, Any] | None = None,
    max_restarts: int = RESTARTS,
    on_progress: Callable[[Progress], None] | None = None,
    **settings: Unpack[JobSettings],
) -> JobReport:
    """Drives this party's side of a job, with `workers` actors of this party's cluster; returns when the job is done.

    `program` is a program, its name, or a file of one or of a plan (`duologue job plan`); `shards` and `by` say how it
    is cut. One party gives `listen="HOST:PORT"`, where the other finds its driver by `connect`; `key` is the file of
    this party's private key, `peer` the other's public one, or its name. Workers need the folder `state`, and input
    files, at the same paths as this process: a file system that all nodes share.

    An input is a file with rows (as for the command: `.npy`, `.csv:column`, ...), a number or a list of numbers, a
    NumPy array, a reference or references of such arrays (`ray.put`), or a Dataset of Ray with a column of the input's
    name. What is no file is written into one beside `state`, by the cluster where the cluster has it, and removed at
    the end. Outputs go to the files that `outputs` names; others are in the report.

    `address` is that of the cluster, if `ray.init` was not called before (then by default the one on this machine).
    `options` are those of each actor, such as `{"resources": {"big": 1}}`, with Ray's meanings, and `num_cpus` is
    `threads` if nothing is said: placement and autoscaling are Ray's. A worker is started again `max_restarts` times if
    it, its actor or its node is lost; the shard that it was at is computed anew. `driver_host` is the name by which
    workers reach this process, where the address of the node is not that; `worker_ports`, as in `7600-7699`, where
    workers listen for those of the other party.

    `on_progress` is called for each line that the driver says; without it they go to standard error. Ctrl-C ends the
    workers of both parties. Errors are those of `duologue.errors`.
    """
    folder = Path(state).absolute()
    with connected(address) as ray:
        words = ["--as", party, *(["--resume"] if resume else [])]
        words += _flags(peer_key=peer, state=folder, launch="wait", shards=shards, by=by, connect=connect, wait=wait)
        words += _flags(listen=listened(ray, listen), key=key, silence=silence, deadline=deadline, **settings)
        words += [*_pairs("--output", outputs), *_pairs("--size", sizes)]
        own_key = _core.public_key(_core.own_key() if key is None else key)
        worker = ["--driver-key", own_key, "--key", str(folder / "worker.key"), *_flags(ports=worker_ports, wait=wait)]
        usual = {"num_cpus": settings.get("threads", 1)}
        with (
            written(ray, folder, program, inputs or {}) as (source, given),
            Crew(ray, workers, usual | dict(options or {}), max_restarts) as crew,
        ):
            with Driver([source, *words, *_pairs("--input", given)]) as driver:

                def start(listening: str) -> None:
                    crew.work(["--driver", reached(ray, listening, driver_host), *worker])

                _follow(driver, crew, start, on_progress or _to_stderr)
                return driver.report()


def _follow(driver: Driver, crew: Crew, start: Callable[[str], None], on_progress: Callable[[Progress], None]) -> None:
    """Starts the workers when the driver is there, and returns when it has ended."""
    said = Progress("", 0, None)
    while (note := driver.note(PAUSE)) is not None and not note.startswith(FAILED):
        for line in [note, *crew.look()]:
            if line:
                said = progress(line, said)
                on_progress(said)
        if note.startswith(LISTENING):
            start(note.removeprefix(LISTENING))


def _flags(**values: object) -> list[str]:
    """Flags of the command, of what is said."""
    pairs = ((f"--{name.replace('_', '-')}", value) for name, value in values.items() if value is not None)
    return [word for flag, value in pairs for word in (flag, _text(value))]


def _pairs(flag: str, values: Mapping[str, object] | None) -> list[str]:
    return [word for name, value in (values or {}).items() for word in (flag, f"{name}={_text(value)}")]


def _text(value: object) -> str:
    return str(os.fspath(value)) if isinstance(value, os.PathLike) else str(value)


def _to_stderr(said: Progress) -> None:
    print(f"(duologue-driver) {said.note}", file=sys.stderr, flush=True)

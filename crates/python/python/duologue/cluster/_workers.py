"""Workers as actors of Ray. An actor has a process `duologue job worker`, and stays for as long as the job."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Any, Self

from ..errors import MachineError, UsageError
from . import _child
from ._blocks import reason
from ._metrics import Metrics

__all__ = ["ALL", "RESTARTS", "Crew", "Ended", "Refused", "Worker"]

# Seconds: how long a worker that was told of the end may take, and how long all are waited for: one whose node is lost
# says nothing, and a process that is not heard of ends with its actor.
GRACE = 2.0
ALL = 5.0

# How often an actor is started again.
RESTARTS = 3

# How many looks without any worker that could still work, before the driver is stopped.
PATIENCE = 10

# Options of actors that are not the user's: an actor that is detached would outlive the job.
TAKEN = {"name", "namespace", "lifetime", "get_if_exists", "concurrency_groups", "max_concurrency"}

# Exit codes by which another attempt would end as well: flags, keys, versions, files.
FINAL = (1, 2, 4, 7)


class Ended(Exception):
    """A worker ended before its driver said that the job is over: Ray starts it again."""


class Refused(Exception):
    """A worker cannot work here, and another attempt would not help."""


class Worker:
    """One actor. `work` takes as long as the job, so `stop` is in a concurrency group of its own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._is_stopped = False

    def __repr__(self) -> str:
        # Ray puts it before each line that the actor prints.
        return self._name

    def work(self, words: Sequence[str]) -> None:
        """Works for the driver that these words of the command name, until the job is over."""
        process = self._start(words)
        if process is None:
            return
        last = ""
        with process:
            assert process.stderr is not None and process.stdout is not None
            counting = threading.Thread(target=Metrics(self._name).hear, args=(process.stdout,), daemon=True)
            counting.start()
            for line in process.stderr:
                last = line.strip() or last
                # Ray shows it on standard error of whoever drives.
                print(line, end="", file=sys.stderr, flush=True)
            counting.join()
        code = process.returncode
        if code == 0 or self._is_stopped:
            return
        by = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}: {last}"
        raise (Refused if code in FINAL else Ended)(f"{self._name} ended by {by}")

    def _start(self, words: Sequence[str]) -> subprocess.Popen[str] | None:
        with self._lock:
            if not self._is_stopped:
                self._process = _child.start(["job", "worker", "--json", *words], subprocess.PIPE)
                return self._process
        return None

    def stop(self) -> None:
        """Ends its process, now and for good."""
        with self._lock:
            self._is_stopped = True
        if self._process is None:
            return
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            _child.stop(self._process, signal.SIGTERM)


class Crew:
    """The workers of a job. Ray places them, and starts them again when they or their nodes are lost."""

    def __init__(self, ray: Any, count: int, options: Mapping[str, Any], restarts: int) -> None:
        self._ray = ray
        self._restarts = options.get("max_restarts", restarts)
        self._work: list[Any] = []
        """What those do that have not ended for good."""
        self._lost: list[str] = []
        self._idle = 0
        self._is_over = False
        """A driver has told a worker that no shard is left: what it does then needs none."""
        if taken := TAKEN & options.keys():
            raise UsageError(f"options of workers may not have {', '.join(sorted(taken))}: these belong to the job")
        actor = ray.remote(concurrency_groups={"control": 1})(Worker)
        names = [f"duologue-worker-{number}" for number in range(count)]
        # Another job of the same cluster has the same names in another namespace.
        usual = {"max_restarts": restarts, "max_task_retries": self._restarts, "namespace": f"duologue-{token_hex(4)}"}
        try:
            self._actors = [actor.options(**{**usual, **options, "name": name}).remote(name) for name in names]
        except (TypeError, ValueError) as why:
            raise UsageError(f"Ray does not take the options of workers: {why}") from why
        self._placed = [one.__ray_ready__.remote() for one in self._actors]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def work(self, words: Sequence[str]) -> None:
        """Has all of them work for a driver."""
        retried = {"retry_exceptions": [Ended], "max_task_retries": self._restarts}
        self._work = [actor.work.options(**retried).remote(list(words)) for actor in self._actors]

    def look(self) -> list[str]:
        """Which workers have ended for good since the last look, and why. When all have, it fails, but not at once: the
        driver may know more."""
        news = self._ended()
        self._lost += news
        self._idle = 0 if self._work or self._is_over or not self._lost else self._idle + 1
        if self._idle > PATIENCE:
            raise MachineError(f"all workers have ended for good, one of them thus: {self._lost[0]}")
        return [f"a worker is lost for good: {why}" for why in news]

    def _ended(self) -> list[str]:
        if not self._work:
            return []
        ended, self._work = self._ray.wait(self._work, num_returns=len(self._work), timeout=0)
        found = [self._why(work) for work in ended]
        self._is_over |= None in found
        return [why for why in found if why]

    def _why(self, work: Any) -> str | None:
        """Why a worker has ended, unless its driver said that the job needs no more of it."""
        try:
            self._ray.get(work)
        except self._ray.exceptions.RayError as why:
            return reason(why)
        return None

    def stop(self) -> None:
        """Ends all of them, with their processes; also if this is interrupted."""
        try:
            placed, _ = self._ray.wait(self._placed, num_returns=len(self._placed), timeout=0)
            stopped = [
                actor.stop.options(concurrency_group="control").remote()
                for actor, ready in zip(self._actors, self._placed, strict=True)
                if ready in placed
            ]
            if stopped:
                self._ray.wait(stopped, num_returns=len(stopped), timeout=ALL)
        finally:
            for actor in self._actors:
                self._ray.kill(actor)

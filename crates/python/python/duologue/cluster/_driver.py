"""A party's driver, `duologue job drive`, as a process: what it says, its report, and its errors as ours."""

from __future__ import annotations

import json
import queue
import re
import signal
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypedDict

from .. import errors
from ..report import Phase
from . import _child

__all__ = ["Driver", "JobReport", "JobSettings", "LastReport", "PredictedReport", "Progress", "ShardReport"]


class JobSettings(TypedDict, total=False):
    """How shards are computed. Both parties give the same, but for `threads`."""

    protocol: str
    """`auto`, what each pair of workers predicts to be best over its line; or `yao`, `gmw`, `gmw-masked`, `mixed`."""
    garbler: str
    """Who garbles in Yao, `alice` or `bob`; by default the party with more input bits."""
    garbling: str
    """How Yao garbles an AND: `half-gates` (the usual one) or `three-halves`; `auto` chooses unless one is said."""
    correlations: str
    """What makes correlations: `auto`, `softspoken1` to `softspoken8`, `silent`, ..."""
    assume_link: str
    """Measure nothing, and choose for this line."""
    link: str
    """Simulate a line between each pair of workers."""
    threads: int
    """Threads of each worker."""


class Progress(NamedTuple):
    """A line that the driver says."""

    note: str
    done: int
    """Shards that are finished, as far as the driver has said."""
    shards: int | None
    """All shards; none before the first is finished."""


@dataclass(frozen=True)
class ShardReport:
    """A shard: what its last attempt took, of the slower side."""

    lanes: int
    attempts: int
    """How many there were, with the one that was finished."""
    seconds: float
    sent: int
    """Bytes between the two workers."""
    received: int
    predicted: float | None = None
    """Seconds that its run was predicted to take; none if the protocol is named and nothing is known of the line."""


@dataclass(frozen=True)
class PredictedReport:
    """All shards that were predicted: what they were predicted to take together, and what they took."""

    seconds: float
    took: float
    slowest: float
    """How many times as long as predicted the slowest one took."""


@dataclass(frozen=True)
class LastReport:
    """The last program, which folds what the shards have reduced."""

    protocol: str
    setup: Phase
    online: Phase
    predicted: float | None = None


@dataclass(frozen=True)
class JobReport:
    """A job as one party saw it."""

    program: str
    digest: str
    """Of the program, in hexadecimal."""
    plan: str
    """The digest of how it was cut."""
    party: str
    seconds: float
    """From the meeting of the drivers to the outputs."""
    shards: tuple[ShardReport, ...]
    predicted: PredictedReport | None
    """None if no shard was predicted."""
    last: LastReport | None
    """None if nothing was reduced."""
    outputs: dict[str, Any]
    """The outputs that this party learns, by name: the file that has it, or a list of numbers, one a lane."""

    @classmethod
    def _of(cls, report: dict[str, Any]) -> JobReport:
        shards = tuple(ShardReport(**shard) for shard in report.pop("shards"))
        last = report.pop("last", None)
        if last is not None:
            setup, online = _phase(last["setup"]), _phase(last["online"])
            last = LastReport(last["protocol"], setup, online, last.get("predicted"))
        predicted = report.pop("predicted", None)
        predicted = PredictedReport(**predicted) if predicted is not None else None
        outputs = {name: _output(output) for name, output in report.pop("outputs", {}).items()}
        return cls(**report, shards=shards, predicted=predicted, last=last, outputs=outputs)


def _output(output: dict[str, Any]) -> Any:
    return output["file"] if "file" in output else [_number(value) for value in output["values"]]


def _number(value: Any) -> Any:
    """What other readers of JSON would not hold exactly comes as text."""
    try:
        return int(value, 0) if isinstance(value, str) else value
    except ValueError:
        return float(value)


def _phase(phase: dict[str, Any]) -> Phase:
    return Phase(**{name: phase[name] for name in ("seconds", "sent", "received", "rounds")})


class Driver:
    """The process of a driver."""

    def __init__(self, words: Sequence[str]) -> None:
        self._report = tempfile.TemporaryFile()
        self._process = _child.start(["job", "drive", *words, "--yes", "--json"], self._report)
        self._notes: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._said: list[str] = []
        threading.Thread(target=self._read, name="duologue-driver", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _read(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                self._notes.put(line.rstrip("\n"))
        self._notes.put(None)

    def note(self, seconds: float) -> str | None:
        """The next line that it says; an empty one if it says nothing for so long, nothing when it has ended."""
        try:
            note = self._notes.get(timeout=seconds)
        except queue.Empty:
            return ""
        if note is None:
            # It stays the last one.
            self._notes.put(None)
        else:
            self._said.append(note)
        return note

    def report(self) -> JobReport:
        """What the job took, when it has ended; or why it failed."""
        while self.note(_child.PAUSE) is not None:
            pass
        code = self._process.wait()
        if code != 0:
            raise failure(code, self._said)
        self._report.seek(0)
        return JobReport._of(json.load(self._report))

    def stop(self) -> None:
        """Ends it if it goes on. The other party's driver and the workers hear of it."""
        try:
            _child.stop(self._process, signal.SIGINT)
        finally:
            self._report.close()


def failure(code: int, said: Sequence[str]) -> errors.Error:
    """The error that the command ends with: its exit code, and what it said."""
    start = next((at for at, line in enumerate(said) if line.startswith("error: ")), None)
    message = "\n".join(said[-5:] if start is None else said[start:]).removeprefix("error: ")
    if code < 0:
        return errors.MachineError(f"the driver was ended by {signal.Signals(-code).name}")
    if code == 4:
        return _incompatible(message)
    if code == 5 and re.match("the peer stopped|the other driver", message):
        return errors.Aborted(message)
    return _CLASSES.get(code, errors.MachineError)(message)


_CLASSES: dict[int, type[errors.Error]] = {
    1: errors.UsageError,
    2: errors.UsageError,
    3: errors.PeerError,
    5: errors.Closed,
    6: errors.Timeout,
    7: errors.Malformed,
    10: errors.UsageError,
    130: errors.Cancelled,
}


def _incompatible(message: str) -> errors.Incompatible:
    found = re.search(r"do not agree on (.+?): ours is (.+?), theirs is (.+)", message)
    what, ours, theirs = found.groups() if found else ("the job", "", "")
    return errors.Incompatible(message, what, ours, theirs)


_DONE = re.compile(r": done in .*, (\d+) of (\d+)$")


def progress(note: str, before: Progress) -> Progress:
    """A line of the driver, after those that came before."""
    found = _DONE.search(note)
    if found is None:
        return before._replace(note=note)
    return Progress(note, int(found[1]), int(found[2]))

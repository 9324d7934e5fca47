"""Folders of what two parties made ahead of time: pools of correlations, and prepared runs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import _core
from .report import Phase

__all__ = ["Correlations", "Pool", "Runs", "place", "pool", "prepared_runs"]


class Correlations(NamedTuple):
    """Numbers of correlations, by kind."""

    triples: int
    cots_by_alice: int
    cots_by_bob: int


@dataclass(frozen=True)
class _Folder:
    folder: str
    party: str
    """Whose half it is."""
    peer_key: str | None
    """The peer's public key; none over a connection without keys."""
    sealed: bool
    bytes: int
    """On disk."""
    just_now: Phase | None
    """What it took to add to it, if something was."""


@dataclass(frozen=True)
class Pool(_Folder):
    """What a pool of correlations has. It is a description: the pool is the folder."""

    correlations: str
    """What makes them."""
    destroyed: str | None
    """Why its correlated OTs are destroyed, if they are."""
    left: Correlations
    used: Correlations
    made: Correlations

    @classmethod
    def _of(cls, folder: str | os.PathLike[str], status: dict[str, Any]) -> Pool:
        status |= {name: Correlations(*status[name]) for name in ("left", "used", "made")}
        return cls(folder=os.fspath(folder), just_now=_phase(status), **status)


@dataclass(frozen=True)
class Runs(_Folder):
    """What a folder of prepared runs has. It is a description: the runs are in the folder."""

    left: int
    used: int
    made: int
    terms: dict[str, str]
    """What was agreed on when they were made: the program, its sizes, who garbles and so on."""

    @classmethod
    def _of(cls, folder: str | os.PathLike[str], status: dict[str, Any]) -> Runs:
        return cls(folder=os.fspath(folder), just_now=_phase(status), **status)


def _phase(status: dict[str, Any]) -> Phase | None:
    phase = status.pop("just_now")
    return None if phase is None else Phase(**phase)


def place(folder: str | os.PathLike[str], key: str | os.PathLike[str] | None) -> tuple[str, str | None]:
    """A folder and the file of its key, for the compiled part."""
    return os.fspath(folder), None if key is None else os.fspath(key)


def pool(folder: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None, verify: bool = False) -> Pool:
    """What a pool has left, as `duologue pool FOLDER` says.

    `key` is the file of the key that it is sealed with. With `verify` all of it is read, and must be as it was written.
    """
    return Pool._of(folder, _core.pool_status(place(folder, key), verify))


def prepared_runs(
    folder: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None, verify: bool = False
) -> Runs:
    """What a folder of prepared runs has left, as `duologue pool FOLDER` says; the rest is as for `pool`."""
    return Runs._of(folder, _core.runs_status(place(folder, key), verify))

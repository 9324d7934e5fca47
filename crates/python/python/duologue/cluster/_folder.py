"""The folder of what is written for a job, `STATE.inputs`: one program has it at a time, and removes what it wrote."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Self

from ..errors import Error, MachineError, UsageError

__all__ = ["Folder"]

# The file that is locked, and how it begins. The names of the others follow, each before there is such a file.
LOCK = "lock"
TITLE = "duologue: what is written for a job by Ray, until the job is over\n"


class Folder:
    """It is made when there is something to write."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock: int | None = None
        self._files: list[str] = []

    def __enter__(self) -> Self:
        """Removes what a program that was killed has left."""
        with _refused(self._path), suppress(FileNotFoundError):
            if (self._path / LOCK).read_bytes().startswith(TITLE.encode()):
                self._take()
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is None:
            return
        try:
            with _refused(self._path):
                self._remove()
                (self._path / LOCK).unlink(missing_ok=True)
        finally:
            # NFS keeps a file that is removed while it is open: it goes before the folder does.
            os.close(self._lock)
            self._lock = None
        with suppress(OSError):  # another program may have it by now
            self._path.rmdir()

    def write(self, name: str, fill: Callable[[Path], bytes]) -> str:
        """A file of this name for its owner alone, which `fill` writes. It returns a digest, which becomes the time of
        the file: whoever compares times, as a job does that goes on, compares what is in it.

        The file has its name when it is complete: a task of an earlier call that is still at work does not find it, and
        no other machine has seen it with another time.
        """
        with _refused(self._path):
            if self._lock is None:
                self._take()
            part, file = self._path / f"{token_hex(8)}.part", self._path / name
            self._remember(part.name, name)
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            time = _time(fill(part))
            os.utime(part, ns=(time, time))
            part.rename(file)
        return str(file)

    def _take(self) -> None:
        """Has it for this program, and nothing in it; refuses one that has anything that we have not written."""
        if self._path.exists() and not (self._path / LOCK).exists():
            self._check([])
        with ExitStack() as failed:
            lock = _lock(self._path)
            failed.callback(os.close, lock)
            self._files = _files(self._path, lock)
            self._check([LOCK, *self._files])
            self._remove()
            self._path.chmod(0o700)
            os.ftruncate(lock, 0)
            os.write(lock, TITLE.encode())
            failed.pop_all()
        self._lock = lock

    def _check(self, known: list[str]) -> None:
        others = {entry.name for entry in self._path.iterdir()} - set(known)
        if others:
            raise _others(self._path, min(others))

    def _remember(self, *names: str) -> None:
        assert self._lock is not None
        self._files += names
        os.write(self._lock, "".join(f"{name}\n" for name in names).encode())

    def _remove(self) -> None:
        for name in self._files:
            (self._path / name).unlink(missing_ok=True)
        self._files = []


def _files(folder: Path, lock: int) -> list[str]:
    """What whoever had the lock has written."""
    content = os.pread(lock, os.fstat(lock).st_size, 0).decode(errors="replace")
    # It is empty if it was made just now.
    if content and not content.startswith(TITLE):
        raise _others(folder, LOCK)
    return content.splitlines()[1:]


def _lock(folder: Path) -> int:
    """The lock, open, and the folder, which are made if need be."""
    file = folder / LOCK
    while True:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Whoever has them may remove both before we have them.
        with suppress(FileNotFoundError), ExitStack() as failed:
            lock = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            failed.callback(os.close, lock)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as why:
                raise UsageError(f"another program has written inputs into {folder}, and its job is not over") from why
            if os.path.samestat(os.fstat(lock), file.stat()):
                failed.pop_all()
                return lock


def _others(folder: Path, name: str) -> UsageError:
    why = f"{folder} has {name}, which no job by Ray has written: what is written for the job would go there"
    return UsageError(f"{why}; move it, or give the job another state")


@contextmanager
def _refused(folder: Path) -> Iterator[None]:
    """What the system refuses, as an error of ours."""
    try:
        yield
    except Error:
        raise
    except OSError as why:
        raise MachineError(f"writing for the job into {folder}: {why}") from why


def _time(digest: bytes) -> int:
    """A time that stands for a digest, in nanoseconds since 1970: 31 bits of seconds, which all file systems keep."""
    number = int.from_bytes(digest[:8], "little")
    return (number & 0x7FFF_FFFF) * 10**9 + (number >> 31) % 10**9

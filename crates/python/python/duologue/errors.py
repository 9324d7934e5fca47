"""What can go wrong, by who is to blame. A message says what was expected and what came; none contains a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import PrivateRuns

__all__ = [
    "Aborted",
    "Cancelled",
    "Closed",
    "Dead",
    "Error",
    "Incompatible",
    "MachineError",
    "Malformed",
    "PeerError",
    "SecretBranch",
    "Timeout",
    "UsageError",
]


class Error(Exception):
    """Why a computation did not produce its result."""

    runs: PrivateRuns | None = None
    """Of a private function whose runs ended before their time, what Bob has of those before, which are used up."""


class UsageError(Error, ValueError):
    """The caller asked for something that cannot be. Nothing was sent because of it."""


class SecretBranch(Error, TypeError):
    """A function that is recorded as a program asked for the value of a word: it branched on it, or made a number or
    text of it. The message says where, and what to write instead."""


class PeerError(Error):
    """The peer broke the protocol: it sent something that no honest party sends. The session is dead."""


class Incompatible(Error):
    """The parties do not agree on what to do; found before an input is used. The session goes on if a protocol was
    named, and has ended if one was to be chosen."""

    def __init__(self, message: str, what: str, ours: str, theirs: str, place: str | None = None) -> None:
        super().__init__(message)
        self.what = what
        """The term that they do not agree on."""
        self.ours = ours
        """This party's value of it."""
        self.theirs = theirs
        """The peer's value of it."""
        self.place = place
        """Of two programs, the lines of this party's source where its own first differs, if it is a function and the peer
        told its steps."""

    def __reduce__(self) -> tuple[type[Incompatible], tuple[str, str, str, str, str | None]]:
        return type(self), (str(self), self.what, self.ours, self.theirs, self.place)

    def _at(self, place: str | None) -> None:
        """Says where this party's program differs from the peer's."""
        if place is not None:
            self.args, self.place = (f"{self}: {place}",), place


class Aborted(Error):
    """The peer told us that it stopped, and why."""


class Closed(Error, ConnectionError):
    """The peer closed the connection before the end."""


class Timeout(Error, TimeoutError):
    """Nothing came from the peer in time."""


class Malformed(Error, ValueError):
    """The bytes of a file or an argument do not have their form."""


class MachineError(Error, OSError):
    """The operating system refused."""


class Cancelled(Error):
    """This party stopped it: by `Party.cancel`, from another thread."""


class Dead(Error):
    """This session failed before: nothing that it holds may be used again."""

"""The command as a process that does not outlive the one that started it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import IO, Any

from .._attached import GRACE

__all__ = ["PAUSE", "start", "stop"]

# Seconds between two looks at what a process does.
PAUSE = 0.2


def start(words: Sequence[str], stdout: int | IO[Any]) -> subprocess.Popen[str]:
    """Starts the command in a session of its own: Ctrl-C at a terminal reaches whoever started it, and not this."""
    # Whatever lies in the folder of whoever starts it is not imported.
    command = [sys.executable, "-P", "-m", "duologue._attached", *words]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )


def stop(process: subprocess.Popen[str], how: signal.Signals) -> None:
    """Ends it by a signal, and by force if that is of no use or the wait is interrupted. It has ended afterwards."""
    if process.poll() is None:
        process.send_signal(how)
    try:
        process.wait(2 * GRACE)
    except subprocess.TimeoutExpired:
        pass
    finally:
        process.kill()
        process.wait()
        if process.stdin is not None:
            process.stdin.close()

"""The other party is a real process; every test has a deadline."""

from __future__ import annotations

import faulthandler
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from clusters import clusters, job

__all__ = ["clusters", "job"]

DEADLINE = 120

PRELUDE = """
import os, signal, sys, time
import numpy as np
import duologue as duo
sys.path.insert(0, {tests!r})
import jobs

def listen(party="bob", **more):
    listening = duo.listen("127.0.0.1:0", party=party, insecure_plaintext=True, wait=60, **more)
    print(listening.address, flush=True)
    return listening
"""


class Other:
    """A process of Python. What it prints first is the address at which it listens."""

    def __init__(self, code: str, folder: Path) -> None:
        prelude = PRELUDE.format(tests=str(Path(__file__).parent))
        command = [sys.executable, "-X", "faulthandler", "-c", prelude + textwrap.dedent(code)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=folder)

    def line(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            raise AssertionError(f"it ended: {self.process.communicate()}")
        return line

    def end(self, code: int = 0) -> tuple[str, str]:
        """Waits until it has ended, as expected: what else it printed, and its errors."""
        out, err = self.process.communicate(timeout=DEADLINE)
        assert self.process.returncode == code, f"{self.process.returncode}\n{out}\n{err}"
        return out, err


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Callable[[str], Other]]:
    started: list[Other] = []

    def start(code: str) -> Other:
        started.append(Other(code, tmp_path))
        return started[-1]

    yield start
    for process in started:
        process.process.kill()
        process.process.communicate()


@pytest.fixture(autouse=True)
def deadline() -> Iterator[None]:
    """A test that hangs ends all of them, and says where it hung."""
    faulthandler.dump_traceback_later(5 * DEADLINE, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()

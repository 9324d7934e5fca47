"""The types that the package says it has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples" / "python"

CODE = """
import duologue as duo
import numpy as np

program: duo.Program = duo.load("x.duo")
with duo.connect("a:1", party="alice", key="k", peer="duo1") as party:
    result = party.run(program, {"a": np.arange(3)}, protocol="gmw", tile=64)
    seconds: float = result.report.online.seconds
    party.run(program, {"a": 1}, protocol=3)  # type: ignore[call-overload]
    party.run(program, {"a": 1}, protocols="yao")  # type: ignore[call-overload]
"""


def checked(*words: str, folder: Path) -> str:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_package_and_the_examples_are_typed(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(CODE)
    strict = ["mypy", "--strict", "--warn-unused-ignores", "--cache-dir", str(tmp_path)]
    checked(*strict, "-p", "duologue", folder=tmp_path)
    checked(*strict, str(tmp_path / "code.py"), *map(str, EXAMPLES.glob("*.py")), folder=tmp_path)


def test_the_stub_is_what_is_there(tmp_path: Path) -> None:
    checked("mypy.stubtest", "duologue._core", folder=tmp_path)

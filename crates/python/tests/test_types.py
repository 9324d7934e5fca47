"""The types that the package says it has."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duologue as duo
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
    party.argmin([1, 2], form="halve")  # type: ignore[arg-type]
    party.private(program, method="dhh")  # type: ignore[arg-type]

@duo.program(x=duo.Alice(duo.u8), y=duo.Bob(duo.u8), to=duo.Both)
def traced(x: duo.Word, y: duo.Word) -> dict[str, duo.Word]:
    return {"out": duo.where(x < y, x, y + 1), "all": (x == y).all(), "sum": duo.sum(x)}

@duo.circuit
def twice(x: duo.Word) -> duo.Word:
    return 2 * x

line: duo.Line = traced.profile()[0]
built: duo.Program = duo.program("block:add:32")
duo.program(3)  # type: ignore[call-overload]
twice("x")  # type: ignore[arg-type]
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


# Parts of a package may use what is private to it; and a caller without types may give anything.
PACKAGE = {"reportPrivateUsage": False, "reportUnnecessaryIsInstance": False, "reportMissingModuleSource": False}


@pytest.mark.parametrize("files", ["package", "users"])
def test_pyright_agrees(tmp_path: Path, files: str) -> None:
    pytest.importorskip("pyright")
    if subprocess.run([sys.executable, "-m", "pyright", "--version"], capture_output=True, timeout=240).returncode != 0:
        pytest.skip("pyright cannot fetch itself")
    of_users = {"code.py": CODE, **{example.name: example.read_text() for example in EXAMPLES.glob("*.py")}}
    if files == "users":
        for name, text in of_users.items():
            # What is wrong on purpose is for mypy.
            lines = [line for line in text.splitlines() if "type: ignore" not in line]
            (tmp_path / name).write_text("\n".join(lines) + "\n")
    else:
        (tmp_path / "duologue").symlink_to(Path(duo.__file__).parent)
    config = {"typeCheckingMode": "strict", "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config | (PACKAGE if files == "package" else {})))
    checked("pyright", "-p", ".", "--pythonpath", sys.executable, folder=tmp_path)


def test_the_stub_is_what_is_there(tmp_path: Path) -> None:
    checked("mypy.stubtest", "duologue._core", folder=tmp_path)

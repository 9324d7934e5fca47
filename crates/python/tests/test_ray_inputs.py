"""Inputs of jobs by Ray that are no files: what is written for them, by whom, and what is left of it. The cluster is on this
machine, and both parties use it where there are two, for the test alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from duologue import errors

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray>=2.40,<3'")

from duologue.cluster import _blocks, _folder, _inputs  # noqa: E402

ADD = "block:add:32"


def sources(state: Path, inputs: dict[str, object], program: Any = ADD) -> Any:
    return _inputs.written(ray, state, program, inputs)


def test_values_are_in_files_for_their_owner_alone(tmp_path: Path) -> None:
    state = tmp_path / "job"
    given = {"n": 4200, "list": [1, 2.5, True], "text": "7,,9", "none": [], "array": np.arange(3, dtype=np.uint16)}
    files = {"f": "rows.csv:k:decimal(2)", "g": Path("g.npy"), "h": "H.NPY"}
    with sources(state, {**given, **files}) as (program, found):
        assert program == ADD
        assert {name: found[name] for name in files} == {name: str(file) for name, file in files.items()}
        texts = {name: Path(found[name]).read_text() for name in ("n", "list", "text", "none")}
        assert texts == {"n": '"4200"\n', "list": '"1"\n"2.5"\n"True"\n', "text": '"7"\n""\n"9"\n', "none": ""}
        assert (np.load(found["array"]) == [0, 1, 2]).all() and np.load(found["array"]).dtype == np.uint16
        folder = tmp_path / "job.inputs"
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}
        assert {file.name for file in folder.iterdir()} == {"lock", *(Path(found[name]).name for name in given)}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [{1, 2}, b"12", [[1], [2]], np.array(["no", "number"], dtype=object), object()])
def test_what_is_no_input_is_refused(tmp_path: Path, value: object) -> None:
    with pytest.raises(errors.UsageError, match="input 'b' "), sources(tmp_path / "job", {"b": value}):
        pass
    assert list(tmp_path.iterdir()) == []


def test_every_input_has_a_name_of_its_own(tmp_path: Path) -> None:
    names = ["a", "A", "../a", "a/b", "a%2Fb", "a:b", "lock", "program", ".", "é" * 200, "é" * 201]
    with sources(tmp_path / "job", {name: number for number, name in enumerate(names)}) as (_, found):
        for number, name in enumerate(names):
            assert Path(found[name]).read_text() == f'"{number}"\n'
            assert Path(found[name]).parent == tmp_path / "job.inputs"
    assert list(tmp_path.iterdir()) == []


def stamp(state: Path, name: str, inputs: dict[str, object]) -> tuple[str, int, int]:
    """What a job that goes on compares."""
    with sources(state, inputs) as (_, found):
        file = Path(found[name])
        return str(file), file.stat().st_size, file.stat().st_mtime_ns


def test_the_time_of_a_file_says_what_is_in_it(tmp_path: Path) -> None:
    state, rows = tmp_path / "job", np.arange(1000, dtype=np.uint32)
    of_rows = stamp(state, "b", {"b": rows})
    assert stamp(state, "b", {"x": 1, "b": rows.copy(), "y": 2}) == of_rows
    other = rows.copy()
    other[999] += 1
    of_other = stamp(state, "b", {"b": other})
    assert of_other[:2] == of_rows[:2] and of_other[2] != of_rows[2]
    assert stamp(state, "b", {"b": rows.view(np.int32)})[2] != of_rows[2]
    assert stamp(state, "b", {"b": 4200}) == stamp(state, "b", {"b": [4200]}) != stamp(state, "b", {"b": 4201})


@pytest.mark.parametrize("piece", [1, 7, 64, 4096, 1 << 26])
def test_however_rows_are_in_blocks_the_file_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr(_blocks, "PIECE", piece)
    random, digests = np.random.default_rng(piece), set()
    rows = random.integers(0, 1 << 16, (100, 3), dtype=np.uint16)
    file = tmp_path / "rows.npy"
    for cuts in ([], [50], [0, 0, 1, 99, 100], sorted(random.integers(0, 100, 20))):
        file.write_bytes(b"")
        blocks = [np.asfortranarray(block) for block in np.split(rows, cuts)]
        digests.add(_blocks.write(file, "rows", blocks, _blocks.here))
        assert (np.load(file) == rows).all()
    assert len(digests) == 1


def test_no_two_tasks_write_the_same_page() -> None:
    lengths = [128, 0, 5 << 20, 1, 200 << 20, 7]
    pieces = list(_blocks._pieces(lengths, _blocks.PIECE))
    assert [begin % (1 << 20) for begin, *_ in pieces] == [0] * len(pieces) and len(pieces) > 2
    ends = [begin + length for begin, _, length, _ in pieces]
    assert ends == [begin for begin, *_ in pieces[1:]] + [sum(lengths)]


def test_a_block_that_became_shorter_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="8 bytes of its blocks are not there"):
        _blocks._put(str(tmp_path / "file"), 0, 0, 16, np.zeros(2, np.uint32))
    with pytest.raises(FileNotFoundError):
        _blocks._put(str(tmp_path / "another"), 0, 0, 8, np.zeros(2, np.uint32))
    assert not (tmp_path / "another").exists()


def test_one_program_has_the_folder(tmp_path: Path) -> None:
    """A second call does not touch what the first has written, whether or not it has something to write."""
    state = tmp_path / "job"
    with sources(state, {"b": 1}) as (_, found):
        for inputs in ({"b": 2}, {}):
            with pytest.raises(errors.UsageError, match="another program"), sources(state, inputs):
                pass
        assert Path(found["b"]).read_text() == '"1"\n'
    with sources(state, {"b": 2}) as (_, found):
        assert Path(found["b"]).read_text() == '"2"\n'


def test_whoever_locks_a_lock_that_was_removed_takes_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program ends between the moments in which the lock is opened and locked."""
    folder, flock, calls = tmp_path / "job.inputs", _folder.fcntl.flock, []

    def slow(lock: int, how: int) -> None:
        if not calls:
            (folder / "lock").unlink()
            folder.rmdir()
        calls.append(lock)
        flock(lock, how)

    monkeypatch.setattr(_folder.fcntl, "flock", slow)
    with sources(tmp_path / "job", {"b": 1}) as (_, found):
        assert len(calls) == 2 and Path(found["b"]).exists() and (folder / "lock").exists()
    assert not folder.exists()


KILLED = """
import os, signal, sys
from pathlib import Path
import duologue as duo, ray
from duologue.cluster import _inputs
with _inputs.written(ray, Path("job"), duo.program("block:add:32"), {"b": 4200, "gone": [1, 2]}):
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """The folder of a program that was killed."""
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == -9, done.stderr
    folder = tmp_path / "job.inputs"
    assert {file.name for file in folder.iterdir()} == {"lock", "b.csv", "gone.csv", "program.duo"}
    return folder


def test_what_a_killed_program_has_left_is_removed(killed: Path, tmp_path: Path) -> None:
    with sources(tmp_path / "job", {"b": 1}) as (_, found):
        assert {file.name for file in killed.iterdir()} == {"lock", "b.csv"}
        assert Path(found["b"]).read_text() == '"1"\n'
    assert not killed.exists()


def test_it_is_removed_by_a_call_that_writes_nothing(killed: Path, tmp_path: Path) -> None:
    with sources(tmp_path / "job", {"b": "b.npy"}):
        assert not [file for file in killed.iterdir() if file.name != "lock"]
    assert not killed.exists()


def test_what_others_have_put_there_stays(killed: Path, tmp_path: Path) -> None:
    (killed / "mine.npy").write_text("mine")
    before = {file: file.read_bytes() for file in killed.iterdir()}
    for inputs in ({"b": 1}, {}):
        with pytest.raises(errors.UsageError, match=r"has mine\.npy, which no job by Ray has written"):
            with sources(tmp_path / "job", inputs):
                pass
        assert {file: file.read_bytes() for file in killed.iterdir()} == before


@pytest.mark.parametrize("name", ["b.csv", "input-0.npy", "program.duo", "lock"])
def test_a_folder_of_somebody_else_is_not_touched(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "job.inputs"
    folder.mkdir(mode=0o755)
    (folder / name).write_text("mine\n")
    with pytest.raises(errors.UsageError, match=f"has {name}, which no job"), sources(tmp_path / "job", {"b": 1}):
        pass
    with sources(tmp_path / "job", {"b": str(folder / "b.csv")}):
        pass
    assert {file.name: file.read_text() for file in folder.iterdir()} == {name: "mine\n"}
    assert folder.stat().st_mode & 0o777 == 0o755


def test_what_is_put_beside_files_while_a_job_runs_stays(tmp_path: Path) -> None:
    with sources(tmp_path / "job", {"b": 1}) as (_, found):
        (tmp_path / "job.inputs" / "mine").touch()
    assert {file.name for file in (tmp_path / "job.inputs").iterdir()} == {"mine"}


def test_what_the_system_refuses_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "job.inputs").write_text("a file")
    with pytest.raises(errors.MachineError, match=r"into .*job\.inputs: "), sources(tmp_path / "job", {"b": 1}):
        pass

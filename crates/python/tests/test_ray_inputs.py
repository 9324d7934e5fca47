"""Inputs of jobs by Ray that are no files: what is written for them, by whom, and what is left of it. The cluster is on
this machine, and both parties use it where there are two, for the test alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duologue as duo
import numpy as np
import pytest
from clusters import DEADLINE, SLOW, Cluster, below, free_port, is_left, kill, processes, wait_for
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


GAPS = np.ma.masked_equal([1, 2], 2)


@pytest.mark.parametrize(
    "value",
    [{1, 2}, b"12", [[1], [2]], object(), np.array(["no", "number"], dtype=object), np.array([1, np.nan]), GAPS],
)
def test_what_is_no_input_is_refused(tmp_path: Path, value: object) -> None:
    with pytest.raises(errors.UsageError, match="input 'b' "), sources(tmp_path / "job", {"b": value}):
        pass
    assert list(tmp_path.iterdir()) == []


def test_text_is_values_or_a_file(tmp_path: Path) -> None:
    values = ["0.0", "-1.5e-3,2", "0x1f", "hex:00ff", "true", "0110", "inf"]
    with sources(tmp_path / "job", {value: value for value in values}) as (_, found):
        texts = ["".join(f'"{lane}"\n' for lane in value.split(",")) for value in values]
        assert [Path(found[value]).read_text() for value in values] == texts
    for path in ("b.txt", "folder/b", "1,b.txt", "b.npyy"):
        with pytest.raises(errors.UsageError, match="no file") as why, sources(tmp_path / "job", {"b": path}):
            pass
        assert path not in str(why.value), "it may be a value"


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
        digests.add(_blocks.write(file, "rows", blocks, None, _blocks.here))
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
        _blocks._put(str(tmp_path / "file"), 0, 0, 16, None, np.zeros(2, np.uint32))
    with pytest.raises(FileNotFoundError):
        _blocks._put(str(tmp_path / "another"), 0, 0, 8, None, np.zeros(2, np.uint32))
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


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    started = Cluster()
    try:
        started.check()
        yield started
    finally:
        started.end()


BEGIN = """
import json, sys, time
from pathlib import Path
import duologue as duo, numpy as np, ray
from duologue import errors
from duologue.cluster import _inputs

ray.init(log_to_driver=False)

def arrays(**inputs):
    with _inputs.written(ray, Path("job").absolute(), "block:add:32", inputs) as (_, found):
        return [np.load(found[name]) for name in inputs]

def refused(**inputs):
    try:
        arrays(**inputs)
    except errors.Error as why:
        return f"{type(why).__name__}: {why}"
"""


def python(cluster: Cluster, folder: Path, code: str) -> str:
    """What a program on the cluster prints."""
    command, own = [sys.executable, "-c", BEGIN + code], cluster.environment
    done = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr
    assert not (folder / "job.inputs").exists()
    return done.stdout


DATASETS = """
import ray.data
done = Path("done").absolute()
done.mkdir()

def first_comes_last(batch):
    first = batch["id"][0]
    while first == 0 and len(list(done.iterdir())) < 5:
        time.sleep(0.02)
    if first == 0:
        # Where Ray has not heard of the others by then, all is well whatever the order is that it keeps.
        time.sleep(2)
    (done / str(first)).touch()
    return batch

def with_random_keys(batch):
    keys = np.random.default_rng().integers(0, 1 << 30, len(batch["id"]))
    return {"id": batch["id"], "key": keys, "next": keys + 1}

rows = ray.data.range(60, override_num_blocks=6)
options = rows.context.execution_options
assert (arrays(b=rows.map_batches(first_comes_last))[0] == np.arange(60)).all()
assert not options.preserve_order and len(list(done.iterdir())) == 6

shuffled = rows.map_batches(with_random_keys).random_shuffle()
key, following, place = arrays(key=shuffled, next=shuffled, id=shuffled)
assert (key + 1 == following).all() and sorted(place) == list(range(60))
assert not (arrays(id=shuffled)[0] == place).all()

some = rows.filter(lambda row: row["id"] == 7 or row["id"] >= 50)
assert (arrays(b=some)[0] == [7, *range(50, 60)]).all()

print(refused(b=ray.data.from_items([{"b": "text"}])))
print(refused(b=ray.data.from_items([{"b": 1}, {"b": None}], override_num_blocks=1)))
print(refused(b=ray.data.from_items([{"x": 1, "y": 2}])))
print(refused(b=rows.map(lambda row: {"b": 1 // 0})))
"""


def test_rows_of_a_dataset_come_in_its_order_and_once(cluster: Cluster, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    said = python(cluster, tmp_path, DATASETS).splitlines()
    objects = "UsageError: input 'b' has objects, such as text, empty cells or NaN: only numbers can be an input"
    assert said[-4] == said[-3] == objects
    assert said[-2] == "UsageError: the Dataset of input 'b' has no column of this name: it has x, y"
    assert said[-1].startswith("MachineError: input 'b' cannot be written for the workers: ZeroDivisionError: ")


REFERENCES = """
blocks = [np.arange(7, dtype=np.uint32), np.zeros(0), np.arange(5, dtype=np.uint32)]
puts = [ray.put(block) for block in blocks]
assert (arrays(b=puts)[0] == np.concatenate([blocks[0], blocks[2]])).all()
assert (arrays(b=puts[0])[0] == blocks[0]).all()
print(refused(b=[puts[0], ray.put(np.arange(3.0))]))
print(refused(b=ray.put({"b": np.arange(3)})))
print(refused(b=ray.remote(lambda: 1 // 0).remote()))

# Arrays that are given directly are not in the object store.
ray.put = None
assert (arrays(b=blocks[0])[0] == blocks[0]).all()
"""


def test_blocks_are_written_one_after_the_other(cluster: Cluster, tmp_path: Path) -> None:
    said = python(cluster, tmp_path, REFERENCES).splitlines()
    assert said[-3] == "UsageError: input 'b' has blocks of <u4 () and of <f8 () a row"
    assert "has objects" in said[-2]
    assert said[-1].startswith("MachineError: input 'b' cannot be written for the workers: ")
    assert "division" in said[-1]


PARTY = """
from duologue.cluster import ray as cluster
words = json.loads(sys.argv[1])
values = np.load("values.npy")
inputs = {inputs}
try:
    report = cluster.drive(**words, inputs=inputs)
    print(json.dumps(report.outputs["out"]))
except errors.UsageError as why:
    print(why)
"""


class Parties:
    """A product of 32-bit numbers by two processes on one cluster."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.folder, self.running = cluster, folder, []
        keys = {name: duo.new_key(folder / f"{name}.key") for name in ("alice", "bob")}
        self.values = np.random.default_rng(7).integers(0, 1 << 32, 400, dtype=np.uint32)
        np.save(folder / "values.npy", self.values)
        address = f"127.0.0.1:{free_port()}"
        shared = {"program": "block:multiply:32", "shards": 4, "workers": 1, **SLOW}
        ends = {"alice": {"peer": keys["bob"], "listen": address}, "bob": {"peer": keys["alice"], "connect": address}}
        self.words = {
            name: {**shared, **end, "party": name, "key": f"{name}.key", "state": name} for name, end in ends.items()
        }

    def start(self, name: str, inputs: str, **words: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", BEGIN + PARTY.format(inputs=inputs), json.dumps({**self.words[name], **words})]
        pipe, environment = subprocess.PIPE, self.cluster.environment
        party = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=pipe, stderr=pipe, text=True)
        self.running.append(party)
        return party

    def said(self, party: subprocess.Popen[str]) -> str:
        """What a process prints until it ends."""
        out, err = party.communicate(timeout=DEADLINE)
        assert party.returncode == 0, err
        return out

    def log(self, name: str) -> list[str]:
        file = self.folder / name / "log"
        return file.read_text().splitlines() if file.exists() else []

    def has_finished_a_shard(self, name: str) -> bool:
        for party in self.running:
            assert party.poll() is None, party.communicate()
        return any(line.startswith("finished") for line in self.log(name))

    def end(self) -> None:
        for party in self.running:
            party.kill()
            party.communicate()


@pytest.fixture
def parties(cluster: Cluster, tmp_path: Path) -> Iterator[Parties]:
    both = Parties(cluster, tmp_path)
    yield both
    both.end()


def test_a_job_goes_on_with_the_same_inputs_alone(parties: Parties, tmp_path: Path) -> None:
    """Both programs are killed on the way. What they have written goes with the next call, which takes the same rows in
    other blocks, and no other rows."""
    both = {"alice": '{"a": [ray.put(block) for block in np.split(values, [100, 100])]}', "bob": '{"b": [4200] * 400}'}
    running = {name: parties.start(name, inputs) for name, inputs in both.items()}
    wait_for(lambda: parties.has_finished_a_shard("alice") and parties.has_finished_a_shard("bob"))
    # So the job stays where it is; the other programs take whatever time they take.
    stopped = [pid for party in running.values() for pid in below(party.pid)]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    written = {file: file.stat().st_ino for file in tmp_path.glob("*.inputs/*")}
    assert {file.name for file in written} == {"lock", "a.npy", "b.csv"}
    drivers = [line for _, line in processes().values() if " job drive " in line and str(tmp_path) in line]
    assert len(drivers) == 2 and not [line for line in drivers if "4200" in line]

    again = parties.start("alice", '{"a": values}')
    assert f"another program has written inputs into {tmp_path / 'alice.inputs'}" in parties.said(again)
    assert {file: file.stat().st_ino for file in tmp_path.glob("*.inputs/*")} == written

    kill(*stopped)
    for name in both:
        wait_for(lambda name=name: not is_left(tmp_path / name))
    assert set(tmp_path.glob("*.inputs/*")) == set(written)
    finished = {line for line in parties.log("alice") if line.startswith("finished")}

    others = {"alice": '{"a": values[::-1]}', "bob": '{"b": [4201] * 400}'}
    for (name, inputs), of in zip(others.items(), "ab", strict=True):
        why = f"the input '{of}' is not the one with which the job in {tmp_path / name} was begun"
        assert why in parties.said(parties.start(name, inputs, resume=True))
        assert not (tmp_path / f"{name}.inputs").exists()

    both = {"alice": '{"a": values}', "bob": '{"b": ",".join(["4200"] * 400)}'}
    running = {name: parties.start(name, inputs, resume=True) for name, inputs in both.items()}
    outputs = [json.loads(parties.said(party).splitlines()[-1]) for party in running.values()]
    assert all((output == parties.values.astype(np.uint64) * 4200).all() for output in outputs)
    assert finished <= {line for line in parties.log("alice") if line.startswith("finished")}
    assert not list(tmp_path.glob("*.inputs"))

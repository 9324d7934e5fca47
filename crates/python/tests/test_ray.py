"""Jobs by Ray: two clusters on this machine, one a party, each with its own token. Lines between workers are slow where
something is lost on the way, so that there is a way however fast the machine is."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duologue as duo
import numpy as np
import pytest
from duologue import errors
from duologue.cluster import _driver

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray>=2.40,<3'")

EXAMPLE = Path(__file__).parents[3] / "examples" / "python" / "gallery.py"
DEADLINE = 180
# Whatever a pair of workers does takes some seconds by this line.
SLOW = {"link": "500ms,100Mbit", "protocol": "yao", "silence": 60}

PARTY = """
import json, sys
import numpy as np
import ray
from duologue.cluster import ray as cluster

ray.init()
if {dataset}:
    import ray.data
words = json.loads(sys.argv[1])
{values}
report = cluster.drive(**words)
print(json.dumps({{"outputs": report.outputs, "attempts": [shard.attempts for shard in report.shards]}}))
"""


def wait_for(what: Callable[[], Any]) -> Any:
    """The first result that is something."""
    until = time.monotonic() + DEADLINE
    while time.monotonic() < until:
        if found := what():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


def processes() -> dict[int, tuple[int, str]]:
    """Each process with its parent and its command line."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                found[int(entry.name)] = (parent, (entry / "cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
    return found


def workers(state: Path) -> list[int]:
    """The processes of a job's workers."""
    return [pid for pid, (_, line) in processes().items() if " job worker " in line and f"{state}/" in line]


def is_left(state: Path) -> bool:
    return any(str(state) in line and "duologue._attached" in line for _, line in processes().values())


def below(pid: int) -> list[int]:
    children = [child for child, (parent, _) in processes().items() if parent == pid]
    return [pid, *(deeper for child in children for deeper in below(child))]


def free_port() -> str:
    with socket.socket() as bound:
        bound.bind(("", 0))
        return str(bound.getsockname()[1])


class Cluster:
    """A party's cluster: what it starts, and the environment of those who use it."""

    def __init__(self) -> None:
        # The names of sockets in it must stay short.
        self.folder = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))
        token = self.folder / "token"
        token.write_text(secrets.token_hex(32))
        token.chmod(0o600)
        self.address = f"{ray.util.get_node_ip_address()}:{free_port()}"
        host, port = self.address.rsplit(":", 1)
        own = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token), "RAY_ADDRESS": self.address}
        self.environment = {**os.environ, **own}
        self.nodes: list[subprocess.Popen[bytes]] = []
        head = ["--head", "--port", port, "--node-ip-address", host, "--temp-dir", str(self.folder)]
        self.start(*head, "--include-dashboard=false", "--disable-usage-stats")

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """A node of four processors, as Ray sees it."""
        ports = ["--min-worker-port=0", "--max-worker-port=0", f"--dashboard-agent-listen-port={free_port()}"]
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", *words, *ports]
        command += ["--num-cpus=4", "--object-store-memory=80000000", "--block"]
        log = self.folder / f"node-{len(self.nodes)}"
        environment = {name: value for name, value in self.environment.items() if name != "RAY_ADDRESS"}
        with log.open("wb") as out:
            node = subprocess.Popen(command, stdout=out, stderr=out, env=environment, start_new_session=True)
        self.nodes.append(node)
        wait_for(lambda: node.poll() is not None or b"Ray runtime started" in log.read_bytes())
        assert node.poll() is None, log.read_text()
        return node

    def check(self) -> None:
        """Some machines have no address at which Ray reaches its own node, and Ray tries again for ever."""
        probe = [sys.executable, "-c", "import ray; ray.init(); assert ray.get(ray.remote(lambda: 7).remote()) == 7"]
        try:
            subprocess.run(probe, env=self.environment, check=True, capture_output=True, timeout=DEADLINE)
        except subprocess.SubprocessError as why:
            pytest.skip(f"Ray itself does not run on this machine: {why}")

    def end(self) -> None:
        for node in reversed(self.nodes):
            kill(*below(node.pid))
            node.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def kill(*pids: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


@pytest.fixture(scope="module")
def clusters() -> Iterator[dict[str, Cluster]]:
    started: dict[str, Cluster] = {}
    try:
        for name in ("alice", "bob"):
            started[name] = Cluster()
            started[name].check()
        yield started
    finally:
        for cluster in started.values():
            cluster.end()


class Job:
    """A product of 32-bit numbers between two clusters, the processes of both parties, and what is left of it."""

    def __init__(
        self, clusters: dict[str, Cluster], folder: Path, options: Any = None, dataset: bool = False, **words: Any
    ) -> None:
        self.folder, self.states = folder, {name: folder / name for name in clusters}
        keys = {name: duo.new_key(folder / f"{name}.key") for name in clusters}
        random = np.random.default_rng(5)
        self.inputs = {name: random.integers(0, 1 << 32, 777, dtype=np.uint32) for name in "ab"}
        for name, values in self.inputs.items():
            np.save(folder / f"{name}.npy", values)
        address = f"127.0.0.1:{free_port()}"
        shared = {"program": "block:multiply:32", "shards": 4, "workers": 2, **words}
        ends = {"alice": {"peer": keys["bob"], "listen": address}, "bob": {"peer": keys["alice"], "connect": address}}
        sources = {
            "alice": 'blocks = np.split(np.load("a.npy"), [100, 100, 500])\n'
            'words["inputs"] = {"a": [ray.put(block) for block in blocks]}',
            "bob": 'words["inputs"] = {"b": ray.data.from_numpy(np.load("b.npy")).repartition(3)}'
            if dataset
            else 'words["inputs"] = {"b": "b.npy"}',
        }
        self.commands = {}
        for name, end in ends.items():
            own = {
                **shared,
                **end,
                "party": name,
                "key": f"{name}.key",
                "state": name,
                "outputs": {"out": f"{name}.npy"},
            }
            own["options"] = options if name == "bob" else None
            self.commands[name] = (PARTY.format(values=sources[name], dataset=dataset), own)
        self.environments = {name: cluster.environment for name, cluster in clusters.items()}
        self.start()

    def start(self, **words: Any) -> None:
        pipe = subprocess.PIPE
        self.parties = {
            name: subprocess.Popen(
                [sys.executable, "-c", code, json.dumps({**own, **words})],
                cwd=self.folder,
                env=self.environments[name],
                stdout=pipe,
                stderr=pipe,
                text=True,
                start_new_session=True,
            )
            for name, (code, own) in self.commands.items()
        }

    def log(self, name: str) -> list[str]:
        file = self.states[name] / "log"
        return file.read_text().splitlines() if file.exists() else []

    def begun(self, name: str, attempt: int = 1) -> int:
        """At how many shards such an attempt was begun."""
        return sum(line.startswith("begun") and line.endswith(f" {attempt}") for line in self.log(name))

    def worker(self, name: str) -> int:
        """A worker that is at a shard, as both of a party are."""
        wait_for(lambda: self.begun(name) >= 2)
        return workers(self.states[name])[0]

    def finish(self) -> list[int]:
        """The attempts at each shard, when both parties have the whole result."""
        reports = {}
        for name, party in self.parties.items():
            out, err = party.communicate(timeout=DEADLINE)
            assert party.returncode == 0, err
            # Ray prints there, too.
            reports[name] = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
            assert "(duologue-worker-" in err, "what actors print is on standard error of whoever drives"
            assert reports[name]["outputs"] == {"out": f"{name}.npy"}
        result = self.inputs["a"].astype(np.uint64) * self.inputs["b"]
        assert all((np.load(self.folder / f"{name}.npy") == result).all() for name in self.parties)
        assert reports["alice"]["attempts"] == reports["bob"]["attempts"]
        self.is_over()
        attempts: list[int] = reports["alice"]["attempts"]
        return attempts

    def is_over(self) -> None:
        """No process of either party is left, and no input that was written for it."""
        for state in self.states.values():
            wait_for(lambda state=state: not is_left(state))
            assert not state.with_name(f"{state.name}.inputs").exists()

    def end(self) -> None:
        for party in self.parties.values():
            party.kill()
            party.communicate()


@pytest.fixture
def job(clusters: dict[str, Cluster], tmp_path: Path) -> Iterator[Callable[..., Job]]:
    started: list[Job] = []

    def start(**words: Any) -> Job:
        started.append(Job(clusters, tmp_path, **words))
        return started[-1]

    yield start
    for one in started:
        one.end()


def test_lost_workers_are_started_again(job: Callable[..., Job]) -> None:
    """One party loses a process of a worker, then the other an actor: its process does not outlive it."""
    running = job(dataset=importlib.util.find_spec("pyarrow") is not None, **SLOW)
    kill(running.worker("alice"))
    wait_for(lambda: running.begun("bob", 2))
    worker = running.worker("bob")
    kill(processes()[worker][0])
    wait_for(lambda: worker not in processes())
    attempts = running.finish()
    assert sum(attempts) >= 6 and len(attempts) == 4, attempts


def test_a_lost_node_costs_its_shard(job: Callable[..., Job], clusters: dict[str, Cluster]) -> None:
    """A worker fills a node, so one is on the second; when that is lost the other worker does the rest."""
    second = clusters["bob"].start("--address", clusters["bob"].address)
    running = job(options={"num_cpus": 4}, **SLOW)
    wait_for(lambda: set(workers(running.states["bob"])) & set(below(second.pid)) and running.begun("bob") >= 2)
    kill(*below(second.pid))
    attempts = running.finish()
    assert sum(attempts) >= 5, attempts


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_whoever_stops_a_driver_ends_all_workers_of_both_clusters(job: Callable[..., Job], how: signal.Signals) -> None:
    running = job(**SLOW)
    for name in running.parties:
        running.worker(name)
    running.parties["alice"].send_signal(how)
    errors_of = {name: party.communicate(timeout=DEADLINE)[1] for name, party in running.parties.items()}
    if how == signal.SIGINT:
        assert "\nKeyboardInterrupt\n" in errors_of["alice"], errors_of["alice"]
    assert running.parties["bob"].returncode == 1 and "duologue.errors.Aborted: " in errors_of["bob"]
    if how == signal.SIGINT:
        running.is_over()
    else:
        for state in running.states.values():
            wait_for(lambda state=state: not is_left(state))


def test_a_job_without_workers_ends_and_goes_on_later(job: Callable[..., Job]) -> None:
    running = job(max_restarts=0, **SLOW)
    wait_for(lambda: running.begun("alice") >= 3)
    kill(*workers(running.states["alice"]))
    said = {name: party.communicate(timeout=DEADLINE)[1] for name, party in running.parties.items()}
    why = "duologue.errors.MachineError: all workers have ended for good, one of them thus: "
    assert f"{why}duologue-worker-0 ended by signal SIGKILL" in said["alice"], said
    assert "duologue.errors.Aborted: " in said["bob"]
    running.is_over()
    finished = [line for line in running.log("alice") if line.startswith("finished")]
    running.start(resume=True)
    attempts = running.finish()
    assert finished and set(finished) <= set(running.log("alice")) and sum(attempts) >= 6, attempts


def test_the_example_with_a_worker_killed_on_the_way(clusters: dict[str, Cluster], tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    gallery = random.integers(0, 256, (2000, 32), dtype=np.uint8)
    near = gallery[[1217]]
    near[0, :5] ^= 0xFF
    keys = {name: duo.new_key(tmp_path / f"{name}.key") for name in ("alice", "bob")}
    np.save(tmp_path / "gallery.npy", gallery)
    np.save(tmp_path / "mine.npy", near)
    address, pipe, parties = f"127.0.0.1:{free_port()}", subprocess.PIPE, {}
    for name, peer, file in (("bob", "alice", "gallery.npy"), ("alice", "bob", "mine.npy")):
        command = [sys.executable, str(EXAMPLE), name, f"{name}.key", keys[peer], address, file, "2000"]
        environment = clusters[name].environment
        parties[name] = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=pipe, stderr=pipe, text=True)
    try:
        there = wait_for(lambda: workers(tmp_path / "job-of-bob"))
        kill(there[0])
        said = {name: party.communicate(timeout=DEADLINE) for name, party in parties.items()}
        assert [party.returncode for party in parties.values()] == [0, 0], said
        assert "face 1217" in said["alice"][0].splitlines() and "face" not in said["bob"][0]
    finally:
        for party in parties.values():
            party.kill()
            party.communicate()


WRONG = """
import numpy as np, ray, sys
open("b.txt", "w").write("1 two 3")
from duologue import MachineError, UsageError
from duologue.cluster import ray as cluster

ray.init(log_to_driver=False)
key, peer, address = sys.argv[1:]

def refused(**words):
    usual = {"party": "bob", "peer": peer, "key": key, "state": "wrong", "shards": 2, "connect": "127.0.0.1:1"}
    try:
        cluster.drive("block:add:32", **{**usual, **words})
    except (MachineError, UsageError) as why:
        print(why)

refused(inputs={"b": np.arange(3, dtype=np.uint32)}, shards=7)
refused(inputs={"b": [ray.put(np.arange(3, dtype=np.uint32)), ray.put(np.arange(3.0))]})
refused(inputs={"b": np.array(["no", "number"], dtype=object)})
refused(inputs={"b": {1, 2}})
refused(inputs={"b": ray.remote(lambda: 1 // 0).remote()})
refused(inputs={"b": "b.txt"})
refused(inputs={"b": np.arange(8, dtype=np.uint32)}, peer=peer[:-1])
"""


def test_what_is_wrong_is_said_before_a_worker_starts(clusters: dict[str, Cluster], tmp_path: Path) -> None:
    keys = [duo.new_key(tmp_path / f"{name}.key") for name in ("alice", "bob")]
    command = [sys.executable, "-c", WRONG, "bob.key", keys[0], clusters["bob"].address]
    done = subprocess.run(
        command, cwd=tmp_path, env=clusters["bob"].environment, capture_output=True, text=True, timeout=DEADLINE
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout
    for word in (
        "7 shards",
        "blocks of <u4 () and of <f8 ()",
        "has objects",
        "is set: it may be",
        "input 'b' is text, but no numbers, and no file",
        "input 'b' cannot be written",
    ):
        assert word in said, said
    assert not (tmp_path / "wrong.inputs").exists()


def test_errors_are_ours() -> None:
    classes = {
        1: errors.UsageError,
        3: errors.PeerError,
        5: errors.Closed,
        6: errors.Timeout,
        7: errors.Malformed,
        8: errors.MachineError,
        130: errors.Cancelled,
        -9: errors.MachineError,
    }
    for code, kind in classes.items():
        assert type(_driver.failure(code, ["listening on a:1", "error: so it is", "hint: do"])) is kind
    assert type(_driver.failure(5, ["error: the other driver has given the job up"])) is errors.Aborted
    line = "error: the parties do not agree on the number of shards: ours is 3, theirs is 4"
    why = _driver.failure(4, [line])
    assert isinstance(why, errors.Incompatible)
    assert (why.what, why.ours, why.theirs) == ("the number of shards", "3", "4")


def test_progress_counts_shards() -> None:
    said = _driver.progress("worker 1 (process 7) is there", _driver.Progress("", 0, None))
    assert said == ("worker 1 (process 7) is there", 0, None)
    said = _driver.progress("shard 3, attempt 2: done in 1.3 s, 2 of 8", said)
    assert said[1:] == (2, 8) and _driver.progress("and so on", said)[1:] == (2, 8)


def test_the_page_has_the_example() -> None:
    page = (EXAMPLE.parents[2] / "docs" / "ray.md").read_text()
    call = re.search(r"^```python\n(report = .*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert call is not None and call[1] in EXAMPLE.read_text()

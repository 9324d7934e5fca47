"""Two clusters of Ray on this machine, one a party, each with its own token; and jobs between them."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import duologue as duo
import numpy as np
import pytest

DEADLINE = 180
# Whatever a pair of workers does takes some seconds by this line.
SLOW = {"link": "500ms,100Mbit", "protocol": "yao", "silence": 60}

PARTY = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import ray
from duologue.cluster import ray as cluster

ray.init()
if {dataset}:
    import ray.data
words = json.loads(sys.argv[1])
{values}
if {dataset}:
    # As well in a thread that is not the main one.
    report = ThreadPoolExecutor().submit(cluster.drive, **words).result()
else:
    report = cluster.drive(**words)
print(json.dumps({{"shards": [{{"attempts": shard.attempts}} for shard in report.shards]}}))
"""

BLOCKS = """
blocks = np.split(np.load("a.npy"), [100, 100, 500])
words["inputs"] = {"a": [ray.put(block) for block in blocks]}
"""


def by_command(words: dict[str, Any]) -> list[str]:
    """A party's driver by the command, with the words of `drive`."""
    named = {"party": "--as", "peer": "--peer-key", "options": "--ray-options"}
    line = [sys.executable, "-m", "duologue", "job", "drive", words["program"], "--launch", "ray", "--yes", "--json"]
    line += ["--input", f"{words['party'][0]}={words['party'][0]}.npy"]
    line += [word for name, file in words["outputs"].items() for word in ("--output", f"{name}={file}")]
    for name, value in words.items():
        if name not in ("program", "outputs"):
            line += [named.get(name, f"--{name}"), json.dumps(value) if name == "options" else str(value)]
    return line


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

    def __init__(self, **environment: str) -> None:
        # The names of sockets in it must stay short.
        self.folder = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))
        token = self.folder / "token"
        token.write_text(secrets.token_hex(32))
        token.chmod(0o600)
        ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray>=2.40,<3'")
        self.host, port = ray.util.get_node_ip_address(), free_port()
        self.address = f"{self.host}:{port}"
        own = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token), "RAY_ADDRESS": self.address}
        self.environment = {**os.environ, **own, **environment}
        self.nodes: list[subprocess.Popen[bytes]] = []
        head = ["--head", "--port", port, "--node-ip-address", self.host, "--temp-dir", str(self.folder)]
        self.start(*head, "--include-dashboard=false", "--disable-usage-stats")

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """A node of four processors, as Ray sees it."""
        ports = ["--min-worker-port=0", "--max-worker-port=0", f"--dashboard-agent-listen-port={free_port()}"]
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", *words, *ports]
        command += ["--num-cpus=4", "--object-store-memory=80000000", "--block"]
        log = self.folder / f"node-{secrets.token_hex(4)}"
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

    def lose(self, node: subprocess.Popen[bytes]) -> None:
        """Kills a node with all of its processes."""
        self.nodes.remove(node)
        kill(*below(node.pid))
        node.wait()

    def end(self) -> None:
        for node in reversed(self.nodes.copy()):
            self.lose(node)
        shutil.rmtree(self.folder, ignore_errors=True)


def kill(*pids: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


@pytest.fixture(scope="session")
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
    """A product of 32-bit numbers between two clusters, the processes of both parties, and what is left of it.

    `alice` and `bob` are words for `drive` that only this party has; `command` is the party that uses the command, `late`
    the one that is started by `start` alone.
    """

    def __init__(
        self,
        clusters: Mapping[str, Cluster],
        folder: Path,
        alice: Mapping[str, Any] | None = None,
        bob: Mapping[str, Any] | None = None,
        command: str = "",
        late: str = "",
        dataset: bool = False,
        **words: Any,
    ) -> None:
        self.folder, self.states = folder, {name: folder / name for name in clusters}
        keys = {name: duo.new_key(folder / f"{name}.key") for name in clusters}
        random = np.random.default_rng(5)
        self.inputs = {name: random.integers(0, 1 << 32, 777, dtype=np.uint32) for name in "ab"}
        for name, values in self.inputs.items():
            np.save(folder / f"{name}.npy", values)
        port = free_port()
        ends = {
            "alice": {"peer": keys["bob"], "listen": f"127.0.0.1:{port}", **(alice or {})},
            "bob": {"peer": keys["alice"], "connect": f"127.0.0.1:{port}", **(bob or {})},
        }
        if alice and "listen" in alice:
            ends["alice"]["listen"] = f"{alice['listen']}:{port}"
        self.words: dict[str, dict[str, Any]] = {}
        for name, end in ends.items():
            own = {"party": name, "key": f"{name}.key", "state": name, "outputs": {"out": f"{name}.npy"}}
            self.words[name] = {"program": "block:multiply:32", "shards": 4, "workers": 2, **words, **end, **own}
        self.clusters, self.command, self.dataset = clusters, command, dataset
        self.parties: dict[str, subprocess.Popen[str]] = {}
        self.start(*(name for name in self.words if name != late))

    def line(self, name: str, words: dict[str, Any]) -> list[str]:
        """The command line of a party."""
        if name == self.command:
            return by_command(words)
        source = 'words["inputs"] = {"b": "b.npy"}'
        if name == "alice":
            source = BLOCKS
        elif self.dataset:
            source = 'words["inputs"] = {"b": ray.data.from_numpy(np.load("b.npy")).repartition(3)}'
        return [sys.executable, "-c", PARTY.format(values=source, dataset=self.dataset), json.dumps(words)]

    def start(self, *names: str, **words: Any) -> None:
        pipe = subprocess.PIPE
        for name in names:
            self.parties[name] = subprocess.Popen(
                self.line(name, {**self.words[name], **words}),
                cwd=self.folder,
                env=self.clusters[name].environment,
                stdout=pipe,
                stderr=pipe,
                text=True,
                start_new_session=True,
            )

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
        result = self.inputs["a"].astype(np.uint64) * self.inputs["b"]
        assert all((np.load(self.folder / f"{name}.npy") == result).all() for name in self.parties)
        attempts = {name: [shard["attempts"] for shard in report["shards"]] for name, report in reports.items()}
        assert attempts["alice"] == attempts["bob"]
        self.is_over()
        return attempts["alice"]

    def said(self) -> dict[str, str]:
        """What both parties have said on standard error when they have ended."""
        return {name: party.communicate(timeout=DEADLINE)[1] for name, party in self.parties.items()}

    def is_gone(self) -> None:
        """No process of either party is left."""
        for state in self.states.values():
            wait_for(lambda state=state: not is_left(state))

    def is_over(self) -> None:
        """Nor is an input that was written for it."""
        self.is_gone()
        for state in self.states.values():
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

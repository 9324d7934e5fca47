"""Jobs by Ray. Lines between workers are slow where something is lost on the way, so that there is a way however fast
the machine is."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duologue as duo
import numpy as np
import pytest
from clusters import DEADLINE, SLOW, Cluster, Job, below, free_port, kill, processes, wait_for, workers
from duologue import errors
from duologue.cluster import _child, _driver
from duologue.cluster._connection import listened, reached
from duologue.cluster._metrics import Metrics
from duologue.cluster._workers import Crew

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray>=2.40,<3'")

EXAMPLE = Path(__file__).parents[3] / "examples" / "python" / "gallery.py"


def test_lost_workers_are_started_again(job: Callable[..., Job]) -> None:
    """An actor is lost before the other party is there; then a process of a worker, and of the other party an actor:
    its process does not outlive it."""
    running = job(dataset=importlib.util.find_spec("pyarrow") is not None, late="bob", **SLOW)
    first = wait_for(lambda: workers(running.states["alice"]))[0]
    kill(processes()[first][0])
    wait_for(lambda: len({*workers(running.states["alice"])} - {first}) == 2)
    running.start("bob")
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
    running = job(bob={"options": {"num_cpus": 4}}, shards=3, **SLOW)
    wait_for(lambda: set(workers(running.states["bob"])) & set(below(second.pid)) and running.begun("bob") >= 2)
    clusters["bob"].lose(second)
    attempts = running.finish()
    assert sum(attempts) >= 4, attempts


def test_a_lost_cluster_ends_the_job_of_both(clusters: dict[str, Cluster], tmp_path: Path) -> None:
    """The nodes of a party are lost, and with them Ray itself."""
    # Ray's programs wait a minute for the head of their cluster.
    lost = Cluster(RAY_gcs_rpc_server_reconnect_timeout_s="3")
    running = Job({**clusters, "bob": lost}, tmp_path, **SLOW)
    try:
        running.worker("bob")
        lost.end()
        said = running.said()
        assert running.parties["bob"].returncode != 0, said
        assert re.search(r"^duologue\.errors\.(Aborted|Closed): ", said["alice"], re.MULTILINE), said
        running.is_gone()
    finally:
        running.end()
        lost.end()


# Who is lost, and how each party ends.
DRIVERS = {
    "interrupted": (signal.SIGINT, "KeyboardInterrupt", "duologue.errors.Aborted: "),
    "killed": (signal.SIGKILL, "", "duologue.errors.Aborted: "),
    "its driver killed": (
        signal.SIGKILL,
        "duologue.errors.MachineError: the driver was ended by SIGKILL",
        "duologue.errors.Closed: ",
    ),
}


@pytest.mark.parametrize("who", DRIVERS)
def test_whoever_stops_a_driver_ends_all_workers_of_both_clusters(job: Callable[..., Job], who: str) -> None:
    how, ours, theirs = DRIVERS[who]
    running = job(**SLOW)
    for name in running.parties:
        running.worker(name)
    party = running.parties["alice"].pid
    if "driver" in who:
        os.kill(next(pid for pid in below(party) if "job drive" in processes()[pid][1]), how)
    else:
        os.kill(party, how)
    said = running.said()
    assert ours in said["alice"] and theirs in said["bob"], said
    assert running.parties["bob"].returncode == 1
    if who == "killed":
        running.is_gone()
    else:
        running.is_over()


def test_the_command_has_workers_by_ray_where_they_find_room(
    job: Callable[..., Job], clusters: dict[str, Cluster]
) -> None:
    """One party drives by the command. Its workers want what no node has, until one joins, as by autoscaling."""
    host = clusters["alice"].host
    alice = {"listen": "0.0.0.0", "driver_host": host, "worker_ports": "17600-17699"}
    running = job(alice=alice, bob={"options": {"resources": {"mpc": 1}}}, command="bob", **SLOW)
    there = wait_for(lambda: workers(running.states["alice"]))
    line = processes()[there[0]][1]
    assert f"--driver {host}:" in line and "--ports 17600-17699" in line, line
    assert not workers(running.states["bob"])
    second = clusters["bob"].start("--address", clusters["bob"].address, '--resources={"mpc": 2}')
    worker = running.worker("bob")
    assert worker in below(second.pid)
    kill(worker)
    attempts = running.finish()
    clusters["bob"].lose(second)
    assert sum(attempts) >= 5, attempts


@pytest.mark.parametrize("who", ["command", "launcher"])
def test_a_command_and_what_starts_its_workers_end_together(job: Callable[..., Job], who: str) -> None:
    running = job(command="bob", **SLOW)
    running.worker("bob")
    command = running.parties["bob"].pid
    launcher = next(pid for pid in below(command) if "duologue.cluster" in processes()[pid][1])
    kill(command if who == "command" else launcher)
    said = running.said()
    if who == "launcher":
        why = "error: Ray's side of the driver ended with signal: 9 (SIGKILL)"
        assert why in said["bob"] and "duologue.errors.Aborted: " in said["alice"], said
    else:
        assert "duologue.errors.Closed: " in said["alice"], said
    wait_for(lambda: launcher not in processes())
    running.is_gone()


def test_a_job_without_workers_ends_and_goes_on_later(job: Callable[..., Job]) -> None:
    running = job(max_restarts=0, shards=3, **SLOW)
    wait_for(lambda: running.begun("alice") >= 3)
    kill(*workers(running.states["alice"]))
    said = running.said()
    why = "duologue.errors.MachineError: all workers have ended for good, one of them thus: duologue-worker-[01]"
    assert re.search(f"{why} ended by signal SIGKILL", said["alice"]), said
    assert all(f"a worker is lost for good: duologue-worker-{worker} " in said["alice"] for worker in (0, 1)), said
    assert "duologue.errors.Aborted: " in said["bob"]
    running.is_over()
    finished = [line for line in running.log("alice") if line.startswith("finished")]
    running.start("alice", "bob", resume=True)
    attempts = running.finish()
    assert finished and set(finished) <= set(running.log("alice")) and sum(attempts) >= 4, attempts


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
        cluster.drive(**{"program": "block:add:32", **usual, **words})
    except (MachineError, UsageError) as why:
        print(why)

refused(inputs={"b": np.arange(3, dtype=np.uint32)}, shards=7)
refused(inputs={"b": [ray.put(np.arange(3, dtype=np.uint32)), ray.put(np.arange(3.0))]})
refused(inputs={"b": np.array(["no", "number"], dtype=object)})
refused(inputs={"b": {1, 2}})
refused(inputs={"b": ray.remote(lambda: 1 // 0).remote()})
refused(inputs={"b": "b.txt"})
refused(inputs={"b": np.arange(8, dtype=np.uint32)}, peer=peer[:-1])
refused(inputs={"b": True}, shards=7, program="block:add:1")
refused(inputs={"b": 5}, shards=7)
refused(inputs={"b": 1}, options={"lifetime": "detached"})
refused(inputs={"b": 1}, options={"speed": 3})
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
        "may not have lifetime",
        "Ray does not take the options of workers: ",
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


def test_an_interrupted_end_is_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while a process is waited for that does not end by itself, and while actors are."""
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    wait = process.wait
    assert process.stdout is not None and process.stdout.readline()

    def interrupted(*_: object, timeout: float | None = None, **__: object) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "wait", lambda timeout=None: wait() if timeout is None else interrupted())
    with process, pytest.raises(KeyboardInterrupt):
        _child.stop(process, signal.SIGTERM)
    assert process.returncode == -signal.SIGKILL
    killed: list[str] = []
    crew = Crew.__new__(Crew)
    crew._ray = SimpleNamespace(wait=interrupted, kill=killed.append)
    crew._actors, crew._placed = ["one", "two"], [1, 2]
    with pytest.raises(KeyboardInterrupt):
        crew.stop()
    assert killed == ["one", "two"]


def test_a_driver_listens_where_workers_reach_it() -> None:
    def cluster(*addresses: str) -> Any:
        nodes = [{"NodeManagerAddress": address, "Alive": True} for address in addresses]
        util = SimpleNamespace(get_node_ip_address=lambda: addresses[0])
        return SimpleNamespace(util=util, nodes=lambda: [*nodes, {"NodeManagerAddress": "10.0.0.9", "Alive": False}])

    alone, others, six = cluster("10.0.0.1", "10.0.0.1"), cluster("10.0.0.1", "10.0.0.2"), cluster("fd00::1")
    assert listened(alone, None) == listened(others, None) == "10.0.0.1:0" and listened(six, None) == "[fd00::1]:0"
    for here in ("127.0.0.1:7000", "localhost:7000", "[::1]:0"):
        assert listened(alone, here) == here
        with pytest.raises(errors.UsageError, match=r"do not reach .*: this machine is 10\.0\.0\.1 in the cluster"):
            listened(others, here)
    assert listened(others, "0.0.0.0:7") == "0.0.0.0:7"
    assert reached(others, "0.0.0.0:7") == "10.0.0.1:7" and reached(six, "[::]:7") == "[fd00::1]:7"
    assert reached(others, "10.0.0.5:7") == "10.0.0.5:7" and reached(others, "127.0.0.1:7", "proxy") == "proxy:7"


def test_workers_count_their_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[tuple[str, float, dict[str, str]]] = []

    def inc(counter: Any, value: float, tags: dict[str, str]) -> None:
        counted.append((counter.info["name"], value, tags))

    monkeypatch.setattr("ray.util.metrics.Counter.inc", inc)
    shard = {"shard": 3, "attempt": 2, "seconds": 0.5, "sent": 17, "received": 0}
    Metrics("duologue-worker-0").hear([json.dumps(shard), json.dumps({**shard, "seconds": 1.5, "received": 4})])
    assert all(tags == {"worker": "duologue-worker-0"} for *_, tags in counted)
    assert [(name.removeprefix("duologue_"), value) for name, value, _ in counted] == [
        ("shards", 1),
        ("shard_seconds", 0.5),
        ("sent_bytes", 17),
        ("shards", 1),
        ("shard_seconds", 1.5),
        ("sent_bytes", 17),
        ("received_bytes", 4),
    ]


def test_the_page_has_the_example() -> None:
    page = (EXAMPLE.parents[2] / "docs" / "ray.md").read_text()
    call = re.search(r"^```python\n(report = .*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert call is not None and call[1] in EXAMPLE.read_text()

"""The command that comes with the package; and the command as the peer of Python."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import duologue as duo
import numpy as np

COMMAND = [sys.executable, "-m", "duologue"]


def command(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, cwd=cwd, timeout=120)


def test_the_command_is_there() -> None:
    done = command("--version")
    assert (done.returncode, done.stdout.strip()) == (0, f"duologue {duo.__version__}")
    script = Path(sys.executable).with_name("duologue")
    assert subprocess.run([script, "--version"], capture_output=True, text=True).stdout == done.stdout
    assert command("run", "--nothing").returncode == 2
    assert command("inspect", "nothing.duo").returncode == 8


def test_it_has_no_parquet() -> None:
    """As every build without the feature, it says so; tests of Rust have the feature."""
    words = ["run", "block:add:10", "--as", "bob", "--connect", "127.0.0.1:1", "--insecure-plaintext", "--yes"]
    for more in (["--input", "b=t.parquet:b"], ["--input", "t.arrow"], ["--input", "b=1", "--output", "out=t.parquet"]):
        done = command(*words, *more)
        assert done.returncode == 1 and "this build has no Parquet" in done.stderr, done.stderr


def test_programs_are_the_command_s(tmp_path: Path) -> None:
    program = duo.program("app:scifi:16")
    program.save(tmp_path / "scifi.duo")
    for name in ("scifi.duo", "app:scifi:16"):
        shown = json.loads(command("inspect", name, "--json", cwd=tmp_path).stdout)
        assert shown["digest"] == program.digest
        assert [port["name"] for port in shown["inputs"]] == [port.name for port in program.inputs]
    assert command("export", "block:add:8", "-o", "add.duo", cwd=tmp_path).returncode == 0
    assert duo.load(tmp_path / "add.duo").digest == duo.program("block:add:8").digest


def test_costs_are_the_command_s() -> None:
    shown = json.loads(
        command("cost", "block:multiply:32", "--size", "lanes=500", "--link", "internet", "--json").stdout
    )
    costs = duo.program("block:multiply:32").cost(link="internet", sizes={"lanes": 500})
    for row, cost in zip(shown["protocols"], costs, strict=True):
        assert (row["protocol"], row["ands"], row["memory"]) == (cost.protocol, cost.ands, cost.memory)
        for phase in ("setup", "online"):
            ways = (getattr(cost, phase).alice_to_bob, getattr(cost, phase).bob_to_alice)
            assert (row[phase]["alice_to_bob"], row[phase]["bob_to_alice"]) == ways


def test_a_peer_may_run_the_command(tmp_path: Path) -> None:
    """By keys, whatever the protocol; `auto` chooses on both sides alike."""
    keys = [duo.new_key(tmp_path / f"{name}.key") for name in ("alice", "bob")]
    np.save(tmp_path / "b.npy", np.arange(100, dtype=np.uint32))
    for protocol in ("auto", "yao", "gmw", "mixed"):
        alice = duo.listen("127.0.0.1:0", party="alice", key=tmp_path / "alice.key", peer=keys[1], wait=60)
        words = ["run", "block:multiply:32", "--as", "bob", "--connect", alice.address, "--key", "bob.key", "--yes"]
        words += ["--peer-key", keys[0], "--input", "b=b.npy", "--protocol", protocol, "--json", "-o", "out=out.npy"]
        pipe = subprocess.PIPE
        bob = subprocess.Popen([*COMMAND, *words], cwd=tmp_path, stdout=pipe, stderr=pipe, text=True)
        with alice:
            result = alice.run(duo.program("block:multiply:32"), {"a": np.arange(100)}, protocol=protocol)
        out, err = bob.communicate(timeout=120)
        assert bob.returncode == 0, err
        report = json.loads(out)
        assert report["protocol"] == result.report.protocol
        assert (np.load(tmp_path / "out.npy") == result["out"]).all()
        assert (result["out"] == np.arange(100) ** 2).all()


def test_the_command_stops_at_ctrl_c() -> None:
    words = [
        "run",
        "block:add:8",
        "--as",
        "bob",
        "--listen",
        "127.0.0.1:0",
        "--insecure-plaintext",
        "--yes",
        "-i",
        "b=1",
    ]
    waiting = subprocess.Popen([*COMMAND, *words], stderr=subprocess.PIPE, text=True)
    assert waiting.stderr is not None and "listening on" in waiting.stderr.readline()
    waiting.send_signal(signal.SIGINT)
    assert waiting.wait(60) == 130


def test_the_command_starts_itself() -> None:
    done = command("demo", "--faces", "20", "--protocol", "yao", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)

"""Pools, prepared runs, shares, names of peers and Verilog: Python and the command take one another's."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duologue as duo
import numpy as np
import pytest

COMMAND = [sys.executable, "-m", "duologue"]
ROOT = Path(__file__).parents[3]


def command(*words: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, cwd=cwd, timeout=120, env={**os.environ, **(env or {})}
    )


def beside(words: list[str], cwd: Path) -> Callable[[], str]:
    """Starts the command; what is given waits until it has ended well, and has what it prints."""
    pipe = subprocess.PIPE
    process = subprocess.Popen([*COMMAND, *words], cwd=cwd, stdout=pipe, stderr=pipe, text=True)

    def end() -> str:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        return out

    return end


def alice(address: str, **more: Any) -> duo.Party:
    return duo.connect(address, party="alice", insecure_plaintext=True, wait=60, **more)


def test_a_pool_is_filled_and_used(other, tmp_path: Path) -> None:
    bob = other("""
        with listen(pool="bob.pool") as party:
            party.fill_pool(triples=20_000, correlations="softspoken4")
            party.run(duo.program("block:add:32"), {"b": np.arange(100)}, protocol="gmw")
            party.fill_pool(triples=20_000)
        with listen(pool="bob.pool") as party:
            party.run(duo.program("block:add:32"), {"b": np.arange(100)}, protocol="gmw")
    """)
    pool = tmp_path / "alice.pool"
    with alice(bob.line(), pool=pool) as party:
        with pytest.raises(duo.UsageError, match=r"no pool is in .*: party.fill_pool makes one"):
            party.run(duo.program("block:add:32"), {"a": np.arange(100)}, protocol="gmw")
        filled = party.fill_pool(triples=20_000, correlations="softspoken4")
        assert filled.left.triples >= 20_000 and filled.used.triples == 0 and filled.just_now is not None
        assert (filled.party, filled.correlations, filled.sealed, filled.peer_key) == (
            "alice",
            "softspoken4",
            False,
            None,
        )
        result = party.run(duo.program("block:add:32"), {"a": np.arange(100)}, protocol="gmw")
        assert (result["out"] == 2 * np.arange(100)).all()
        assert party.fill_pool(triples=20_000).used.triples >= 3100
    with alice(bob.line(), pool=pool) as party:
        party.run(duo.program("block:add:32"), {"a": np.arange(100)}, protocol="gmw")
    bob.end()
    left = duo.pool(pool, verify=True)
    assert left.used.triples >= 6200 and left.just_now is None
    with pytest.raises(duo.UsageError, match="no pool is there"):
        duo.pool(tmp_path)


def test_what_a_pool_refuses(tmp_path: Path) -> None:
    nobody = duo.connect("127.0.0.1:1", party="alice", insecure_plaintext=True, wait=0.1)
    with pytest.raises(duo.UsageError, match="this party has no pool"):
        nobody.fill_pool(triples=1)
    with pytest.raises(duo.UsageError, match="pool_key is the key of a pool"):
        duo.connect("a:1", party="alice", insecure_plaintext=True, pool_key="key")
    pooled = duo.connect("127.0.0.1:1", party="alice", insecure_plaintext=True, wait=0.1, pool=tmp_path / "pool")
    for number in (-1, True, 1.5, 1 << 70):
        with pytest.raises(duo.UsageError, match="triples: expected a number of at least 0"):
            pooled.fill_pool(triples=number)  # type: ignore[arg-type]
    (tmp_path / "pool").mkdir(mode=0o700)
    (tmp_path / "pool" / "header").write_bytes(b"nonsense")
    # Errors of the folder are found before the parties meet.
    with pytest.raises(duo.Error) as caught:
        pooled.open()
    assert not isinstance(caught.value, duo.Timeout)


def test_a_folder_of_something_else_is_no_pool(other, tmp_path: Path) -> None:
    bob = other("""
        with listen() as party:
            party.prepare_to("bob.runs", duo.program("block:add:32"), sizes={"lanes": 1})
    """)
    runs, file, program = tmp_path / "alice.runs", tmp_path / "file", duo.program("block:add:32")
    pooled = duo.connect("127.0.0.1:1", party="alice", insecure_plaintext=True, wait=0.1, pool=runs)
    with alice(bob.line()) as party:
        party.prepare_to(runs, program, sizes={"lanes": 1})
    bob.end()
    file.write_text("")
    # The byte that tells what a folder has is 2 for runs of a private function.
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    header = bytearray((runs / "header").read_bytes())
    header[12] = 2
    (private / "header").write_bytes(header)
    (private / "header").chmod(0o600)
    for folder, why in ((runs, "has prepared runs"), (private, "has runs of a private"), (file, "is no folder")):
        with pytest.raises(duo.UsageError, match=why):
            duo.connect("127.0.0.1:1", party="alice", insecure_plaintext=True, pool=folder)
        with pytest.raises(duo.UsageError, match=why):
            duo.listen("127.0.0.1:0", party="alice", insecure_plaintext=True, pool=folder)
        with pytest.raises(duo.UsageError, match=why):
            duo.pool(folder)
    # What became one since, before the peer is waited for.
    for use in (pooled.open, lambda: pooled.run(program, {"a": 1})):
        with pytest.raises(duo.UsageError, match="has prepared runs"):
            use()


def test_a_pool_that_comes_late_is_not_used(other, tmp_path: Path) -> None:
    """It appears when the parties have met, and a run does not pass over it in silence."""
    bob = other("""
        with listen(pool="bob.pool") as party:
            party.fill_pool(triples=1000, correlations="softspoken4")
        with listen() as party:
            party.run(duo.program("block:add:32"), {"b": 2}, protocol="gmw")
    """)
    program = duo.program("block:add:32")
    with alice(bob.line(), pool=tmp_path / "first") as party:
        party.fill_pool(triples=1000, correlations="softspoken4")
    late = alice(bob.line(), pool=tmp_path / "late").open()
    (tmp_path / "first").rename(tmp_path / "late")
    with pytest.raises(duo.UsageError, match="was not there when this party met its peer, and is not used"):
        late.run(program, {"a": 1}, protocol="gmw")
    (tmp_path / "late").rename(tmp_path / "first")
    with pytest.raises(duo.UsageError, match="no pool is in"):
        late.run(program, {"a": 1}, protocol="gmw")
    # The session has not suffered: without a pool it runs.
    late._pool = None
    with late:
        assert list(late.run(program, {"a": 1}, protocol="gmw")["out"]) == [3]
    bob.end()
    assert duo.pool(tmp_path / "first").used.triples == 0


def test_the_command_shares_a_pool(tmp_path: Path) -> None:
    """Filled by the command and Python, used by Python and the command; sealed on one side."""
    keys = {name: duo.new_key(tmp_path / f"{name}.key") for name in ("alice", "bob")}
    (tmp_path / "seal").write_bytes(os.urandom(32))
    (tmp_path / "seal").chmod(0o600)

    def listen() -> duo.Party:
        return duo.listen(
            "127.0.0.1:0",
            party="alice",
            key=tmp_path / "alice.key",
            peer=keys["bob"],
            pool=tmp_path / "alice.pool",
            pool_key=tmp_path / "seal",
            wait=60,
        )

    def words(address: str) -> list[str]:
        return [
            "--as",
            "bob",
            "--connect",
            address,
            "--key",
            "bob.key",
            "--peer-key",
            keys["alice"],
            "--pool",
            "bob.pool",
        ]

    party = listen()
    filling = beside(["pool", "fill", *words(party.address), "--triples", "10k", "--json"], tmp_path)
    with party:
        filled = party.fill_pool(triples=10_000)
    theirs = json.loads(filling())
    assert filled.sealed and not theirs["sealed"] and filled.peer_key == keys["bob"]
    party = listen()
    run = [
        "run",
        "block:add:32",
        *words(party.address),
        "--yes",
        "--protocol",
        "gmw",
        "-i",
        "b=5,6",
        "-o",
        "out=out.npy",
    ]
    running = beside(run, tmp_path)
    with party:
        result = party.run(duo.program("block:add:32"), {"a": [1, 2]}, protocol="gmw")
    running()
    assert list(result["out"]) == [6, 8] and list(np.load(tmp_path / "out.npy")) == [6, 8]
    shown = json.loads(command("pool", "alice.pool", "--pool-key", "seal", "--json", cwd=tmp_path).stdout)
    mine = duo.pool(tmp_path / "alice.pool", key=tmp_path / "seal")
    assert shown["kinds"][2] == {
        "kind": "triples",
        "made": mine.made.triples,
        "used": mine.used.triples,
        "left": mine.left.triples,
    }
    assert mine.used.triples > 0 and mine.used == duo.pool(tmp_path / "bob.pool").used
    with pytest.raises(duo.Error):
        duo.pool(tmp_path / "alice.pool")


def test_runs_are_prepared_for_another_day(other, tmp_path: Path) -> None:
    """By Python on both sides, then used with the command as the peer."""
    program = duo.program("block:multiply_low:32")
    bob = other("""
        program = duo.program("block:multiply_low:32")
        with listen() as party:
            party.prepare_to("bob.runs", program, sizes={"lanes": 3}, times=2)
        with listen() as party:
            party.online_from("bob.runs", program, {"b": [4, 5, 6]})
    """)
    runs = tmp_path / "alice.runs"
    with alice(bob.line()) as party:
        ready = party.prepare_to(runs, program, sizes={"lanes": 3}, times=2)
        assert (ready.left, ready.used, ready.made, ready.party) == (2, 0, 2, "alice")
        assert program.digest[:8] in str(ready.terms) or "multiply_low" in str(ready.terms)
    with alice(bob.line()) as party:
        with pytest.raises(duo.UsageError, match="the input 'a' is missing"):
            party.online_from(runs, program, {})
        result = party.online_from(runs, program, {"a": [1, 2, 3]})
        assert list(result["out"]) == [4, 10, 18] and result.report.ahead
    bob.end()
    party = duo.listen("127.0.0.1:0", party="alice", insecure_plaintext=True, wait=60)
    run = ["run", "block:multiply_low:32", "--as", "bob", "--connect", party.address, "--insecure-plaintext", "--yes"]
    running = beside([*run, "--prepared", "bob.runs", "-i", "b=7,8,9", "-o", "out=out.npy"], tmp_path)
    with party:
        result = party.online_from(runs, program, {"a": [1, 1, 2]})
        assert list(result["out"]) == [7, 8, 18]
    running()
    assert list(np.load(tmp_path / "out.npy")) == [7, 8, 18]
    assert duo.prepared_runs(runs, verify=True).left == 0
    with pytest.raises(duo.Error):
        duo.prepared_runs(tmp_path)


@pytest.mark.parametrize(
    ("type", "dtype"), [("uint(32)", "u4"), ("int(16)", "i2"), ("bits(1)", "u1"), ("uint(64)", "u8")]
)
def test_shares_are_saved(tmp_path: Path, type: str, dtype: str) -> None:
    file, values = tmp_path / "share.npy", np.array([0, 1, 1, 0], dtype)
    share = duo.Share(duo._core.pack_numbers(values, type), type)
    share.save(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (np.load(file) == values).all()
    assert duo.Share.load(file, type)._matrix.equals(share._matrix)
    with pytest.raises(duo.UsageError, match=r"ends in \.npy"):
        share.save(tmp_path / "share")
    with pytest.raises(duo.MachineError, match="writing"):
        share.save(tmp_path / "nowhere" / "share.npy")
    with pytest.raises(duo.MachineError, match="reading"):
        duo.Share.load(tmp_path / "nothing.npy", type)
    (tmp_path / "damaged.npy").write_bytes(b"\x93NUMPY\x01\x00")
    with pytest.raises(duo.Malformed):
        duo.Share.load(tmp_path / "damaged.npy", type)


@pytest.mark.parametrize(
    "type", ["float(32, 8)", "float(64, 11)", "float(16, 5)", "fixed(64, 16)", "fixed(40, 8)", "bits(13)", "uint(100)"]
)
def test_every_bit_of_a_share_is_saved(tmp_path: Path, type: str) -> None:
    """The share of a float may be NaN, of which numbers keep not every bit."""
    bits = int(type.split("(")[1].split(",")[0].rstrip(")"))
    rows = np.random.default_rng(1).integers(0, 2, (300, bits), dtype=np.uint8)
    rows[:100, bits // 2 :] = 1
    share = duo.Share(duo._core.pack_bits(rows), type)
    share.save(tmp_path / "share.npy")
    assert duo.Share.load(tmp_path / "share.npy", type)._matrix.equals(share._matrix)


def test_the_command_shares_shares(other, tmp_path: Path) -> None:
    """Bob's side of a balance is the command's; Alice's is Python's, saved in between."""
    deposit = str(Path(__file__).with_name("deposit.duo"))
    zero = duo.Share(duo._core.pack_numbers(np.zeros(1, np.uint32), "uint(32)"), "uint(32)")
    zero.save(tmp_path / "alice.npy")
    zero.save(tmp_path / "bob.npy")
    for amount in (300, 45):
        party = duo.listen("127.0.0.1:0", party="alice", insecure_plaintext=True, wait=60)
        run = ["run", deposit, "--as", "bob", "--connect", party.address, "--insecure-plaintext", "--yes"]
        run += ["--protocol", "gmw", "-i", "balance=bob.npy", "-i", f"amount={amount}", "-o", "balance=new.npy"]
        running = beside(run, tmp_path)
        with party:
            share = duo.Share.load(tmp_path / "alice.npy", "uint(32)")
            result = party.run(duo.load(deposit), {"balance": share, "amount": amount}, protocol="gmw")
        running()
        result["balance"].save(tmp_path / "alice.npy")
        (tmp_path / "new.npy").replace(tmp_path / "bob.npy")
    hers, his = (int(np.load(tmp_path / f"{name}.npy")[0]) for name in ("alice", "bob"))
    assert hers ^ his == 345


def test_peers_have_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"DUOLOGUE_CONFIG": str(tmp_path / "config.toml"), "XDG_CONFIG_HOME": str(tmp_path)}
    for name, value in config.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(duo.UsageError, match="key is missing"):
        duo.connect("a:1", party="alice", peer="duo1")
    (tmp_path / "duologue").mkdir()
    mine = duo.new_key(tmp_path / "duologue" / "key")
    his = duo.new_key(tmp_path / "bob.key")
    bob = duo.listen("127.0.0.1:0", party="bob", key=tmp_path / "bob.key", peer=mine, wait=60)
    with pytest.raises(duo.UsageError, match="no port and is no peer's name"):
        duo.connect("robert", party="alice")
    assert command("peers", "add", "robert", his, bob.address, cwd=tmp_path, env=config).returncode == 0
    alice = duo.connect("robert", party="alice", wait=60)
    assert alice.address == bob.address

    def meet() -> None:
        with bob:
            pass

    meeting = threading.Thread(target=meet)
    meeting.start()
    with alice:
        pass
    meeting.join(60)
    assert duo.connect("b:1", party="alice", peer="robert").address == "b:1"
    with pytest.raises(duo.UsageError, match="no peer is called 'bobby'"):
        duo.connect("b:1", party="alice", peer="bobby")
    with pytest.raises(duo.UsageError, match="peer is missing"):
        duo.listen("127.0.0.1:0", party="alice")
    (tmp_path / "config.toml").write_text("peers = 7\n")
    with pytest.raises(duo.Malformed, match="config.toml, line 1"):
        duo.connect("robert", party="alice")


DESIGN = """
module sums #(parameter WIDTH = 8) (
  (* party = "alice" *) input [WIDTH-1:0] a,
  (* party = "bob" *) input [WIDTH-1:0] b,
  output [WIDTH:0] sum);
  assign sum = a + b;
endmodule
"""


def test_verilog_becomes_a_program(tmp_path: Path) -> None:
    (tmp_path / "sums.v").write_text(DESIGN)
    try:
        program = duo.compile(tmp_path / "sums.v", top="sums", set={"WIDTH": 16}, outputs={"sum": "bob"})
    except duo.MachineError as why:
        assert "yosys" in str(why).lower()
        pytest.skip("Yosys is not here")
    assert [(port.name, port.who, port.type) for port in program.inputs] == [
        ("a", "alice", "uint(16)"),
        ("b", "bob", "uint(16)"),
    ]
    assert program.outputs[0].who == "bob"
    a, b = np.array([1, 65_535]), np.array([2, 65_535])
    lanes = {"lanes": 2} if "lanes" in program.sizes else None
    if lanes:
        assert list(program.plain({"a": a, "b": b}, sizes=lanes)["sum"]) == [3, 131_070]
    else:
        assert list(program.plain({"a": a[1:], "b": b[1:]})["sum"]) == [131_070]
    words = ["compile", "sums.v", "--top", "sums", "--set", "WIDTH=16", "--outputs", "sum=bob", "-o", "sums.duo"]
    assert command(*words, cwd=tmp_path).returncode == 0
    assert duo.load(tmp_path / "sums.duo").digest == program.digest


def test_what_verilog_refuses(tmp_path: Path) -> None:
    with pytest.raises(duo.MachineError):
        duo.compile(tmp_path / "nothing.v")
    (tmp_path / "sums.v").write_text(DESIGN)
    with pytest.raises(duo.MachineError, match="nowhere"):
        duo.compile(tmp_path / "sums.v", yosys=tmp_path / "nowhere")
    with pytest.raises(duo.UsageError, match="goal: expected 'size' or 'depth'"):
        duo.compile(tmp_path / "sums.v", goal="beauty")
    with pytest.raises(duo.UsageError, match="form: expected 'iterate' or 'unroll'"):
        duo.compile(tmp_path / "sums.v", cycles=2, form="twice")

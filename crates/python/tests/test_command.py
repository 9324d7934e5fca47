"""The command that comes with the package; and the command as the peer of Python."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import duologue as duo
import numpy as np
import pytest
from duologue import Alice, Bob, key, text

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


@duo.query(
    ads=Alice.table(email=key, views="uint(16)"),
    shop=Bob.table(mail=key, amount="int(40)", region=text),
    to=(Alice, Bob),
)
def bought(ads: Any, shop: Any) -> Any:
    both = ads.join(shop, on=("email", "mail"))
    groups = both[(both.views >= 10) & ~(both.amount < -50)].group_by(both.region, ["north", "south"])
    return {
        "count": groups.count(minimum=3),
        "sum amount": groups.amount.sum(minimum=3),
        "mean views": groups.views.mean(minimum=3),
    }


BOUGHT = (
    "--learns both --alice views:uint(16) --bob amount:int(40) --bob region:text --by region=north,south --count "
    "--sum amount --mean views --minimum 3 --json --insecure-plaintext"
).split() + ["--where", "views >= 10 and not amount < -50"]


def bought_tables(rows: list[int], common: int, seed: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(seed)
    keys = [[f"k{i}" if i < common else f"{party}{i}" for i in range(rows[party])] for party in (0, 1)]
    ads = {"email": keys[0], "views": random.integers(0, 30, rows[0])}
    amounts, regions = random.integers(-100, 1 << 38, rows[1]), random.integers(0, 3, rows[1])
    return [ads, {"mail": keys[1], "amount": amounts, "region": [["north", "south", "east"][i] for i in regions]}]


def bought_together(ads: dict[str, Any], shop: dict[str, Any]) -> list[dict[str, Any]]:
    """The figures by a dictionary, in exact numbers, as the command reports them."""
    sold = {mail: (int(amount), region) for mail, amount, region in zip(*shop.values(), strict=True)}
    rows = [(int(views), *sold[mail]) for mail, views in zip(*ads.values(), strict=True) if mail in sold]
    figures = []
    for region in ("north", "south"):
        some = [(views, amount) for views, amount, of in rows if views >= 10 and amount >= -50 and of == region]
        shown = len(some) >= 3
        views, amount = (sum(row[of] for row in some) for of in (0, 1))
        mean = Fraction((2 * 65536 * views + len(some)) // (2 * len(some)), 65536) if shown else None
        figures.append(
            {"region": region, "count": len(some), "sum amount": amount, "mean views": mean}
            if shown
            else {"region": region, "count": None, "sum amount": None, "mean views": None}
        )
    return figures


@pytest.mark.parametrize("us", ["alice", "bob"])
@pytest.mark.parametrize(("rows", "common"), [([5, 9], 5), ([20_000, 17_000], 9_000)])
def test_a_join_by_the_command_and_a_query_meet(tmp_path: Path, us: str, rows: list[int], common: int) -> None:
    """Of few rows and of many, for which the line is measured; figures are those of a dictionary."""
    tables = bought_tables(rows, common, 7)
    (own, theirs) = tables if us == "alice" else tables[::-1]
    lines = [",".join(theirs), *(",".join(map(str, row)) for row in zip(*theirs.values(), strict=True))]
    (tmp_path / "own.csv").write_text("\n".join(lines) + "\n")
    party = duo.listen("127.0.0.1:0", party=us, insecure_plaintext=True, wait=60)
    words = ["join", "--as", "bob" if us == "alice" else "alice", "--connect", party.address, *BOUGHT]
    words += ["--input", f"own.csv:{next(iter(theirs))}"]
    pipe = subprocess.PIPE
    peer = subprocess.Popen([*COMMAND, *words], cwd=tmp_path, stdout=pipe, stderr=pipe, text=True)
    with party:
        result = party.run(bought, {"ads" if us == "alice" else "shop": own})
    out, err = peer.communicate(timeout=120)
    assert peer.returncode == 0, err
    expected, report = bought_together(*tables), json.loads(out)
    told = [
        row | {"mean views": None if row["mean views"] is None else Fraction(row["mean views"])}
        for row in report["figures"]
    ]
    assert told == expected
    assert report["query"] == bought.text and result.rows == tuple(rows)
    for name in ("count", "sum amount", "mean views"):
        assert result[name] == {row["region"]: row[name] for row in expected}


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

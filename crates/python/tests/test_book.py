"""The examples run, and the book's page is made of them and of code that runs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duologue as duo
import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "python"
PAGES = [
    ROOT / "docs" / "python.md",
    ROOT / "docs" / "python-programs.md",
    ROOT / "docs" / "python-tutorial.md",
    ROOT / "README.md",
    ROOT / "crates" / "python" / "README.md",
]


def both(name: str, bob: list[str], alice: Callable[[str], list[str]], folder: Path) -> tuple[str, str]:
    """What Alice's and Bob's processes of an example print; Bob's is at the address that he prints first."""
    command, pipe = [sys.executable, str(EXAMPLES / name)], subprocess.PIPE
    listening = subprocess.Popen([*command, *bob], cwd=folder, stdout=pipe, stderr=pipe, text=True)
    try:
        assert listening.stdout is not None
        address = listening.stdout.readline().strip()
        assert address, listening.communicate()
        done = subprocess.run([*command, *alice(address)], cwd=folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        out, err = listening.communicate(timeout=120)
        assert listening.returncode == 0, err
        return done.stdout.split("\n", 1)[1], out
    finally:
        listening.kill()
        listening.communicate()


@pytest.mark.parametrize(("hers", "words"), [(2_000_000, "Alice is richer"), (1_000_000, "Alice is not richer")])
def test_richer(tmp_path: Path, hers: int, words: str) -> None:
    bob = ["bob", "127.0.0.1:0", "1000000"]
    said = both("richer.py", bob, lambda address: ["alice", address, str(hers)], tmp_path)
    assert said == (f"{words}\n", f"{words}\n")


def test_salaries(tmp_path: Path) -> None:
    keys = {name: duo.new_key(tmp_path / f"{name}.key") for name in ("alice", "bob")}
    tables = [str(ROOT / "examples" / "salaries" / f"{name}.csv") for name in ("ours", "theirs")]
    ours, theirs = (np.loadtxt(table, delimiter=",", skiprows=1, usecols=1) for table in tables)
    bob = ["bob", tables[1], "bob.key", keys["alice"], "--listen", "127.0.0.1:0"]
    said = both(
        "salaries.py",
        bob,
        lambda address: ["alice", tables[0], "alice.key", keys["bob"], "--connect", address],
        tmp_path,
    )
    assert said == (f"hers is higher: {(ours > theirs).tolist()}\n",) * 2


def test_nearby(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    places = random.integers(0, 10_000, (2, 100))
    interests = random.integers(0, 2, (100, 16), dtype=np.uint8)
    near = np.abs(places - 5_000).sum(axis=0) <= 1_500
    common = np.where(near, (interests * np.array([1, 0, 1, 1] * 4)).sum(axis=1), 0)
    expected = f"user {common.argmax()}\n" if common.max() else "nobody\n"
    bob = ["bob", "127.0.0.1:0"]
    assert both("nearby.py", bob, lambda address: ["alice", address], tmp_path) == (expected, "Bob learns []\n")


def test_rating(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    ages, incomes = (random.integers(*ends, 50).tolist() for ends in ((18, 80), (10_000, 150_000)))
    lates = np.random.default_rng(6).integers(0, 6, 50).tolist()
    lent = 0
    for age, income, late in zip(ages, incomes, lates, strict=True):
        base = 300 + 2 * min(income // 1000, 200)
        lent += base - (120 if late > 3 else 20 * late) - (30 if age < 21 else 0) > 420
    said = both("rating.py", ["bob", "127.0.0.1:0"], lambda address: ["alice", address], tmp_path)
    assert 0 < lent < 50 and said == (f"to lend: {lent} of 50\n", "Bob learns nothing\n")


def test_turnover(tmp_path: Path) -> None:
    tables = [ROOT / "examples" / "join" / f"{name}.csv" for name in ("ads", "shop")]
    ads, shop = ([line.split(",") for line in table.read_text().splitlines()[1:]] for table in tables)
    views = {mail: int(count) for mail, count in ads}
    bought = [(views[mail], float(amount)) for mail, amount, _ in shop if mail in views]
    often = [amount for count, amount in bought if count >= 10]
    bob = ["bob", "127.0.0.1:0", str(tables[1])]
    hers, his = both("turnover.py", bob, lambda address: ["alice", address, str(tables[0])], tmp_path)
    said = dict(line.split(" ") for line in hers.splitlines())
    assert (his, said["buyers"], list(said)) == ("", str(len(bought)), ["buyers", "turnover", "often"])
    sums = (float(said["turnover"]), float(said["often"]) * len(often))
    assert np.allclose(sums, (sum(amount for _, amount in bought), sum(often)), rtol=0, atol=1e-3)


def _blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def test_the_tutorial_shows_what_is_printed() -> None:
    page = ROOT / "docs" / "python-tutorial.md"
    shown = re.findall(r"^```text\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)[0]
    names: dict[str, Any] = {}
    exec(compile(_blocks(page)[0], str(page), "exec"), names)
    assert shown == re.sub(r"[0-9a-f]{64}", "…", str(names["affordable"])) + "\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name + "/" + page.name)
def test_code_of_the_book(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that needs a peer is part of an example; the others run here, one after another."""
    monkeypatch.chdir(tmp_path)
    examples = [example.read_text() for example in EXAMPLES.glob("*.py")]
    names: dict[str, Any] = {}
    assert _blocks(page), "no Python on this page"
    for block in _blocks(page):
        if re.search(r"\bparty\b", block):
            assert any(block in example for example in examples), f"no example has\n{block}"
        else:
            exec(compile(block, str(page), "exec"), names)

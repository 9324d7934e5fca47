"""Examples that are functions: two processes each, against the same question answered in the clear."""

from __future__ import annotations

from pathlib import Path

import duologue as duo
import numpy as np
from test_book import both


def run(name: str, bob: list[str], alice: list[str], folder: Path) -> tuple[str, str]:
    """What both print."""
    return both(name, ["bob", "127.0.0.1:0", *bob], lambda address: ["alice", address, *alice], folder)


def test_auction(tmp_path: Path) -> None:
    said = run("auction.py", ["120", "80", "300"], ["100", "250", "300"], tmp_path)
    assert said == ("lot 1: Bob pays 100\nlot 2: Alice pays 80\nlot 3: Alice pays 300\n",) * 2


def test_fingerprint(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    collection = random.integers(0, 256, (300, 32), dtype=np.uint8)
    near, far = collection[[217]], random.integers(0, 256, (1, 32), dtype=np.uint8)
    near[0, :5] ^= 0xFF
    for mine, found in ((near, "picture 217\n"), (far, "none is near\n")):
        differ = np.unpackbits(collection ^ mine, axis=1).sum(axis=1)
        assert found == (f"picture {differ.argmin()}\n" if differ.min() <= 40 else "none is near\n")
        np.save(tmp_path / "collection.npy", collection)
        np.save(tmp_path / "mine.npy", mine)
        said = run("fingerprint.py", ["collection.npy", "300"], ["mine.npy", "300"], tmp_path)
        assert said == (found, "")


def test_prices(tmp_path: Path) -> None:
    prices = np.random.default_rng(1).integers(100, 10_000, 64)
    for article, price in ((17, prices[17]), (63, prices[63]), (64, 0)):
        assert run("prices.py", [], [str(article)], tmp_path) == (f"{price / 100:.2f}\n", "sold a price\n")


def test_risk(tmp_path: Path) -> None:
    random = np.random.default_rng(11)
    ages, pressures = random.integers(20, 95, 200), random.normal(125, 18, 200).round(1)
    risks = 0.06 * ages + 0.02 * pressures + 0.35 * random.normal(5.2, 1.1, 200).round(2) - 9.0
    assert np.abs(risks).min() > 0.001, "none is as near to the limit as numbers in steps of 2^-16 may err"
    at_risk = (risks > 0).sum()
    assert run("risk.py", [], [], tmp_path) == (f"at risk: {at_risk} of 200\n", "Bob learns nothing\n")


def test_invoices(tmp_path: Path) -> None:
    said = run("invoices.py", ["19", "250", "7", "99"], ["10", "2", "100", "5"], tmp_path)
    assert said == ("total 1885, above the mean of 471: [False, True, True, True]\n",) * 2


def test_trend(tmp_path: Path) -> None:
    spent, sold = [10, 20, 15, 31.5], [130.5, 171, 149.25, 210]
    slope, start = np.polyfit(spent, sold, 1)
    said = run("trend.py", [str(y) for y in sold], [str(x) for x in spent], tmp_path)
    assert said == (f"sold = {start:.3f} + {slope:.3f} * spent\n",) * 2


def test_offers(tmp_path: Path) -> None:
    keys = {name: duo.new_key(tmp_path / f"{name}.key") for name in ("alice", "bob")}
    (tmp_path / "prices.txt").write_text("120\n80\n310\n95\n")
    bob = ["bob", "bob.key", keys["alice"], "127.0.0.1:0", "prices.txt"]
    said = both("offers.py", bob, lambda address: ["alice", "alice.key", keys["bob"], address, "100", "4"], tmp_path)
    assert said == ("affordable: [1, 3]\n", "")


def test_cheapest(tmp_path: Path) -> None:
    for hers, his, said in (
        ([420, 399, 388], [410, 395], "388, Alice's offer 2\n"),
        ([420], [410, 395, 395], "395, Bob's offer 1\n"),
        ([395, 7], [7], "7, Alice's offer 1\n"),
    ):
        lists = [[str(len(other)), *map(str, own)] for own, other in ((his, hers), (hers, his))]
        assert run("cheapest.py", lists[0], lists[1], tmp_path) == (said, said)


def test_score(tmp_path: Path) -> None:
    ages, incomes, lates = [23, 41, 60], [28_000, 15_000, 12_000], [0, 1, 4]
    lend = [
        int((income >> 8) + (0 if age < 25 else 20) - (30 if late > 2 else 0) > 60)
        for age, income, late in zip(ages, incomes, lates, strict=True)
    ]
    assert 0 < sum(lend) < 3
    hers, his = run("score.py", [], [], tmp_path)
    assert hers == "3 runs, of which Alice learns nothing\n" and his == f"to lend: {lend}, by universal\n"

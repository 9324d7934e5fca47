"""Programs: by name, from files, as text."""

from __future__ import annotations

from pathlib import Path

import duologue as duo
import pytest


def test_a_program_is_saved_and_loaded(tmp_path: Path) -> None:
    program = duo.program("app:social:8")
    program.save(tmp_path / "social.duo")
    again = duo.load(tmp_path / "social.duo")
    assert (again.digest, again.name, again.sizes) == (program.digest, program.name, program.sizes)
    assert [port.name for port in again.outputs] == ["user", "found"]
    # The file has no meanings, the application does.
    assert program.inputs[0].about and not again.inputs[0].about


def test_a_program_says_who_learns_what() -> None:
    text = str(duo.program("app:social:8"))
    for words in [
        "digest   ",
        "size     'users' = 1 to 131072",
        "alice learns",
        "bits(8) × users",
        "interests: a bit for",
    ]:
        assert words in text
    port = duo.program("block:add:32").inputs[1]
    assert (port.name, port.who, port.type, port.lanes) == ("b", "bob", "uint(32)", "lanes")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("block:ad:8", "no block is named 'ad'"),
        ("app:nothing", "nothing"),
        ("block:add:x", "x"),
        ("add", "'add' names no program that is built in"),
    ],
)
def test_names_of_no_program(name: str, words: str) -> None:
    with pytest.raises(duo.UsageError, match=words):
        duo.program(name)


def test_garbage_is_malformed(tmp_path: Path) -> None:
    duo.program("block:add:8").save(tmp_path / "good.duo")
    good = (tmp_path / "good.duo").read_bytes()
    for number, bad in enumerate([b"", b"duo", good[:-1], good + b"x", bytes(len(good)), good[:20] + good[21:]]):
        file = tmp_path / f"{number}.duo"
        file.write_bytes(bad)
        with pytest.raises(duo.Malformed, match=file.name):
            duo.load(file)
    with pytest.raises(FileNotFoundError):
        duo.load(tmp_path / "none.duo")


def test_costs_are_a_table() -> None:
    costs = duo.program("block:multiply:32").cost(link="100ms,10Mbit", sizes={"lanes": 1000})
    assert [cost.protocol for cost in costs][:3] == ["yao", "gmw", "gmw-masked"]
    table = str(costs).splitlines()
    assert len({len(line) for line in table}) == 1 and len(table) == len(costs) + 1
    assert costs[0].garbler in ("alice", "bob") and costs[1].garbler is None
    assert all(cost.bytes > 0 and cost.seconds > 0.1 for cost in costs)
    with pytest.raises(duo.Malformed, match="link 'fast'"):
        duo.program("block:multiply:32").cost(link="fast", sizes={"lanes": 1})

"""Parties whose programs differ hear where first, by line of their own source, whatever the way on which they met."""

from __future__ import annotations

import pickle
from pathlib import Path

import differing
import duologue as duo
import numpy as np
import pytest

X = np.arange(5, dtype=np.uint32)


def is_at_the_line(place: str | None) -> bool:
    """The line itself, and at most one beside it: marks stand at every few gates."""
    assert place is not None and place.startswith("differing.py:"), place
    first, _, last = place.removeprefix("differing.py:").partition(" to ")
    return int(first) <= differing.LINE <= int(last or first) <= int(first) + 1


def party(address: str) -> duo.Party:
    return duo.connect(address, party="alice", insecure_plaintext=True, wait=60)


@pytest.mark.parametrize("protocol", ["yao", "auto"])
def test_both_parties_hear_the_line(other, protocol: str) -> None:
    bob = other(f"""
        import differing
        try:
            with listen() as party:
                party.run(differing.rated(70), {{"y": np.arange(5)}}, protocol="{protocol}")
        except duo.Incompatible as why:
            print(why.place, flush=True)
    """)
    with pytest.raises(duo.Incompatible) as caught, party(bob.line()) as alice:
        alice.run(differing.rated(60), {"x": X}, protocol=protocol)
    why = caught.value
    # What the peer said, and nothing that this party made of it.
    assert why.theirs == f"'rated' {differing.rated(70).digest}"
    assert why.what == "the program" and is_at_the_line(why.place)
    assert "they differ first in the circuit of step 2, gates" in str(why) and str(why).endswith(f": {why.place}")
    assert pickle.loads(pickle.dumps(why)).place == why.place
    out, _ = bob.end()
    assert is_at_the_line(out.strip())


def test_no_gate_is_blamed_for_outputs(other) -> None:
    """A shift has no gates: it is told as what it is, and not by the line of the last gate."""
    bob = other("""
        import differing
        try:
            with listen() as party:
                party.run(differing.shifted(2), {"y": np.arange(5)}, protocol="yao")
        except duo.Incompatible as why:
            print(why.place, flush=True)
    """)
    with pytest.raises(duo.Incompatible) as caught, party(bob.line()) as alice:
        alice.run(differing.shifted(1), {"x": X}, protocol="yao")
    assert caught.value.place is None
    assert str(caught.value).endswith("they differ first in the outputs of the circuit of step 2")
    assert bob.end()[0].strip() == "None"


def test_preparation_for_later_tells_the_line(other, tmp_path: Path) -> None:
    bob = other("""
        import differing
        try:
            with listen() as party:
                party.prepare_to("runs", differing.rated(70), sizes={"lanes": 5})
        except duo.Incompatible as why:
            print(why.place, flush=True)
    """)
    with pytest.raises(duo.Incompatible) as caught, party(bob.line()) as alice:
        alice.prepare_to(tmp_path / "alice.runs", differing.rated(60), sizes={"lanes": 5})
    assert is_at_the_line(caught.value.place)
    assert is_at_the_line(bob.end()[0].strip())


def test_a_peer_with_a_file_tells_it_too(other, tmp_path: Path) -> None:
    """A program from a file has no lines; the session goes on with one that both have."""
    differing.rated(70).save(tmp_path / "rated.duo")
    bob = other("""
        program = duo.load("rated.duo")
        with listen() as party:
            for _ in range(2):
                try:
                    print(party.run(program, {"y": np.arange(5)}, protocol="gmw")["rated"].tolist(), flush=True)
                except duo.Incompatible as why:
                    print(why.place, "gates" in str(why), flush=True)
    """)
    with party(bob.line()) as alice:
        with pytest.raises(duo.Incompatible) as caught:
            alice.run(differing.rated(60), {"x": X}, protocol="gmw")
        assert is_at_the_line(caught.value.place)
        assert bob.line() == "None True"
        expected = (np.minimum(X * X, 70) * 3 + X).tolist()
        assert alice.run(differing.rated(70), {"x": X}, protocol="gmw")["rated"].tolist() == expected
        assert bob.line() == str(expected)
    bob.end()


def test_built_in_programs_tell_their_names_alone(other) -> None:
    bob = other("""
        try:
            with listen() as party:
                party.run(duo.program("block:add:32"), {"b": 1}, protocol="yao")
        except duo.Incompatible as why:
            print(why.place)
    """)
    with pytest.raises(duo.Incompatible) as caught, party(bob.line()) as alice:
        alice.run(duo.program("block:subtract:32"), {"a": 1}, protocol="yao")
    assert caught.value.place is None and "first" not in str(caught.value)
    assert bob.end()[0].strip() == "None"


def test_costs_count_what_is_told(other) -> None:
    bob = other("""
        import differing
        with listen() as party:
            party.run(differing.rated(60), {"y": np.arange(5)}, protocol="yao", correlations="softspoken4")
    """)
    with party(bob.line()) as alice:
        report = alice.run(differing.rated(60), {"x": X}, protocol="yao", correlations="softspoken4").report
    (cost,) = differing.rated(60).cost(sizes={"lanes": 5}, protocol="yao", correlations="softspoken4")
    assert (report.setup.sent, report.setup.received) == (cost.setup.alice_to_bob, cost.setup.bob_to_alice)
    bob.end()

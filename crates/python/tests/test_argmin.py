"""The least of many values, by every form and method of the command, between two processes: against NumPy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duologue as duo
import numpy as np
import pytest
from least import BITS, CASES, arguments, least, values


def party(address: str) -> duo.Party:
    return duo.connect(address, party="alice", insecure_plaintext=True, wait=60)


def test_every_form_and_method_finds_the_least(other) -> None:
    bob = other("""
        import least
        with listen() as party:
            for case in range(len(least.CASES)):
                print(*least.least(party, case), flush=True)
    """)
    with party(bob.line()) as alice:
        for case, (form, method, bits, _) in enumerate(CASES):
            (mine, found), (its, also) = least(alice, case), map(int, bob.line().split())
            place = int(values(case).argmin())
            expected = place if bits is None else int(arguments(case)[place])
            assert found == also == expected, (form, method)
            whole = (mine + its) % (2 << BITS) if form == "shared" else mine
            assert whole == values(case).min() and (form == "shared" or its == mine), (form, method)
    bob.end()


def test_the_peer_may_run_the_command(tmp_path: Path) -> None:
    alice = duo.listen("127.0.0.1:0", party="alice", insecure_plaintext=True, wait=60)
    np.save(tmp_path / "his.npy", np.array([70, 12, 12], np.uint32))
    words = ["run", "app:argmin:32", "--form", "halves", "--as", "bob", "--connect", alice.address, "--yes", "--json"]
    words += ["--insecure-plaintext", "--input", "bob_values=his.npy", "--size", "alice=2"]
    command = [sys.executable, "-m", "duologue", *words]
    bob = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with alice:
        result = alice.argmin([40, 13], form="halves", sizes={"bob": 3})
    out, err = bob.communicate(timeout=120)
    assert bob.returncode == 0, err
    assert (result["least"][0], result["index"][0]) == (12, 3)
    assert "12" in out


def test_of_equal_values_of_both_parties_the_first_is_it(other) -> None:
    """Also of one value each, and of 128 bits."""
    bob = other("""
        with listen() as party:
            for bits in (8, 128):
                result = party.argmin([5], [9], bits=bits, argument_bits=4, form="halves", sizes={"alice": 1})
                print(int(result["least"].ravel()[0]), int(result["argument"][0]), flush=True)
    """)
    with party(bob.line()) as alice:
        for bits in (8, 128):
            result = alice.argmin([5], [7], bits=bits, argument_bits=4, form="halves", sizes={"bob": 1})
            assert bob.line() == "5 7"
            assert (int(result["least"].ravel()[0]), int(result["argument"][0])) == (5, 7)
    bob.end()


def test_what_cannot_be_is_refused_before_a_byte_is_sent() -> None:
    alice = duo.connect("127.0.0.1:1", party="alice", insecure_plaintext=True, wait=1)
    one = np.array([1, 2, 3])
    for error, more in (
        ("'best' is no form: write shared, halves, xor", {"form": "best"}),
        ("'fast' is no method: write auto, duologue", {"method": "fast"}),
        ("'few' is no ots: write both, one", {"ots": "few"}),
        ("bits of a value are 1 to 128", {"bits": 129}),
        ("bits: expected a number of bits", {"bits": -1}),
        ("bits: expected a number of bits", {"bits": 1.5}),
        ("bits: expected a number of bits", {"bits": "x"}),
        ("argument_bits: expected a number of bits", {"arguments": one, "argument_bits": -1}),
        ("leaky: expected True or False", {"leaky": "no"}),
        ("method: expected text in place of int", {"method": 3}),
        ("schedule: expected text in place of float", {"schedule": 1.5}),
        ("arguments': it is a masked array", {"form": "halves", "arguments": np.ma.array(one), "argument_bits": 8}),
        ("values': it is a masked array", {"form": "halves", "values": np.ma.array(one)}),
        ("this method takes values that are shared by XOR", {"method": "kolesnikov"}),
        ("both parties consent", {"method": "huang", "form": "xor"}),
        ("the command's alone", {"form": "encrypted"}),
        ("leave out protocol", {"protocol": "yao"}),
        ("say how many", {"arguments": one}),
        ("give them", {"argument_bits": 3}),
        ("it is shared: expected a Share", {"form": "xor"}),
        ("row 2: expected a number of 0 to 2\\^2 - 1", {"form": "halves", "arguments": [0, 1, 4], "argument_bits": 2}),
        ("row 1: expected a number", {"form": "halves", "values": [1, -1]}),
    ):
        values = more.pop("values", one)
        with pytest.raises(duo.UsageError, match=error):
            alice.argmin(values, **more)  # type: ignore[arg-type]

"""Runs between two processes: results equal NumPy's, or those of the plain engine."""

from __future__ import annotations

from pathlib import Path

import duologue as duo
import jobs
import numpy as np
import pytest
import shares
from jobs import Job


def party(address: str, **more: object) -> duo.Party:
    return duo.connect(address, party="alice", insecure_plaintext=True, wait=60, **more)  # type: ignore[arg-type]


def test_blocks_by_every_protocol_are_what_numpy_says(other) -> None:
    bob = other("""
        with listen() as party:
            for job, protocol in jobs.runs():
                result = party.run(duo.program(job.name), {"b": job.inputs()["b"]}, protocol=protocol)
                assert (result[job.output] == job.expected()).all(), job.name
    """)
    with party(bob.line()) as alice:
        for job, protocol in jobs.runs():
            result = alice.run(duo.program(job.name), {"a": job.inputs()["a"]}, protocol=protocol)
            got, expected = result[job.output], job.expected()
            assert got.dtype == expected.dtype and (got == expected).all(), (job.name, protocol)
            assert protocol in ("auto", result.report.protocol)
    bob.end()


@pytest.mark.parametrize("job", jobs.JOBS, ids=lambda job: job.name)
def test_plain_is_what_numpy_says(job: Job) -> None:
    for lanes in (63, 64, 65, 1000) if job is jobs.JOBS[0] else (70,):
        outputs = duo.program(job.name).plain(job.inputs(lanes))
        assert (outputs[job.output] == job.expected(lanes)).all()


def test_an_application_with_calls_runs(other) -> None:
    """Statistics by group: one party's groups, the other's values, a public minimum, a size that no input implies."""
    group = np.arange(60, dtype=np.uint16) % 3
    value = np.arange(60, dtype=np.int32) * 7 - 100
    bob = other("""
        value = np.arange(60, dtype=np.int32) * 7 - 100
        with listen() as party:
            result = party.run(duo.program("app:statistics"), {"value": value, "minimum": 5}, sizes={"groups": 3})
            assert not result, "Bob learns nothing"
    """)
    program = duo.program("app:statistics")
    with party(bob.line()) as alice:
        result = alice.run(program, {"group": group, "minimum": 5}, sizes={"groups": 3})
    bob.end()
    assert list(result["count"]) == [20, 20, 20]
    assert [int(number) for number in result["sum"]] == [int(value[group == number].sum()) for number in range(3)]
    assert np.allclose(result["mean"], [value[group == number].mean() for number in range(3)], atol=2**-15)


def test_blocks_of_bytes_are_those_of_aes(other) -> None:
    """FIPS 197, appendix C.1."""
    block, key = bytes.fromhex("00112233445566778899aabbccddeeff"), bytes(range(16))
    bob = other("""
        with listen() as party:
            party.run(duo.program("app:aes"), {"key": bytes(range(16))}, sizes={"blocks": 1})
    """)
    with party(bob.line()) as alice:
        result = alice.run(duo.program("app:aes"), {"blocks": block})
    bob.end()
    assert result["cipher"].tobytes().hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"
    assert duo.program("app:aes").plain({"blocks": block, "key": key})["cipher"].tobytes() == result["cipher"].tobytes()


def test_setup_before_inputs(other) -> None:
    bob = other("""
        program = duo.program("block:add:32")
        with listen() as party:
            two = [party.prepare(program, sizes={"lanes": 5}, protocol=protocol) for protocol in ("yao", "gmw", "auto")]
            for number, prepared in enumerate(two):
                party.online(prepared, {"b": np.full(5, number, np.uint32)})
    """)
    program = duo.program("block:add:32")
    with party(bob.line()) as alice:
        prepared = [alice.prepare(program, sizes={"lanes": 5}, protocol=name) for name in ("yao", "gmw", "auto")]
        for number, one in enumerate(prepared):
            # What would not do does not use it up.
            with pytest.raises(duo.UsageError, match="the input 'a' has 4 rows: expected 5"):
                alice.online(one, {"a": np.arange(4)})
            with pytest.raises(duo.UsageError, match="the input 'b' belongs to bob"):
                alice.online(one, {"a": np.arange(5), "b": np.arange(5)})
            result = alice.online(one, {"a": np.arange(5)})
            assert list(result["out"]) == [lane + number for lane in range(5)]
            assert result.report.ands == 155 and result.report.online.rounds >= 0
            with pytest.raises(duo.UsageError, match="runs once"):
                alice.online(one, {"a": np.arange(5)})
    bob.end()


def test_a_report_says_what_the_cost_said(other) -> None:
    program = duo.program("block:multiply_low:32")
    bob = other("""
        with listen() as party:
            party.run(duo.program("block:multiply_low:32"), {"b": np.arange(100)}, protocol="gmw",
                      correlations="softspoken4")
    """)
    with party(bob.line()) as alice:
        report = alice.run(program, {"a": np.arange(100)}, protocol="gmw", correlations="softspoken4").report
    bob.end()
    (cost,) = program.cost(sizes={"lanes": 100}, protocol="gmw", correlations="softspoken4")
    assert (report.ands, report.tile, report.protocol) == (cost.ands, cost.tile, cost.protocol)
    assert (report.online.sent, report.online.received) == (cost.online.alice_to_bob, cost.online.bob_to_alice)
    assert (report.setup.sent, report.setup.received) == (cost.setup.alice_to_bob, cost.setup.bob_to_alice)
    assert report.garbler is None and report.correlations == "softspoken4" and report.seconds > 0


def test_keys_are_pinned(other, tmp_path) -> None:
    keys = [duo.new_key(tmp_path / f"{name}.key") for name in ("alice", "bob", "eve")]
    assert duo.public_key(tmp_path / "alice.key") == keys[0]
    bob = other(f"""
        party = duo.listen("127.0.0.1:0", party="bob", key="bob.key", peer={keys[0]!r}, wait=60)
        print(party.address, flush=True)
        with party:
            party.run(duo.program("block:add:8"), {{"b": 1}})
    """)
    address = bob.line()
    # A stranger is turned away, and the listener goes on.
    with (
        pytest.raises(duo.Error),
        duo.connect(address, party="alice", key=tmp_path / "eve.key", peer=keys[1], wait=5) as eve,
    ):
        eve.run(duo.program("block:add:8"), {"a": 1})
    with duo.connect(address, party="alice", key=tmp_path / "alice.key", peer=keys[1], wait=60) as alice:
        assert alice.run(duo.program("block:add:8"), {"a": 2})["out"][0] == 3
    bob.end()


def test_two_programs_are_not_run_as_one(other) -> None:
    bob = other("""
        with listen() as party:
            try:
                party.run(duo.program("block:add:8"), {"b": 1}, protocol="yao")
            except duo.Incompatible as why:
                print(why.what)
            # Nothing was used: the session goes on.
            party.run(duo.program("block:add:8"), {"b": 1}, protocol="yao")
    """)
    with party(bob.line()) as alice:
        with pytest.raises(duo.Incompatible) as caught:
            alice.run(duo.program("block:subtract:8"), {"a": 1}, protocol="yao")
        assert caught.value.ours != caught.value.theirs and caught.value.what in str(caught.value)
        assert alice.run(duo.program("block:add:8"), {"a": 2}, protocol="yao")["out"][0] == 3
    out, _ = bob.end()
    assert out.strip() == caught.value.what


def test_a_line_is_simulated(other) -> None:
    """A turn takes half of the round trip at least; a line on one side is no agreement."""
    bob = other("""
        for link in ("100ms,1Gbit", "lan"):
            try:
                with listen(link=link) as party:
                    party.run(duo.program("block:add:8:depth"), {"b": 1}, protocol="gmw")
            except duo.Error as why:
                print(type(why).__name__)
    """)
    with party(bob.line(), link="100ms,1Gbit") as alice:
        report = alice.run(duo.program("block:add:8:depth"), {"a": 2}, protocol="gmw").report
    assert report.online.seconds >= 0.045 * report.online.rounds > 0.1
    with pytest.raises(duo.Incompatible, match="the link"), party(bob.line()) as alice:
        alice.run(duo.program("block:add:8:depth"), {"a": 2}, protocol="gmw")
    with pytest.raises(duo.Malformed, match="malformed link 'a wire'"):
        duo.connect("127.0.0.1:1", party="alice", insecure_plaintext=True, link="a wire").open()
    bob.end()


def test_threads_of_the_machine_share_the_work(other) -> None:
    bob = other("""
        with listen(threads=2) as party:
            party.run(duo.program("block:add:32"), {"b": np.arange(5000)})
    """)
    with party(bob.line(), threads=2) as alice:
        result = alice.run(duo.program("block:add:32"), {"a": np.arange(5000)})
    bob.end()
    assert (result["out"] == 2 * np.arange(5000)).all()


def test_a_run_takes_its_inputs_as_they_were(other) -> None:
    """Read-only, strided, of the other byte order, and left alone."""
    bob = other("""
        with listen() as party:
            for _ in range(4):
                party.run(duo.program("block:add:32"), {"b": np.arange(10, dtype="<u4")}, protocol="yao")
    """)
    plain = np.arange(10, dtype="<u4")
    frozen = plain.copy()
    frozen.flags.writeable = False
    with party(bob.line()) as alice:
        for given in (plain.astype(">u4"), np.arange(20)[::2] // 2, frozen, list(range(10))):
            before = np.array(given)
            result = alice.run(duo.program("block:add:32"), {"a": given}, protocol="yao")
            assert list(result["out"]) == [2 * lane for lane in range(10)]
            assert (np.asarray(given) == before).all()
    bob.end()


def test_shares_stay_shared(other) -> None:
    """An output that stays shared is the input of the next run, and plain takes its value.

    A public amount is added to a shared balance: the documentation of `Session` builds the program, in Rust.
    """
    bob = other(f"""
        program = duo.load({str(DEPOSIT)!r})
        share = duo.Share(duo._core.pack_numbers(np.zeros(1, np.uint32), "uint(32)"), "uint(32)")
        with listen() as party:
            for amount in (300, 45):
                share = party.run(program, {{"balance": share, "amount": amount}}, protocol="gmw")["balance"]
        print(share._matrix.array("uint(32)")[0])
    """)
    program = duo.load(DEPOSIT)
    share = duo.Share(duo._core.pack_numbers(np.zeros(1, np.uint32), "uint(32)"), "uint(32)")
    with party(bob.line()) as alice:
        for wrong, words in ((0, "it is shared: expected a Share"), (duo.Share(share._matrix, "int(32)"), "of int")):
            with pytest.raises(duo.UsageError, match=words):
                alice.run(program, {"balance": wrong, "amount": 300}, protocol="gmw")
        with pytest.raises(duo.UsageError, match="it is a share, which only a shared input takes"):
            alice.run(program, {"balance": share, "amount": share}, protocol="gmw")
        for amount in (300, 45):
            share = alice.run(program, {"balance": share, "amount": amount}, protocol="gmw")["balance"]
    assert isinstance(share, duo.Share) and (len(share), share.type) == (1, "uint(32)")
    assert int(share._matrix.array("uint(32)")[0]) ^ int(bob.end()[0]) == 345
    assert program.plain({"balance": 300, "amount": 45})["balance"].tolist() == [345]


DEPOSIT = Path(__file__).with_name("deposit.duo")


def test_numbers_are_a_frame(other) -> None:
    pd = pytest.importorskip("pandas")
    bob = other("""
        with listen() as party:
            party.run(duo.program("block:divide:16"), {"b": [3, 4]})
            bits = duo.bits(12)
            masked = duo.program(x=duo.Alice(bits), y=duo.Bob(bits), to=duo.Both)(lambda x, y: x ^ y)
            party.run(masked, {"y": np.zeros((1, 2), np.uint8)})
    """)
    with party(bob.line()) as alice:
        result = alice.run(duo.program("block:divide:16"), {"a": [10, 21]})
        frame = pd.DataFrame({"quotient": [3, 5], "remainder": [1, 1]}, dtype=np.uint16)
        assert result.to_pandas().equals(frame[list(result)])
        bits = duo.bits(12)
        masked = duo.program(x=duo.Alice(bits), y=duo.Bob(bits), to=duo.Both)(lambda x, y: x ^ y)
        rows = alice.run(masked, {"x": np.ones((1, 2), np.uint8)})
        with pytest.raises(duo.UsageError, match=r"no columns of one length: out uint8\[1, 2\]"):
            rows.to_pandas()
    bob.end()


def test_what_both_have_is_shared_for_a_further_program(other) -> None:
    bob = other("""
        import shares
        with listen() as party:
            keys = np.arange(20, 60)
            ours = {"b": shares.strings(keys), "b_value": keys * 3 - 100}
            print(shares.computed(party, ours, {"as": 30})["sum"][0], flush=True)
    """)
    keys, both = np.arange(30), np.arange(20, 30)
    with party(bob.line()) as alice:
        result = shares.computed(alice, {"a": shares.strings(keys), "a_value": keys - 7}, {"bs": 40})
    assert result["count"][0] == 10 and result["sum"][0] == ((both - 7) * (both * 3 - 100)).sum()
    assert bob.line() == str(result["sum"][0])
    bob.end()

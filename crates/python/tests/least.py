"""The least of many values in each form and by each method, as both parties' processes call it."""

from __future__ import annotations

from typing import Any

import duologue as duo
import numpy as np
from duologue import Alice, Bob, Both, Shared, Type

VALUES = 25
BITS = 16

# Form, method, bits of an argument, and what else is said.
CASES: list[tuple[str, str, int | None, dict[str, Any]]] = [
    ("shared", "auto", None, {}),
    ("shared", "duologue", 12, {"ots": "one"}),
    ("shared", "auto", 20, {"schedule": "200ms,10Mbit"}),
    ("halves", "auto", None, {}),
    ("halves", "duologue", 40, {}),
    ("xor", "auto", None, {}),
    ("xor", "auto", 16, {}),
    ("xor", "duologue", None, {}),
    ("xor", "duologue", 16, {"ots": "both"}),
    ("xor", "kolesnikov", None, {}),
    ("xor", "schneider", None, {}),
    ("xor", "aby_yao", 16, {}),
    ("xor", "aby_gmw", 16, {}),
    ("xor", "huang", 16, {"leaky": True}),
]


def values(case: int) -> Any:
    """With ties, the least ones among them."""
    random = np.random.default_rng(case)
    made = random.integers(3, 1 << BITS, VALUES)
    made[random.permutation(VALUES)[:4]] = 3
    return made


def arguments(case: int) -> Any:
    bits = CASES[case][2] or 1
    return np.random.default_rng(1000 + case).integers(0, 1 << bits, VALUES)


@duo.program(a=Alice(duo.uint(BITS)), b=Bob(duo.uint(BITS)), to=Shared)
def split(a: Any, b: Any) -> Any:
    return {"values": a ^ b, "arguments": duo.cast(a ^ b, duo.bits(BITS))}


def opened(party: duo.Party, value: Any) -> int:
    """The value of a share; of a number itself."""
    if isinstance(value, duo.Share):
        reveal = duo.program(x=Shared(Type(value.type), lanes=1), to=Both)(lambda x: {"x": x})
        value = party.run(reveal, {"x": value}, protocol="gmw")["x"]
    return int.from_bytes(value[0].tobytes(), "little") if value.ndim == 2 else int(value[0])


def shares(party: duo.Party, numbers: Any, name: str) -> duo.Share:
    mine = np.random.default_rng(7).integers(0, 1 << BITS, VALUES)
    given = mine if party.party == "alice" else mine ^ numbers
    return party.run(split, {party.party[0]: given}, protocol="gmw")[name]


def least(party: duo.Party, case: int) -> tuple[int, int]:
    """What this party learns: its part of the least value, and the index or argument."""
    form, method, bits, more = CASES[case]
    all_values, all_arguments, is_alice = values(case), arguments(case), party.party == "alice"
    ours, others = all_values, None
    if form == "shared":
        masks = np.random.default_rng(9).integers(0, 2 << BITS, VALUES)
        ours = masks if is_alice else (all_values - masks) % (2 << BITS)
        if bits is not None:
            flat = {"p": all_arguments} if is_alice else {}
            give = duo.program(p=Alice(duo.uint(bits)), to=Shared)(lambda p: {"x": duo.cast(p, duo.bits(bits))})
            others = party.run(give, flat, sizes={"lanes": VALUES}, protocol="gmw")["x"]
    elif form == "halves":
        part = slice(0, 10) if is_alice else slice(10, None)
        more = {**more, "sizes": {"bob": VALUES - 10} if is_alice else {"alice": 10}}
        ours, others = all_values[part], None if bits is None else all_arguments[part]
    else:
        ours = shares(party, all_values, "values")
        others = None if bits is None else shares(party, all_arguments, "arguments")
    result = party.argmin(ours, others, bits=BITS, argument_bits=bits, form=form, method=method, **more)
    assert set(result) == {"least", "index" if bits is None else "argument"}
    found = opened(party, result["index" if bits is None else "argument"])
    return opened(party, result["least"]), found

"""Keys as strings, and a program on the shares of what two parties have in common."""

from __future__ import annotations

from typing import Any

import duologue as duo
import numpy as np
from duologue import Both, Shared, bit, i32


def strings(keys: Any) -> Any:
    rows = np.zeros((len(keys), 16), np.uint8)
    rows[:, 0] = keys
    return rows


@duo.program(in_both=Shared(bit), a=Shared(i32), b=Shared(i32), to=Both)
def product(in_both: Any, a: Any, b: Any) -> Any:
    return {"sum": (a * b).sum(), "count": duo.cast(in_both, i32).sum()}


def computed(party: duo.Party, ours: dict[str, Any], sizes: dict[str, int]) -> duo.Result:
    """The sum of the products of both parties' values of the keys that both have."""
    found = party.run(duo.program("app:psi_shares:32"), ours, sizes=sizes, protocol="gmw")
    assert all(isinstance(share, duo.Share) for share in found.values())
    inputs = {"in_both": found["in_both"], "a": found["a_value"], "b": found["b_value"]}
    return party.run(product, inputs, protocol="gmw")

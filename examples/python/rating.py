"""A bank rates its customers' applications by a number that another company keeps, and neither shows the other its table.

The program is a function: both parties run this file. In two terminals, on one machine and without keys:

    python rating.py bob 127.0.0.1:7000
    python rating.py alice 127.0.0.1:7000
"""

import sys
from typing import Any

import numpy as np

import duologue as duo
from duologue import Alice, Bob, u8, u32

CUSTOMERS = 50


@duo.program(age=Alice(u8), income=Alice(u32), late=Bob(u8), to=Alice)
def rating(age: Any, income: Any, late: Any) -> Any:
    """Whether to lend, a lane a customer."""
    base = 300 + 2 * duo.minimum(income // 1000, 200)
    score = base - duo.where(late > 3, 120, 20 * late) - duo.where(age < 21, 30, 0)
    return {"lend": score > 420}


def applications(count: int) -> dict[str, Any]:
    """What the bank knows."""
    random = np.random.default_rng(5)
    return {"age": random.integers(18, 80, count), "income": random.integers(10_000, 150_000, count)}


def delays(count: int) -> dict[str, Any]:
    """What the other company knows."""
    return {"late": np.random.default_rng(6).integers(0, 6, count)}


name, address = sys.argv[1], sys.argv[2]
inputs = applications(CUSTOMERS) if name == "alice" else delays(CUSTOMERS)
meet = duo.listen if name == "bob" else duo.connect
party = meet(address, party=name, insecure_plaintext=True)
print(party.address, flush=True)

with party:
    result = party.run(rating, inputs)
    print(f"to lend: {int(result['lend'].sum())} of {CUSTOMERS}" if name == "alice" else "Bob learns nothing")

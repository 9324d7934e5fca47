"""A hospital, Alice, has patients; a company, Bob, has a model that rates a risk. She learns who is at risk, not the
weights of the model; Bob learns nothing of the patients.

In two terminals, on one machine and without keys:

    python risk.py bob 127.0.0.1:7000
    python risk.py alice 127.0.0.1:7000
"""

import sys
from typing import Any

import numpy as np

import duologue as duo
from duologue import Alice, Bob, fixed

PATIENTS = 200
NUMBER = fixed(32, 16)
"""Numbers up to 32,767 in steps of 1/65,536."""


HERS = Alice(NUMBER, lanes="patients")


@duo.program(age=HERS, pressure=HERS, cholesterol=HERS, weights=Bob(NUMBER, lanes=4), to=Alice)
def risk(age: duo.Word, pressure: duo.Word, cholesterol: duo.Word, weights: duo.Word) -> dict[str, duo.Word]:
    """Whether the weighted sum of a patient's numbers exceeds 0; a lane a patient. The last weight stands alone."""
    *each, alone = duo.unstack(weights)
    return {"at_risk": duo.dot([age, pressure, cholesterol], each) + alone > 0}


def patients(count: int) -> dict[str, Any]:
    """Numbers as a hospital has them."""
    random = np.random.default_rng(11)
    return {
        "age": random.integers(20, 95, count).astype(np.float64),
        "pressure": random.normal(125, 18, count).round(1),
        "cholesterol": random.normal(5.2, 1.1, count).round(2),
    }


name, address = sys.argv[1:]
inputs = patients(PATIENTS) if name == "alice" else {"weights": [0.06, 0.02, 0.35, -9.0]}
meet = duo.listen if name == "bob" else duo.connect
party = meet(address, party=name, insecure_plaintext=True)
print(party.address, flush=True)

with party:
    result = party.run(risk, inputs, sizes={"patients": PATIENTS})
print(f"at risk: {int(result['at_risk'].sum())} of {PATIENTS}" if name == "alice" else "Bob learns nothing")

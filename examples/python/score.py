"""Alice's rule for loans is her secret, and so are the data of Bob's customers: Bob alone learns whom she would lend to.

Of the rule he learns how many bits it takes and gives, and how many gates it has, padded to 1,000. In two terminals, on one
machine and without keys:

    python score.py bob 127.0.0.1:7000
    python score.py alice 127.0.0.1:7000
"""

import sys

import numpy as np

import duologue as duo
from duologue import Bob, u8, u16


# Bob needs none of these lines: in earnest Alice alone has them.
@duo.program(age=Bob(u8), income=Bob(u16), late=Bob(u8), limit=Bob(u8), to=Bob)
def loan(age: duo.Word, income: duo.Word, late: duo.Word, limit: duo.Word) -> dict[str, duo.Word]:
    """Numbers in a function are a part of it, and so as secret as the function; and so is an input that Alice gives."""
    points = duo.cast(income >> 8, u8) + duo.where(age < 25, 0, 20) - duo.where(late > 2, 30, 0)
    return {"lend": points > limit}


if __name__ == "__main__":
    name, address = sys.argv[1], sys.argv[2]
    meet = duo.listen if name == "bob" else duo.connect
    party = meet(address, party=name, insecure_plaintext=True)
    print(party.address, flush=True)
    if name == "alice":
        runs = party.private(loan, own={"limit": 60}, runs=10, gates=1000)
        print(f"{runs.runs} runs, of which Alice learns nothing")
    else:
        ages, incomes = np.array([23, 41, 60], np.uint8), np.array([28_000, 15_000, 12_000], np.uint16)
        lates = np.array([0, 1, 4], np.uint8)
        runs = party.private([ages, incomes, lates])
        print(f"to lend: {runs.y[:, 0].tolist()}, by {runs.method}")

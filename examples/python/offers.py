"""Bob has prices, Alice a budget. She learns which offers she can afford; Bob learns nothing.

With keys, which each makes and whose public half it gives to the other; Bob's prices are lines of a file:

    python offers.py bob bob.key duo1... 0.0.0.0:7000 prices.txt
    python offers.py alice alice.key duo1... bob.example:7000 100 4
"""

import sys

import numpy as np

import duologue as duo
from duologue import Alice, Bob, u32


@duo.program(budget=Alice(u32, lanes=1), prices=Bob(u32, lanes="offers"), to=Alice)
def affordable(budget: duo.Word, prices: duo.Word) -> dict[str, duo.Word]:
    """Which offers cost no more than the budget."""
    return {"affordable": prices <= budget}


if __name__ == "__main__":
    name, key, peer, address, mine, *offers = sys.argv[1:]
    meet = duo.listen if name == "bob" else duo.connect
    party = meet(address, party=name, key=key, peer=peer)
    print(party.address, flush=True)
    with party:
        if name == "bob":
            party.run(affordable, {"prices": np.loadtxt(mine, dtype=np.uint32, ndmin=1)})
        else:
            result = party.run(affordable, {"budget": int(mine)}, sizes={"offers": int(offers[0])})
            print(f"affordable: {np.flatnonzero(result['affordable']).tolist()}")

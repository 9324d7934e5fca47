"""Alice has the quantities of orders, Bob the prices. A first program makes the cost of each order, which neither
learns: each party gets a share. Further programs compute on the shares, and tell no more than their outputs: the
total, and which orders cost above a limit that the parties settle later.

In two terminals, on one machine and without keys:

    python invoices.py bob 127.0.0.1:7000 19 250 7 99
    python invoices.py alice 127.0.0.1:7000 10 2 100 5
"""

import sys

import duologue as duo
from duologue import Alice, Bob, Both, Public, Shared, u16, u32


@duo.program(quantity=Alice(u16), price=Bob(u16), to=Shared)
def costs(quantity: duo.Word, price: duo.Word) -> dict[str, duo.Word]:
    """The cost of each order, as shares."""
    return {"cost": duo.cast(quantity, u32) * price}


@duo.program(cost=Shared(u32), to=Both)
def total(cost: duo.Word) -> dict[str, duo.Word]:
    """What all orders cost."""
    return {"total": cost.sum()}


@duo.program(cost=Shared(u32), limit=Public(u32, lanes=1), to=Both)
def above(cost: duo.Word, limit: duo.Word) -> dict[str, duo.Word]:
    """Which orders cost more than the limit."""
    return {"above": cost > limit}


name, address, *numbers = sys.argv[1:]
meet = duo.listen if name == "bob" else duo.connect
party = meet(address, party=name, insecure_plaintext=True)
print(party.address, flush=True)

with party:
    mine = "quantity" if name == "alice" else "price"
    shared = party.run(costs, {mine: [int(number) for number in numbers]})["cost"]
    everything = int(party.run(total, {"cost": shared})["total"][0])
    limit = everything // len(numbers)
    result = party.run(above, {"cost": shared, "limit": limit})
print(f"total {everything}, above the mean of {limit}: {result['above'].tolist()}")

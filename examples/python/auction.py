"""A sealed-bid auction of many lots between two bidders: the higher bid wins a lot, and pays the lower one. Both
learn who wins and what is paid, and not what the winner would have paid.

In two terminals, on one machine and without keys, each with its bids, one for each lot:

    python auction.py bob 127.0.0.1:7000 120 80 300
    python auction.py alice 127.0.0.1:7000 100 250 300
"""

import sys

import duologue as duo
from duologue import Alice, Bob, Both, u32


@duo.program(alice=Alice(u32), bob=Bob(u32), to=Both)
def auction(alice: duo.Word, bob: duo.Word) -> dict[str, duo.Word]:
    """A lot a lane; of two equal bids Alice's wins."""
    return {"bob_wins": bob > alice, "price": duo.minimum(alice, bob)}


name, address, *bids = sys.argv[1:]
meet = duo.listen if name == "bob" else duo.connect
party = meet(address, party=name, insecure_plaintext=True)
print(party.address, flush=True)

with party:
    result = party.run(auction, {name: [int(bid) for bid in bids]})
for lot, (bob_wins, price) in enumerate(zip(result["bob_wins"], result["price"], strict=True), 1):
    print(f"lot {lot}: {'Bob' if bob_wins else 'Alice'} pays {price}")

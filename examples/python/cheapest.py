"""Two buyers have offers from suppliers. Both learn the lowest price of all, and whose offer it is; of the others nothing.

In two terminals, on one machine and without keys; each says how many offers the other has:

    python cheapest.py bob 127.0.0.1:7000 3 410 395
    python cheapest.py alice 127.0.0.1:7000 2 420 399 388
"""

import sys

import duologue as duo

name, address, theirs, *offers = sys.argv[1:]
peer = "alice" if name == "bob" else "bob"
meet = duo.listen if name == "bob" else duo.connect
party = meet(address, party=name, insecure_plaintext=True)
print(party.address, flush=True)

with party:
    result = party.argmin([int(offer) for offer in offers], form="halves", sizes={peer: int(theirs)})
    # The index counts Alice's first.
    hers = len(offers) if name == "alice" else int(theirs)
    price, index = int(result["least"][0]), int(result["index"][0])
    print(f"{price}, {'Alice' if index < hers else 'Bob'}'s offer {index if index < hers else index - hers}")

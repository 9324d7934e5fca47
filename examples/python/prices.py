"""Bob has a list of prices, and Alice asks for the price of an article without telling which. She learns that price
and no other; Bob learns nothing.

In two terminals, on one machine and without keys:

    python prices.py bob 127.0.0.1:7000
    python prices.py alice 127.0.0.1:7000 17
"""

import sys
from typing import Any

import numpy as np

import duologue as duo
from duologue import Alice, Bob, u8, u32

ARTICLES = 64


@duo.program(article=Alice(u8, lanes=1), prices=Bob(u32, lanes=ARTICLES), to=Alice)
def price(article: duo.Word, prices: duo.Word) -> dict[str, duo.Word]:
    """The entry of the list, chosen inside: of a number beyond the list nothing is told."""
    found = duo.lookup(article, duo.unstack(prices))
    return {"price": duo.where(article < ARTICLES, found, 0)}


name, address = sys.argv[1], sys.argv[2]
inputs: dict[str, Any]
if name == "alice":
    inputs = {"article": int(sys.argv[3])}
else:
    inputs = {"prices": np.random.default_rng(1).integers(100, 10_000, ARTICLES)}

meet = duo.listen if name == "bob" else duo.connect
party = meet(address, party=name, insecure_plaintext=True)
print(party.address, flush=True)

with party:
    result = party.run(price, inputs)
    print(f"{result['price'][0] / 100:.2f}" if name == "alice" else "sold a price")

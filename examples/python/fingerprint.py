"""Alice has the fingerprint of a picture, 256 bits, and Bob a collection of them. Is one of Bob's pictures nearly
hers, and which? Alice alone learns the place of the nearest one, if at most 40 bits differ; Bob learns nothing.

In two terminals, on one machine and without keys; fingerprints are rows of 32 bytes in files of NumPy, and Alice says how
many Bob has:

    python fingerprint.py bob 127.0.0.1:7000 collection.npy 1000
    python fingerprint.py alice 127.0.0.1:7000 mine.npy 1000
"""

import sys

import numpy as np

import duologue as duo
from duologue import Alice, Bob, bits

NEAR = 40


@duo.program(mine=Alice(bits(256), lanes=1), collection=Bob(bits(256), lanes="pictures"), to=Alice)
def nearest(mine: duo.Word, collection: duo.Word) -> dict[str, duo.Word]:
    """The place of the picture with the fewest different bits."""
    differ = duo.count_ones(mine ^ collection)
    near = differ.min() <= NEAR
    return {"near": near, "place": duo.where(near, differ.argmin(), 0)}


name, address, file, pictures = sys.argv[1:]
fingerprints = np.load(file)
meet = duo.listen if name == "bob" else duo.connect
party = meet(address, party=name, insecure_plaintext=True)
print(party.address, flush=True)

with party:
    mine = "mine" if name == "alice" else "collection"
    result = party.run(nearest, {mine: fingerprints}, sizes={"pictures": int(pictures)})
if name == "alice":
    print(f"picture {result['place'][0]}" if result["near"][0] else "none is near")

"""Who of two is richer? Both learn that, and nothing else of the other's fortune.

In two terminals, on one machine and without keys:

    python richer.py bob 127.0.0.1:7000 1000000
    python richer.py alice 127.0.0.1:7000 2000000
"""

import sys

import duologue as duo

name, address, fortune = sys.argv[1], sys.argv[2], int(sys.argv[3])

program = duo.program("block:greater:32")
meet = duo.listen if name == "bob" else duo.connect
party = meet(address, party=name, insecure_plaintext=True)
print(party.address, flush=True)

with party:
    mine = "a" if name == "alice" else "b"
    result = party.run(program, {mine: fortune})
    print("Alice is richer" if result["out"][0] else "Alice is not richer")

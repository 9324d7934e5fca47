"""Alice and Bob have salaries for the same jobs, in tables. For which is hers the higher? Both learn that,
and no salary.

With keys, which each makes and whose public half it gives to the other:

    python salaries.py bob ../salaries/theirs.csv bob.key duo1... --listen 127.0.0.1:7000
    python salaries.py alice ../salaries/ours.csv alice.key duo1... --connect 127.0.0.1:7000
"""

import sys

import duologue as duo
import numpy as np

name, table, key, peer, how, address = sys.argv[1:]

salaries = np.loadtxt(table, delimiter=",", skiprows=1, usecols=1)
cents = np.round(salaries * 100).astype(np.int64)

program = duo.program("block:greater:32")
meet = duo.listen if how == "--listen" else duo.connect
party = meet(address, party=name, key=key, peer=peer)
print(party.address, flush=True)

with party:
    result = party.run(program, {"a" if name == "alice" else "b": cents})

print("hers is higher:", result["out"].tolist())
print(f"{result.report.ands} ANDs by {result.report.protocol}", file=sys.stderr)

"""Alice has what was spent on advertising in each week, Bob what was sold. Both learn the line that fits best, and
neither sees the other's weeks.

In two terminals, on one machine and without keys:

    python trend.py bob 127.0.0.1:7000 130.5 171 149.25 210
    python trend.py alice 127.0.0.1:7000 10 20 15 31.5
"""

import sys

import duologue as duo
from duologue import Alice, Bob, Both, Public, f64


@duo.program(spent=Alice(f64), sold=Bob(f64), weeks=Public(f64, lanes=1), to=Both)
def trend(spent: duo.Word, sold: duo.Word, weeks: duo.Word) -> dict[str, duo.Word]:
    """Least squares in doubles: the slope, and where the line begins."""
    x, y = spent.sum(), sold.sum()
    slope = (weeks * (spent * sold).sum() - x * y) / (weeks * (spent * spent).sum() - x * x)
    return {"slope": slope, "start": (y - slope * x) / weeks}


name, address, *numbers = sys.argv[1:]
meet = duo.listen if name == "bob" else duo.connect
party = meet(address, party=name, insecure_plaintext=True)
print(party.address, flush=True)

with party:
    mine = "spent" if name == "alice" else "sold"
    result = party.run(trend, {mine: [float(number) for number in numbers], "weeks": float(len(numbers))})
print(f"sold = {result['start'][0]:.3f} + {result['slope'][0]:.3f} * spent")

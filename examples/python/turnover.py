"""Alice showed an advertisement, Bob has a shop. What did those buy who saw it, and those who saw it often? Alice learns that, and
nobody learns who they are.

    python turnover.py bob 127.0.0.1:7000 ../join/shop.csv
    python turnover.py alice 127.0.0.1:7000 ../join/ads.csv
"""

import csv
import sys
from collections.abc import Mapping

import duologue as duo
from duologue import Alice, Bob, fixed, key, u16
from duologue.tables import Figure, Side


@duo.query(
    ads=Alice.table(email=key(normalise="email"), views=u16),
    shop=Bob.table(email=key(normalise="email", repeated="sum"), amount=fixed(48, 16)),
    to=Alice,
)
def turnover(ads: Side, shop: Side) -> dict[str, Figure]:
    both = ads.join(shop, on="email")
    often = both[both.views >= 10]
    return {"buyers": both.count(), "turnover": both.amount.sum(), "often": often.amount.mean(minimum=3)}


name, address, file = sys.argv[1:]
with open(file, newline="") as lines:
    rows = list(csv.DictReader(lines))
table: Mapping[str, object]
if name == "alice":
    mine, table = "ads", {"email": [row["email"] for row in rows], "views": [int(row["views"]) for row in rows]}
else:
    mine, table = "shop", {"email": [row["mail"] for row in rows], "amount": [float(row["amount"]) for row in rows]}

meet = duo.listen if name == "bob" else duo.connect
party = meet(address, party=name, insecure_plaintext=True)
print(party.address, flush=True)

with party:
    result = party.run(turnover, {mine: table}, pad={mine: 1 << 10})

for figure, value in result.items():
    print(figure, "is withheld" if value is None else value)

"""Queries and tables that both parties' processes make alike."""

from __future__ import annotations

from typing import Any

import duologue as duo
import numpy as np
from duologue import Alice, Bob, key, text

REGIONS = ["north", "south", "nowhere"]

# Numbers of rows of both, and how many keys both have.
SIZES = {1: (300, 400, 200), 2: (1, 1, 1), 3: (0, 5, 0), 4: (50, 50, 50), 5: (700, 30, 0)}
SEEDS = list(SIZES)


def sizes(seed: int) -> tuple[int, int]:
    return SIZES[seed][:2]


@duo.query(
    ads=Alice.table(email=key, views="uint(16)", score="int(8)"),
    shop=Bob.table(email=key, amount="fixed(48, 16)", region=text),
    to=(Alice, Bob),
)
def turnover(ads: Any, shop: Any) -> Any:
    both = ads.join(shop, on="email")
    often = both[(both.views >= 10) & ~((both.region == "south") | (both.amount < -2.5))]
    late = both[(both.amount > 0) | (both.score != 3)].group_by(both.score, [-3, 0, 3, 50])
    return {
        "buyers": both.count(),
        "turnover": both.amount.sum(),
        "often": often.amount.sum(minimum=20),
        "often mean": often.amount.mean(),
        "views": often.group_by(often.region, REGIONS).views.sum(minimum=3),
        "by score": late.amount.mean(minimum=2),
        "late": late.count(),
    }


def tables(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    random, (hers, his, common) = np.random.default_rng(seed), SIZES[seed]

    def keys(party: str, rows: int) -> list[str]:
        own = [f"both{i}" if i < common else f"{party}{i}" for i in range(rows)]
        return [own[i] for i in random.permutation(rows)]

    ads = {
        "email": keys("a", hers),
        "views": random.integers(0, 20, hers, dtype=np.uint16),
        "score": random.integers(-4, 5, hers, dtype=np.int8),
    }
    amounts = random.integers(-(1 << 20), 1 << 21, his) / 65536
    regions = [["north", "south", "east"][i] for i in random.integers(0, 3, his)]
    return ads, {"email": keys("b", his), "amount": amounts, "region": regions}


@duo.query(
    ads=Alice.table(email=key(normalise="email"), views="uint(8)"),
    shop=Bob.table(mail=key(normalise="email", repeated="sum"), amount="fixed(32, 8)"),
    to=Alice,
)
def addresses(ads: Any, shop: Any) -> Any:
    both = ads.join(shop, on=("email", "mail"))
    return {
        "n": both.count(),
        "sum": both.amount.sum(),
        "of three": both.group_by(both.views, [3, 4]).views.sum(minimum=3),
    }


@duo.query(
    ads=Alice.table(email=key, views="uint(8)"),
    shop=Bob.table(email=key, region=text),
    to=(Alice, Bob),
)
def nowhere(ads: Any, shop: Any) -> Any:
    both = ads.join(shop, on="email")
    return {
        "empty": both[both.region == ""].views.sum(),
        "said": both[both.region != ""].count(),
        "by": both.group_by(both.region, ["", "north"]).count(),
    }

"""Makes all tables, and expected.csv and sorted.csv from them by pandas and NumPy; with --check compares them."""

import pathlib
import random
import sys

import numpy
import pandas

FOLDER = pathlib.Path(__file__).parent
GROUPS, MINIMUM = 5, 3


def tables():
    dice = random.Random(22)
    cents = lambda: dice.randint(180_000, 720_000)
    regions = [dice.choice([0, 0, 0, 1, 1, 2, 2, 3, 65535]) for _ in range(200)]
    # Of region 4 there are two people: fewer than the minimum.
    regions[50] = regions[150] = 4
    salaries = ["" if dice.random() < 0.08 else f"{cents() / 100:.2f}" for _ in range(200)]
    salaries[50], salaries[150] = "4100.00", "3900.50"
    column = lambda name, rows: "id," + name + "\n" + "".join(f"{i},{row}\n" for i, row in enumerate(rows))
    return {
        "regions.csv": column("region", regions),
        "salaries.csv": column("salary", salaries),
        "ours.csv": column("salary", [f"{cents() / 100:.2f}" for _ in range(71)]),
        "theirs.csv": column("salary", [f"{cents() / 100:.2f}" for _ in range(55)]),
    }


def expected():
    read = lambda name: pandas.read_csv(FOLDER / name, index_col="id")
    joined = read("regions.csv").join(read("salaries.csv")).dropna()
    joined["cents"] = (joined.salary * 100).round()
    figures = joined.groupby("region").cents.agg(["count", "sum", "mean", lambda cents: cents.var(ddof=0)])
    figures = figures.reindex(range(GROUPS), fill_value=0)
    figures[figures["count"] < MINIMUM] = 0
    lines = [f"{n:.0f},{s / 100:.2f},{mean:.6f},{variance:.6f}" for n, s, mean, variance in figures.values]
    both = numpy.sort((pandas.concat([read("ours.csv"), read("theirs.csv")]).salary * 100).round())
    median, ninety = numpy.median(both), numpy.quantile(both, 0.9, method="inverted_cdf")
    return {
        "expected.csv": "\n".join(["count,sum,mean,variance", *lines]) + "\n",
        "sorted.csv": "sorted\n" + "".join(f"{cents / 100:.2f}\n" for cents in both[:10]),
        "quantiles.csv": f"median,quantile\n{median:.1f},{ninety / 100:.2f}\n",
    }


def each(files):
    for name, text in files.items():
        if "--check" in sys.argv:
            assert (FOLDER / name).read_text() == text, name
        else:
            (FOLDER / name).write_text(text)


each(tables())
each(expected())

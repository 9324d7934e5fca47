#!/usr/bin/env python3
"""The plain answer of the face example: every distance and match, computed in the clear.

Reads gallery.npy, limits.npy, query.npy and probes.npy, and shares no code with make_faces.py: it
counts the ones of big integers. Its table, expected.csv, is what the secure computation must give.

    python check_faces.py             recompute, compare with expected.csv and with probes.csv
    python check_faces.py --write     write expected.csv
"""

import csv
import io
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent


def rows(name):
    """Every row of a 0/1 matrix as one integer."""
    return [int("".join(map(str, row)), 2) for row in np.load(HERE / name).tolist()]


def expected():
    gallery, limits = rows("gallery.npy"), np.load(HERE / "limits.npy").tolist()
    probes = [("query", rows("query.npy")[0])] + list(enumerate(rows("probes.npy")))
    for probe, bits in probes:
        for face, (enrolled, limit) in enumerate(zip(gallery, limits, strict=True)):
            distance = (bits ^ enrolled).bit_count()
            yield probe, face, distance, limit, int(distance < limit)


def main():
    table = list(expected())
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([("probe", "face", "distance", "limit", "match"), *table])
    if sys.argv[1:] == ["--write"]:
        (HERE / "expected.csv").write_text(out.getvalue())
    elif out.getvalue() != (HERE / "expected.csv").read_text():
        sys.exit("expected.csv differs")
    with open(HERE / "probes.csv", newline="") as file:
        for line in csv.DictReader(file):
            found = [str(face) for probe, face, _, _, match in table if match and str(probe) == line["probe"]]
            if found != line["matches"].split():
                sys.exit(f"probe {line['probe']}: probes.csv says {line['matches']!r}, we find {found}")
    for probe, face, distance, limit, match in table:
        if match:
            print(f"probe {probe} matches face {face}: distance {distance} < {limit}")


if __name__ == "__main__":
    main()

"""The distances of places.csv from the Stephansdom, by Vincenty's formula on WGS 84, and which are below 60 km.

Makes expected.csv; with --check compares it. Needs Python alone."""

import csv
import math
import pathlib
import sys

HERE = (48.2085, 16.3731)
LIMIT = 60_000.0
FOLDER = pathlib.Path(__file__).parent


def distance(a, b):
    major, flattening = 6378137.0, 1 / 298.257223563
    minor = major * (1 - flattening)
    u1, u2 = (math.atan((1 - flattening) * math.tan(math.radians(p[0]))) for p in (a, b))
    difference = lam = math.radians(b[1] - a[1])
    while True:
        sin_sigma = math.hypot(
            math.cos(u2) * math.sin(lam),
            math.cos(u1) * math.sin(u2) - math.sin(u1) * math.cos(u2) * math.cos(lam),
        )
        if sin_sigma == 0:
            return 0.0
        cos_sigma = math.sin(u1) * math.sin(u2) + math.cos(u1) * math.cos(u2) * math.cos(lam)
        sigma = math.atan2(sin_sigma, cos_sigma)
        sin_alpha = math.cos(u1) * math.cos(u2) * math.sin(lam) / sin_sigma
        cos2_alpha = 1 - sin_alpha**2
        middle = cos_sigma - 2 * math.sin(u1) * math.sin(u2) / cos2_alpha if cos2_alpha else 0.0
        c = flattening / 16 * cos2_alpha * (4 + flattening * (4 - 3 * cos2_alpha))
        inner = middle + c * cos_sigma * (2 * middle**2 - 1)
        before, lam = lam, difference + (1 - c) * flattening * sin_alpha * (sigma + c * sin_sigma * inner)
        if abs(lam - before) < 1e-12:
            break
    square = cos2_alpha * (major**2 - minor**2) / minor**2
    big_a = 1 + square / 16384 * (4096 + square * (-768 + square * (320 - 175 * square)))
    big_b = square / 1024 * (256 + square * (-128 + square * (74 - 47 * square)))
    inner = cos_sigma * (2 * middle**2 - 1) - big_b / 6 * middle * (4 * sin_sigma**2 - 3) * (4 * middle**2 - 3)
    return minor * big_a * (sigma - big_b * sin_sigma * (middle + big_b / 4 * inner))


def expected():
    lines = ["metres,near"]
    with open(FOLDER / "places.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            metres = distance(HERE, (float(row["lat"]), float(row["lon"])))
            lines.append(f"{metres:.1f},{int(metres < LIMIT)}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    path = FOLDER / "expected.csv"
    if "--check" in sys.argv:
        assert path.read_text() == expected(), "expected.csv is not what this makes"
    else:
        path.write_text(expected())

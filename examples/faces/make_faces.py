#!/usr/bin/env python3
"""Makes the face gallery of the SCiFI example, and measures how well it recognises.

SCiFI (Osadchy, Pinkas, Jarrous, Moskovich, IEEE S&P 2010) turns a face into 900 bits; a query
matches a face of the gallery when their Hamming distance is below that face's own limit. The bits
of SCiFI come from a dictionary of face parts; ours come from local binary patterns, which need no
training set. The secure computation is the same: 900 XORs, a count and a comparison per face.

    pip download --no-deps scikit-image==0.26.0
    python make_faces.py scikit_image-0.26.0-*.whl              write the files, print the report
    python make_faces.py scikit_image-0.26.0-*.whl --check      recompute, compare byte by byte

The only dependency is numpy. A face is grey levels 0..255, and features, alignment and limits are
integer arithmetic, so that the bits are the same on every machine.
"""

import argparse
import csv
import hashlib
import io
import sys
import zipfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
MEMBER = "skimage/data/lfw_subset.npy"
SHA256 = "9560ec2f5edfac01973f63a8a99d00053fecd11e21877e18038fbe500f8e872c"

SIZE = 25                   # a face is 25 x 25 pixels
BITS = 900                  # 15 x 15 cells, four directions
REACH = 3                   # alignment looks this many pixels around
STEP = 2                    # alignment works in 1/STEP pixel
MARGIN = 3                  # border left out by alignment and by the cells
RADIUS = 2                  # a bit compares two points 2 * RADIUS pixels apart
SMOOTHING = 3               # passes of (1 2 1)/4 before comparing, sigma = 1.22 pixels
FRACTION = 70               # limit = this per cent of the distance to the nearest other face

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
CELLS = [MARGIN + (18 * i + 7) // 14 for i in range(15)]


# ---- the faces -------------------------------------------------------------------------------

def load(wheel):
    """100 faces and then 100 crops of background, integers 0..255, shape (200, 25, 25)."""
    data = zipfile.ZipFile(wheel).read(MEMBER)
    if hashlib.sha256(data).hexdigest() != SHA256:
        sys.exit(f"{wheel}: {MEMBER} is not the file this script was written for")
    return np.rint(np.load(io.BytesIO(data)) * 255).astype(np.int64)


# ---- from a face to 900 bits -----------------------------------------------------------------

def padded(faces, width):
    return np.pad(faces, ((0, 0), (width, width), (width, width)), mode="edge")


def smooth(faces):
    """Binomial blur, scaled by 16 ** SMOOTHING."""
    for _ in range(SMOOTHING):
        p = padded(faces, 1)
        p = p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]
        faces = p[:, :, :-2] + 2 * p[:, :, 1:-1] + p[:, :, 2:]
    return faces


def enlarge(faces):
    """Bilinear interpolation to 1/STEP pixel, scaled by STEP ** 2."""
    for axis in (1, 2):
        n = faces.shape[axis] - 1
        low, high = faces.take(range(n), axis), faces.take(range(1, n + 1), axis)
        parts = np.stack([(STEP - k) * low + k * high for k in range(STEP)], axis + 1)
        shape = list(low.shape)
        shape[axis] *= STEP
        last = STEP * faces.take([n], axis)
        faces = np.concatenate([parts.reshape(shape), last], axis)
    return faces


def align(faces, model):
    """Moves every smoothed face to where it correlates best with the public model face.

    `model` is integer, of the inner 19 x 19 pixels, with sum zero. All sums are exact; the one
    square root and division are correctly rounded everywhere.
    """
    fine = enlarge(padded(faces, REACH))
    inner, count = SIZE - 2 * MARGIN, (SIZE - 2 * MARGIN) ** 2
    offsets = [(y, x) for y in range(2 * REACH * STEP + 1) for x in range(2 * REACH * STEP + 1)]
    scores = []
    for y, x in offsets:
        top, left = y + MARGIN * STEP, x + MARGIN * STEP
        window = fine[:, top : top + inner * STEP : STEP, left : left + inner * STEP : STEP]
        # Down to 14 bits, so that every sum below is exact as a float, too.
        window = window // (STEP**2 * 16**SMOOTHING // 64)
        variance = count * (window**2).sum((1, 2)) - window.sum((1, 2)) ** 2
        scores.append((window * model).sum((1, 2)) / np.sqrt(np.maximum(variance, 1)))
    best = np.argmax(scores, axis=0)
    return np.stack([
        face[y : y + SIZE * STEP : STEP, x : x + SIZE * STEP : STEP]
        for face, (y, x) in zip(fine, (offsets[i] for i in best))
    ])


def model_of(gallery):
    """The model face: the mean of the gallery, aligned to itself twice. Public, like the code."""
    faces = smooth(gallery)
    aligned = faces * STEP**2
    for _ in range(3):
        mean = aligned[:, MARGIN:-MARGIN, MARGIN:-MARGIN].sum(0) // (len(faces) * 16**SMOOTHING)
        model = mean * mean.size - mean.sum()
        aligned = align(faces, model)
    return model


def bits_of(faces, model):
    """Bit (direction, row, column): is the picture brighter behind the cell than ahead of it?"""
    faces = align(smooth(faces), model)
    rows, columns = np.meshgrid(CELLS, CELLS, indexing="ij")
    bits = [
        faces[:, rows - RADIUS * y, columns - RADIUS * x]
        > faces[:, rows + RADIUS * y, columns + RADIUS * x]
        for y, x in DIRECTIONS
    ]
    return np.stack(bits, 1).reshape(len(faces), BITS).astype(np.uint8)


# ---- enrolment and matching ------------------------------------------------------------------

def distances(a, b):
    """Hamming distances of all rows of a to all rows of b."""
    a, b = a.astype(np.int64), b.astype(np.int64)
    return a @ (1 - b.T) + (1 - a) @ b.T


def nearest(gallery):
    """Distance of every gallery face to the nearest other one."""
    d = distances(gallery, gallery)
    np.fill_diagonal(d, BITS + 1)
    return d.min(1)


def limits_of(gallery, fraction=FRACTION):
    """The limit of a face, set when it is enrolled: it looks at the gallery only, at no probe."""
    return nearest(gallery) * fraction // 100


# ---- disturbances ----------------------------------------------------------------------------

def grey(faces):
    return np.clip(np.rint(faces), 0, 255).astype(np.int64)


def moved(faces, dy, dx, degrees=0.0, scale=1.0):
    """Shift, rotation and zoom by bilinear interpolation; the border pixel is repeated outside."""
    t, g = np.deg2rad(degrees), np.arange(SIZE) - SIZE // 2
    y, x = np.meshgrid(g - dy, g - dx, indexing="ij")
    y, x = (np.cos(t) * y - np.sin(t) * x) / scale, (np.sin(t) * y + np.cos(t) * x) / scale
    y, x = np.clip(y + SIZE // 2, 0, SIZE - 1), np.clip(x + SIZE // 2, 0, SIZE - 1)
    i, j = np.minimum(y.astype(int), SIZE - 2), np.minimum(x.astype(int), SIZE - 2)
    u, v = y - i, x - j
    upper = (1 - v) * faces[:, i, j] + v * faces[:, i, j + 1]
    lower = (1 - v) * faces[:, i + 1, j] + v * faces[:, i + 1, j + 1]
    return (1 - u) * upper + u * lower


def blurred(faces, sigma):
    radius = int(np.ceil(3 * sigma))
    kernel = np.exp(-np.arange(-radius, radius + 1) ** 2 / (2 * sigma**2))
    for axis in (1, 2):
        p = padded(faces, radius)
        p = p.take(range(radius, radius + SIZE), 3 - axis)
        faces = sum(k * p.take(range(i, i + SIZE), axis) for i, k in enumerate(kernel))
        faces = faces / kernel.sum()
    return faces


def noisy(faces, sigma, seed):
    """Gaussian noise, sigma in grey levels; RandomState because its stream is frozen."""
    return faces + sigma * np.random.RandomState(seed).standard_normal(faces.shape)


STRAIGHT = ((0, 1), (1, 0), (0, -1), (-1, 0))
DIAGONAL = ((1, 1), (1, -1), (-1, 1), (-1, -1))


def disturbances():
    """(kind, is it moderate, its variants); every variant disturbs every face."""
    return (
        ("shift by 1/2 pixel", True, [lambda f, d=d: moved(f, d[0] / 2, d[1] / 2) for d in STRAIGHT + DIAGONAL]),
        ("shift by 1 pixel", True, [lambda f, d=d: moved(f, *d) for d in STRAIGHT]),
        ("shift by 1 pixel both ways", True, [lambda f, d=d: moved(f, *d) for d in DIAGONAL]),
        ("shift by 2 pixels", False, [lambda f, d=d: moved(f, 2 * d[0], 2 * d[1]) for d in STRAIGHT]),
        ("noise, sigma 5 of 255", True, [lambda f, s=s: noisy(f, 5, s) for s in range(4)]),
        ("noise, sigma 10 of 255", True, [lambda f, s=s: noisy(f, 10, s) for s in range(4)]),
        ("noise, sigma 15 of 255", True, [lambda f, s=s: noisy(f, 15, s) for s in range(4)]),
        ("noise, sigma 25 of 255", False, [lambda f, s=s: noisy(f, 25, s) for s in range(4)]),
        ("blur, sigma 0.5 pixels", True, [lambda f: blurred(f, 0.5)]),
        ("blur, sigma 1.0 pixels", True, [lambda f: blurred(f, 1.0)]),
        ("blur, sigma 1.5 pixels", False, [lambda f: blurred(f, 1.5)]),
        ("shift by 1, noise 10", True,
         [lambda f, d=d, s=s: noisy(moved(f, *d), 10, s) for s, d in enumerate(STRAIGHT, 10)]),
        ("shift by 1 both ways, blur 0.7, noise 10", True,
         [lambda f, d=d, s=s: noisy(blurred(moved(f, *d), 0.7), 10, s) for s, d in enumerate(DIAGONAL, 20)]),
        ("rotation by 3 degrees", True, [lambda f, a=a: moved(f, 0, 0, degrees=a) for a in (-3, 3)]),
        ("zoom by 5 per cent", True, [lambda f, z=z: moved(f, 0, 0, scale=z) for z in (0.95, 1.05)]),
    )


# ---- what is committed -----------------------------------------------------------------------

QUERY = (41, "shift by (0, 1), noise 10", lambda f: noisy(moved(f, 0, 1), 10, 7))
PROBES = (
    (3, "none", lambda f: f),
    (3, "shift by (1, 0)", lambda f: moved(f, 1, 0)),
    (17, "shift by (1, -1)", lambda f: moved(f, 1, -1)),
    (17, "noise 15", lambda f: noisy(f, 15, 1)),
    (52, "blur 1.0", lambda f: blurred(f, 1.0)),
    (52, "shift by (-1, 1), blur 0.7, noise 10", lambda f: noisy(blurred(moved(f, -1, 1), 0.7), 10, 2)),
    (88, "rotation by 3 degrees", lambda f: moved(f, 0, 0, degrees=3)),
    (99, "zoom by 5 per cent", lambda f: moved(f, 0, 0, scale=1.05)),
    (64, "mirrored left to right", lambda f: f[:, :, ::-1]),
    (30, "noise 100, far too much", lambda f: noisy(f, 100, 3)),
    (150, "none; background, not a face", lambda f: f),
)
EDGE = 7                    # two more probes: this gallery face with limit - 1 and with limit bits flipped


def npy(array):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.ascontiguousarray(array), version=(1, 0))
    return out.getvalue()


def table(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def files(crops):
    """Name and content of every file made here; check_faces.py makes expected.csv from them."""
    model = model_of(crops[:100])
    gallery = bits_of(crops[:100], model)
    limits = limits_of(gallery)

    def probe(crop, _, disturb):
        return bits_of(grey(disturb(crops[crop : crop + 1])), model)

    flips = np.arange(BITS) < limits[EDGE] - np.array([[1], [0]])
    probes = np.concatenate([probe(*entry) for entry in PROBES] + [gallery[[EDGE, EDGE]] ^ flips])
    texts = [entry[:2] for entry in PROBES] + [(EDGE, "limit - 1 bits flipped"), (EDGE, "limit bits flipped")]
    matches = [" ".join(map(str, np.flatnonzero(d < limits))) for d in distances(probes, gallery)]
    listing = [["probe", "crop", "disturbance", "matches"]]
    listing += [[i, crop, text, matches[i]] for i, (crop, text) in enumerate(texts)]
    return {
        "gallery.npy": npy(gallery),
        "limits.npy": npy(limits.astype("<u2")),
        "query.npy": npy(probe(*QUERY)),
        "probes.npy": npy(probes),
        "probes.csv": table(listing),
    }


# ---- the measurement -------------------------------------------------------------------------

FRACTIONS = (40, 50, 60, 65, 70, 75, 80, 90)
SPLITS = 10


def enroll(faces, members):
    model = model_of(faces[members])
    return model, bits_of(faces[members], model)


def likeness(faces):
    """The most alike pair of pictures by correlation of pixels, mirrored ones included."""
    def unit(f):
        flat = f.reshape(len(f), -1) - f.mean((1, 2))[:, None]
        return flat / np.linalg.norm(flat, axis=1)[:, None]

    best = np.maximum(unit(faces) @ unit(faces).T, unit(faces) @ unit(faces[:, :, ::-1]).T)
    np.fill_diagonal(best, 0)
    return best.max(), np.unravel_index(best.argmax(), best.shape)


def report_gallery(faces, gallery, limits):
    alike, pair = likeness(faces)
    print(f"most alike pictures: {pair[0]} and {pair[1]}, correlation {alike:.2f}")
    d = distances(gallery, gallery)[np.triu_indices(len(gallery), 1)]
    print(f"distances of two gallery faces: smallest {d.min()}, mean {d.mean():.0f}, largest {d.max()}")
    print(f"limits: smallest {limits.min()}, median {np.median(limits):.0f}, largest {limits.max()}")


def report_kinds(faces, probes):
    """Every face enrolled: how often a probe matches its own face, and how often another one."""
    model, gallery = enroll(faces, slice(None))
    limits, own = limits_of(gallery), np.eye(len(faces), dtype=bool)
    report_gallery(faces, gallery, limits)
    print(f"\n100 faces enrolled, limit {FRACTION} % of the distance to the nearest other face")
    print("probes  own face  another face  kind")
    for kind, _, pictures in probes:
        hits = np.array([distances(bits_of(p, model), gallery) < limits for p in pictures])
        print(f"{100 * len(hits):6}{100 * hits[:, own].mean():9.1f}%{100 * hits[:, ~own].mean():13.3f}%  {kind}")


def report_strangers(faces, probes):
    """Half of the faces enrolled, chosen at random; the other half are strangers."""
    pictures = [faces] + [p for _, moderate, variants in probes if moderate for p in variants]
    own, found = np.eye(50, dtype=bool), []
    for split in range(SPLITS):
        order = np.random.RandomState(split).permutation(len(faces))
        members, strangers = order[:50], order[50:]
        model, gallery = enroll(faces, members)
        d = np.array([distances(bits_of(p, model), gallery) for p in pictures])
        for fraction in FRACTIONS:
            hits = d < limits_of(gallery, fraction)
            known, unknown = hits[1:, members], hits[:, strangers]
            found.append((known[:, own].mean(), known[:, ~own].mean(), unknown.mean(), unknown.any(2).mean()))
    found = 100 * np.array(found).reshape(SPLITS, len(FRACTIONS), 4).mean(0)
    print(f"\n50 faces enrolled, 50 strangers, {SPLITS} random splits, moderate disturbances")
    print("limit   own face  another face  a stranger's comparison  a stranger matches anybody")
    for fraction, (own_rate, other, stranger, anybody) in zip(FRACTIONS, found):
        print(f"{fraction:4} %{own_rate:10.2f}%{other:13.4f}%{stranger:24.4f}%{anybody:27.2f}%")


def report(faces):
    probes = [(kind, ok, [grey(f(faces)) for f in variants]) for kind, ok, variants in disturbances()]
    report_kinds(faces, probes)
    report_strangers(faces, probes)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("wheel", help="scikit_image-0.26.0-*.whl")
    arguments.add_argument("--check", action="store_true", help="compare with the committed files")
    arguments = arguments.parse_args()
    crops = load(arguments.wheel)
    made = files(crops)
    if arguments.check:
        wrong = [name for name, data in made.items() if (HERE / name).read_bytes() != data]
        if wrong:
            sys.exit(f"differ: {', '.join(wrong)}")
        print(f"{len(made)} files are the same")
        return
    for name, data in made.items():
        (HERE / name).write_bytes(data)
    report(crops[:100])


if __name__ == "__main__":
    main()

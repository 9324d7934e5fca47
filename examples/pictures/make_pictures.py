"""Draws faces/*.pgm, sixteen faces of 32 x 32 pixels, and photo.pgm, face 11 with other light and noise.

With --check compares them. Needs Python alone."""

import pathlib
import random
import sys

FOLDER = pathlib.Path(__file__).parent
SIDE = 32


def ellipse(x, y, at_x, at_y, wide, high):
    return ((x - at_x) / wide) ** 2 + ((y - at_y) / high) ** 2 < 1


def face(number):
    dice = random.Random(number)
    pick = lambda low, high: low + (high - low) * dice.random()
    skin, hair, back, eyes = pick(130, 230), pick(10, 120), pick(60, 200), pick(0, 90)
    wide, high, apart, level = pick(9, 13), pick(11, 15), pick(3, 6), pick(11, 15)
    brow, nose, mouth, lips = pick(1, 4), pick(1, 4), pick(3, 7), pick(20, 23)
    beard, fringe = pick(0, 1) > 0.7, pick(4, 11)

    def pixel(x, y):
        if not ellipse(x, y, 16, 16, wide, high):
            return hair if ellipse(x, y, 16, 12, wide + 2, high) else back
        if y < fringe or beard and y > lips - 3 and not ellipse(x, y, 16, lips, mouth, 1.5):
            return hair
        for side in (-1, 1):
            if ellipse(x, y, 16 + side * apart, level, 2, 1.3):
                return eyes
            if abs(x - 16 - side * apart) < 2.5 and abs(y - level + 1 + brow) < 0.8:
                return hair
        if ellipse(x, y, 16, level + 4, nose, 1.2):
            return skin - 40
        return 90 if ellipse(x, y, 16, lips, mouth, 1.5) else skin

    return [[pixel(x, y) for x in range(SIDE)] for y in range(SIDE)]


def pgm(rows):
    pixels = bytes(min(255, max(0, round(pixel))) for row in rows for pixel in row)
    return b"P5\n%d %d\n255\n" % (SIDE, SIDE) + pixels


def files():
    made = {f"faces/face{number:02}.pgm": pgm(face(number)) for number in range(16)}
    dice = random.Random("photo")
    noisy = lambda x, pixel: 0.92 * pixel + 8 + 0.5 * x + dice.uniform(-12, 12)
    made["photo.pgm"] = pgm([[noisy(x, pixel) for x, pixel in enumerate(row)] for row in face(11)])
    return made


if __name__ == "__main__":
    for name, content in files().items():
        if "--check" in sys.argv:
            assert (FOLDER / name).read_bytes() == content, f"{name} is not what this makes"
        else:
            (FOLDER / name).write_bytes(content)

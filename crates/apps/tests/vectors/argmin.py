"""Makes argmin.txt: `pip install numpy==2.4.6 && python argmin.py > argmin.txt`.

Of each list of values where NumPy finds its least one, and that value. A list is made from its line's bits, length, kind and
seed by a generator that the test has as well: SplitMix64, two words a number, the first one high.
"""
import numpy

WORD = (1 << 64) - 1


class Dice:
    def __init__(self, seed):
        self.state = seed

    def word(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & WORD
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
        z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
        return z ^ z >> 31

    def number(self, bits):
        high = self.word()
        return (high << 64 | self.word()) & ((1 << bits) - 1)


def values(bits, count, kind, dice):
    largest = (1 << bits) - 1
    few = {"equal": [dice.number(bits)], "extremes": [0, largest], "top": [largest], "few": [dice.number(bits) for _ in range(3)]}
    numbers = [few[kind][dice.word() % len(few[kind])] if kind in few else dice.number(bits) for _ in range(count)]
    if kind == "top":
        numbers[dice.word() % count] = largest - 1
    return numbers


seed = 0
for bits in [1, 8, 31, 32, 64, 128]:
    for count in [1, 2, 3, 999, 1000, 1025]:
        for kind in ["random", "few", "equal", "extremes", "top"]:
            seed += 1
            numbers = values(bits, count, kind, Dice(seed))
            place = int(numpy.argmin(numpy.array(numbers, dtype=object if bits > 64 else numpy.uint64)))
            print(bits, count, kind, seed, place, f"{numbers[place]:x}")

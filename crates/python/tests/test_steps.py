"""Random programs of words of many, of eight and of one lane, arrays and typed numbers: against NumPy, by protocols."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any

import duologue as duo
import numpy as np
import pytest
from duologue import Alice, Bob, Both, Public, u16

BINARY = [operator.add, operator.mul, operator.xor, operator.sub, operator.floordiv, operator.mod, duo.minimum]


class Steps:
    """Words by their lanes, and steps that make more of them."""

    def __init__(self, seed: int, words: dict[str, Any]) -> None:
        self.random = random.Random(seed)
        a, b, c, d, e = words.values()
        self.words: dict[str, list[Any]] = {"n": [a, b], "one": [c, d], "eight": [e]}

    def some(self, lanes: str) -> Any:
        return self.random.choice(self.words[lanes])

    def binary(self, lanes: str, many: str) -> Any:
        return self.random.choice(BINARY)(self.some(lanes), self.some(lanes))

    def repeat(self, lanes: str, many: str) -> tuple[str, Any]:
        does = self.random.choice(BINARY)
        return many, does(self.some(many) * self.some("one") + self.some("one"), self.some("one"))

    def choice(self, lanes: str, many: str) -> Any:
        condition = self.some(self.random.choice([lanes, "one"])) > self.some(lanes)
        return duo.where(condition, self.some(lanes), self.some("one"))

    def compare(self, lanes: str, many: str) -> Any:
        return (self.some(lanes) < self.some("one")) * self.some(lanes)

    def number(self, lanes: str, many: str) -> Any:
        word = self.some(lanes)
        return self.random.choice([lambda: word + np.uint16(7), lambda: 9 - word, lambda: word * np.uint8(3)])()

    def reduce(self, lanes: str, many: str) -> tuple[str, Any]:
        x, y, one = self.some(many), self.some(many), self.some("one")
        cross = lambda a, b: (a[0] + b[1], a[1] ^ b[0])  # noqa: E731
        return "one", self.random.choice([
            lambda: duo.reduce(lambda a, b: a * 3 - b, x), lambda: duo.max(x), lambda: duo.sum(x, u16),
            lambda: duo.reduce(cross, x, y)[1], lambda: duo.reduce(cross, x, one)[0],
            lambda: duo.cast(x.argmin(), u16),
        ])()  # fmt: skip

    def scan(self, lanes: str, many: str) -> tuple[str, Any]:
        state = self.random.choice([0, self.some("one")])
        last, results = duo.scan(lambda s, x: (s * x + 1, s ^ x), state, self.some(many))
        self.words["one"].append(last)
        return many, results

    def array(self, lanes: str, many: str) -> tuple[str, Any]:
        return "eight", self.some("eight") + np.arange(8, dtype=np.uint16) * np.uint16(self.random.randrange(100))

    def stack(self, lanes: str, many: str) -> tuple[str, Any]:
        words = duo.unstack(self.some("eight"))
        self.random.shuffle(words)
        words[self.random.randrange(8)] = self.random.choice([self.some("one"), 77])
        return "eight", duo.stack(words)

    def sort(self, lanes: str, many: str) -> tuple[str, Any]:
        return "eight", duo.sort(self.some("eight"), descending=self.random.random() < 0.5)

    def lookup(self, lanes: str, many: str) -> Any:
        return duo.lookup(self.some(lanes) & 3, [self.some(lanes), self.some("one"), 5])

    def step(self) -> None:
        steps: list[Callable[[str, str], Any]] = [
            self.binary, self.binary, self.repeat, self.choice, self.compare, self.number, self.reduce, self.scan,
            self.array, self.stack, self.sort, self.lookup,
        ]  # fmt: skip
        lanes = self.random.choice(list(self.words))
        made = self.random.choice(steps)(lanes, self.random.choice(["n", "eight"]))
        lanes, word = made if isinstance(made, tuple) else (lanes, made)
        self.words[lanes].append(word)


def function(seed: int) -> Callable[..., dict[str, Any]]:
    def steps(**words: Any) -> dict[str, Any]:
        made = Steps(seed, words)
        for _ in range(14):
            made.step()
        return {f"{lanes}{place}": word for lanes, words in made.words.items() for place, word in enumerate(words[-3:])}

    return steps


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_steps(first: int) -> None:
    for seed in range(first, first + 10):
        one, eight = duo.Lanes(1), duo.Lanes(8)
        program = duo.program(
            a=Alice(u16), b=Bob(u16), c=Alice(u16, lanes=one), d=Bob(u16, lanes=one), e=Public(u16, lanes=eight),
            to=Both, goal=["size", "depth"][seed % 2],
        )(function(seed))  # fmt: skip
        for lanes in (1, 2, 5, 9):
            is_run = lanes == 5 and seed % 10 == 0
            check = program.check(lanes, protocols=("yao", "gmw") if is_run else (), seed=seed)
            assert check.numpy == "equal", seed
        profile = sum(line.ands for line in program.profile(sizes={"lanes": 5}))
        assert profile >= program.cost(sizes={"lanes": 5}, protocol="yao")[0].ands

"""How fast functions are recorded, and records lowered, in seconds of the processor: python
crates/python/benches/trace.py

`cargo run --release -p duologue-circuit --example builder_rate` writes the same circuits in Rust.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import duologue as duo
from duologue import _core, u32

OPERATIONS = 1_000_000


def trace_of_two() -> tuple[Any, Any, Any]:
    """A trace with two inputs."""
    trace = _core.Trace("", "size")
    x, y = (trace.input(name, name, u32.name, (1, [])) for name in ("alice", "bob"))
    return trace, x, y


def record() -> None:
    """Additions and exclusive ors, a plain number in every other one."""
    _, x, y = trace_of_two()
    start = time.process_time()
    for _ in range(OPERATIONS // 2):
        x = x + y
        y = y ^ 12345
    print(f"recording {OPERATIONS:,} operations: {time.process_time() - start:.2f} s")


def products(x: Any, y: Any) -> tuple[Any, Any]:
    product = x * y
    chosen = duo.where(x < y, product, y)
    return x + product, chosen


def sums(x: Any, y: Any) -> tuple[Any, Any]:
    total = x + y
    chosen = duo.where(x < y, total, y)
    return total ^ chosen, chosen


def lower(name: str, rounds: int, function: Callable[[Any, Any], tuple[Any, Any]]) -> None:
    trace, x, y = trace_of_two()
    for _ in range(rounds):
        x, y = function(x, y)
    start = time.process_time()
    program, profile = trace.finish(name, [("out", "both", x ^ y)])
    seconds = time.process_time() - start
    ands = sum(row[2] for row in profile.lines(program.bind({}, {})))
    print(f"{name}: {ands:,} ANDs in {seconds:.2f} s, {ands / seconds / 1e6:.3f} million a second")


warnings.simplefilter("ignore")
record()
lower("products", 1_000, products)
lower("sums", 20_000, sums)

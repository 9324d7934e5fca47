"""How fast functions are recorded, and records lowered: python crates/python/benches/trace.py

`cargo run --release -p duologue-circuit --example builder_rate` builds the same circuit in Rust.
"""

from __future__ import annotations

import time
from typing import Any

import duologue as duo
from duologue import _core, u32

OPERATIONS, CHAINS = 1_000_000, 30_000


def recorded(operations: int) -> tuple[float, Any, Any]:
    """Seconds for so many additions and exclusive ors, a constant in every other one; the trace and its last word."""
    trace = _core.Trace("", "size")
    x = trace.input("x", "alice", u32.name, (1, []))
    y = trace.input("y", "bob", u32.name, (1, []))
    start = time.perf_counter()
    for _ in range(operations // 2):
        x = x + y
        y = y ^ 12345
    return time.perf_counter() - start, trace, x + y


def mixed(trace: Any, x: Any, y: Any, rounds: int) -> Any:
    """What `builder_rate.rs` builds: a product, a sum, a comparison and a choice in each round."""
    for _ in range(rounds):
        product = x * y
        x, y = x + product, duo.where(x < y, product, y)
    return x ^ y


seconds, trace, _ = recorded(OPERATIONS)
print(f"recording {OPERATIONS:,} operations: {seconds:.2f} s")

trace = _core.Trace("", "size")
x, y = (trace.input(name, name, u32.name, (1, [])) for name in ("alice", "bob"))
out = mixed(trace, x, y, CHAINS)
start = time.perf_counter()
program, profile = trace.finish("mixed", [("out", "both", out)])
seconds = time.perf_counter() - start
ands = sum(row[2] for row in profile.lines(program.bind({}, {})))
print(f"lowering {4 * CHAINS + 1:,} operations: {seconds:.2f} s, {ands:,} ANDs, {ands / seconds / 1e6:.2f} million a second")

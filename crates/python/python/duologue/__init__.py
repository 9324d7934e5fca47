"""Secure two-party computation: two parties compute a function of their private inputs, and learn the result and
nothing else.

Two terminals, or two machines; Alice learns who is richer, and nobody learns anything else:

    import duologue as duo

    program = duo.program("block:greater:32")
    with duo.connect("bob.example:7000", party="alice", key="alice.key", peer="duo1...") as party:
        print(party.run(program, {"a": 2_000_000}))

Security is semi-honest at 128 bits: each party follows the protocol, and what it sees tells it no more than its
outputs.
"""

from __future__ import annotations

from ._core import VERSION as __version__
from ._core import new_key, public_key
from ._values import Share
from .columns import Column, column
from .debug import Debugger, SeenStep, SeenValue, debug
from .errors import (
    Aborted,
    Cancelled,
    Closed,
    Dead,
    Error,
    Incompatible,
    MachineError,
    Malformed,
    PeerError,
    Timeout,
    UsageError,
)
from .folders import Correlations, Pool, Runs, pool, prepared_runs
from .party import Party, Prepared, Result, Settings, connect, listen
from .program import Port, Program, load, program
from .report import Cost, Costs, Phase, PhaseCost, Report
from .verilog import compile

__all__ = [
    "Aborted",
    "Cancelled",
    "Closed",
    "Column",
    "Correlations",
    "Cost",
    "Costs",
    "Dead",
    "Debugger",
    "Error",
    "Incompatible",
    "MachineError",
    "Malformed",
    "Party",
    "PeerError",
    "Phase",
    "PhaseCost",
    "Pool",
    "Port",
    "Prepared",
    "Program",
    "Report",
    "Result",
    "Runs",
    "SeenStep",
    "SeenValue",
    "Settings",
    "Share",
    "Timeout",
    "UsageError",
    "__version__",
    "column",
    "compile",
    "connect",
    "debug",
    "listen",
    "load",
    "new_key",
    "pool",
    "prepared_runs",
    "program",
    "public_key",
]

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
from .party import Party, Prepared, Result, Settings, connect, listen
from .program import Port, Program, load, program
from .report import Cost, Costs, Phase, PhaseCost, Report
from .tables import Alice, Bob, Query, QueryResult, key, query, text

__all__ = [
    "Aborted",
    "Alice",
    "Bob",
    "Cancelled",
    "Closed",
    "Cost",
    "Costs",
    "Dead",
    "Error",
    "Incompatible",
    "MachineError",
    "Malformed",
    "Party",
    "PeerError",
    "Phase",
    "PhaseCost",
    "Port",
    "Prepared",
    "Program",
    "Query",
    "QueryResult",
    "Report",
    "Result",
    "Settings",
    "Share",
    "Timeout",
    "UsageError",
    "__version__",
    "connect",
    "key",
    "listen",
    "load",
    "new_key",
    "program",
    "public_key",
    "query",
    "text",
]

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

from collections.abc import Sequence as _Sequence

from . import blocks
from ._core import VERSION as __version__
from ._core import Word, new_key, public_key
from ._settings import Settings
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
    SecretBranch,
    Timeout,
    UsageError,
)
from .functions import (
    add_checked,
    all as all,
    any as any,
    argmax,
    argmin,
    cast,
    concat,
    count_ones,
    dot,
    lookup,
    max as max,
    maximum,
    min as min,
    minimum,
    multiply_checked,
    reduce,
    scan,
    sort,
    stack,
    subtract_checked,
    sum as sum,
    unstack,
    where,
    widen,
)
from .folders import Correlations, Pool, Runs, pool, prepared_runs
from .meeting import connect, listen
from .party import Party
from .program import Port, Program, load
from .report import Cost, Costs, Phase, PhaseCost, PrivateRuns, Report
from .results import Prepared, Result
from .traced import Check, Line, Profile, TracedProgram, circuit, program
from .types import (
    Alice,
    Bob,
    Both,
    Holder,
    Input,
    Lanes,
    Public,
    Shared,
    Type,
    bit,
    bits,
    f32,
    f64,
    fixed,
    i8,
    i16,
    i32,
    i64,
    sint,
    size,
    u8,
    u16,
    u32,
    u64,
    uint,
)
from .verilog import compile
from .tables import Query, QueryResult, key, query, text

# So that `case [a, b]` asks how long a word is, which is refused, and does not pass over it.
_Sequence.register(Word)

# Without all, any, max, min and sum, which are those of Python where all names are taken.
__all__ = [
    "Aborted",
    "Alice",
    "Bob",
    "Both",
    "Cancelled",
    "Check",
    "Closed",
    "Column",
    "Correlations",
    "Cost",
    "Costs",
    "Dead",
    "Debugger",
    "Error",
    "Holder",
    "Incompatible",
    "Input",
    "Lanes",
    "Line",
    "MachineError",
    "Malformed",
    "Party",
    "PeerError",
    "Phase",
    "PhaseCost",
    "Pool",
    "Port",
    "Prepared",
    "PrivateRuns",
    "Profile",
    "Program",
    "Public",
    "Query",
    "QueryResult",
    "Report",
    "Result",
    "Runs",
    "SecretBranch",
    "SeenStep",
    "SeenValue",
    "Settings",
    "Share",
    "Shared",
    "Timeout",
    "TracedProgram",
    "Type",
    "UsageError",
    "Word",
    "__version__",
    "add_checked",
    "argmax",
    "argmin",
    "bit",
    "bits",
    "blocks",
    "cast",
    "circuit",
    "column",
    "compile",
    "concat",
    "connect",
    "count_ones",
    "debug",
    "dot",
    "f32",
    "f64",
    "fixed",
    "i16",
    "i32",
    "i64",
    "i8",
    "key",
    "listen",
    "load",
    "lookup",
    "maximum",
    "minimum",
    "multiply_checked",
    "new_key",
    "pool",
    "prepared_runs",
    "program",
    "public_key",
    "query",
    "reduce",
    "scan",
    "sint",
    "size",
    "sort",
    "stack",
    "subtract_checked",
    "text",
    "u16",
    "u32",
    "u64",
    "u8",
    "uint",
    "unstack",
    "where",
    "widen",
]

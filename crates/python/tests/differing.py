"""Programs that differ in a line, and in what their outputs are made of."""

from __future__ import annotations

from typing import Any

import duologue as duo
from duologue import Alice, Bob, Both, u32


def rated(limit: int) -> duo.TracedProgram:
    @duo.program(x=Alice(u32), y=Bob(u32), to=Both)
    def rated(x: Any, y: Any) -> Any:
        product = x * y
        bounded = duo.minimum(product, limit)
        return {"rated": bounded * 3 + y}

    return rated


LINE = rated.__code__.co_firstlineno + 4


def shifted(by: int) -> duo.TracedProgram:
    @duo.program(x=Alice(u32), y=Bob(u32), to=Both)
    def shifted(x: Any, y: Any) -> Any:
        moved = x << by
        return {"moved": moved, "product": x * y}

    return shifted

"""How a run is made."""

from __future__ import annotations

from typing import Any, TypedDict

from . import _core

__all__ = ["Settings", "complete"]


class Settings(TypedDict, total=False):
    """How a run is made. Both parties give the same, but for what says otherwise."""

    protocol: str
    """`auto`, what is predicted to be best over the line, which the parties measure when they choose; or `yao`, `gmw`,
    `gmw-masked`, `mixed`."""
    wish: str
    """What `auto` makes least: `total` time, time `online`, or `bytes`."""
    garbler: str | None
    """Who garbles in Yao, `alice` or `bob`; by default the party with more input bits."""
    garbling: str | None
    """How Yao garbles an AND: `half-gates` (the default) or `three-halves`."""
    timing: str
    """When setup runs: `ahead` of inputs, `streamed` in bounded memory, or `auto`."""
    share_from: int | None
    """Of a mixed program, the ANDs a layer from which steps are by GMW."""
    tile: int | None
    """How many lanes are computed at once."""
    strands: int
    """How many tiles take turns on the wire when Yao is streamed."""
    correlations: str
    """What makes correlations: `auto`, `softspoken1` to `softspoken8`, `silent`, ..."""
    assume_link: str | None
    """Measure nothing, and choose for this line."""


def complete(settings: Settings) -> dict[str, Any]:
    """All settings, each with its usual value where nothing is said."""
    usual: Settings = {
        "protocol": "auto",
        "wish": "total",
        "garbler": None,
        "garbling": None,
        "timing": "auto",
        "share_from": None,
        "tile": None,
        "strands": 1,
        "correlations": "auto",
        "assume_link": None,
    }
    for name in settings:
        if name not in usual:
            raise TypeError(f"there is no setting {name!r}: there are {', '.join(usual)}")
    everything: dict[str, Any] = {**usual, **settings}
    _core.check_settings(everything)
    return everything

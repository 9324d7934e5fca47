"""What a run took, and what one will take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import notebook

__all__ = ["Cost", "Costs", "Phase", "PhaseCost", "PrivateRuns", "Report"]


@dataclass(frozen=True)
class Phase:
    """One phase of a run."""

    seconds: float
    """Wall-clock time."""
    sent: int
    """Bytes of the protocol sent, without headers and encryption."""
    received: int
    """Bytes of the protocol received."""
    rounds: int
    """How often this party turned from sending to receiving."""


@dataclass(frozen=True)
class PhaseCost:
    """One phase of a run that is predicted."""

    seconds: float
    """Predicted for this machine and the line."""
    alice_to_bob: int
    """Bytes, exact."""
    bob_to_alice: int
    """Bytes, exact."""
    rounds: int
    """Turns of the party that turns more often, exact."""


@dataclass(frozen=True)
class _Terms:
    protocol: str
    garbler: str | None
    """Who garbles; none where nobody does."""
    garbling: str | None
    share_from: int | None
    """Of a mixed program, the ANDs a layer from which steps are by GMW."""
    ahead: bool
    """Whether all of setup runs before inputs are used."""
    correlations: str | None
    """What makes the correlations; none if none is drawn."""
    ands: int
    """AND gates over all lanes."""
    tile: int
    """Lanes that are computed at once."""


@dataclass(frozen=True)
class Report(_Terms):
    """The terms and the cost of a run."""

    setup: Phase
    """Before inputs, with the choice of the protocol if there was one."""
    online: Phase
    """With inputs."""

    @classmethod
    def _of(cls, report: dict[str, Any]) -> Report:
        setup, online = Phase(**report.pop("setup")), Phase(**report.pop("online"))
        return cls(**report, setup=setup, online=online)

    @property
    def seconds(self) -> float:
        """Of both phases."""
        return self.setup.seconds + self.online.seconds

    def _repr_html_(self) -> str:
        return notebook.report(self)


@dataclass(frozen=True)
class Cost(_Terms):
    """The predicted cost of a run."""

    depth: int
    """ANDs on the longest path from an input to an output."""
    memory: int
    """Bytes of the party that needs more, beyond its inputs."""
    setup: PhaseCost
    """Before inputs, with the base OTs of a new session."""
    online: PhaseCost
    """With inputs."""

    @classmethod
    def _of(cls, cost: dict[str, Any]) -> Cost:
        setup, online = PhaseCost(**cost.pop("setup")), PhaseCost(**cost.pop("online"))
        return cls(**cost, setup=setup, online=online)

    @property
    def seconds(self) -> float:
        """Of both phases."""
        return self.setup.seconds + self.online.seconds

    @property
    def bytes(self) -> int:
        """Of both phases in both directions."""
        phases = (self.setup, self.online)
        return sum(phase.alice_to_bob + phase.bob_to_alice for phase in phases)


class Costs(tuple[Cost, ...]):
    """The predicted cost by each protocol; as text a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return notebook.costs(self)

    def __str__(self) -> str:
        head = ("protocol", "ANDs", "depth", "setup s", "online s", "bytes", "rounds", "memory")
        rows = [head, *(self._row(cost) for cost in self)]
        widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
        return "\n".join(self._line(row, widths) for row in rows)

    @staticmethod
    def _line(row: tuple[str, ...], widths: list[int]) -> str:
        name, *numbers = row
        return "  ".join([name.ljust(widths[0]), *map(str.rjust, numbers, widths[1:])])

    @staticmethod
    def _row(cost: Cost) -> tuple[str, ...]:
        seconds = (f"{cost.setup.seconds:.3g}", f"{cost.online.seconds:.3g}")
        counts = (cost.bytes, cost.setup.rounds + cost.online.rounds, cost.memory)
        return (cost.protocol, f"{cost.ands:,}", f"{cost.depth:,}", *seconds, *(f"{count:,}" for count in counts))


@dataclass(frozen=True)
class PrivateRuns:
    """What the runs of a private function took, and Bob's results."""

    method: str
    gates: int
    """Gates that the peer hears of, with the padding."""
    additions: int
    """Additions outside gates, which functions by `dh` have."""
    runs: int
    """How many there were."""
    seconds: float
    """From when the parties had agreed."""
    sent: int
    received: int
    y: Any = field(default=None, repr=False)
    """Bob's results: a row of bytes for each run, lowest bit first. Alice has none."""

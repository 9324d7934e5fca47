"""What workers have done, as metrics of Ray, which nodes with `ray[default]` export for Prometheus."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

__all__ = ["Metrics"]


class Metrics:
    """Counters of a worker. Those of one that is started again begin anew, as counters of Prometheus may."""

    def __init__(self, worker: str) -> None:
        counter: Any = importlib.import_module("ray.util.metrics").Counter
        self._tags = {"worker": worker}

        def counted(name: str, what: str) -> Any:
            return counter(f"duologue_{name}", f"{what}, by worker", tag_keys=tuple(self._tags))

        self._shards = counted("shards", "Shards that are computed")
        self._amounts = {
            "seconds": counted("shard_seconds", "Seconds of shards that are computed"),
            "sent": counted("sent_bytes", "Bytes to workers of the other party in shards that are computed"),
            "received": counted("received_bytes", "Bytes from workers of the other party in shards that are computed"),
        }

    def hear(self, lines: Iterable[str]) -> None:
        """Counts what `duologue job worker --json` says, to its end."""
        for line in lines:
            # Whatever else Python says there when it starts is no shard.
            with suppress(ValueError):
                self._add(json.loads(line))

    def _add(self, shard: Mapping[str, float]) -> None:
        self._shards.inc(1, self._tags)
        for name, counter in self._amounts.items():
            # A counter of Ray does not take a zero.
            if shard[name] > 0:
                counter.inc(shard[name], self._tags)

"""Jobs on many machines, started by what runs them: `duologue.cluster.ray`.

A job is one program on many pairs of workers; `duologue job drive` is a party's driver, `duologue job worker` a worker.
A module here starts both where a cluster is, and knows nothing of shards, keys or the other party.
"""

from __future__ import annotations

from ._driver import JobReport, JobSettings, Progress, ShardReport

__all__ = ["JobReport", "JobSettings", "Progress", "ShardReport"]

"""`python -m duologue.cluster`: the workers of `duologue job drive --launch ray`, which starts this.

It connects to the cluster and says in a line of JSON where the driver is to listen. Then it hears in another one where
the driver does, and has actors work for it. It ends when its standard input does: with the driver.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import sys
import threading
import time
from typing import Any, TextIO

from .. import __version__
from .._attached import GRACE
from ..errors import Error, UsageError
from ._child import PAUSE
from ._connection import connected, listened, reached
from ._workers import ALL, RESTARTS, Crew

# The exit code for a driver that asked for what cannot be; Python has 1 for whatever it does not expect.
USAGE = 64


def main() -> None:
    out = sys.stdout
    # What actors print is not for the driver.
    sys.stdout = sys.stderr
    heard: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_hear, args=(heard,), daemon=True).start()
    try:
        _launch(_arguments(), heard, out)
    except Error as why:
        print(f"error: {why}", file=sys.stderr, flush=True)
        raise SystemExit(USAGE if isinstance(why, UsageError) else 8) from why


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m duologue.cluster", description=__doc__)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--address")
    parser.add_argument("--options", default="{}")
    parser.add_argument("--listen")
    return parser.parse_args()


def _hear(heard: queue.SimpleQueue[str | None]) -> None:
    """Hears the driver, until it ends. Whoever does not end with it is ended."""
    # Not by `sys.stdin`, whose lock would be held when the interpreter ends.
    with os.fdopen(0, encoding="utf-8", closefd=False) as lines:
        for line in lines:
            heard.put(line)
    heard.put(None)
    time.sleep(GRACE + 2 * ALL)
    os._exit(130)


def _launch(given: argparse.Namespace, heard: queue.SimpleQueue[str | None], out: TextIO) -> None:
    options = {"num_cpus": given.threads} | _options(given.options)
    with connected(given.address) as ray:
        listen = listened(ray, given.listen)
        with Crew(ray, given.workers, options, RESTARTS) as crew:
            print(json.dumps({"listen": listen, "version": __version__}), file=out, flush=True)
            if (order := heard.get()) is None:
                return
            told = json.loads(order)
            crew.work(["--driver", reached(ray, told["listening"]), *told["words"]])
            while not _has_ended(heard):
                for note in crew.look():
                    print(note, file=sys.stderr, flush=True)


def _options(text: str) -> dict[str, Any]:
    try:
        options = json.loads(text)
    except ValueError as why:
        raise UsageError(f"the options of actors are no JSON: {why}") from why
    if not isinstance(options, dict):
        raise UsageError(f"the options of actors are no object of JSON, as {{'num_cpus': 4}} is: {text}")
    return options


def _has_ended(heard: queue.SimpleQueue[str | None]) -> bool:
    """Whether the driver has, within a moment."""
    try:
        return heard.get(timeout=PAUSE) is None
    except queue.Empty:
        return False


if __name__ == "__main__":
    main()

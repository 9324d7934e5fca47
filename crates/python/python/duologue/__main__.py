"""The command `duologue`."""

from __future__ import annotations

import signal
import sys

from . import _core


def main() -> None:
    """Does what the command line says."""
    # The command handles Ctrl-C itself, as it does alone; Python would only take note of it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    sys.stdout.flush()
    raise SystemExit(_core.main([sys.executable, "-m", "duologue"], sys.argv[1:]))


if __name__ == "__main__":
    main()

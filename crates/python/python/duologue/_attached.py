"""`python -m duologue._attached WORDS`: the command `duologue WORDS`, which ends when the process that started it does.

Standard input is a pipe from that process, on which nothing is ever written: it ends when its other end is closed, also
by the kernel when the process is killed.
"""

from __future__ import annotations

import os
import signal
import threading
import time

from .__main__ import main

# Seconds that the command may take to stop in good order.
GRACE = 5.0


def _watch() -> None:
    # Not by `sys.stdin`, whose lock would be held when the interpreter ends.
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(130)


if __name__ == "__main__":
    threading.Thread(target=_watch, daemon=True).start()
    main()

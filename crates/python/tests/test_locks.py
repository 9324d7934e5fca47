"""Other threads of Python go on while functions are lowered and blocks are built."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import CodeType
from typing import Any

import duologue as duo
import pytest
from duologue import Alice, Both
from duologue.blocks import _Block


def seconds_beside(code: CodeType, call: Callable[[], Any]) -> float:
    """How long this thread computed in a function of compiled code while another one held the lock of the interpreter:
    the other one does not give it back while it counts."""
    main, ended, beside = threading.get_ident(), threading.Event(), [0.0]
    clock, interval = time.pthread_getcpuclockid(main), sys.getswitchinterval()

    def watch() -> None:
        while not ended.is_set():
            is_inside = sys._current_frames()[main].f_code is code
            before = time.clock_gettime(clock)
            sum(number * number for number in range(50_000))
            if is_inside:
                beside.append(time.clock_gettime(clock) - before)
            time.sleep(0.001)

    thread = threading.Thread(target=watch)
    sys.setswitchinterval(60)
    try:
        thread.start()
        call()
    finally:
        sys.setswitchinterval(interval)
        ended.set()
        thread.join()
    return sum(beside)


def lowered() -> None:
    def product(a: Any, b: Any) -> Any:
        for _ in range(60):
            a = a * b + 1
        return a

    duo.program(x=Alice(duo.u64), to=Both)(lambda x: duo.reduce(product, x))


def built() -> None:
    duo.program(x=Alice(duo.uint(512)), to=Both)(lambda x: duo.blocks.multiply(x, x))


@pytest.mark.skipif(not hasattr(time, "pthread_getcpuclockid"), reason="no clocks of threads")
@pytest.mark.parametrize(("code", "call"), [(duo.reduce.__code__, lowered), (_Block.__call__.__code__, built)])
def test_other_threads_go_on(code: CodeType, call: Callable[[], None]) -> None:
    # A thread that waits for the lock uses no time of the processor.
    assert any(seconds_beside(code, call) > 0.001 for _ in range(5))

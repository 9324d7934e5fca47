"""The blocks of the library by their names: `duo.blocks.square_root(x)`, `duo.blocks.fp_sqrt_ieee(x)`.

An operand is a word, a plain number, or a list of words that are one port of the block. The size follows from the
operands where it can; `size="16x32"` gives it as the command writes it. A block of several outputs gives a tuple.
Integers of either sign must be what the block's ports are; `bits` go for everything. On arrays of NumPy a block is
computed in the clear.
"""

from __future__ import annotations

import functools
from typing import Any

from . import _core
from .functions import _flat, _trace, type_of
from .types import PACKAGE


@functools.cache
def _names() -> frozenset[str]:
    return frozenset(_core.block_names())


class _Block:
    def __init__(self, name: str) -> None:
        self.__name__ = name

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return _core.about_block(self.__name__)

    def __call__(self, *operands: Any, size: str | None = None) -> Any:
        trace = _trace(operands)
        if trace is None:
            return self._plain(operands, size)
        made = trace.block(self.__name__, [list(one) if isinstance(one, tuple) else one for one in operands], size)
        return made[0] if len(made) == 1 else tuple(made)

    def _plain(self, operands: tuple[Any, ...], size: str | None) -> Any:
        """As a program of its own, in the clear."""
        from .program import Program

        trace = _core.Trace(PACKAGE, "size")
        given: dict[str, Any] = {}
        words = [self._word(trace, operand, given) for operand in operands]
        made = trace.block(self.__name__, words, size)
        outputs = [(f"r{place}", "both", word) for place, word in enumerate(made)]
        results = list(Program(trace.finish(self.__name__, outputs)[0]).plain(given).values())
        scalar = not any(getattr(value, "ndim", 0) for value in _flat(operands))
        results = [result[0] if scalar else result for result in results]
        return results[0] if len(results) == 1 else tuple(results)

    def _word(self, trace: _core.Trace, operand: Any, given: dict[str, Any]) -> Any:
        import numpy as np

        if isinstance(operand, (list, tuple)):
            return [self._word(trace, one, given) for one in operand]
        if not isinstance(operand, (np.ndarray, np.generic)):
            return operand
        name = f"a{len(given)}"
        given[name] = operand
        return trace.input(name, "public", type_of(operand).name, (len(np.atleast_1d(operand)), []))

    def __repr__(self) -> str:
        return f"<block {self.__name__}>"


def __getattr__(name: str) -> _Block:
    if name not in _names():
        raise AttributeError(f"no block is named {name!r}: duologue blocks lists them")
    return _Block(name)


def __dir__() -> list[str]:
    return sorted(_names())

"""Programs from designs in Verilog."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping

from . import _core
from .program import Program

__all__ = ["compile"]

_File = str | os.PathLike[str]


def compile(
    files: _File | Iterable[_File],
    *,
    top: str | None = None,
    set: Mapping[str, object] | None = None,
    goal: str = "size",
    inputs: Mapping[str, str] | None = None,
    outputs: Mapping[str, str] | None = None,
    blocks: Mapping[str, _File] | None = None,
    cycles: int | None = None,
    form: str | None = None,
    each: Iterable[str] = (),
    reset: Iterable[str] = (),
    yosys: _File | None = None,
    time_limit: int = 600,
) -> Program:
    """A program from a design in Verilog, or from a netlist in JSON, as `duologue compile` makes it. It needs Yosys.

    `top` is the module, `set` has its parameters (`{"WIDTH": 32}`), `goal` is `size` or `depth`. `inputs` says who
    supplies what (`alice`, `bob`, `public`), `outputs` who learns what (`alice`, `bob`, `both`), where the design does
    not. `blocks` are circuits that stand for modules. A design with registers runs for `cycles`, by `form` `iterate` or
    `unroll`; `each` are the ports with a value in each cycle, `reset` the inputs that reset it, `NAME` or `NAME=0`.

    What Yosys warns of is a `UserWarning`. Ctrl-C waits until Yosys is done.
    """
    named = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    design = {
        "top": top,
        "set": [(name, str(value)) for name, value in (set or {}).items()],
        "goal": goal,
        "block": [(name, os.fspath(file)) for name, file in (blocks or {}).items()],
        "inputs": list((inputs or {}).items()),
        "outputs": list((outputs or {}).items()),
        "cycles": cycles,
        "form": form,
        "each": list(each),
        "reset": list(reset),
        "yosys": yosys,
        "time_limit": time_limit,
    }
    core, said = _core.compile_verilog([os.fspath(file) for file in named], design)
    for warning in said:
        warnings.warn(warning, stacklevel=2)
    return Program(core)

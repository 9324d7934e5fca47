"""The least of many values: what is asked for as a program, and its inputs and outputs by the names of its form."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from . import _core
from ._settings import Settings, complete
from ._values import Share, check_whole, pack, width
from .errors import UsageError
from .program import Port, Program

# The input that is Alice's share of the least value: it must be random, and serves once.
_DRAWN = "alice_least"

# The outputs that are this party's share of the least value.
_LEAST = (_DRAWN, "bob_least")


class Argmin:
    """The program that finds the least of the values, and how it is run."""

    def __init__(
        self, party: str, values: object, arguments: object, asked: dict[str, Any], settings: Settings
    ) -> None:
        _check_asked(asked)
        if asked["argument"] is None and arguments is not None:
            raise UsageError("arguments have argument_bits bits: say how many")
        if asked["argument"] is not None and arguments is None:
            raise UsageError("argument_bits are the bits of arguments: give them")
        if "protocol" in settings:
            raise UsageError("the method says by which protocol it runs: leave out protocol")
        known = asked["form"] != "halves" and isinstance(values, Sized)
        asked = {**asked, "values": len(values) if known and isinstance(values, Sized) else None}
        core, run = _core.Program.argmin(asked, complete(settings))
        self.program = Program(core)
        self.settings: Settings = {**dict(run), **settings}  # type: ignore[typeddict-item]
        self._party = party
        self.inputs: dict[str, object] = {port.name: self._input(port, values, arguments) for port in self._ports()}

    def _ports(self) -> list[Port]:
        return [port for port in self.program.inputs if port.who in (self._party, "shared")]

    def _input(self, port: Port, values: object, arguments: object) -> object:
        if port.name == _DRAWN:
            return _random(port)
        if port.name.endswith("arguments"):
            return arguments if isinstance(arguments, Share) else _bytes(arguments, port)
        return values

    def outputs(self, outputs: dict[str, Any]) -> dict[str, Any]:
        """By the names `least`, and `index` or `argument`."""
        named: dict[str, Any] = {}
        for port in self._ports():
            if port.name == _DRAWN:
                named["least"] = pack(port, self.inputs[_DRAWN]).array(port.type)
        for name, value in outputs.items():
            named["least" if name in _LEAST else name] = _number(value) if name == "argument" else value
        return named


def _check_asked(asked: dict[str, Any]) -> None:
    for name, shown in (("bits", "bits"), ("argument", "argument_bits")):
        number = asked[name]
        is_number = isinstance(number, int) and not isinstance(number, bool) and 1 <= number < 1 << 32
        if not is_number and (name == "bits" or number is not None):
            raise UsageError(f"{shown}: expected a number of bits, of at least 1")
    for name in ("form", "method", "ots", "schedule"):
        if not isinstance(asked[name], str) and (name in ("form", "method") or asked[name] is not None):
            raise UsageError(f"{name}: expected text in place of {type(asked[name]).__name__}")
    if not isinstance(asked["leaky"], bool):
        raise UsageError("leaky: expected True or False")


def _random(port: Port) -> Any:
    """A random number of the port's type, of the system's randomness, as a row of bytes."""
    import secrets

    import numpy as np

    _, bits = width(port.type)
    number = secrets.randbits(bits)
    return np.frombuffer(number.to_bytes(-(-bits // 8), "little"), np.uint8).reshape(1, -1)


def _bytes(arguments: object, port: Port) -> object:
    """Whole numbers as rows of bytes; whatever else they are is packed as it is."""
    import numpy as np

    _, bits = width(port.type)
    try:
        check_whole(arguments, f"whole numbers of {bits} bits")
    except UsageError as why:
        raise UsageError(f"the input {port.name!r}: {why}") from None
    numbers = np.asarray(arguments)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or bits in (1, *range(65, bits + 1)):
        return arguments
    if len(numbers) and (int(numbers.min()) < 0 or int(numbers.max()) >= 1 << bits):
        row = int(np.argmax((numbers < 0) | (numbers.astype(np.uint64) > np.uint64((1 << bits) - 1))))
        raise UsageError(f"the input {port.name!r}: row {row}: expected a number of 0 to 2^{bits} - 1")
    return np.ascontiguousarray(numbers.astype("<u8")).view(np.uint8).reshape(-1, 8)[:, : -(-bits // 8)]


def _number(value: Any) -> Any:
    """Rows of up to eight bytes as whole numbers."""
    import numpy as np

    if isinstance(value, Share) or value.ndim != 2 or value.shape[1] > 8:
        return value
    wide = np.zeros((len(value), 8), np.uint8)
    wide[:, : value.shape[1]] = value
    return wide.view("<u8")[:, 0].astype(np.uint64)

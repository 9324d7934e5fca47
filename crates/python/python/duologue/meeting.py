"""How a party meets its peer."""

from __future__ import annotations

import os

from . import _core
from .errors import UsageError
from .folders import place
from .party import Party

__all__ = ["connect", "listen"]


def connect(
    address: str,
    *,
    party: str,
    key: str | os.PathLike[str] | None = None,
    peer: str | None = None,
    insecure_plaintext: bool = False,
    wait: float = 120,
    silence: float = 30,
    threads: int = 1,
    pool: str | os.PathLike[str] | None = None,
    pool_key: str | os.PathLike[str] | None = None,
    link: str | None = None,
) -> Party:
    """The party `alice` or `bob`, which connects to its peer at an address, `host:port`.

    `key` is the file of this party's private key (`duo.new_key`, or `duologue keys new`), by default that of the command;
    `peer` the public key that the peer must have. A name of `duologue peers` may stand for the key, and for the address,
    which brings the key along. `insecure_plaintext=True` takes no keys and encrypts nothing: for tests on one machine.
    The peer is waited for `wait` seconds, and may be silent for `silence`. `threads` of this machine share the work.
    Correlations come from the folder `pool` before others are made, sealed with the key in the file `pool_key`. `link`
    simulates a line, `"20ms,100Mbit"`, `lan`, `internet` or `transatlantic`: for tests, by both parties alike.
    """
    times = _times(party, wait, silence, threads)
    address, security = _security(address, key, peer, insecure_plaintext, listens=False)
    filled = _pool(pool, pool_key)
    return Party(party, _core.Meeting.connect(address, security, times, link), address, threads, filled)


def listen(
    address: str,
    *,
    party: str,
    key: str | os.PathLike[str] | None = None,
    peer: str | None = None,
    insecure_plaintext: bool = False,
    wait: float = 120,
    silence: float = 30,
    threads: int = 1,
    pool: str | os.PathLike[str] | None = None,
    pool_key: str | os.PathLike[str] | None = None,
    link: str | None = None,
) -> Party:
    """The party `alice` or `bob`, which waits for its peer at an address, say `0.0.0.0:7000`; the rest is as for
    `connect`.

    It listens from now on: `Party.address` says where, with the port that the system chose for port 0.
    """
    times = _times(party, wait, silence, threads)
    address, security = _security(address, key, peer, insecure_plaintext, listens=True)
    filled, listener = _pool(pool, pool_key), _core.Listener(address)
    return Party(party, _core.Meeting.accept(listener, security, times, link), listener.address, threads, filled)


def _security(
    address: str, key: str | os.PathLike[str] | None, peer: str | None, insecure_plaintext: bool, *, listens: bool
) -> tuple[str, _core.Security]:
    """The address, and how the connection is protected; names of peers are looked up."""
    if insecure_plaintext:
        if key is not None or peer is not None:
            raise UsageError("insecure_plaintext takes no keys: leave out one or the other")
        return address, _core.Security.plaintext()
    otherwise = "; or insecure_plaintext=True, for tests on one machine"
    if peer is None and (listens or ":" in address):
        raise UsageError(f"peer is missing: its public key{otherwise}")
    mine = _core.own_key() if key is None else os.fspath(key)
    if key is None and not os.path.exists(mine):
        raise UsageError(f"key is missing: the file of your private key{otherwise}")
    address, peer = _core.named_peer(address, listens, peer)
    return address, _core.Security.tls(mine, peer or "")


def _pool(folder: str | os.PathLike[str] | None, key: str | os.PathLike[str] | None) -> tuple[str, str | None] | None:
    if folder is None:
        if key is not None:
            raise UsageError("pool_key is the key of a pool: give pool=, too")
        return None
    pool = place(folder, key)
    # A folder of something else is refused; a pool may be made later.
    _core.has_pool(pool)
    return pool


def _times(party: str, wait: float, silence: float, threads: int) -> tuple[float, float]:
    if party not in ("alice", "bob"):
        raise UsageError(f"{party!r} is no party: write 'alice' or 'bob'")
    if not 1 <= threads <= 256:
        raise UsageError("threads: expected 1 to 256")
    return float(wait), float(silence)

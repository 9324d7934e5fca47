"""This party's cluster of Ray: how it is connected to, and by which addresses its nodes find the driver."""

from __future__ import annotations

import importlib
import ipaddress
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import UsageError

__all__ = ["INSTALL", "connected", "listened", "reached"]

INSTALL = "pip install 'ray>=2.40,<3'"


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Ray, connected to the cluster at this address, unless it is connected to one already."""
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError as why:
        raise UsageError(f"Ray cannot be imported ({why}): {INSTALL}") from why
    if ray.is_initialized():
        _check_direct(ray)
        yield ray
        return
    if (address or os.environ.get("RAY_ADDRESS", "")).startswith("ray://"):
        raise UsageError(CLIENT)
    try:
        ray.init(address=address or "auto")
    # There is no cluster, or one of another version, or no token for it.
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as why:
        words = str(why.__cause__ or why).split("\n")[0]
        raise UsageError(f"Ray does not reach the cluster: {words}") from why
    try:
        yield ray
    finally:
        ray.shutdown()


CLIENT = (
    "a job is not driven through Ray Client (ray://): the driver must be on a node of the cluster, where workers reach "
    "it and have its files; run the program there, or on a node that joins by `ray start --address`"
)


def _check_direct(ray: Any) -> None:
    if ray.util.client.ray.is_connected():
        raise UsageError(CLIENT)


def listened(ray: Any, listen: str | None) -> str:
    """Where the driver listens: where it was told to, or at any port of this machine's address in the cluster."""
    if listen is None:
        return f"{_here(ray)}:0"
    machines = {node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
    if _is_loopback(listen) and len(machines) > 1:
        why = f"workers on other nodes do not reach a driver that listens on {listen}"
        raise UsageError(f"{why}: this machine is {_here(ray)} in the cluster")
    return listen


def reached(ray: Any, listening: str, name: str | None = None) -> str:
    """Where workers find a driver that listens there, by this name if the driver has one."""
    place, _, port = listening.rpartition(":")
    if name is not None:
        return f"{_in_address(name)}:{port}"
    return f"{_here(ray)}:{port}" if place in ("0.0.0.0", "[::]") else listening


def _here(ray: Any) -> str:
    """The address of this machine in the cluster."""
    return _in_address(str(ray.util.get_node_ip_address()))


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_loopback(listen: str) -> bool:
    host = listen.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

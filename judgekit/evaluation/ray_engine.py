"""Starts worker processes with Ray; `judgekit.evaluation.remote` gives them their work."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgekit.errors import SettingsError
from judgekit.extras import require_package
from judgekit.models import LostProcessError

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCHEME = "ray://"
_REACHING_S = 5.0
# More calls may wait in an actor than Ray lets by default, each of which holds nothing but memory.
_MOST_WAITING = 1_000_000
# Only what is too large for a message is there; by default it is a third of the memory.
_OBJECT_STORE_BYTES = 256 << 20


def ray_address(engine: str) -> str | None:
    """The address of a cluster in `ray://HOST:PORT`; None for `ray`."""
    address = engine.removeprefix(_SCHEME)
    if engine == "ray":
        return None
    if address == engine or not address:
        raise SettingsError(
            f"no engine is called {engine!r}", hint="name ray, ray://auto or ray://HOST:PORT"
        )
    return address


@contextmanager
def ray_cluster(address: str | None, n_wanted: int | None, n_most: int) -> Iterator[RayCluster]:
    """Start Ray on this machine, or connect to a cluster; both end with the context."""
    require_package("ray", "--engine ray")
    # Ray would report its use to its makers; the variable is read when it is imported.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray  # noqa: PLC0415 - half a second, and only for this engine

    handler = signal.getsignal(signal.SIGTERM)
    # It would say on every start that its cluster wants a token, which this process has.
    logging.getLogger("ray").setLevel(logging.ERROR)
    own: dict[str, object] = {"address": address}
    if address is None:
        n_here = min(n_wanted or os.cpu_count() or 1, n_most)
        # Nothing but this machine can reach it.
        own = {"address": "local", "num_cpus": n_here, "include_dashboard": False}
        own |= {"_node_ip_address": "127.0.0.1", "object_store_memory": _OBJECT_STORE_BYTES}
    try:
        _require_reachable(address)
        ray.init(**own, log_to_driver=False, configure_logging=False)
    except (OSError, RuntimeError, ValueError) as error:
        raise SettingsError(
            f"Ray cannot be used: {error}",
            hint="`ray status` shows whether the cluster runs; this command must run on one of its "
            "nodes, with the same versions of Python and Ray",
        ) from error
    finally:
        signal.signal(signal.SIGTERM, handler)  # that of Ray would end the command at once
    try:
        nodes = [node for node in ray.nodes() if node["Alive"]]
        n_cpus = int(sum(node["Resources"].get("CPU", 0) for node in nodes))
        # Ray prints that a worker died to stdout, which is for the result of the command.
        with redirect_stdout(sys.stderr):
            yield RayCluster(len(nodes), min(n_wanted or max(n_cpus, 1), n_most))
    finally:
        ray.shutdown()


def _require_reachable(address: str | None) -> None:
    """Refuse an address where nobody listens: Ray would try for a quarter of an hour."""
    host, _, port = (address or "").rpartition(":")
    if port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACHING_S).close()


class RayCluster:
    """A Ray cluster that this process is connected to."""

    def __init__(self, n_nodes: int, n_workers: int) -> None:
        self.n_nodes, self.n_workers = n_nodes, n_workers

    def spawn(self, make: type[object], *arguments: object, is_near: bool) -> RayHandle:
        """Make an object in a process of its own; one that `is_near`, on this machine."""
        import ray  # noqa: PLC0415 - as above
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: PLC0415

        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        # What is near waits most of the time, and takes no core from the workers.
        actor = ray.remote(make).options(
            num_cpus=0 if is_near else 1,
            scheduling_strategy=here if is_near else "SPREAD",
            max_concurrency=_MOST_WAITING,
        )
        return RayHandle(actor.remote(*arguments))


@dataclass(frozen=True, slots=True)
class RayHandle:
    """An actor of Ray; the handle can be sent to other actors."""

    actor: Any

    async def ask(self, method: str, *arguments: object) -> object:
        from ray.exceptions import RayError  # noqa: PLC0415 - as above

        try:
            return await getattr(self.actor, method).remote(*arguments)
        except RayError as error:
            raise LostProcessError(str(error).strip()) from error

    def tell(self, method: str, *arguments: object) -> None:
        getattr(self.actor, method).remote(*arguments)

    def kill(self) -> None:
        import ray  # noqa: PLC0415 - as above

        with suppress(ValueError):  # Ray has ended already
            ray.kill(self.actor)

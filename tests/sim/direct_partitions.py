"""What customers do with the controller from their own servers: the service must neither mind nor meddle (G-17)."""

from __future__ import annotations

from ipucloud.site.ports import SiteError
from ipucloud.site.vipu_ports import PartitionRequest
from ipucloud.wire.site import HostState
from tests.sim.scheduler import Actor
from tests.sim.site.hardware import Hardware

NAMES = ("training", "test")
"""Customers do not know of each other, and the controller keeps names unique: the second to choose one is refused."""
_TRIES = 30
_AGAIN_SECONDS = 10.0


class DirectPartitions:
    """Customers who replace our partition by some of their own. `by_cluster`: those.

    Not where the controller forgets: what it was never asked for by us, and never showed, nobody can make again.
    """

    def __init__(self, hardware: Hardware, *, forgetful: bool) -> None:
        self.by_cluster: dict[str, list[str]] = {}
        self._hardware = hardware
        self._forgetful = forgetful

    def partition(self, external_name: str, actor: Actor) -> None:
        """Take our partition away and make two small ones in its place, as fast as the controller allows."""
        if self._forgetful:
            return
        actor.start(self._replace(external_name, actor), name=f"partitioning-{external_name}")

    async def _replace(self, name: str, actor: Actor) -> None:
        hardware = self._hardware
        if not self._logged_in(name, actor):
            return
        actor.note(f"takes {name} apart")
        hardware.controller.remove_partition(name, name)
        self.by_cluster.setdefault(name, [])
        while (name, name) in hardware.state.partitions:
            await actor.sleep(5.0, f"waits for {name} to go")
            if not self._logged_in(name, actor):
                return
        for partition in NAMES:
            await self._make(partition, name, actor)

    async def _make(self, partition: str, name: str, actor: Actor) -> None:
        """Under a name that everybody likes, and that each cluster has for itself. Try again for some minutes."""
        hardware = self._hardware
        for _ in range(_TRIES):
            await actor.sleep(_AGAIN_SECONDS, f"makes {partition}")
            if not self._logged_in(name, actor):
                return
            if (name, partition) in hardware.state.partitions:
                continue
            try:
                hardware.controller.create_partition(
                    PartitionRequest(partition, name, size=1, gcds=1, reconfigurable=True)
                )
            except SiteError as refusal:
                actor.note(str(refusal))
            else:
                self.by_cluster[name].append(partition)
                hardware.remember()
                return

    def _logged_in(self, name: str, actor: Actor) -> bool:
        """Whether one of the cluster's servers still runs."""
        self._hardware.advance(actor.scheduler.now)
        return any(
            host.server is not None and host.server.network == name and host.state is HostState.RUNNING
            for host in self._hardware.state.hosts.values()
        )

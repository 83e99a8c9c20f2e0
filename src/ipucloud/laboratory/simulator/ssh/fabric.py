"""What one Poplar server reaches: its region's V-IPU controller, and IPU machines through its tenant network.

The customer's environment says which controller to ask; only the region's own is reached from here, whatever it says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ipucloud.laboratory.simulator.hardware import Machine
from ipucloud.vipu_cli.controller import CALL_SECONDS, Channels, Controller
from ipucloud.vipu_cli.endpoint import Endpoint, VipuProblem
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_pb2 as pb


@dataclass(frozen=True)
class Fabric:
    """`endpoint` is None where no machine is under V-IPU; `server` is the machine that the host itself is, if any.

    `machine_at` finds a machine by its RNIC address, `agents` are the machines in the server's tenant network, and
    `allocations` those that the end-point which the tenant was given is scoped to.
    """

    channels: Channels
    endpoint: Endpoint | None
    machine_at: Callable[[str], Machine | None]
    agents: Callable[[], frozenset[str]]
    allocations: Callable[[], frozenset[str]]
    server: Machine | None
    server_works: Callable[[], bool]

    def controller(self, wanted: Endpoint, call_seconds: float = CALL_SECONDS) -> Controller:
        """The way to the controller that the environment names. Raises VipuProblem."""
        return Controller(self._reached(wanted), self.channels, call_seconds=call_seconds)

    def tenant_controller(self, wanted: Endpoint) -> Controller:
        """The same, scoped to the tenant's allocations. Raises VipuProblem."""
        return TenantController(self._reached(wanted), self)

    def _reached(self, wanted: Endpoint) -> Endpoint:
        own = self.endpoint
        if own is None:
            raise VipuProblem("this server has IPUs of its own, and no V-IPU controller")
        if wanted.address != own.address:
            raise VipuProblem(f"the V-IPU controller at {wanted.address} is unreachable")
        return Endpoint(own.host, own.port, own.admin_port, wanted.user, wanted.access_key)


class TenantController(Controller):
    """A controller by an end-point that is scoped to a tenant: what is in other allocations does not exist here.

    Without users a controller shows everybody everything, and takes IPUs for a partition from any allocation.
    """

    def __init__(self, endpoint: Endpoint, fabric: Fabric) -> None:
        super().__init__(endpoint, fabric.channels)
        self._fabric = fabric

    async def partitions(self) -> Sequence[pb.Partition]:
        own = self._fabric.allocations()
        return [partition for partition in await super().partitions() if partition.spec.allocation_id in own]

    async def create(self, request: pb.CreatePartitionRequest) -> None:
        wanted, own = request.requirements.allocation_id, sorted(self._fabric.allocations())
        if wanted and wanted not in own:
            raise VipuProblem(f"allocation {wanted!r} does not exist", missing=True)
        if not own:
            raise VipuProblem("no free allocation: no IPU machine is in the tenant network of this server")
        if not wanted and len(own) > 1:
            raise VipuProblem(f"name an allocation: {', '.join(own)}")
        request.requirements.allocation_id = wanted or own[0]
        await super().create(request)

    async def remove(self, partition: str, *, force: bool) -> None:
        await self._check(partition)
        await super().remove(partition, force=force)

    async def reset(self, partition: str, *, relocatable: bool) -> None:
        await self._check(partition)
        await super().reset(partition, relocatable=relocatable)

    async def status(self, partition: str) -> pb.PartitionStatus:
        await self._check(partition)
        return await super().status(partition)

    async def ipuof_config(self, partition: str, gcd: int | None = None) -> pb.PartitionConfig:
        await self._check(partition)
        return await super().ipuof_config(partition, gcd)

    async def attributes(self, agents: Sequence[str] = ()) -> Sequence[pb.ListIPUAttributesReply.Entry]:
        own = self._fabric.agents()
        for agent in agents:
            if agent not in own:
                raise VipuProblem(f"agent {agent!r} does not exist", missing=True)
        return await super().attributes(agents or sorted(own)) if own else ()

    async def allocations(self) -> Sequence[admin.Allocation]:
        own = self._fabric.allocations()
        return [allocation for allocation in await super().allocations() if allocation.id in own]

    async def _check(self, partition: str) -> None:
        if partition not in {each.id for each in await self.partitions()}:
            raise VipuProblem(f"partition {partition!r} does not exist", missing=True)

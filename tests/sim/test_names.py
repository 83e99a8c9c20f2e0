"""Two customers choose one name for their partitions, and a request about the first comes late (seed 86)."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from ipucloud.site.ports import VipuAddress
from ipucloud.site.vipu_ports import Allocation, PartitionRequest, PartitionState
from ipucloud.wire.inventory import Inventory
from tests.sim.faults import Faults, Mix, SiteFault
from tests.sim.loop import VirtualLoop
from tests.sim.scheduler import Actor, Scheduler, Trace
from tests.sim.site.hardware import Hardware
from tests.sim.site.network import Network, Request
from tests.sim.site.ports import SimulatedSites

REQUEST_LIFE = 120.0


class Unwatched:
    def arrives(self, request: Request) -> None: ...
    def took_effect(self, request: Request) -> None: ...


@pytest.mark.parametrize("fault", [SiteFault.DUPLICATE, SiteFault.GHOST])
def test_a_late_removal_leaves_a_stranger_s_partition_of_the_same_name_alone(fault: SiteFault) -> None:
    loop, draw = VirtualLoop(), random.Random(1)  # noqa: S311  # repeatable on purpose
    faults = Faults(Mix(changes={fault: 1.0}), draw, Counter())
    faults.begin()
    hardware = Hardware(["m0", "m1"], [], palette=[0.0], draw=draw, faults=faults)
    wires = Network(hardware, Unwatched(), faults=faults, draw=draw, request_life=REQUEST_LIFE)
    scheduler = Scheduler(loop, draw, Trace())
    worker = Actor("worker", scheduler)
    scheduler.join(worker)
    vipu = SimulatedSites(worker, wires, Inventory(regions=[])).at(VipuAddress("", 1), lambda: 10.0).vipu
    for owner, machine in (("first-1", "m0"), ("second-1", "m1")):
        hardware.controller.create_allocation(Allocation(owner, "cluster", frozenset({machine})))
    hardware.controller.create_partition(PartitionRequest("training", "first-1", size=4, gcds=1, reconfigurable=True))

    async def play() -> None:
        task = worker.start(vipu.remove_partitions("first-1"), name="remove")
        await loop.stillness()
        while worker.parked:
            loop.now = max(loop.now, scheduler.next_due() or 0.0)
            chosen = scheduler.choose()
            assert chosen is not None
            await scheduler.resume_parked(chosen)
        assert task.done()
        assert (task.exception() is None) == (fault is SiteFault.DUPLICATE)

    loop.run_until_complete(play())
    hardware.controller.remove_partition("first-1", "training")
    hardware.advance(loop.now)
    hardware.controller.create_partition(PartitionRequest("training", "second-1", size=4, gcds=1, reconfigurable=True))
    assert wires.deliver(loop.now + REQUEST_LIFE)
    hardware.advance(loop.now + REQUEST_LIFE)
    loop.close()
    assert hardware.state.partitions.keys() == {("second-1", "training")}
    assert hardware.state.partitions["second-1", "training"].state is not PartitionState.REMOVED

"""What a customer makes on the V-IPU controller inside an allocation stays, until that very cluster is taken down.

A history: one cluster with partitions of the customer's own, and round about it other clusters that come, fail, are
cancelled and go, workers that are replaced, the inventory read again, and a site that refuses or keeps its answers.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest

from ipucloud.kernel.errors import Problem
from ipucloud.operations.store import Accepted
from ipucloud.reconcile.wake import wake
from ipucloud.wire.faults import FaultAction
from tests.support.selection import Figures
from tests.support.vipu import VipuDriver
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

SITE = {"machines": 32}
SIZES = (4, 8)
"""IPUs of a customer's partition; a POD16 has room for two of each."""
CALLS = ("networks.*", "hosts.*", "redfish.*", "admin.*", "vipu.*")


class Customer:
    """The owner of one cluster, who works on the controller directly."""

    def __init__(self, world: SiteWorld, name: str, draw: random.Random) -> None:
        self._vipu = VipuDriver(world.site.channel())
        self._allocation = name
        self._draw = draw
        self.own: dict[str, bytes] = {}

    def rearrange(self) -> None:
        """Take the default partition away and make others; sometimes with a name that looks like one of ours."""
        self._vipu.remove(self._allocation)
        while self._allocation in self._vipu.partitions():
            pass
        free = 16
        while free >= SIZES[0] and len(self.own) < 3:
            size = self._draw.choice([size for size in SIZES if size <= free])
            names = (f"{self._allocation}-x{len(self.own)}", f"mine-{self._allocation[-6:]}-{len(self.own)}")
            name = self._draw.choice(names)
            self._vipu.create(name, size, allocation_id=self._allocation, reconfigurable=True)
            self.own[name] = b""
            free -= size
        self.own = self.sees()

    def sees(self) -> dict[str, bytes]:
        """The partitions of the allocation, each with all that it is."""
        partitions = self._vipu.partitions(self._allocation)
        return {name: partition.spec.SerializeToString() for name, partition in partitions.items()}


class History:
    """One seed's events around a customer."""

    def __init__(self, world: SiteWorld, seed: int) -> None:
        self.world = world
        self.draw = random.Random(seed)  # noqa: S311  # repeatable, not secret
        self.seed = seed
        self.happened = Counter[str]()
        self._others: list[Accepted] = []

    async def run(self) -> Counter[str]:
        async with self.world.worker():
            cluster = await self.world.build(f"owned-{self.seed}", "m2000-pod16")
        customer = Customer(self.world, await self.world.external_name(cluster), self.draw)
        await asyncio.to_thread(customer.rearrange)
        for _ in range(3):
            async with self.world.worker(site_call_timeout=0.5):
                for _ in range(2):
                    await self._something()
                self.world.clear_faults()  # the customer's own calls meet no rule
                assert await asyncio.to_thread(customer.sees) == customer.own, f"seed {self.seed}: {self.happened}"
        self.world.clear_faults()
        async with self.world.worker():
            await self._settle()
            assert await asyncio.to_thread(customer.sees) == customer.own, f"seed {self.seed}: {self.happened}"
            await self.world.delete_all()
        await self.world.assert_nothing_left()
        return self.happened

    async def _something(self) -> None:
        events = (self._create, self._delete, self._cancel, self._trouble, self._sync, self._wake_everything)
        event = self.draw.choice(events)
        self.happened[event.__name__.strip("_")] += 1
        with suppress(Problem):  # no room, or too late: that is an answer
            await event()
        await asyncio.sleep(self.draw.uniform(0, 0.05))

    async def _create(self) -> None:
        flavor = self.draw.choice(("m2000-pod4", "m2000-pod8", "m2000-pod16"))
        self._others.append(await self.world.create(f"other-{self.seed}-{self.happened.total()}", flavor))

    async def _delete(self) -> None:
        if self._others:
            await self.world.delete(self._others.pop(self.draw.randrange(len(self._others))).target_id)

    async def _cancel(self) -> None:
        await self._create()
        await self.world.cancel(self._others.pop())

    async def _trouble(self) -> None:
        rule: dict[str, Any] = self.draw.choice(
            (
                {"action": FaultAction.STATUS, "status": 422, "grpc_status": "INVALID_ARGUMENT"},
                {"action": FaultAction.STATUS, "status": 503, "grpc_status": "UNAVAILABLE"},
                {"action": FaultAction.DROP_ANSWER},
                {"action": FaultAction.STALL},
                {"action": FaultAction.STATUS, "status": 404, "grpc_status": "NOT_FOUND"},
            )
        )
        times = self.draw.randint(1, 4)
        await asyncio.to_thread(self.world.fault, call=self.draw.choice(CALLS), times=times, **rule)

    async def _sync(self) -> None:
        async with self.world.database.begin() as connection:
            await wake(connection, kind="periodic", key="sync_inventory")

    async def _wake_everything(self) -> None:
        """As an operator might: every work item of every cluster, the owned one's too."""
        await self.world.execute("UPDATE work SET run_at = app_now(), wake_seq = wake_seq + 1")

    async def _settle(self) -> None:
        for operation in await self.world.column("SELECT id FROM operations WHERE finished_at IS NULL"):
            await self.world.finished(operation)


async def test_they_survive_everything_but_their_own_teardown(world: SiteWorld, full: bool, figures: Figures) -> None:
    happened = Counter[str]()
    histories = 200 if full else 3
    for seed in range(histories):
        happened += await History(world, seed).run()
    figures(histories=histories, **happened)

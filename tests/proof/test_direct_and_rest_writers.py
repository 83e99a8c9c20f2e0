"""Customers change partitions at the controller and through the API at once, while the controller is killed.

Two write by gRPC at their cluster's own endpoint, two by REST. In the end controller and API tell the same, each writer
has what it was told that it has, and nothing else is there.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import grpc
import pytest
from pydantic import SecretStr

from ipucloud.client import AsyncClient, partitions
from ipucloud.client.errors import OperationFailedError
from ipucloud.client.partitions import NewPartition
from tests.proof.servers import ApiProcess, api_processes
from tests.support.postgres import Database as Scratch
from tests.support.selection import Figures
from tests.support.site import RunningSite
from tests.support.vipu import VipuDriver
from tests.support.waiting import PATIENCE, until
from tests.support.world import SECRETS_KEY, SiteWorld, open_site_world

pytestmark = pytest.mark.anyio

SITE = {"machines": 4}
WORLD = partial(open_site_world, partitions_quiet_interval=0.1)
SIZES = (2, 4)
"""IPUs of a partition; of four writers with two each, not all have room on the 16 IPUs of a POD16."""
MOST = 2
CHANGES, FULL_SECONDS = 9, 60.0
"""Changes by REST of the short proof, however many there are by gRPC; and how long the full one takes."""
PAUSE = 0.005
KILLS = 2
GONE = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED})


@dataclass
class Progress:
    """How much of the work is done: by the clock for the full proof, else by the number of changes by REST."""

    full: bool
    happened: Counter[str] = field(default_factory=Counter)
    begun: float = field(default_factory=time.monotonic)

    @property
    def part(self) -> float:
        if self.full:
            return (time.monotonic() - self.begun) / FULL_SECONDS
        return sum(number for what, number in self.happened.items() if what.startswith(Rest.kind)) / CHANGES


class Writer(Protocol):
    """Whose own partitions are `has`. Each method returns whether it was done; False: refused, and nothing changed."""

    kind: str
    has: set[str]

    async def create(self, name: str, size: int) -> bool: ...

    async def reset(self, name: str) -> bool: ...

    async def remove(self, name: str) -> bool: ...


class Direct:
    """By gRPC, at the endpoint of the cluster. A call without an answer is looked up before it is judged."""

    kind = "grpc"

    def __init__(self, site: RunningSite, allocation: str) -> None:
        self._vipu = VipuDriver(site.user_channel(allocation))
        self._allocation = allocation
        self.has: set[str] = set()

    async def create(self, name: str, size: int) -> bool:
        done = await self._call(self._vipu.create, name, size, allocation_id=self._allocation)
        return name in await self.there() if done is None else done

    async def reset(self, name: str) -> bool:
        return await self._call(self._vipu.reset, name) or False

    async def remove(self, name: str) -> bool:
        while await self._call(self._vipu.remove, name) is None and name in await self.there():
            pass
        return True

    async def there(self) -> Mapping[str, Any]:
        """Everything in the allocation, once the controller answers."""
        while True:
            try:
                return await asyncio.to_thread(self._vipu.partitions)
            except grpc.RpcError as error:
                if error.code() not in GONE:
                    raise
            await asyncio.sleep(0.05)

    async def _call(self, method: Callable[..., None], *values: object, **named: object) -> bool | None:
        """None: there was no answer."""
        try:
            await asyncio.to_thread(method, *values, **named)
        except grpc.RpcError as error:
            return None if error.code() in GONE else False
        return True


class Rest:
    """By the API, which ends each operation with a result, whatever the controller does meanwhile."""

    kind = "rest"

    def __init__(self, client: AsyncClient, cluster: str) -> None:
        self._client = client
        self._cluster = cluster
        self.has: set[str] = set()

    async def create(self, name: str, size: int) -> bool:
        return await self._done(partitions.create(self._cluster, NewPartition(name, size)))

    async def reset(self, name: str) -> bool:
        return await self._done(partitions.reset(self._cluster, name))

    async def remove(self, name: str) -> bool:
        return await self._done(partitions.delete(self._cluster, name))

    async def _done(self, call: Any) -> bool:
        try:
            await self._client.wait(await self._client.run(call), patience=PATIENCE)
        except OperationFailedError:
            return False
        return True


async def write(writer: Writer, name: str, progress: Progress, draw: random.Random) -> None:
    """Create, reset and remove partitions of its own; what it was told that it has is in `has`."""
    created = 0
    while progress.part < 1:
        if len(writer.has) < MOST:
            new, created = f"{name}-{created}", created + 1
            what, done = "created", await writer.create(new, draw.choice(SIZES))
            writer.has |= {new} if done else set()
        elif draw.random() < 0.5:
            what, done = "reset", await writer.reset(draw.choice(sorted(writer.has)))
        else:
            what, done = "removed", await remove_one(writer, draw)
        if what == "created" and not done and writer.has:
            await remove_one(writer, draw)  # makes room for the next
        progress.happened[f"{writer.kind}_{what if done else 'refused'}"] += 1
        await asyncio.sleep(PAUSE)


async def remove_one(writer: Writer, draw: random.Random) -> bool:
    old = draw.choice(sorted(writer.has))
    assert await writer.remove(old), f"{old} was not removed"
    writer.has -= {old}
    return True


async def kill(site: RunningSite, progress: Progress) -> None:
    for number in range(1, KILLS + 1):
        while progress.part < number / (KILLS + 1):
            await asyncio.sleep(0.02)
        await asyncio.to_thread(site.kill)
        await asyncio.to_thread(site.start)


async def prove(world: SiteWorld, server: ApiProcess, progress: Progress) -> float:
    """Seconds from the last change until controller and API told the same."""
    cluster = await world.build("shared", "m2000-pod16")
    name = await world.external_name(cluster)
    await world.succeeded(await world.remove_partition(cluster, name))
    async with AsyncClient(server.url, world.project.token.secret, project=world.project.slug) as client:
        direct = [Direct(world.site, name) for _ in range(2)]
        writers: list[Direct | Rest] = [*direct, *(Rest(client, str(cluster)) for _ in range(2))]
        named = [(each, f"{each.kind}-{number}") for number, each in enumerate(writers)]
        await asyncio.gather(
            kill(world.site, progress),
            *(write(each, own, progress, random.Random(own)) for each, own in named),  # noqa: S311  # repeatable
        )
        ended = time.monotonic()

        async def agree() -> bool:
            page = await client.run(partitions.list(str(cluster)))
            there = await direct[0].there()
            return {each.partition_id: each.state for each in page.items} == dict.fromkeys(there, "active")

        await until(agree, "controller and API tell the same")
        converged = time.monotonic() - ended
        names = {each.name for each in (await client.run(partitions.list(str(cluster)))).items}
        assert names == set().union(*(each.has for each in writers))
    return converged


async def test_controller_and_api_agree_with_two_direct_and_two_rest_writers_and_two_kills(
    world: SiteWorld, database: Scratch, tmp_path: Path, full: bool, figures: Figures
) -> None:
    key = SecretStr(SECRETS_KEY)
    async with api_processes(database.app_url, tmp_path, 1, secrets_key=key) as [server], world.worker():
        progress = Progress(full)
        converged = await prove(world, server, progress)
        await world.delete_all()
    await world.assert_nothing_left()
    figures(writers=4, kills=KILLS, converged_seconds=round(converged, 1), **progress.happened)

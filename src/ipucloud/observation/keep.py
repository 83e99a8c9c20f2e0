"""What a reading shows of clusters and their servers, and says nothing about health."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ipucloud.clusters.idle.store import WATCHED, record_uses
from ipucloud.db.engine import Database
from ipucloud.observation.consoles import read_consoles, written_to
from ipucloud.observation.expected import Expected
from ipucloud.observation.load import PARTITIONS, samples_of
from ipucloud.observation.reading import Reading
from ipucloud.observation.servers import use_of
from ipucloud.observation.work import Fence
from ipucloud.programs.consoles.store import SERVERS, record_boots
from ipucloud.programs.samples.store import record_samples
from ipucloud.site.ports import Budget, Site
from ipucloud.wire.site import Host


@dataclass(frozen=True, slots=True)
class Keeper:
    """Writes it, in a transaction for each kind. `budget` and `fence`: as for `observe_region`."""

    database: Database
    fence: Fence
    region: str
    budget: Budget

    async def use(self, hosts: Mapping[str, Host] | None, read_at: datetime) -> None:
        """Whether anybody uses the servers of clusters that are suspended when nobody does."""
        if hosts is None:
            return
        async with self.database.read() as connection:
            watched = await WATCHED.all(connection, {"region": self.region})
        if not watched:
            return
        self.budget()
        async with self.database.begin() as connection:
            await self.fence(connection)
            await record_uses(connection, [use_of(each, hosts) for each in watched], read_at=read_at)

    async def samples(self, expected: Expected, reading: Reading, read_at: datetime) -> None:
        """How busy the clusters in use are."""
        async with self.database.read() as connection:
            partitions = await PARTITIONS.all(connection, {"region": self.region})
        samples = samples_of(expected, reading, partitions)
        if not samples:
            return
        self.budget()
        async with self.database.begin() as connection:
            await self.fence(connection)
            await record_samples(connection, samples, read_at=read_at)

    async def consoles(self, site: Site, hosts: Mapping[str, Host] | None) -> None:
        """What is new on the serial consoles of servers, which are read first."""
        if not hosts:
            return
        async with self.database.read() as connection:
            servers = await SERVERS.all(connection, {"region": self.region})
        boots = await read_consoles(site, written_to(servers, hosts))
        if not boots:
            return
        self.budget()
        async with self.database.begin() as connection:
            await self.fence(connection)
            await record_boots(connection, boots)

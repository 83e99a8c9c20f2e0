"""A failover to a standby that had fallen behind loses acknowledged writes: the audit finds it and harms nobody."""

from __future__ import annotations

import asyncio
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest

from ipucloud.kernel.errors import Problem
from ipucloud.worker.sweep import SIGHTINGS, sweep_leftovers
from tests.support.database_proxy import through_proxy
from tests.support.faultproxy import Proxy, proxy
from tests.support.instances import Instance, migrated_instance, scratch
from tests.support.site import running_site
from tests.support.waiting import PATIENCE, eventually, until
from tests.support.world import CALL_SECONDS, SiteWorld, open_site_world

pytestmark = pytest.mark.anyio

REGION = "luxembourg-2"
FORGOTTEN = "named_resource_has_a_record"
MISSING = "cluster_in_use_has_its_"
REPAIRS = 5


@dataclass
class Pair:
    """A primary behind a line, and a standby that no commit waits for."""

    primary: Instance
    standby: Instance
    line: Proxy

    def fall_behind(self) -> None:
        """The standby has everything until now, and nothing of what comes."""
        here = self.primary.execute("SELECT pg_current_wal_flush_lsn()")
        eventually(lambda: self.standby.execute(f"SELECT pg_last_wal_replay_lsn() >= '{here}'"))
        self.standby.execute("ALTER SYSTEM SET primary_conninfo = ''")
        self.standby.execute("SELECT pg_reload_conf()")
        eventually(lambda: self.primary.execute("SELECT count(*) = 0 FROM pg_stat_replication"))

    def fail_over(self) -> None:
        self.primary.end(signal.SIGKILL)
        self.line.refuse = True
        self.line.cut()
        self.standby.execute("SELECT pg_promote(true, 60)")
        self.line.upstream, self.line.refuse = self.standby.socket, False


@pytest.fixture
def pair(instance_root: Path) -> Iterator[Pair]:
    with migrated_instance(instance_root) as primary, following(primary) as standby, proxy(primary.socket) as line:
        yield Pair(primary, standby, line)


@contextmanager
def following(primary: Instance) -> Iterator[Instance]:
    standby = primary.copy_to(primary.root.with_name(f"{primary.root.name}-behind"))
    standby.start()
    try:
        yield standby
    finally:
        standby.end()
        shutil.rmtree(standby.root)


async def reconnected(world: SiteWorld) -> None:
    """Past the connections that the failover left broken."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(Problem):
                await world.value("SELECT 1")
                return


async def active(world: SiteWorld, name: str) -> tuple[UUID, str]:
    """A new cluster that is in use: its id, and its name at the site."""
    cluster = await world.build(name)
    return cluster, await world.external_name(cluster)


async def repair(world: SiteWorld) -> set[str]:
    """Repair, and have workers do what that leaves to them, until only what is refused is found: its rules."""
    repairer = world.repairer()
    async with world.worker():
        for _ in range(REPAIRS):
            for repaired in await repairer.repair(await world.findings()):
                if repaired.operation_id is not None:
                    await world.finished(repaired.operation_id)
    return {finding.rule.name for finding in await world.findings()}


async def take_down_by_hand(world: SiteWorld, name: str) -> None:
    """What is left to a person once nobody misses it."""
    site = await world.site_client()
    for host in await site.hosts.list(REGION):
        if host.server is not None and host.server.network == name:
            await site.hosts.delete_server(host.name, host.server.name)
    await site.vipu.remove_partitions(name)
    await site.vipu.remove_allocation(name)
    await site.networks.delete(name)


async def test_what_a_failover_lost_is_found_and_repaired(pair: Pair, tmp_path: Path) -> None:
    """The lost writes: one cluster was deleted, another one was made. The first one's customer gets it back; the other
    one's may be at work on what has no record, and it stays."""
    url = through_proxy(pair.line, pair.primary.url())
    with running_site(tmp_path / "site", machines=16) as site:
        async with open_site_world(scratch(url), site) as world:
            async with world.worker():
                undeleted, its_name = await active(world, "undeleted")
                pair.fall_behind()
                _, forgotten = await active(world, "forgotten")
                await world.finished(await world.delete(undeleted))
            pair.fail_over()
            await reconnected(world)
            broken_rules = {finding.rule.name for finding in await world.findings()}
            assert FORGOTTEN in broken_rules
            assert any(name.startswith(MISSING) for name in broken_rules)

            assert await repair(world) == {FORGOTTEN}
            for _ in range(SIGHTINGS):
                await sweep_leftovers(world.database, world.sites, call_timeout=CALL_SECONDS)
            assert sorted(world.partitions()) == sorted([its_name, forgotten])

            await take_down_by_hand(world, forgotten)
            assert await repair(world) == set()

            async def is_active() -> object:
                return await world.value("SELECT state FROM clusters WHERE id = :id", id=undeleted) == "active"

            async with world.worker():
                await until(is_active, "the cluster that was deleted is in use again, and no fault of its host is left")

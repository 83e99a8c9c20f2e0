"""A cluster in use whose hardware has failed is built again with other hardware, as it was."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

import pytest

from ipucloud.inventory.health.codes import Code
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, STATE_CONFLICT
from tests.support.breakable import held, open_breakable_world
from tests.support.fault_reports import make_confirmed
from tests.support.site import SECURE
from tests.support.waiting import until
from tests.support.world import SiteWorld
from tests.worker.customers import refused

pytestmark = pytest.mark.anyio

FLAVOR = "m2000-pod8"
MACHINES = 2
SITE = {"machines": 2 * MACHINES, "options": [*SECURE, "--servers", "1"]}
WORLD = partial(open_breakable_world, partitions_quiet_interval=0.5, isolation_after=0.05)


async def break_machine(world: SiteWorld, cluster: UUID) -> str:
    """The second one, at the site and as observation reports it."""
    broken = (await held(world, "machine"))[1]
    world.http.post(f"/v1/machines/{broken}:fail").raise_for_status()
    await world.fail(cluster, Code.BMC_CRITICAL, ordinal=1)
    return broken


async def partitions(world: SiteWorld) -> dict[str, tuple[str, int, bool]]:
    """Those that exist: state, IPUs, and whether they are reconfigurable."""
    rows = await world.rows(
        "SELECT p.name, state, shown.size, shown.reconfigurable"
        " FROM partitions p JOIN shown_partitions shown USING (id)"
        " WHERE p.removed_at IS NULL"
    )
    return {row.name: (row.state, row.size, row.reconfigurable) for row in rows}


async def server(world: SiteWorld) -> Any:
    return await world.one("SELECT name, state, host_key, ssh_port FROM poplar_servers WHERE state <> 'deleted'")


@pytest.mark.acceptance("BFX01-05", "STG02-01")
async def test_a_failed_machine_is_replaced_and_nothing_else_changes(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build(flavor=FLAVOR)
        before = await server(world)
        broken = await break_machine(world, cluster)
        fault = await make_confirmed(world, cluster, ordinal=1)
        repair = await world.replace_hardware(cluster)
        shown = await world.cluster(cluster)
        assert (shown["state"], shown["billing"]["status"]) == ("rebuilding", "paused")
        assert await world.value("SELECT state FROM fault_reports WHERE id = :id", id=fault) == "confirmed"
        assert shown["state_reason"] == f"Machine {broken} is replaced: The machine has failed. The machine has failed."
        assert await world.replace_hardware(cluster, if_match=1) == repair
        assert not await world.cancel(repair)
        await world.succeeded(repair)
        assert broken not in await held(world, "machine")
        assert await world.value("SELECT state FROM fault_reports WHERE id = :id", id=fault) == "repaired"
        assert await server(world) == before
        shown = await world.cluster(cluster)
        assert (shown["state"], shown["state_reason"], shown["faults"]) == ("active", None, [])
        name = await world.external_name(cluster)
        assert (name[-2:], world.partitions()) == ("-2", [name])
        assert await world.value("SELECT used FROM quotas WHERE used > 0") == MACHINES
        *ended, open_one = await world.column("SELECT ended_at IS NULL FROM usage_intervals ORDER BY started_at")
        assert (open_one, any(ended)) == (True, False)
        assert await world.column("SELECT name FROM machines WHERE NOT allocatable") == [broken]
        event = await world.value("SELECT data FROM events WHERE type = 'cluster.hardware_replaced'")
        assert (event["machines"], event["hosts"]) == ([broken], [])
        fault = await make_confirmed(world, cluster)
        await world.succeeded(await world.delete(cluster))
        assert await world.value("SELECT state FROM fault_reports WHERE id = :id", id=fault) == "closed"
        assert await world.findings() == []


async def test_partitions_are_made_again_as_they_were(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build(flavor=FLAVOR)
        [default] = await partitions(world)
        await world.succeeded(await world.remove_partition(cluster, default))
        await world.succeeded(await world.create_partition(cluster, "training", size=4, reconfigurable=True))
        await world.succeeded(await world.create_partition(cluster, "eval", size=2))
        before = await partitions(world)
        ids = await world.column("SELECT id FROM partitions WHERE removed_at IS NULL ORDER BY id")
        await break_machine(world, cluster)
        repair = await world.replace_hardware(cluster)
        assert {state for state, *_ in (await partitions(world)).values()} == {"creating"}
        await world.succeeded(repair)

        async def shown() -> bool:
            return await partitions(world) == before

        await until(shown, "the partitions are as they were")
        assert await world.column("SELECT id FROM partitions WHERE removed_at IS NULL ORDER BY id") == ids
        name = await world.external_name(cluster)
        assert sorted(world.partitions()) == [f"{name}-1", f"{name}-2"]
        assert await world.findings() == []


async def test_a_server_on_a_failed_host_is_built_again_on_another(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build(flavor=FLAVOR)
        before = await server(world)
        [broken] = await held(world, "host")
        world.http.post(f"/v1/hosts/{broken}:fail").raise_for_status()
        await world.fail(cluster, Code.HOST_FAILED, kind="host")
        repair = await world.replace_hardware(cluster)
        reason = (await world.cluster(cluster))["state_reason"]
        assert f"server {before.name} is built again on another host, and the data on its disk is lost" in reason
        await world.succeeded(repair)
        said = await world.value("SELECT detail FROM operation_steps WHERE name = 'take_other_hardware'")
        assert said == f"built again without the data on its disk: {before.name}"
        assert await held(world, "host") != [broken]
        after = await server(world)
        assert (after.name, after.state) == (f"{await world.external_name(cluster)}-p0", "running")
        assert after.host_key != before.host_key
        assert await world.column("SELECT name FROM hosts WHERE NOT allocatable") == [broken]
        assert await world.findings() == []


async def test_a_repair_that_finds_no_hardware_any_more_leaves_the_cluster_suspended(world: SiteWorld) -> None:
    """It was free when the repair was accepted, and is free again when the cluster is resumed."""
    async with world.worker():
        cluster = await world.build(flavor=FLAVOR)
        [host] = await held(world, "host")
        world.http.post(f"/v1/hosts/{host}:fail").raise_for_status()
        await world.fail(cluster, Code.HOST_FAILED, kind="host")
        await break_machine(world, cluster)
    repair = await world.replace_hardware(cluster)
    other = await world.create("other", flavor=FLAVOR)
    async with world.worker():
        ended = await world.finished(repair)
        assert (ended.state, ended.error["code"]) == ("failed", "capacity_exhausted")
        shown = await world.cluster(cluster)
        assert (shown["state"], shown["billing"]["status"], shown["partitions"]) == ("suspended", "paused", [])
        assert await held(world, "host") == [await world.value("SELECT host.name FROM hosts host WHERE held")]
        assert await world.findings() == []
        await world.succeeded(await world.delete(other.target_id))
        await world.succeeded(await world.resume(cluster))
        assert (await server(world)).state == "running"
        assert await world.findings() == []


async def test_what_cannot_be_repaired_is_refused_and_changes_nothing(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build(flavor=FLAVOR)
        assert (await refused(world.replace_hardware(cluster))).kind is STATE_CONFLICT
        await world.build("other", flavor=FLAVOR)
        await world.fail(cluster, Code.BMC_CRITICAL)
        begun = "SELECT id, kind FROM operations ORDER BY id"
        before = await world.cluster(cluster), await world.rows(begun)
        assert (await refused(world.replace_hardware(cluster))).kind is CAPACITY_EXHAUSTED
        changing = {key: before[0][key] for key in ("billing", "observed_at", "poplar_servers")}
        assert (await world.cluster(cluster) | changing, await world.rows(begun)) == before

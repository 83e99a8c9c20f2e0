"""What customers see of a cluster whose hardware fails, by the health reports of what it holds."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from ipucloud.inventory.health.codes import CODES, Code
from tests.support.world import World

pytestmark = pytest.mark.anyio


async def events(world: World, cluster_id: UUID) -> list[str]:
    """The types of the cluster's events since it became active."""
    logged = "SELECT type FROM events WHERE subject_id = :id AND type LIKE 'cluster.%' ORDER BY id"
    types = await world.column(logged, id=cluster_id)
    return types[types.index("cluster.active") + 1 :]


async def machines(world: World, cluster_id: UUID) -> list[tuple[str, list[str]]]:
    """The health of each machine, and the codes of its faults."""
    cluster = await world.cluster(cluster_id)
    return [(each["health"], [fault["code"] for fault in each["faults"]]) for each in cluster["machines"]]


async def observe(world: World, *, until: str = "1 minute") -> None:
    """The region was read now, which counts for this long."""
    await world.execute(
        f"""
        INSERT INTO observations (region, source, started_at, finished_at, stale_at)
        SELECT region, source, app_now(), app_now(), app_now() + interval '{until}'
          FROM site_regions, unnest(ARRAY['bmc', 'host']) AS source
        ON CONFLICT (region, source) DO UPDATE SET stale_at = excluded.stale_at, finished_at = excluded.finished_at
        """  # noqa: S608
    )


async def test_a_cluster_is_degraded_while_its_hardware_does_not_work_as_sold(world: World) -> None:
    cluster_id = await world.make_active(flavor="m2000-pod16")
    await observe(world)
    before = await world.cluster(cluster_id)
    report = await world.fail(cluster_id, Code.BMC_CRITICAL, ordinal=2)
    cluster = await world.cluster(cluster_id)
    machine = cluster["machines"][2]
    [fault] = cluster["faults"]
    assert (cluster["state"], cluster["billing"]["status"]) == ("degraded", "running")
    assert cluster["state_reason"] == (
        f"Machine {machine['name']}: The machine has failed. A repair is being scheduled; until then,"
        " 1 of 4 machines is not billed."
    )
    shown = (fault["kind"], fault["name"], fault["code"], fault["credited"])
    assert shown == ("machine", machine["name"], "bmc_critical", True)
    assert cluster["version"] > before["version"]
    assert (machine["health"], machine["faults"]) == ("failed", [fault])
    assert [each["health"] for each in cluster["machines"]] == ["ok", "ok", "failed", "ok"]
    await world.work_again(cluster_id, report)
    again = await world.cluster(cluster_id)
    assert (again["state"], again["state_reason"], again["faults"]) == ("active", None, [])
    assert await events(world, cluster_id) == ["cluster.degraded", "cluster.recovered"]


@pytest.mark.acceptance("BFX06-01")
async def test_the_event_names_what_failed_and_is_recorded_again_when_that_changes(world: World) -> None:
    cluster_id = await world.make_active(flavor="m2000-pod16")
    first = await world.fail(cluster_id, Code.BMC_CRITICAL)
    await world.fail(cluster_id, Code.BMC_CRITICAL)
    await world.fail(cluster_id, Code.HOST_FAILED, kind="host")
    cluster = await world.cluster(cluster_id)
    data: list[dict[str, Any]] = await world.column(
        "SELECT data FROM events WHERE type = 'cluster.degraded' AND subject_id = :id ORDER BY id", id=cluster_id
    )
    assert [[(fault["kind"], fault["code"]) for fault in each["faults"]] for each in data] == [
        [("machine", "bmc_critical")],
        [("machine", "bmc_critical"), ("poplar_server", "host_failed")],
    ]
    assert [each["credited_machines"] for each in data] == [1, 4]
    assert data[-1]["reason"] == cluster["state_reason"]
    assert cluster["faults"][1]["name"] == cluster["poplar_servers"][0]["name"]
    assert "the cluster is not billed" in cluster["state_reason"]
    await world.work_again(cluster_id, first)
    assert (await world.cluster(cluster_id))["state"] == "degraded"


@pytest.mark.parametrize("code", [Code.NOT_OBSERVED, Code.DRAIN, Code.QUARANTINE])
async def test_a_report_that_is_no_fault_of_the_hardware_leaves_the_cluster_active(world: World, code: Code) -> None:
    cluster_id = await world.make_active()
    await world.fail(cluster_id, code)
    cluster = await world.cluster(cluster_id)
    shown = [] if CODES["machine"][code].message is None else [code]
    assert (cluster["state"], [fault["code"] for fault in cluster["faults"]]) == ("active", shown)
    assert await events(world, cluster_id) == []


async def test_a_fault_that_the_customer_can_cause_degrades_and_is_not_credited(world: World) -> None:
    cluster_id = await world.make_active()
    await world.fail(cluster_id, Code.SERVER_OFF, kind="host")
    cluster = await world.cluster(cluster_id)
    assert (cluster["state"], cluster["faults"][0]["credited"]) == ("degraded", False)
    assert cluster["state_reason"].endswith("Minutes are billed as before.")
    assert cluster["poplar_servers"][0]["health"] == "degraded"


async def test_health_that_was_observed_too_long_ago_is_unknown_but_for_known_faults(world: World) -> None:
    cluster_id = await world.make_active(flavor="m2000-pod16")
    never = await world.cluster(cluster_id)
    assert (never["observed_at"], {each["health"] for each in never["machines"]}) == (None, {"unknown"})
    await observe(world)
    await world.fail(cluster_id, Code.LINK_DOWN)
    fresh = await world.cluster(cluster_id)
    assert fresh["observed_at"] is not None
    assert fresh["poplar_servers"][0]["health"] == "ok"
    assert fresh["faults"][0]["kind"] == "link"
    assert [health for health, _ in await machines(world, cluster_id)] == ["degraded", "ok", "ok", "ok"]
    await observe(world, until="0")
    assert [health for health, _ in await machines(world, cluster_id)] == ["degraded", *["unknown"] * 3]


async def test_a_degraded_cluster_takes_the_requests_of_an_active_one(world: World) -> None:
    cluster_id = await world.make_active()
    await world.fail(cluster_id, Code.BMC_CRITICAL)
    await world.update(cluster_id, tags={"team": "nlp"})
    await world.suspend(cluster_id)
    suspending = await world.cluster(cluster_id)
    assert (suspending["state"], suspending["state_reason"]) == ("suspending", None)
    await world.finish_suspend(cluster_id)
    suspended = await world.cluster(cluster_id)
    assert (suspended["faults"], suspended["machines"]) == ([], [])
    await world.delete(cluster_id)
    types = ("degraded", "updated", "suspending", "suspended", "deleting")
    assert await events(world, cluster_id) == [f"cluster.{each}" for each in types]


async def test_reports_about_a_cluster_that_is_not_in_use_change_nothing(world: World) -> None:
    accepted = await world.create()
    await world.fail(accepted.target_id, Code.BMC_CRITICAL)
    cluster = await world.cluster(accepted.target_id)
    assert (cluster["state"], [fault["code"] for fault in cluster["faults"]]) == ("creating", ["bmc_critical"])

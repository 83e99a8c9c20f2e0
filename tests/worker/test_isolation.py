"""A delete or suspend with dead hardware isolates it and ends; nobody gets that hardware before it was cleaned."""

from __future__ import annotations

from typing import Any

import pytest

from ipucloud.admin.actions import Operator, Order, put, return_to_service
from ipucloud.contract.operator_hardware import HardwareSelection
from ipucloud.inventory.health.codes import Code
from ipucloud.kernel.ids import new_id
from ipucloud.policies.leftovers import clean_leftovers
from tests.support.breakable import held, open_breakable_world
from tests.support.waiting import until
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

WORLD = open_breakable_world

OPERATOR = Operator(new_id(), "test")

SOON: dict[str, Any] = {"isolation_after": 0.05}
NO_ANSWER = {"action": "status", "status": 503}
REPORTS = """
SELECT coalesce(m.name, h.name) AS name, r.detail, coalesce(m.allocatable, h.allocatable) AS allocatable
  FROM health_reports r LEFT JOIN machines m ON m.id = r.machine_id LEFT JOIN hosts h ON h.id = r.host_id
 WHERE r.code = 'not_clean' AND r.cleared_at IS NULL
"""


async def cleaned(world: SiteWorld) -> None:
    """Return once nothing is left to clean."""

    async def done() -> bool:
        await clean_leftovers(world.database, world.sites, world.settings)
        return not await world.rows(REPORTS)

    await until(done, "what was left is clean")


async def maintain(world: SiteWorld, machine: str, *, begins: bool) -> None:
    """Begin or end an operator's maintenance of a machine."""
    selection = HardwareSelection(machines=[machine])
    async with world.database.begin() as connection:
        if begins:
            await put(connection, selection, Order(Code.MAINTENANCE, "a new fan", None, OPERATOR))
        else:
            await return_to_service(connection, selection, OPERATOR, validated=False)


async def details(world: SiteWorld, operation: Any) -> str:
    texts = await world.column(
        "SELECT detail FROM operation_steps WHERE operation_id = :id AND detail IS NOT NULL", id=operation.operation_id
    )
    return "\n".join(texts)


async def test_a_dead_host_is_left_until_it_was_wiped(world: SiteWorld) -> None:
    async with world.worker(**SOON):
        cluster = await world.build()
        [host] = await held(world, "host")
        world.http.post(f"/v1/hosts/{host}:fail").raise_for_status()
        deleted = await world.delete(cluster)
        await world.succeeded(deleted)
        assert f"left host {host} isolated, to be cleaned later; host {host} failed" in await details(world, deleted)
        assert await world.value("SELECT sum(used) FROM quotas") == 0
        [report] = await world.rows(REPORTS)
        assert (report.name, report.allocatable) == (host, False)
        assert world.http.get("/v1/networks").json()["networks"] == []
        assert await world.findings() == []
        event = await world.value("SELECT data FROM events WHERE type = 'cluster.hardware_isolated'")
        assert event == {"machines": [], "hosts": [host], "reason": f"host {host} failed"}
        await clean_leftovers(world.database, world.sites, world.settings)
        await world.build("next")
        assert host not in await held(world, "host")
        # As when a create went on with another host, under the cluster's next name.
        rename = "UPDATE poplar_servers SET name = replace(name, :now, :then) WHERE cluster_id = :id"
        await world.execute(rename, now="-1-p", then="-2-p", id=cluster)
        world.http.post(f"/v1/hosts/{host}:repair").raise_for_status()
        await cleaned(world)
        assert world.http.get(f"/v1/hosts/{host}").json()["server"] is None
        evidence = "SELECT observed FROM hardware_cleanings JOIN allocations a ON a.id = allocation_id"
        observed = await world.value(f"{evidence} JOIN hosts h ON h.id = host_id WHERE h.name = :host", host=host)
        assert observed == {"server": "none", "disk": "wiped"}
        await world.execute(rename, now="-2-p", then="-1-p", id=cluster)


async def test_a_machine_whose_bmc_is_silent_is_left_until_it_was_off(world: SiteWorld) -> None:
    async with world.worker(**SOON):
        cluster = await world.build(flavor="m2000-pod8")
        dead, _ = await held(world, "machine")
        world.fault(call="redfish.*", target=dead, **NO_ANSWER)
        await world.succeeded(await world.delete(cluster))
        [report] = await world.rows(REPORTS)
        assert (report.name, report.detail.startswith(f"machine {dead} did not answer; ")) == (dead, True)
        await clean_leftovers(world.database, world.sites, world.settings)
        assert [row.name for row in await world.rows(REPORTS)] == [dead]
        await world.build("next")
        assert dead not in await held(world, "machine")
        world.clear_faults()
        await maintain(world, dead, begins=True)
        await clean_leftovers(world.database, world.sites, world.settings)
        assert world.http.get(f"/redfish/v1/Systems/{dead}").json()["PowerState"] == "On"
        await maintain(world, dead, begins=False)
        await cleaned(world)
        assert world.http.get(f"/redfish/v1/Systems/{dead}").json()["PowerState"] == "Off"


async def test_a_suspend_leaves_a_dead_machine_and_keeps_the_servers(world: SiteWorld) -> None:
    async with world.worker(**SOON):
        cluster = await world.build()
        [dead] = await held(world, "machine")
        world.fault(call="redfish.*", target=dead, **NO_ANSWER)
        await world.succeeded(await world.suspend(cluster))
        assert [row.name for row in await world.rows(REPORTS)] == [dead]
        await world.succeeded(await world.resume(cluster))
        assert dead not in await held(world, "machine")
        world.clear_faults()
        await cleaned(world)


async def test_an_outage_of_the_site_isolates_nothing(world: SiteWorld) -> None:
    async with world.worker(**SOON):
        cluster = await world.build()
        [host] = await held(world, "host")
        world.http.post(f"/v1/hosts/{host}:fail").raise_for_status()
        for call in ("networks.*", "hosts.*"):
            world.fault(call=call, **NO_ANSWER)
        deleted = await world.delete(cluster)
        tried = "SELECT max(attempts) >= 3 FROM operation_steps WHERE state = 'running'"
        await until(lambda: world.value(tried), "tried again and again")
        assert await world.rows(REPORTS) == []
        world.clear_faults()
        world.http.post(f"/v1/hosts/{host}:repair").raise_for_status()
        await world.succeeded(deleted)


HALT = """
INSERT INTO observations (region, source, halted_since) SELECT region, 'site', app_now() FROM site_regions
ON CONFLICT (region, source) DO UPDATE SET halted_since = excluded.halted_since
"""


@pytest.mark.parametrize(("settings", "halted"), [({"isolation_limit": 0}, False), ({}, True)])
async def test_more_than_the_budget_and_halted_automation_are_left_to_an_operator(
    world: SiteWorld, settings: dict[str, Any], halted: bool
) -> None:
    async with world.worker(**SOON, **settings, observation_interval=3600.0):
        cluster = await world.build()
        if halted:
            await world.execute(HALT)
        [host] = await held(world, "host")
        world.http.post(f"/v1/hosts/{host}:fail").raise_for_status()
        deleted = await world.delete(cluster)
        sentence = "SELECT blocked_by LIKE '%an operator must act' FROM clusters WHERE id = :id"
        await until(lambda: world.value(sentence, id=cluster), "the cluster says that an operator must act")
        assert await world.rows(REPORTS) == []
        world.http.post(f"/v1/hosts/{host}:repair").raise_for_status()
        await world.succeeded(deleted)

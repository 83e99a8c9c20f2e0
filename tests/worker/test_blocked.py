"""A step that does not get on says what it waits for, since when, and how often that was checked."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest

from ipucloud.clusters.steps.teardown import QUARANTINE
from ipucloud.invariants.audit import audit
from tests.support.breakable import open_emptied_world
from tests.support.site import SECURE
from tests.support.waiting import until
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

SITE = {"machines": 16, "options": SECURE}
WORLD = partial(open_emptied_world, site_call_timeout=2.0)
BUSY = {"action": "status", "status": 503, "grpc_status": "UNAVAILABLE"}
# What goes wrong with which call, the step that it keeps, and what the sentence names.
DEAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "a host that never answers the wipe": (
        {"call": "hosts.delete_server", "action": "stall"},
        "wipe_poplar_servers",
        "host {host} did not answer",
    ),
    "a controller that keeps the partition": (
        {"call": "vipu.ListPartitions", "action": "stale"},
        "remove_partitions",
        "the V-IPU controller of {region} removes partition {name}",
    ),
    "a controller that keeps the user": (
        {"call": "admin.RemoveUser", **BUSY},
        "remove_vipu_user",
        "the V-IPU controller of {region} did not answer",
    ),
    "a controller that keeps the allocation": (
        {"call": "admin.RemoveAllocation", **BUSY},
        "remove_allocation",
        "the V-IPU controller of {region} did not answer",
    ),
    "a network that stays": ({"call": "networks.delete", **BUSY}, "detach_network", "tenant network {name} did"),
    "a machine that stays on": ({"call": "redfish.reset", **BUSY}, "power_off_machines", "machine {machine} did"),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("what", DEAD)
async def test_a_delete_says_what_it_waits_for(world: SiteWorld, what: str) -> None:
    fault, step, sentence = DEAD[what]
    creation = await world.create(flavor="m2000-pod4")
    async with world.worker():
        await world.succeeded(creation.operation_id)
        assert (await world.cluster(creation.target_id))["blocked_by"] is None
        names = await world.one(
            "SELECT c.region, c.external_name AS name, max(h.name) AS host, max(m.name) AS machine FROM clusters c"
            " JOIN allocations a ON a.cluster_id = c.id LEFT JOIN hosts h ON h.id = a.host_id"
            " LEFT JOIN machines m ON m.id = a.machine_id WHERE c.id = :id GROUP BY c.id",
            id=creation.target_id,
        )
        world.fault(**fault)
        operation = await world.delete(creation.target_id)

        async def says_so() -> bool:
            blocked_by = (await world.cluster(creation.target_id))["blocked_by"] or ""
            return re.search(r"checked [3-9]\d* times", blocked_by) is not None

        await until(says_so, "the cluster says what it waits for")
        shown = await world.cluster(creation.target_id)
        expected = sentence.format(**{name: re.escape(str(value)) for name, value in names._mapping.items()})
        assert re.search(expected, shown["blocked_by"]), shown["blocked_by"]
        assert re.search(r"\(since 20\d\d-\d\d-\d\dT[\d:.]+Z, checked \d+ times", shown["blocked_by"])
        assert shown["operation"]["blocked_by"].startswith(shown["blocked_by"].split(" (")[0])
        steps = (await world.operation(operation.operation_id))["steps"]
        [running] = [each for each in steps if each["state"] == "running"]
        assert (running["name"], running["checks"] >= 2) == (step, True)
        blocked_by = "SELECT blocked_by FROM clusters WHERE id = :id"
        assert await world.value(blocked_by, id=creation.target_id) == running["detail"]
        world.clear_faults()
        await world.succeeded(operation)
        assert (await world.cluster(creation.target_id))["blocked_by"] is None


async def test_a_create_says_what_it_waits_for(world: SiteWorld) -> None:
    world.fault(call="hosts.put_server", **BUSY)
    creation = await world.create(flavor="m2000-pod4")
    async with world.worker():
        await world.blocked(creation.target_id)
        host = await world.value("SELECT h.name FROM hosts h JOIN allocations a ON a.host_id = h.id")
        assert f"host {host} did not answer" in (await world.cluster(creation.target_id))["blocked_by"]
        world.clear_faults()
        await world.succeeded(creation.operation_id)


async def test_a_quarantine_is_said_and_breaks_no_rule(world: SiteWorld) -> None:
    creation = await world.create(flavor="m2000-pod4")
    # Another pass finds it still waiting, long after a few polls.
    due = "UPDATE work SET run_at = app_now() WHERE kind = 'cluster'"
    async with world.worker(request_life=3600.0):
        await world.finished(creation.operation_id)
        operation = await world.delete(creation.target_id)
        await world.reached(operation, "verify_clean")

        async def checked() -> bool:
            await world.execute(due)
            return bool((await world.operation(operation.operation_id))["steps"][-1]["checks"] >= 3)

        async def says_so() -> bool:
            return await checked() and (await world.cluster(creation.target_id))["blocked_by"] is not None

        await until(says_so, "it is said once that is unusual")
        assert (await world.cluster(creation.target_id))["blocked_by"].startswith(f"{QUARANTINE} (since ")
        await world.execute("UPDATE clusters SET state_entered_at = state_entered_at - interval '1 hour'")
        assert await audit(world.database) == []
    async with world.worker():
        await world.execute(due)
        await world.succeeded(operation)


async def test_a_dead_host_is_named_to_customer_and_operator(world: SiteWorld) -> None:
    creation = await world.create(flavor="m2000-pod4")
    async with world.worker():
        await world.finished(creation.operation_id)
        host = await world.value("SELECT h.name FROM hosts h JOIN allocations a ON a.host_id = h.id")
        world.site.http().post(f"/v1/hosts/{host}:fail").raise_for_status()
        operation = (await world.delete(creation.target_id)).operation_id
        await world.blocked(creation.target_id)
        shown = (await world.cluster(creation.target_id))["blocked_by"]
        assert shown.startswith(f"wiping host {host}; host {host} failed (since ")
        assert await audit(world.database) == []
        age = "UPDATE operations SET created_at = created_at - {0}, expected_at = expected_at - {0} WHERE id = :id"
        await world.execute(age.format("interval '6 minutes'"), id=operation)
        [finding] = await audit(world.database)
        assert (finding.rule.name, finding.violation.object_id) == ("operation_makes_progress", str(operation))
        assert f"wiping host {host}" in finding.violation.detail
        world.site.http().post(f"/v1/hosts/{host}:repair").raise_for_status()
        await world.succeeded(operation)

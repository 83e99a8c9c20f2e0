"""A step that does not get on says what it waits for, since when, and how often that was checked."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest
import sqlalchemy as sa

from ipucloud.clusters.queries import cluster_document
from ipucloud.clusters.steps.teardown import QUARANTINE
from ipucloud.invariants.audit import audit
from ipucloud.operations.queries import operation_document
from tests.support.postgres import Database as Scratch
from tests.support.site import SECURE, RunningSite, running_site
from tests.support.waiting import until
from tests.support.world import SiteWorld, open_site_world

pytestmark = pytest.mark.anyio

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


@pytest.fixture
def site(tmp_path: Path) -> Iterator[RunningSite]:
    with running_site(tmp_path / "site", machines=16, options=SECURE) as site:
        yield site


@pytest.fixture
async def world(database: Scratch, site: RunningSite) -> AsyncIterator[SiteWorld]:
    async with open_site_world(database, site, site_call_timeout=2.0) as world:
        yield world


async def cluster(world: SiteWorld, cluster_id: UUID) -> dict[str, Any]:
    """The cluster as the API answers it."""
    async with world.database.begin() as connection:
        document: dict[str, Any] = orjson.loads(
            await cluster_document(connection, project_id=world.project.id, cluster_id=cluster_id)
        )
        return document


async def steps(world: SiteWorld, operation: UUID) -> list[dict[str, Any]]:
    async with world.database.begin() as connection:
        text = await operation_document(connection, project_id=world.project.id, operation_id=operation)
    shown: list[dict[str, Any]] = orjson.loads(text)["steps"]
    return shown


@pytest.mark.sample(3)
@pytest.mark.parametrize("what", DEAD)
async def test_a_delete_says_what_it_waits_for(world: SiteWorld, what: str) -> None:
    fault, step, sentence = DEAD[what]
    creation = await world.create(flavor="m2000-pod4")
    async with world.worker():
        await world.succeeded(creation.operation_id)
        assert (await cluster(world, creation.target_id))["blocked_by"] is None
        names = await world.one(
            "SELECT c.region, c.external_name AS name, max(h.name) AS host, max(m.name) AS machine FROM clusters c"
            " JOIN allocations a ON a.cluster_id = c.id LEFT JOIN hosts h ON h.id = a.host_id"
            " LEFT JOIN machines m ON m.id = a.machine_id WHERE c.id = :id GROUP BY c.id",
            id=creation.target_id,
        )
        world.fault(**fault)
        operation = await world.delete(creation.target_id)

        async def says_so() -> bool:
            shown = await cluster(world, creation.target_id)
            return (
                shown["blocked_by"] is not None
                and re.search(r"checked [3-9]\d* times", shown["blocked_by"]) is not None
            )

        await until(says_so, "the cluster says what it waits for")
        shown = await cluster(world, creation.target_id)
        expected = sentence.format(**{name: re.escape(str(value)) for name, value in names._mapping.items()})
        assert re.search(expected, shown["blocked_by"]), shown["blocked_by"]
        assert re.search(r"\(since 20\d\d-\d\d-\d\dT[\d:.]+Z, checked \d+ times", shown["blocked_by"])
        assert shown["operation"]["blocked_by"].startswith(shown["blocked_by"].split(" (")[0])
        [running] = [each for each in await steps(world, operation.operation_id) if each["state"] == "running"]
        assert (running["name"], running["checks"] >= 2) == (step, True)
        assert (
            await world.value("SELECT blocked_by FROM clusters WHERE id = :id", id=creation.target_id)
            == running["detail"]
        )
        world.clear_faults()
        await world.succeeded(operation)
        assert (await cluster(world, creation.target_id))["blocked_by"] is None


async def test_a_create_says_what_it_waits_for(world: SiteWorld) -> None:
    world.fault(call="hosts.put_server", **BUSY)
    creation = await world.create(flavor="m2000-pod4")
    async with world.worker():
        await until(lambda: blocked(world, creation.target_id), "the cluster says what it waits for")
        host = await world.value("SELECT h.name FROM hosts h JOIN allocations a ON a.host_id = h.id")
        assert f"host {host} did not answer" in (await cluster(world, creation.target_id))["blocked_by"]
        world.clear_faults()
        await world.succeeded(creation.operation_id)
        await world.delete_all()


async def test_a_quarantine_is_said_and_breaks_no_rule(database: Scratch, site: RunningSite) -> None:
    async with open_site_world(database, site) as world:
        creation = await world.create(flavor="m2000-pod4")
        async with world.worker(request_life=3600.0):
            await world.finished(creation.operation_id)
            operation = await world.delete(creation.target_id)
            await world.reached(operation, "verify_clean")
            # Another pass finds it still waiting, long after a few polls.
            wakes = "UPDATE work SET run_at = app_now() WHERE kind = 'cluster'"

            async def checked() -> bool:
                async with world.database.begin() as connection:
                    await connection.execute(sa.text(wakes))
                return bool((await steps(world, operation.operation_id))[-1]["checks"] >= 3)

            async def says_so() -> bool:
                return await checked() and await blocked(world, creation.target_id)

            await until(says_so, "it is said once that is unusual")
            assert (await cluster(world, creation.target_id))["blocked_by"].startswith(f"{QUARANTINE} (since ")
            async with world.database.begin() as connection:
                age = "UPDATE clusters SET state_entered_at = state_entered_at - interval '1 hour' WHERE id = :id"
                await connection.execute(sa.text(age), {"id": creation.target_id})
            assert await audit(world.database) == []
        async with world.worker():
            async with world.database.begin() as connection:
                await connection.execute(sa.text(wakes))
            await world.succeeded(operation)


async def test_a_dead_host_is_named_to_customer_and_operator(world: SiteWorld) -> None:
    creation = await world.create(flavor="m2000-pod4")
    async with world.worker():
        await world.finished(creation.operation_id)
        host = await world.value("SELECT h.name FROM hosts h JOIN allocations a ON a.host_id = h.id")
        world.site.http().post(f"/v1/hosts/{host}:fail").raise_for_status()
        operation = (await world.delete(creation.target_id)).operation_id
        await until(lambda: blocked(world, creation.target_id), "the cluster says what it waits for")
        shown = (await cluster(world, creation.target_id))["blocked_by"]
        assert shown.startswith(f"wiping host {host}; host {host} failed (since ")
        assert await audit(world.database) == []
        async with world.database.begin() as connection:
            age = "UPDATE operations SET created_at = created_at - interval '6 minutes', expected_at = expected_at - "
            await connection.execute(sa.text(age + "interval '6 minutes' WHERE id = :id"), {"id": operation})
        [finding] = await audit(world.database)
        assert (finding.rule.name, finding.violation.object_id) == ("operation_makes_progress", str(operation))
        assert f"wiping host {host}" in finding.violation.detail
        world.site.http().post(f"/v1/hosts/{host}:repair").raise_for_status()
        await world.succeeded(operation)


async def blocked(world: SiteWorld, cluster_id: UUID) -> bool:
    return (await cluster(world, cluster_id))["blocked_by"] is not None

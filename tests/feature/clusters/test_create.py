"""A create takes everything it needs in one transaction, or nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from ipucloud.clusters.operations.create import create
from ipucloud.config import Settings
from ipucloud.contract.operations import OperationOut
from ipucloud.db.engine import Database
from ipucloud.kernel.errors import Problem
from tests.support.factories import PUBLIC_KEY, Project, make_project, seed_prices
from tests.support.world import World, cluster_body

pytestmark = pytest.mark.anyio

COUNTS = """
SELECT (SELECT count(*) FROM clusters) + (SELECT count(*) FROM poplar_servers) + (SELECT count(*) FROM operations)
     + (SELECT count(*) FROM operation_steps) + (SELECT count(*) FROM work) + (SELECT count(*) FROM events)
     + (SELECT count(*) FROM allocations) + (SELECT count(*) FROM preemptions) + (SELECT sum(used) FROM quotas)
"""


async def refused(world: World, project: Project | None = None, **changes: Any) -> Problem:
    """The problem a create ends with; nothing may be left of it."""
    before = await world.column(COUNTS)
    with pytest.raises(Problem) as raised:
        await world.customer(project or world.project).create(**changes)
    assert await world.column(COUNTS) == before
    return raised.value


async def test_a_created_cluster_has_everything_at_once(world: World) -> None:
    """A region may be named by its number."""
    tagged: dict[str, Any] = {"tags": {"team": "nlp"}, "user_data": "#cloud-config\n"}
    accepted = await world.create(flavor="m2000-pod16", region="1", **tagged)
    cluster = await world.cluster(accepted.target_id)
    assert (cluster["region"], cluster["state"], cluster["stage"]) == ("luxembourg-2", "creating", "NETWORK")
    assert cluster["ipus"] == 16
    assert [(machine["pod"], machine["slot"]) for machine in cluster["machines"]] == [
        ("luxembourg-2-m2000-pod-000", slot) for slot in range(4)
    ]
    assert cluster["tags"] == {"team": "nlp"}
    assert cluster["ssh_keys"] == ["laptop"]
    assert cluster["price_per_minute"] == {"amount": "0.25", "currency": "EUR"}
    assert cluster["billing"] == {
        "starts": "active",
        "ends": "delete_requested",
        "status": "not_started",
        "started_at": None,
        "minutes": 0,
        "credited_minutes": 0,
        "credited_machines": 0,
        "cost": {"amount": "0.00", "currency": "EUR"},
        "cost_per_minute": {"amount": "0.00", "currency": "EUR"},
    }
    assert cluster["partitions"] == []
    assert cluster["operation"]["id"] == str(accepted.operation_id)
    (server,) = cluster["poplar_servers"]
    external = (await world.column("SELECT external_name FROM clusters"))[0]
    assert (server["name"], server["state"], server["ssh"]) == (f"{external}-p0", "pending", None)


async def test_the_operation_says_what_will_be_done_and_until_when(world: World) -> None:
    accepted = await world.create()
    operation = OperationOut.model_validate(await world.operation(accepted.operation_id))
    assert (operation.kind, operation.state, operation.done) == ("cluster.create", "queued", False)
    assert operation.target.id == accepted.target_id
    stages = list(dict.fromkeys(step.stage for step in operation.steps))
    assert stages == ["NETWORK", "IPU_SERVERS", "VIPU_CONTROLLER", "POPLAR_SERVERS", "POST_DEPLOY_SETUP"]
    assert operation.expected_at == operation.created_at + timedelta(seconds=900)
    assert operation.cancellable


async def test_a_create_leaves_a_work_item_events_and_the_keys_that_the_worker_needs(world: World) -> None:
    accepted = await world.create()
    assert await world.column("SELECT key FROM work WHERE kind = 'cluster' AND run_at <= app_now()") == [
        str(accepted.target_id)
    ]
    assert await world.column("SELECT type FROM events ORDER BY id") == ["cluster.created", "operation.created"]
    assert await world.column("SELECT ssh_keys FROM clusters") == [[{"name": "laptop", "public_key": PUBLIC_KEY}]]


async def test_a_larger_pod_takes_whole_neighbouring_domains_and_more_servers(db: Database) -> None:
    world = await World.seeded(db, pods=4)
    accepted = await world.create(flavor="m2000-pod128")
    cluster = await world.cluster(accepted.target_id)
    assert len(cluster["machines"]) == 32
    assert len({machine["pod"] for machine in cluster["machines"]}) == 2
    assert [server["name"][-3:] for server in cluster["poplar_servers"]] == ["-p0", "-p1"]
    ordinals = "SELECT ordinal FROM allocations WHERE {} IS NOT NULL ORDER BY ordinal"
    assert await world.column(ordinals.format("machine_id")) == list(range(32))
    assert await world.column(ordinals.format("host_id")) == [0, 1]


async def test_a_pod64_has_as_many_poplar_servers_as_were_asked_for(world: World) -> None:
    request: dict[str, Any] = {"flavor": "m2000-pod64", "poplar_servers": 3}
    assert (await world.estimate(**request)).capacity.available
    cluster = await world.cluster((await world.create(**request)).target_id)
    assert [server["name"][-3:] for server in cluster["poplar_servers"]] == ["-p0", "-p1", "-p2"]
    ordinals = "SELECT ordinal FROM allocations WHERE host_id IS NOT NULL ORDER BY ordinal"
    assert await world.column(ordinals) == [0, 1, 2]


async def test_more_servers_than_the_region_has_hosts_do_not_fit(db: Database) -> None:
    world = await World.seeded(db, hosts=3)
    request: dict[str, Any] = {"flavor": "m2000-pod64", "poplar_servers": 4}
    estimate = await world.estimate(**request)
    assert estimate.capacity.why_not is not None
    assert estimate.capacity.why_not.reason == "hosts"
    with pytest.raises(Problem, match="needs 4 Poplar servers and the region has 3 free"):
        await world.create(**request)
    await world.create(**request | {"poplar_servers": 3})


@pytest.mark.parametrize(
    ("flavor", "servers", "sentence"),
    [
        ("m2000-pod16", 2, "A cluster of flavor m2000-pod16 has one Poplar server."),
        ("m2000-pod64", 5, "A cluster of flavor m2000-pod64 has 1 to 4 Poplar servers."),
        ("m2000-pod128", 1, "A cluster of flavor m2000-pod128 has 2 to 8 Poplar servers."),
    ],
)
async def test_a_number_of_servers_that_the_flavor_cannot_have_is_refused(
    world: World, flavor: str, servers: int, sentence: str
) -> None:
    with pytest.raises(Problem) as refused:
        await world.create(flavor=flavor, poplar_servers=servers)
    [fault] = refused.value.errors
    assert (fault.pointer, fault.code, fault.detail) == ("/poplar_servers", "not_in_flavor", sentence)
    assert await world.value("SELECT count(*) FROM clusters") == 0


@pytest.mark.parametrize(
    ("changes", "pointers"),
    [
        ({"region": "atlantis-1"}, {"/region": "unknown_region"}),
        ({"flavor": "m2000-pod3"}, {"/flavor": "unknown_flavor"}),
        ({"flavor": "bow-pod16", "region": "luxembourg-2"}, {"/flavor": "not_in_region"}),
        ({"image": "windows"}, {"/image": "unknown_image"}),
        ({"image": "ubuntu-18.04-x64-poplar-1.18.0-3.0.0"}, {"/image": "not_in_region"}),
        ({"region": "x", "flavor": "y", "image": "z"}, {"/region": "unknown_region", "/flavor": "unknown_flavor"}),
        ({"ssh_keys": ["laptop", "lost"]}, {"/ssh_keys/1": "unknown_ssh_key"}),
        ({"expires_at": datetime(2020, 1, 1, tzinfo=UTC)}, {"/expires_at": "not_in_future"}),
    ],
)
async def test_a_fault_is_pointed_at(world: World, changes: dict[str, Any], pointers: dict[str, str]) -> None:
    problem = await refused(world, **changes)
    assert problem.kind.code == "validation_failed"
    assert {fault.pointer: fault.code for fault in problem.errors}.items() >= pointers.items()
    for fault in problem.errors:
        if (fault.pointer, fault.code) == ("/flavor", "not_in_region"):
            assert fault.detail.startswith("bow-pod16 is not sold in luxembourg-2, but in ")


async def test_a_key_of_another_project_is_unknown(world: World) -> None:
    async with world.database.begin() as connection:
        await make_project(connection, keys=["secret-key"])
    problem = await refused(world, ssh_keys=["secret-key"])
    assert [fault.code for fault in problem.errors] == ["unknown_ssh_key"]


async def test_what_has_no_price_is_not_sold(db: Database) -> None:
    world = await World.seeded(db, settings=Settings(currency="CHF"))
    problem = await refused(world)
    assert [fault.code for fault in problem.errors] == ["not_sold"]
    async with db.begin() as connection:
        await seed_prices(connection, currency="CHF")
    assert (await world.create()).target_id


async def test_a_name_is_free_in_another_project_and_again_once_its_cluster_is_deleted(world: World) -> None:
    async with world.database.begin() as connection:
        other = await make_project(connection)
    first = await world.create()
    assert (await world.customer(other).create()).target_id
    assert (await refused(world)).kind.code == "name_taken"
    await world.delete(first.target_id)
    assert (await refused(world)).kind.code == "name_taken"
    await world.finish_delete(first.target_id)
    assert (await world.create()).target_id != first.target_id


async def test_who_took_the_last_machines_learns_so_from_a_repeated_request(world: World) -> None:
    await world.create("first", "m2000-pod64")
    assert (await refused(world, name="first")).kind.code == "name_taken"
    assert (await refused(world, name="second")).kind.code == "capacity_exhausted"


async def test_a_refusal_for_want_of_quota_has_its_numbers(world: World) -> None:
    async with world.database.begin() as connection:
        small, none = await make_project(connection, quota=4), await make_project(connection, quota=None)
    assert (await refused(world, none)).kind.code == "quota_exceeded"
    await world.customer(small).create(flavor="m2000-pod8")
    problem = await refused(world, small, name="second", flavor="m2000-pod16")
    assert problem.kind.code == "quota_exceeded"
    why_not = problem.document()["why_not"]
    assert isinstance(why_not, dict)
    assert why_not["reason"] == "quota"
    assert why_not["numbers"] == {"wanted": 4, "limit": 4, "used": 2}


async def test_a_refusal_for_want_of_machines_has_the_reason_and_no_other_customers(world: World) -> None:
    await world.create(flavor="m2000-pod32")
    await world.create("second", flavor="m2000-pod8")
    async with world.database.begin() as connection:
        other = await make_project(connection)
    problem = await refused(world, other, flavor="m2000-pod32")
    assert (problem.kind.code, problem.kind.retryable) == ("capacity_exhausted", True)
    why_not = problem.document()["why_not"]
    assert isinstance(why_not, dict)
    assert why_not["reason"] == "capacity"
    assert why_not["numbers"]["free"] == 6
    assert why_not["numbers"]["largest"] == 4
    assert "project" not in str(problem.document())


async def test_the_site_says_how_long_its_stages_take(world: World) -> None:
    await world.execute("UPDATE site_regions SET typical_seconds = '{\"NETWORK\": 0.5}'")
    accepted = await world.create()
    operation = OperationOut.model_validate(await world.operation(accepted.operation_id))
    assert operation.expected_at is not None
    assert operation.expected_at - operation.created_at == timedelta(seconds=840.5)
    assert (await world.cluster(accepted.target_id))["state_sla_seconds"] == 841


async def test_few_round_trips(world: World) -> None:
    """Every further statement lengthens the time that others wait for the last machines."""
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    async with world.database.begin() as connection:
        sync = connection.sync_connection
        sa.event.listen(sync, "before_cursor_execute", note)
        await create(
            connection, world.project.actor, cluster_body(), catalogue=world.catalogue, settings=world.settings
        )
    assert len(statements) == 7
    locked = next(index for index, statement in enumerate(statements) if "lock_room" in statement)
    assert len(statements) - locked == 2

"""Reservations: what is reserved is held, handed over as clusters, and billed whether it is used or not."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from ipucloud.identity.roles import Role
from ipucloud.invariants.audit import audit
from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.reports import report
from ipucloud.inventory.release import free as free_hardware
from ipucloud.inventory.release import release
from ipucloud.policies.reservations import follow_reservations
from tests.api.support import (
    Api,
    cluster_id,
    cluster_json,
    codes_of,
    faults_of,
    items,
    key,
    ok,
    operator_items,
    problem,
)
from tests.support.reservations import RESERVED, offer

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
async def offered(api: Api) -> None:
    async with api.world.database.begin() as connection:
        await offer(connection)
    await api.world.execute("UPDATE quotas SET machine_limit = 1000")


async def times(api: Api, hours: float = 48, length: float = 2) -> dict[str, str]:
    now: datetime = await api.world.value("SELECT date_trunc('minute', app_now())")
    starts = now + timedelta(hours=hours)
    return {"starts_at": starts.isoformat(), "ends_at": (starts + timedelta(hours=length)).isoformat()}


async def reservation_body(api: Api, **changes: object) -> dict[str, object]:
    usual = {"name": "may", "region": "luxembourg-2", "flavor": "m2000-pod4", "count": 2, **await times(api)}
    return usual | changes


async def reserve(api: Api, **changes: object) -> dict[str, Any]:
    return ok(await api.owner.post(f"{api.base}/reservations", json=await reservation_body(api, **changes)), 201)


async def read(api: Api, reservation: dict[str, Any]) -> dict[str, Any]:
    return ok(await api.owner.get(f"{api.base}/reservations/{reservation['id']}"))


async def free(api: Api) -> int:
    return int(
        await api.world.value(
            "SELECT sum(length(replace(free_mask::bit(16)::text, '0', '')))::integer FROM pods"
            " WHERE region = 'luxembourg-2' AND machine_type = 'm2000'"
        )
    )


async def used(api: Api) -> int:
    return int(await api.world.value("SELECT used FROM quotas WHERE region = 'luxembourg-2'"))


async def begin(api: Api, reservation: dict[str, Any], *, hours_ago: int = 1) -> dict[str, Any]:
    """Move the reservation so that it began in the past, and let the worker look."""
    await api.world.execute(
        """
        UPDATE reservations SET (starts_at, ends_at) =
               (SELECT at, at + (ends_at - starts_at)
                  FROM (SELECT date_trunc('minute', app_now()) - make_interval(hours => :hours) AS at) AS moved)
         WHERE id = :id
        """,
        id=reservation["id"],
        hours=hours_ago,
    )
    await follow_reservations(api.world.database)
    return await read(api, reservation)


async def end(api: Api, reservation: dict[str, Any]) -> dict[str, Any]:
    await api.world.execute(
        "UPDATE reservations SET ends_at = date_trunc('minute', app_now()) - interval '1 minute' WHERE id = :id",
        id=reservation["id"],
    )
    await follow_reservations(api.world.database)
    return await read(api, reservation)


async def use(api: Api, reservation: dict[str, Any]) -> UUID:
    """A cluster of its machines, in use."""
    body = cluster_json(reservation=reservation["id"])
    cluster = cluster_id(ok(await api.owner.post(f"{api.base}/clusters", json=body, headers=key()), 202))
    await api.world.finish_create(cluster)
    return cluster


async def give_back(api: Api, cluster: UUID) -> int:
    """Delete a cluster whose machines were observed clean: how many became free."""
    ok(await api.owner.delete(f"{api.base}/clusters/{cluster}", headers=key()), 202)
    project = api.world.project.id
    async with api.world.database.begin() as connection:
        await release(connection, project_id=project, cluster_id=cluster, hosts=None)
        return await free_hardware(connection, project_id=project, cluster_id=cluster, validated=True)


async def held_machine(api: Api, reservation: dict[str, Any]) -> Any:
    statement = """
    SELECT machine_id FROM allocations
     WHERE reservation_id = :id AND machine_id IS NOT NULL AND freed_at IS NULL
    """
    return await api.world.value(statement, id=reservation["id"])


async def intervals(api: Api) -> list[tuple[Any, ...]]:
    shown = "u.sku, u.quantity, r.kind = 'reservation', u.ended_at IS NULL"
    intervals = f"SELECT {shown} FROM usage_intervals u JOIN resources r ON r.id = u.resource_id ORDER BY 3 DESC"  # noqa: S608
    return [tuple(row) for row in await api.world.rows(intervals)]


async def healthy(api: Api) -> None:
    violations = await audit(api.world.database)
    assert [(each.rule.name, each.violation.detail) for each in violations] == []


@pytest.mark.acceptance("CAP04-01")
async def test_a_reservation_holds_its_machines_and_becomes_clusters(api: Api) -> None:
    before = await free(api)
    reservation = await reserve(api)
    assert reservation | {"state": "scheduled", "machines": 2, "left": 0, "clusters": []} == reservation
    assert (await free(api), await used(api)) == (before - 2, 2)
    body = cluster_json(reservation=reservation["id"])
    early = await api.owner.post(f"{api.base}/clusters", json=body, headers=key())
    assert "It begins at" in problem(early, 409, "state_conflict")["detail"]
    await healthy(api)

    active = await begin(api, reservation)
    assert (active["state"], active["left"]) == ("active", 2)
    assert await intervals(api) == [(RESERVED, 2, True, True)]
    cluster = await use(api, reservation)
    current = await read(api, reservation)
    assert (current["left"], current["clusters"]) == (1, [str(cluster)])
    # Neither quota nor money beside the reservation's.
    assert (await free(api), await used(api)) == (before - 2, 2)
    assert await intervals(api) == [(RESERVED, 2, True, True)]
    await healthy(api)

    ended = await end(api, reservation)
    assert (ended["state"], ended["left"]) == ("ended", 0)
    assert (await free(api), await used(api)) == (before - 1, 1)
    assert await intervals(api) == [(RESERVED, 2, True, False), ("ipu-m2000", 1, False, True)]
    await healthy(api)


async def test_operators_see_who_holds_what_is_reserved(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    reservation = await begin(api, await reserve(api, count=1))
    [held] = await operator_items(admin, "machines", state="allocated")
    assert held["holder"] == {
        "project": api.world.project.slug,
        "cluster": None,
        "reservation": reservation["id"],
        "name": "may",
        "state": "active",
        "since": held["holder"]["since"],
        "released_at": None,
        "freed_at": None,
    }
    # Nobody works on it: a drain is complete at once.
    named = {"machines": [held["name"]]}
    order = named | {"reason": "power work"}
    [drained] = ok(await admin.post("/v1/operator/hardware:drain", json=order, headers=key()))["items"]
    assert drained["holder"] is None
    ok(await admin.post("/v1/operator/hardware:return-to-service", json=named, headers=key()))
    entries = await operator_items(admin, f"machines/{held['name']}/history", type="allocated")
    assert [each["detail"] for each in entries] == ["reservation may"]
    cluster = await use(api, reservation)
    [held] = await operator_items(admin, "machines", state="allocated")
    assert (held["holder"]["cluster"], held["holder"]["reservation"]) == (str(cluster), reservation["id"])


async def test_a_cluster_gives_its_machines_back_to_the_reservation(api: Api) -> None:
    before, reservation = await free(api), await reserve(api, count=1)
    await begin(api, reservation)
    cluster, body = await use(api, reservation), cluster_json("ernie", reservation=reservation["id"])
    full = problem(await api.owner.post(f"{api.base}/clusters", json=body, headers=key()), 409, "capacity_exhausted")
    assert full["why_not"]["numbers"] == {"count": 1, "left": 0}
    grown = await api.owner.post(f"{api.base}/clusters/{cluster}:resize", json={"flavor": "m2000-pod8"}, headers=key())
    assert "active reservation" in problem(grown, 409, "state_conflict")["detail"]

    assert await give_back(api, cluster) == 0
    current = await read(api, reservation)
    assert (current["left"], current["clusters"], await free(api), await used(api)) == (1, [], before - 1, 1)
    again = ok(await api.owner.post(f"{api.base}/clusters", json=body, headers=key()), 202)
    assert (await read(api, reservation))["clusters"] == [str(cluster_id(again))]


async def test_what_clusters_had_of_it_is_validated_when_it_ends(api: Api) -> None:
    before = await free(api)
    reservation = await begin(api, await reserve(api, count=2))
    cluster = await use(api, reservation)
    machine = await api.world.machine_of(cluster)
    await give_back(api, cluster)
    unvalidated = """
    SELECT m.name FROM health_reports r JOIN machines m ON m.id = r.machine_id
     WHERE r.code = 'not_validated' AND r.cleared_at IS NULL
    """
    assert (await read(api, reservation))["left"] == 2
    assert await api.world.column(unvalidated) == []
    await api.world.execute("UPDATE reservations SET ends_at = date_trunc('minute', app_now()) - interval '1 minute'")
    await follow_reservations(api.world.database, validated=True)
    assert (await read(api, reservation))["state"] == "ended"
    assert await api.world.column(unvalidated) == [machine]
    assert (await free(api), await used(api)) == (before - 1, 0)


@pytest.mark.parametrize("verb", ["suspend", "delete"])
async def test_a_cluster_that_outlives_its_reservation_is_billed_although_no_worker_has_ended_it(
    api: Api, verb: str
) -> None:
    cluster = await use(api, await begin(api, await reserve(api, count=1), hours_ago=1))
    await api.world.execute(
        "UPDATE clusters SET (created_at, ready_at, state_entered_at) ="
        " (app_now() - interval '55 minutes', app_now() - interval '50 minutes', app_now() - interval '50 minutes')"
    )
    over = "UPDATE reservations SET ends_at = date_trunc('minute', app_now()) - interval '10 minutes'"
    await api.world.execute(over)
    path = f"{api.base}/clusters/{cluster}"
    ok(await (api.owner.delete(path) if verb == "delete" else api.owner.post(f"{path}:suspend")), 202)
    assert await intervals(api) == [(RESERVED, 1, True, True), ("ipu-m2000", 1, False, False)]
    await follow_reservations(api.world.database)
    assert await intervals(api) == [(RESERVED, 1, True, False), ("ipu-m2000", 1, False, False)]
    adjoins = """
    SELECT own.started_at = r.ends_at AND own.ended_at - own.started_at >= interval '10 minutes'
      FROM usage_intervals own JOIN clusters ON clusters.id = own.resource_id, reservations r
    """
    assert await api.world.value(adjoins)


async def test_a_reservation_is_cancelled_by_its_rule(api: Api) -> None:
    before = await free(api)
    reservation = await reserve(api)
    answer = await api.owner.post(f"{api.base}/reservations/{reservation['id']}:cancel", headers=key())
    assert answer.json()["state"] == "cancelled"
    assert (await free(api), await used(api), await intervals(api)) == (before, 0, [])
    again = await api.owner.post(f"{api.base}/reservations/{reservation['id']}:cancel", headers=key())
    problem(again, 409, "state_conflict")
    late = await reserve(api, **await times(api, hours=23))
    assert late["cancel_until"] is None
    refused = await api.owner.post(f"{api.base}/reservations/{late['id']}:cancel", headers=key())
    assert "can no longer be cancelled" in problem(refused, 409, "state_conflict")["detail"]
    assert (await read(api, late))["state"] == "scheduled"
    listed = await items(api.owner, f"{api.base}/reservations", state="cancelled")
    assert [each["id"] for each in listed] == [reservation["id"]]


async def test_an_estimate_says_what_it_costs_and_what_fits(api: Api) -> None:
    body = await reservation_body(api, count=3)
    estimate = (await api.owner.post(f"{api.base}/reservations:estimate", json=body)).json()
    assert (estimate["minutes"], estimate["machines"], estimate["sku"]) == (120, 3, RESERVED)
    assert Decimal(estimate["cost"]["amount"]) == 120 * 3 * Decimal("0.05")
    assert estimate["capacity"]["available"]
    many = (await api.owner.post(f"{api.base}/reservations:estimate", json=body | {"count": 64})).json()
    assert not many["capacity"]["available"]
    fits = many["capacity"]["fits"]
    refused = await api.owner.post(f"{api.base}/reservations", json=body | {"count": 64}, headers=key())
    assert f"room for {fits} of the 64" in problem(refused, 409, "capacity_exhausted")["detail"]
    reservation = await reserve(api, count=fits)
    assert reservation["machines"] == fits
    problem(await api.owner.post(f"{api.base}/clusters", json=cluster_json(), headers=key()), 409, "capacity_exhausted")


@pytest.mark.parametrize(
    ("changes", "pointer", "code"),
    [
        ({"hours": -1}, "/starts_at", "not_in_future"),
        ({"hours": 15 * 24}, "/starts_at", "too_far_ahead"),
        ({"length": -1}, "/ends_at", "not_after_start"),
        ({"length": 0.5}, "/ends_at", "out_of_range"),
        ({"length": 32 * 24}, "/ends_at", "out_of_range"),
        ({"flavor": "m2000-pod3"}, "/flavor", "unknown_flavor"),
        ({"region": "mars-1"}, "/region", "unknown_region"),
        ({"flavor": "m2000-pod4", "region": "lab-1"}, "/flavor", "not_in_region"),
    ],
)
async def test_bad_input_reserves_nothing(api: Api, changes: dict[str, Any], pointer: str, code: str) -> None:
    shape = {name: value for name, value in changes.items() if name in {"hours", "length"}}
    other = {name: value for name, value in changes.items() if name not in shape}
    before = await api.snapshot()
    answer = await api.owner.post(
        f"{api.base}/reservations", json=await reservation_body(api, **await times(api, **shape), **other)
    )
    assert faults_of(answer) == [(pointer, code)]
    assert await api.snapshot() == before


async def test_what_cannot_be_reserved_changes_nothing(api: Api) -> None:
    await api.world.execute("UPDATE quotas SET machine_limit = 3")
    before = await api.snapshot()
    over = await api.owner.post(f"{api.base}/reservations", json=await reservation_body(api, count=4))
    assert "enough for 3 of the 4" in problem(over, 409, "quota_exceeded")["detail"]
    assert await api.snapshot() == before
    unsold = await api.owner.post(
        f"{api.base}/reservations", json=await reservation_body(api, flavor="bow-pod4", region="amsterdam-2")
    )
    assert codes_of(unsold) == ["not_offered"]
    assert await api.snapshot() == before


@pytest.mark.parametrize("hours", [49, 72], ids=["overlapping", "later"])
async def test_what_is_reserved_already_is_not_reserved_again(api: Api, hours: float) -> None:
    """Machines are held from the request on, so one that overlaps and one that comes later are refused alike."""
    places = await free(api)
    first = await reserve(api, count=places - 1)
    before = await api.snapshot()
    body = await reservation_body(api, name="june", count=2, **await times(api, hours=hours))
    answer = await api.owner.post(f"{api.base}/reservations", json=body, headers=key())
    refused = problem(answer, 409, "capacity_exhausted")
    assert "room for 1 of the 2" in refused["detail"]
    assert await api.snapshot() == before
    assert (await reserve(api, **(body | {"count": 1})))["machines"] == 1
    assert (await read(api, first))["machines"] == places - 1


async def test_contenders_for_the_last_blocks_get_each_once(api: Api) -> None:
    """Reservations and creates at once, for more than there is: nothing is reserved twice, and nothing is left."""
    places = await free(api)
    for_others = [await reservation_body(api, name=f"r{number}", count=2) for number in range(places // 2)]
    requests = [api.owner.post(f"{api.base}/reservations", json=body, headers=key()) for body in for_others]
    requests += [
        api.owner.post(f"{api.base}/clusters", json=cluster_json(f"c{number}"), headers=key())
        for number in range(places // 2)
    ]
    answers = await asyncio.gather(*requests)
    assert {answer.status_code for answer in answers} <= {201, 202, 409, 503}
    reserved_machines = 2 * sum(answer.status_code == 201 for answer in answers)
    created = sum(answer.status_code == 202 for answer in answers)
    assert await free(api) == places - reserved_machines - created
    assert await used(api) == reserved_machines + created


async def test_reserved_hardware_that_fails_is_replaced(api: Api) -> None:
    reservation = await reserve(api, count=1)
    machine = await held_machine(api, reservation)
    async with api.world.database.begin() as connection:
        await report(
            connection, kind="machine", object_id=machine, source=Source.OPERATOR, code=Code.QUARANTINE, detail="test"
        )
    await follow_reservations(api.world.database)
    assert await held_machine(api, reservation) != machine
    assert (await begin(api, reservation))["left"] == 1

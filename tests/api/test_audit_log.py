"""The audit log: who asked for what, in a chain in which no change stays unseen."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import httpx
import psycopg
import pytest
import sqlalchemy as sa
from typer.testing import CliRunner, Result

from ipucloud.cli.service.audit_log import app
from ipucloud.identity.audit_log import ABANDONED_SECONDS, Verified, prune, seal, verify
from ipucloud.identity.roles import Role
from tests.api.people import person
from tests.api.support import Api, items, key, problem
from tests.support.people import PASSWORD
from tests.support.postgres import Database as Scratch
from tests.support.world.clock import stop_clock

pytestmark = pytest.mark.anyio

LOG, ALL = "/audit-log", "/v1/operator/audit-log"


async def entries(api: Api, **filters: str) -> list[dict[str, Any]]:
    return await items(api.owner, f"{api.base}{LOG}", order="created_at", **filters)


async def verified(api: Api, head: str | None = None) -> Verified:
    async with api.world.database.read() as connection:
        return await verify(connection, head=head)


def summary(each: dict[str, Any]) -> tuple[object, ...]:
    return each["operation"], each["status"], each["code"], each["state"]


async def test_every_write_and_reads_of_money_have_an_entry_with_their_result(api: Api) -> None:
    ann = await person(api, Role.VIEWER)
    login = await api.client().post("/v1/login", json={"email": ann.email, "password": PASSWORD})
    viewer = api.client(login.json()["token"], **{"User-Agent": "a program\x07"})
    repeated, body = key(), {"name": "ci", "role": "viewer"}
    for headers in (repeated, repeated):
        token = await api.owner.post(f"{api.base}/tokens", json=body, headers=headers)
    problem(await viewer.post(f"{api.base}/tokens", json=body), 403, "permission_denied")
    problem(await api.owner.delete(f"{api.base}/clusters/none"), 404, "not_found")
    problem(await api.owner.post(f"{api.base}/tokens", json={}), 422, "validation_failed")
    problem(await api.client("wrong").post(f"{api.base}/tokens", json=body), 401, "unauthenticated")
    await api.owner.get(f"{api.base}/tokens")
    await api.owner.get(f"{api.base}/clusters")
    await api.owner.get(f"{api.base}/billing/invoices")

    log = await entries(api)
    assert [summary(each) for each in log] == [
        ("logIn", 201, None, "completed"),
        ("createToken", 201, None, "completed"),
        ("createToken", 201, None, "completed"),
        ("createToken", 403, "permission_denied", "completed"),
        ("deleteCluster", 404, "not_found", "completed"),
        ("createToken", 422, "validation_failed", "completed"),
        ("listTokens", 200, None, "completed"),
        ("listInvoices", 200, None, "completed"),
        ("listAuditLog", None, None, "open"),  # the one that is being served
    ]
    assert {log[place]["actor"] for place in (0, 3)} == {ann.email}
    assert (log[3]["agent"], log[3]["address"]) == ("a program?", "127.0.0.1")
    assert log[1]["request_id"] != log[2]["request_id"]
    assert [summary(each)[0] for each in await entries(api, actor=ann.email)] == ["logIn", "createToken"]
    assert [summary(each)[0] for each in await entries(api, writes="true")] == [summary(each)[0] for each in log[:6]]
    assert [summary(each)[:2] for each in await entries(api, operation="deleteCluster")] == [("deleteCluster", 404)]
    for secret in (PASSWORD, token.json()["token"] or "ipu_test_", login.json()["token"]):
        assert "audit_log" not in await api.stores(secret)


async def test_signing_in_has_an_entry_whether_it_succeeds_or_not(api: Api, admin: httpx.AsyncClient) -> None:
    for password, status in (("wrong", 401), (PASSWORD, 401)):
        answer = await api.client().post("/v1/session", json={"email": "nobody@example.com", "password": password})
        assert answer.status_code == status
    await api.client().post("/v1/session", json={"token": api.world.project.token.secret})
    log = await items(admin, ALL, operation="signIn")
    assert [(each["status"], each["actor"] is None) for each in log] == [(201, False), (401, True), (401, True)]
    everything = (await admin.get(ALL, params={"project": api.world.project.slug})).json()["items"]
    assert {each["project_id"] for each in everything} <= {str(api.world.project.id)}


async def test_what_changes_a_sealed_entry_is_found(api: Api, database: Scratch) -> None:
    for number in range(4):
        await api.owner.post(f"{api.base}/tokens", json={"name": f"t{number}", "role": "viewer"})
    await seal(api.world.database)
    sound = await verified(api)
    assert (sound.entries, sound.faults) == (4, [])
    await api.owner.post(f"{api.base}/tokens", json={"name": "t5", "role": "viewer"})
    await seal(api.world.database)
    longer = await verified(api, sound.head)
    assert (longer.entries, longer.faults) == (5, [])
    sealed = await entries(api, operation="createToken")
    assert [each["seq"] for each in sealed] == [1, 2, 3, 4, 5]
    assert sealed[-1]["hash"] == longer.head

    for refused in ("UPDATE audit_log SET status = 500 WHERE seq = 2", "DELETE FROM audit_log"):
        with pytest.raises(sa.exc.DBAPIError):
            await api.world.execute(refused)
    for statement, fault in (
        ("UPDATE audit_log SET status = 500 WHERE seq = 2", "entry 2 ("),
        ("UPDATE audit_log SET actor = 'somebody else' WHERE seq = 1", "entry 1 ("),
        ("DELETE FROM audit_log WHERE seq = 3", "entries 3 to 3 are missing"),
        ("DELETE FROM audit_log WHERE seq = 5", f"no entry has the hash {longer.head}"),
    ):
        with psycopg.connect(database.owner_url, autocommit=True) as owner:
            owner.execute("ALTER TABLE audit_log DISABLE TRIGGER USER")
            assert owner.execute(statement).rowcount == 1
        verification = await verified(api, longer.head)
        assert any(fault in each for each in verification.faults), (statement, verification.faults)


async def test_the_oldest_entries_end_and_the_rest_of_the_chain_holds(
    api: Api, database: Scratch, stopped_clock: None
) -> None:
    async def written(*names: str) -> str:
        for name in names:
            await api.owner.post(f"{api.base}/tokens", json={"name": name, "role": "viewer"})
        await seal(api.world.database)
        return (await verified(api)).head

    old = await written("a", "b", "c")
    now = await api.world.value("SELECT app_now()")
    stop_clock(database.owner_url, now + timedelta(days=60))
    head = await written("d")
    with pytest.raises(sa.exc.IntegrityError):
        await prune(api.world.database, 89)
    assert await prune(api.world.database, 90) == 0
    stop_clock(database.owner_url, now + timedelta(days=91))
    assert await prune(api.world.database, 90) == 3
    assert await verified(api, head) == (4, 3, head, [])
    assert (await verified(api, old)).faults == []
    [lost] = (await verified(api, "ff")).faults
    assert "one of the 3 that were removed" in lost
    stop_clock(database.owner_url, now + timedelta(days=500))
    assert await prune(api.world.database, 90) == 0, "the newest one stays"
    after = await written("e")
    assert await prune(api.world.database, 90) == 1
    assert await verified(api, after) == (5, 4, after, [])
    with pytest.raises(sa.exc.DBAPIError):
        await api.world.execute("UPDATE audit_log_start SET seq = 5")


async def test_an_entry_that_nobody_completes_is_abandoned(api: Api, database: Scratch, stopped_clock: None) -> None:
    await api.owner.post(f"{api.base}/tokens", json={"name": "t", "role": "viewer"})
    # Its process was killed before it could complete it.
    await api.world.execute("UPDATE audit_log SET completed_at = NULL, status = NULL")
    now = await api.world.value("SELECT app_now()")
    await seal(api.world.database)
    [lost] = await entries(api, operation="createToken")
    assert (lost["state"], lost["seq"]) == ("open", None)
    stop_clock(database.owner_url, now + timedelta(seconds=ABANDONED_SECONDS + 1))
    await seal(api.world.database)
    lost, *_ = await entries(api, operation="createToken")
    assert (lost["state"], lost["status"], lost["seq"]) == ("abandoned", None, 2)


async def test_operators_verify_and_export_it_at_the_database(api: Api, database: Scratch) -> None:
    for number in range(3):
        await api.owner.post(f"{api.base}/tokens", json={"name": f"t{number}", "role": "viewer"})
    await seal(api.world.database)

    async def run(*arguments: str) -> Result:
        environment = {"IPUCLOUD_DATABASE_URL": database.app_url}
        return await asyncio.to_thread(CliRunner().invoke, app, [*arguments], env=environment)

    verified = await run("verify", "--json")
    assert verified.exit_code == 0, verified.output
    head = json.loads(verified.output)["head"]
    exported = [json.loads(line) for line in (await run("export", "--after", "1")).output.splitlines()]
    assert [each["seq"] for each in exported] == [2, 3]
    assert exported[-1]["hash"] == head
    cloud_events = (await run("export", "--format", "cloudevents", "--after", "1")).output.splitlines()
    for line, entry in zip(cloud_events, exported, strict=True):
        event = json.loads(line)
        assert (event["specversion"], event["id"], event["data"]) == ("1.0", entry["id"], entry)
        assert (event["type"], event["subject"]) == ("ipucloud.audit.createToken", f"projects/{api.world.project.id}")
    syslog = (await run("export", "--format", "syslog", "--after", "1")).output.splitlines()
    for line, entry in zip(syslog, exported, strict=True):
        header, _, text = line.partition(" - createToken - ")
        assert (header, json.loads(text)) == (f"<109>1 {entry['at']} - ipucloud", entry)
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("ALTER TABLE audit_log DISABLE TRIGGER USER")
        owner.execute("UPDATE audit_log SET actor = 'nobody' WHERE seq = 2")
    broken = await run("verify", "--head", head)
    assert broken.exit_code == 3
    assert "entry 2" in broken.output

"""SSH certificates over the API: who gets one, what is refused, and that the authority's key stays where it is."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import asyncssh
import httpx
import pytest
from pydantic import SecretStr

from ipucloud.identity.roles import Role
from ipucloud.identity.ssh_authorities import secret_place
from ipucloud.identity.tokens import TokenKind
from ipucloud.kernel.sealing import new_key, read_keys, unseal
from ipucloud.worker.reencryption import reencrypt
from tests.api.support import PUBLIC_KEY, SECRETS_KEY, UNLIMITED, Api, faults_of, items, key, problem, running
from tests.support.factories import Project
from tests.support.people import Person, make_owned, make_person
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio


async def in_use(api: Api, name: str = "bert") -> UUID:
    """A cluster whose servers were seen to trust the project's authority."""
    cluster = await api.world.make_active(name)
    authority = (await api.owner.post(f"{api.base}/ssh-authority:rotate")).raise_for_status().json()
    await trusted(api, authority["public_key"])
    return cluster


async def trusted(api: Api, public_key: str) -> None:
    for table in ("clusters", "poplar_servers"):
        await api.world.execute(f"UPDATE {table} SET ssh_authority = :key", key=public_key)  # noqa: S608


async def login_of(api: Api, role: Role = Role.OPERATOR) -> tuple[Person, httpx.AsyncClient]:
    """A member of the project, and their command line."""
    project: Project = api.world.project
    async with api.world.database.begin() as connection:
        person = await make_person(connection, project.id, role)
        login = await make_owned(connection, person, project.id, role, TokenKind.LOGIN)
    return person, api.client(login.secret)


async def sign_key(caller: httpx.AsyncClient, path: str, **body: object) -> httpx.Response:
    return await caller.post(f"{path}:sign-ssh-key", json={"public_key": PUBLIC_KEY} | body)


async def test_a_member_gets_a_certificate_for_one_cluster(api: Api) -> None:
    path = f"{api.base}/clusters/{await in_use(api)}"
    person, ada = await login_of(api)
    answer = await sign_key(ada, path, valid_seconds=600)
    issued = answer.raise_for_status().json()
    assert (issued["key_id"], issued["serial"]) == (f"{person.email}#1", 1)
    certificate: Any = asyncssh.import_certificate(issued["certificate"])
    assert certificate.principals == [path.rpartition("/")[2]]
    assert certificate.options == {"permit-port-forwarding": True, "permit-pty": True}
    assert certificate.key.get_fingerprint() == issued["fingerprint"]
    assert certificate.signing_key.get_fingerprint() == issued["authority"]
    assert (await api.owner.get(f"{api.base}/ssh-authority")).json()["fingerprint"] == issued["authority"]
    begin, end = (datetime.fromisoformat(issued[each]) for each in ("valid_from", "valid_until"))
    assert end - begin == timedelta(seconds=600 + 60)
    [event] = await items(api.owner, f"{api.base}/events", type="ssh_certificate.issued")
    assert (event["actor"], event["subject_id"]) == (person.email, path.rpartition("/")[2])
    assert event["data"] == {
        name: issued[name] for name in ("key_id", "serial", "fingerprint", "authority", "valid_until")
    }
    entries = await items(api.owner, f"{api.base}/audit-log", operation="signSshKey")
    assert [(each["actor"], each["status"]) for each in entries] == [(person.email, 200)]
    assert (await sign_key(ada, path)).json()["serial"] == 2


async def test_a_certificate_ends_with_the_token_of_its_person(api: Api) -> None:
    path = f"{api.base}/clusters/{await in_use(api)}"
    person, ada = await login_of(api)
    await api.world.execute(
        "UPDATE tokens SET expires_at = app_now() + interval '5 minutes' WHERE owner_id = :id", id=person.id
    )
    issued = (await sign_key(ada, path)).raise_for_status().json()
    begin, end = (datetime.fromisoformat(issued[each]) for each in ("valid_from", "valid_until"))
    assert end - begin <= timedelta(minutes=6)


async def test_service_tokens_get_none(api: Api) -> None:
    path = f"{api.base}/clusters/{await in_use(api)}"
    for caller in (api.owner, await api.caller(Role.ADMIN)):
        assert "for people" in problem(await sign_key(caller, path), 409, "state_conflict")["detail"]
    assert await api.world.value("SELECT serial FROM ssh_authorities WHERE ended_at IS NULL") == 0


async def test_bodies_that_make_no_sense_are_refused(api: Api) -> None:
    path = f"{api.base}/clusters/{await in_use(api)}"
    _, ada = await login_of(api)
    weak = asyncssh.generate_private_key("ssh-rsa", key_size=1024).export_public_key().decode()
    [fault] = problem(await sign_key(ada, path, public_key=weak), 422, "ssh_key_refused")["errors"]
    assert fault["code"] == "ssh_key_too_weak"
    wrong: list[dict[str, object]] = [
        {"public_key": "ssh-ed25519 " + "A" * 9000},
        {"public_key": None},
        {"public_key": 1},
        {"valid_seconds": 0},
        {"valid_seconds": 59},
        {"valid_seconds": 86_401},
        {"valid_seconds": "an hour"},
        {"principals": ["root"]},
    ]
    for body in wrong:
        problem(await sign_key(ada, path, **body), 422, "validation_failed")
    assert await api.world.value("SELECT serial FROM ssh_authorities WHERE ended_at IS NULL") == 0


async def test_servers_that_would_not_accept_it_are_named_instead(api: Api) -> None:
    bert = await in_use(api)
    path = f"{api.base}/clusters/{bert}"
    _, ada = await login_of(api)
    assert (await api.owner.get(f"{api.base}/ssh-authority")).json()["pending_clusters"] == []
    rotated = (await api.owner.post(f"{api.base}/ssh-authority:rotate", headers=key())).raise_for_status().json()
    assert rotated["pending_clusters"] == ["bert"]
    assert "rotated" in problem(await sign_key(ada, path), 409, "state_conflict")["detail"]
    await api.world.execute("UPDATE poplar_servers SET ssh_authority = NULL")
    assert "Change its SSH keys" in problem(await sign_key(ada, path), 409, "state_conflict")["detail"]
    await trusted(api, rotated["public_key"])
    assert (await sign_key(ada, path)).status_code == 200
    await api.world.suspend(bert)
    assert "wait until" in problem(await sign_key(ada, path), 409, "state_conflict")["detail"]
    await api.world.finish_suspend(bert)
    assert "resume it first" in problem(await sign_key(ada, path), 409, "state_conflict")["detail"]


async def test_an_authority_is_rotated_and_a_project_without_clusters_has_none(api: Api) -> None:
    problem(await api.owner.get(f"{api.base}/ssh-authority"), 404, "not_found")
    first = (await api.owner.post(f"{api.base}/ssh-authority:rotate")).json()
    headers = key()
    second = (await api.owner.post(f"{api.base}/ssh-authority:rotate", headers=headers)).json()
    replayed = (await api.owner.post(f"{api.base}/ssh-authority:rotate", headers=headers)).json()
    assert second == replayed != first
    events = await items(api.owner, f"{api.base}/events", type="ssh_authority.rotated")
    recorded = {(each["data"]["fingerprint"], each["data"]["former"]) for each in events}
    assert recorded == {(first["fingerprint"], None), (second["fingerprint"], first["fingerprint"])}
    assert await api.world.value("SELECT count(*) FROM ssh_authorities WHERE private_key IS NOT NULL") == 1


async def test_the_private_key_of_the_authority_is_nowhere_else(api: Api, capfd: pytest.CaptureFixture[str]) -> None:
    path = f"{api.base}/clusters/{await in_use(api)}"
    _, ada = await login_of(api)
    answers = [
        await sign_key(ada, path),
        await sign_key(ada, path, public_key="x"),
        await api.owner.get(f"{api.base}/ssh-authority"),
        await api.owner.get(f"{api.base}/events"),
        await api.owner.get(f"{api.base}/audit-log"),
        await api.owner.get(path),
    ]
    row = await api.world.one("SELECT * FROM ssh_authorities WHERE ended_at IS NULL")
    private = unseal(read_keys(SECRETS_KEY), row.private_key, secret_place(row.id, row.project_id))
    body = private.splitlines()[2]  # the first line has the public key, too
    assert len(body) > 20
    shown = "".join(answer.text for answer in answers) + "".join(capfd.readouterr())
    assert body not in shown
    assert row.private_key not in shown
    assert await api.stores(body) == []
    assert await api.stores(row.private_key) == ["ssh_authorities"]


async def test_the_authority_survives_a_change_of_the_key_that_encrypts_it(database: Scratch, api: Api) -> None:
    path = f"{api.base}/clusters/{await in_use(api)}"
    newer = new_key()
    await reencrypt(api.world.database, read_keys(f"{newer},{SECRETS_KEY}"))
    async with running(api.world, database.app_url, settings=UNLIMITED | {"secrets_key": SecretStr(newer)}) as other:
        assert (await sign_key((await login_of(other))[1], path)).status_code == 200


async def test_an_installation_decides_how_long_certificates_are_valid(database: Scratch, api: Api) -> None:
    path = f"{api.base}/clusters/{await in_use(api)}"
    short = UNLIMITED | {"ssh_certificate_seconds": 7200, "ssh_certificate_limit": 1800}
    async with running(api.world, database.app_url, settings=short) as other:
        _, ada = await login_of(other)
        assert faults_of(await sign_key(ada, path, valid_seconds=1801)) == [("/valid_seconds", "less_than_equal")]
        issued = (await sign_key(ada, path)).raise_for_status().json()
        begin, end = (datetime.fromisoformat(issued[each]) for each in ("valid_from", "valid_until"))
        assert end - begin == timedelta(seconds=1860)
    async with running(api.world, database.app_url, settings=UNLIMITED | {"secrets_key": None}) as other:
        problem(await sign_key((await login_of(other))[1], path), 501, "not_configured")

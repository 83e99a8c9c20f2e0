"""Terminals: a real WebSocket client, the API as a process, a worker, and real SSH to the simulated site."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncssh
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from ipucloud.identity.roles import Role
from ipucloud.kernel.actor import Actor
from ipucloud.programs.terminals import store
from tests.support.api_process import ApiProcess, api_process
from tests.support.breakable import held
from tests.support.factories import make_project, make_token
from tests.support.machine import Need, needs
from tests.support.postgres import Database as Scratch
from tests.support.postgres import TestServer
from tests.support.site import RunningSite
from tests.support.waiting import PATIENCE, until
from tests.support.world import SiteWorld, open_site_world
from tests.support.world.clock import shift_clock, start_clock

pytestmark = pytest.mark.anyio

MANY: dict[str, object] = {"rate_limit_per_second": 1_000_000, "rate_limit_burst": 1_000_000}


@dataclass
class RunningCluster:
    """A cluster in use, a worker, and an API process."""

    scratch: Scratch
    world: SiteWorld
    api: ApiProcess
    cluster: UUID
    server: Any

    @property
    def path(self) -> str:
        return (
            f"/v1/projects/{self.world.project.slug}/clusters/{self.cluster}/poplar-servers/{self.server.name}/terminal"
        )

    def connect(self, secret: str | None = None, *, path: str | None = None, **more: Any) -> connect:
        token = self.world.project.token.secret if secret is None else secret
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        headers |= more.pop("headers", {})
        url = f"ws://127.0.0.1:{self.api.port}{path or self.path}"
        return connect(url, additional_headers=headers, proxy=None, open_timeout=PATIENCE, **more)

    async def refused(self, secret: str | None = None, **more: Any) -> tuple[int, str]:
        """Status and code of a WebSocket that is not accepted."""
        before = await self.world.value("SELECT count(*) FROM terminals")
        with pytest.raises(InvalidStatus) as refusal:
            async with self.connect(secret, **more):
                pass
        assert await self.world.value("SELECT count(*) FROM terminals") == before
        response = refusal.value.response
        return response.status_code, json.loads(response.body)["code"]

    async def token(self, role: Role) -> str:
        async with self.world.database.begin() as connection:
            return (await make_token(connection, self.world.project.id, role)).secret

    async def lets_in(self, key: asyncssh.SSHKey, *, no_more: bool = False) -> bool:
        """Whether the server does; `no_more`: whether it does not."""
        at = self.server
        try:
            async with asyncssh.connect(
                at.ssh_host, at.ssh_port, username=at.ssh_user, known_hosts=None, client_keys=[key], config=None
            ):
                return not no_more
        except asyncssh.PermissionDenied:
            return no_more

    async def key_is_gone(self) -> None:
        gone = "SELECT count(*) = 0 FROM terminals WHERE key_seen_at IS NOT NULL AND key_gone_at IS NULL"
        await until(lambda: self.world.value(gone), "every key was taken away")


@pytest.fixture(scope="module")
async def used(postgres: TestServer, site: RunningSite) -> AsyncIterator[RunningCluster]:
    with postgres.fresh_database() as scratch:
        async with open_site_world(scratch, site) as world, world.worker():
            cluster = await world.build()
            server = await world.one("SELECT * FROM poplar_servers")
            with api_process(MANY, url=scratch.app_url) as api:
                yield RunningCluster(scratch, world, api, cluster, server)
            await world.delete_all()


@asynccontextmanager
async def shell(opening: connect) -> AsyncIterator[ClientConnection]:
    """A terminal whose shell is there."""
    async with opening as terminal:
        assert json.loads(await terminal.recv()) == {"state": "connected"}
        yield terminal


async def shown(terminal: ClientConnection, text: bytes) -> bytes:
    """What it writes until this text."""
    written = b""
    while text not in written:
        message = await asyncio.wait_for(terminal.recv(), PATIENCE)
        assert isinstance(message, bytes), message
        written += message
    return written


async def ended(terminal: ClientConnection) -> tuple[dict[str, Any], int]:
    """Its last message, and the code with which it is closed."""
    last: dict[str, Any] = {}
    try:
        while True:
            message = await asyncio.wait_for(terminal.recv(), PATIENCE)
            if isinstance(message, str):
                last = json.loads(message)
    except ConnectionClosed:
        assert terminal.close_code is not None
        return last, terminal.close_code


async def test_a_shell_shows_the_ipus_and_leaves_no_key_and_two_entries(used: RunningCluster) -> None:
    async with shell(used.connect(path=f"{used.path}?columns=100&rows=40")) as terminal:
        await used.key_is_gone()  # as soon as the login has succeeded
        await terminal.send(b"gc-info -l\r")
        await shown(terminal, b"Id: [0]")
        await terminal.send(json.dumps({"columns": 90, "rows": 20}))
        await terminal.send("no JSON")
        await terminal.send(b"exit 3\r")
        last, code = await ended(terminal)
    assert (last["ended_by"], last["exit_status"], code) == ("shell", 3, 1000)
    events = await used.world.rows(
        "SELECT type, data FROM events WHERE type LIKE 'terminal.%' ORDER BY id DESC LIMIT 2"
    )
    assert [each.type for each in events] == ["terminal.closed", "terminal.opened"]
    assert {each.data["poplar_server"] for each in events} == {used.server.name}
    assert {each.data["actor"] for each in events} != {None}
    entries = await used.world.rows(
        "SELECT operation, status, actor, objects FROM audit_log WHERE operation LIKE '%Terminal' ORDER BY created_at"
    )
    assert [(each.operation, each.status) for each in entries] == [("openTerminal", 101), ("closeTerminal", 200)]
    assert {each.objects["poplar_server_id"] for each in entries} == {str(used.server.id)}


async def test_who_may_not_log_in_is_refused_before_anything_happens(used: RunningCluster) -> None:
    async with used.world.database.begin() as connection:
        stranger = await make_project(connection)
    viewer = await used.token(Role.VIEWER)
    assert await used.refused("") == (401, "unauthenticated")
    assert await used.refused(viewer) == (403, "permission_denied")
    assert await used.refused(stranger.token.secret) == (404, "not_found")
    assert await used.refused(path=used.path.replace(used.server.name, "none")) == (404, "not_found")
    assert await used.refused(path=f"{used.path}?columns=0") == (422, "validation_failed")


async def test_another_site_cannot_use_a_browser_session(used: RunningCluster) -> None:
    body = {"token": used.world.project.token.secret}
    path = used.api.outside.post("/v1/session", json=body).raise_for_status().json()["path"]
    cookie = {"Cookie": f"ipucloud-session={used.api.outside.cookies['ipucloud-session']}"}
    ours = f"http://127.0.0.1:{used.api.port}"
    for origin in (None, "http://evil.example", "null"):
        assert await used.refused("", headers=cookie, origin=origin) == (403, "cross_site_request")
    async with shell(used.connect("", headers=cookie, origin=ours, path=f"{path}{used.path}")) as terminal:
        used.api.outside.delete(f"{path}/v1/session", headers={"Origin": ours}).raise_for_status()
        last, code = await ended(terminal)
        assert (last["ended_by"], code) == ("access", 4000)
    await used.key_is_gone()


@needs(Need.SANDBOX)
async def test_bytes_that_nobody_reads_are_held_back_and_none_is_lost(used: RunningCluster) -> None:
    async with shell(used.connect(max_queue=1)) as terminal:
        await terminal.send('{"wait": true}')
        await terminal.send(b"seq 1 40000\r")
        await terminal.send('{"wait": false}')
        await shown(terminal, b"\n40000\r\n")


async def test_a_lost_process_leaves_no_key(used: RunningCluster) -> None:
    """What the database has when a process is killed before it has logged in, and what becomes of it."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    caller = Actor(used.world.project.id, used.world.project.token.id, "lost-process-0000")
    async with used.world.database.begin() as connection:
        lost = await store.request(
            connection, caller, used.cluster, used.server.name, public_key=key.export_public_key().decode(), limit=20
        )

    ended_by = "SELECT ended_by = 'service' FROM terminals WHERE id = :id"
    await until(lambda: used.lets_in(key), "the key is let in")
    shift_clock(used.scratch.owner_url, f"{store.LOST_SECONDS + 1} seconds")
    try:
        await until(lambda: used.lets_in(key, no_more=True), "the key is out")
        await until(lambda: used.world.value(ended_by, id=lost.id), "the terminal is over")
    finally:
        start_clock(used.scratch.owner_url)
    await used.key_is_gone()
    await store.forget_terminals(used.world.database)
    assert await used.world.value("SELECT count(*) FROM terminals WHERE id = :id", id=lost.id) == 1
    shift_clock(used.scratch.owner_url, f"{store.KEPT_SECONDS + 3600} seconds")
    try:
        await store.forget_terminals(used.world.database)
    finally:
        start_clock(used.scratch.owner_url)
    assert await used.world.value("SELECT count(*) FROM terminals WHERE id = :id", id=lost.id) == 0


async def test_a_site_ends_a_key_by_itself_and_a_late_request_brings_none_back(used: RunningCluster) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519")

    [host], network = await held(used.world, "host"), await used.world.external_name(used.cluster)
    body = {"server": used.server.name, "network": network, "public_key": key.export_public_key().decode()}

    def put(name: str, seconds: float) -> None:
        path = f"/v1/hosts/{host}/server/login-keys/{name}"
        used.world.http.put(path, json=body | {"seconds": seconds}).raise_for_status()

    put("one", 300)
    assert await used.lets_in(key)
    put("one", 0)
    put("one", 300)
    assert not await used.lets_in(key)
    put("two", 2)
    await until(lambda: used.lets_in(key, no_more=True), "the site has ended the key")

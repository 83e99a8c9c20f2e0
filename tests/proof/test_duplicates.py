"""Every write of the API, sent many times at once: to one process, to two, and across a restart of both."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace

import httpx
import pytest

from tests.proof.servers import ApiProcess, api_processes
from tests.proof.writes.all import REPEATED_WITHOUT_KEY, WRITES, documented, in_peace
from tests.proof.writes.write import Footprint, Setup, Write, change, make_setup
from tests.support.postgres import TestServer
from tests.support.selection import Figures
from tests.support.world import open_world

pytestmark = pytest.mark.anyio

REPEATS, FULL_REPEATS = 16, 64
SHOWN_ONCE = {
    "createToken",
    "createSignInLink",
    "createInvitation",
    "renewInvitation",
    "createAccountInvitation",
    "renewAccountInvitation",
    "rotateToken",
    "createPlatformToken",
    "rotatePlatformToken",
    "rotateVipuKey",
    "createWebhook",
    "createAccountWebhook",
    "rotateWebhookSecret",
    "rotateAccountWebhookSecret",
}
"""Their first answer has a secret that a replay has not."""
OF_A_PROJECT = "/v1/projects/"
"""Keys of other writes belong to the platform."""


@pytest.fixture(scope="module")
async def pair(
    postgres: TestServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Setup, Sequence[ApiProcess]]]:
    """Two API processes over one database."""
    with postgres.fresh_database() as scratch:
        async with (
            open_world(scratch.app_url, pods=16, hosts=256, sound=False) as world,
            api_processes(scratch.app_url, tmp_path_factory.mktemp("logs"), 2) as servers,
        ):
            yield await make_setup(world, servers[0].client), servers


def test_every_write_of_the_document_is_sent() -> None:
    assert set(WRITES) == documented()


async def send_all(write: Write, clients: Sequence[httpx.AsyncClient], number: int) -> list[httpx.Response]:
    return await asyncio.gather(*(write.send(clients[index % len(clients)]) for index in range(number)))


def judge(name: str, write: Write, answers: Sequence[httpx.Response], firsts: int = 1) -> Counter[str]:
    """Of all answers `firsts` are the effect's own; the others repeat it, or say that it is under way or done."""
    counted = Counter[str]()
    bodies = set()
    for answer in answers:
        if not write.keyed:
            counted["done" if answer.status_code == REPEATED_WITHOUT_KEY[name] else "first"] += 1
            assert answer.is_success or answer.status_code == REPEATED_WITHOUT_KEY[name], answer.text
        elif answer.is_success:
            replayed = "idempotent-replayed" in answer.headers
            counted["replay" if replayed else "first"] += 1
            if replayed or name not in SHOWN_ONCE:
                bodies.add(answer.content)
        elif name in {"testS3Connection", "testAccountS3Connection"} and answer.status_code == 503:
            counted["under way"] += 1  # a few tests run at once, and others wait for their turn for seconds only
        else:
            assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_in_progress"), answer.text
            assert int(answer.headers["retry-after"]) >= 1
            counted["under way"] += 1
    if write.keyed:
        assert counted["first"] == firsts
        assert len(bodies) <= 1
    return counted


async def refused_or_independent(setup: Setup, name: str, write: Write, client: httpx.AsyncClient) -> None:
    """The key stays with its request, and with its project."""
    if write.other_body is not None:
        answer = await write.send(client, body=write.other_body)
        assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    if write.path.startswith(OF_A_PROJECT):
        elsewhere = replace(await WRITES[name](setup), headers=write.headers)
        answer = await elsewhere.send(client)
        assert answer.is_success
        assert "idempotent-replayed" not in answer.headers


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", WRITES)
async def test_many_at_once_are_one(
    pair: tuple[Setup, Sequence[ApiProcess]], name: str, full: bool, figures: Figures
) -> None:
    """Half of them meet at each of two processes."""
    setup, servers = pair
    once = (await in_peace(setup, name)).change
    before = await setup.footprint()
    write = await WRITES[name](setup)
    clients = [server.client for server in servers]
    counted = judge(name, write, await send_all(write, clients, FULL_REPEATS if full else REPEATS))
    assert change(before, await setup.footprint()) == once
    if write.keyed:
        await refused_or_independent(setup, name, write, clients[-1])
    figures(name=name, **counted)


async def test_a_restart_in_between_changes_nothing(
    pair: tuple[Setup, Sequence[ApiProcess]], full: bool, figures: Figures
) -> None:
    setup, servers = pair
    clients = [server.client for server in servers]
    total, half = Counter[str](), (FULL_REPEATS if full else REPEATS) // 2
    for _ in range(10 if full else 1):
        once = [(await in_peace(setup, name)).change for name in WRITES]
        before = await setup.footprint()
        writes = {name: await make(setup) for name, make in WRITES.items()}
        answers = {name: await send_all(write, clients, half) for name, write in writes.items()}
        # One drains, one is killed.
        assert await servers[0].stop() == 0
        servers[1].kill()
        await asyncio.gather(*(server.start() for server in servers))
        for name, write in writes.items():
            answers[name] += await send_all(write, clients, half)
            total += judge(name, write, answers[name])
        assert change(before, await setup.footprint()) == added(once)
    figures(**total)


def added(changes: Iterable[Footprint]) -> Footprint:
    """The sum of changes."""
    total: Footprint = {}
    for each in changes:
        for name, (rows, versions) in each.items():
            more, newer = total.get(name, (0, 0))
            total[name] = (more + rows, newer + versions)
    return {name: value for name, value in total.items() if value != (0, 0)}

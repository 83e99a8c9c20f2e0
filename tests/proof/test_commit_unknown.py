"""The connection to the database dies around COMMIT, and nobody can know whether it took effect: nothing is guessed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import cycle
from pathlib import Path
from typing import TypeAlias

import httpx
import pytest

from ipucloud.api import credentials
from tests.api.support import running
from tests.proof.writes.all import REPEATED_WITHOUT_KEY, WRITES, Calm, in_peace
from tests.proof.writes.write import Setup, Write, change, make_setup
from tests.support.database_proxy import database_proxy
from tests.support.faultproxy import Proxy, Strike
from tests.support.postgres import TestServer
from tests.support.selection import Figures
from tests.support.site import running_site
from tests.support.world import SiteWorld, open_site_world, open_world

pytestmark = pytest.mark.anyio

TRIES = 100
IN_PROGRESS = "idempotency_in_progress"
LOSSES = ("answer", "request")
Struck: TypeAlias = "tuple[Setup, httpx.AsyncClient, Proxy, dict[str, Calm]]"


@pytest.fixture(scope="module")
async def struck(postgres: TestServer) -> AsyncIterator[Struck]:
    """A setup beside an API whose connections to the database a test breaks, that API, its line, and calm runs."""
    with (
        postgres.fresh_database() as scratch,
        database_proxy(scratch.app_url) as (line, url),
        pytest.MonkeyPatch.context() as patched,
    ):
        # What is struck has to be the write's commit, and not that of the tokens' last use.
        patched.setattr(credentials, "FLUSH_SECONDS", 86_400.0)
        async with (
            open_world(scratch.app_url, pods=16, hosts=256, sound=False) as world,
            running(world, scratch.app_url) as calm,
            running(world, url) as api,
        ):
            yield await make_setup(world, calm.owner), api.client(), line, {}


def honest(answer: httpx.Response) -> None:
    """503 as a problem document that says when to come back, and nothing of the inside."""
    assert answer.status_code == 503, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.json()["code"] == "unavailable"
    assert answer.json()["retryable"] is True
    assert "Traceback" not in answer.text
    assert "psycopg" not in answer.text


async def repeated(write: Write, client: httpx.AsyncClient) -> httpx.Response:
    """The same request, until it is neither unavailable nor in progress."""
    for _ in range(TRIES):
        answer = await write.send(client)
        if answer.status_code not in {409, 503} or answer.json()["code"] not in {"unavailable", IN_PROGRESS}:
            return answer
    raise AssertionError("the API does not come back")


async def calm_run(setup: Setup, name: str, known: dict[str, Calm]) -> Calm:
    if name not in known:
        known[name] = await in_peace(setup, name)
    return known[name]


@pytest.mark.sample(3)
@pytest.mark.parametrize("lose", LOSSES)
@pytest.mark.parametrize("name", WRITES)
async def test_a_write_takes_effect_once(struck: Struck, name: str, lose: str) -> None:
    setup, client, line, known = struck
    calm = await calm_run(setup, name, known)

    before = await setup.footprint()
    write = await WRITES[name](setup)
    line.strike = strike = Strike(b"COMMIT", lose=lose)
    honest(await write.send(client))
    assert strike.fired == 1
    line.repair()
    again = await repeated(write, client)
    committed = lose == "answer"
    expected = REPEATED_WITHOUT_KEY.get(name, calm.status) if committed else calm.status
    assert again.status_code == expected, again.text
    assert ("idempotent-replayed" in again.headers) is (committed and write.keyed)
    assert change(before, await setup.footprint()) == calm.change


@pytest.mark.sample(3)
@pytest.mark.parametrize(("name", "lose"), list(zip(WRITES, cycle(LOSSES), strict=False)))
async def test_a_connection_that_died_before_commit_is_not_noticed(struck: Struck, name: str, lose: str) -> None:
    """Nothing is in doubt: the transaction is taken from its start again, on another connection."""
    setup, client, line, known = struck
    calm = await calm_run(setup, name, known)

    before = await setup.footprint()
    write = await WRITES[name](setup)
    line.strike = strike = Strike(b"BEGIN", lose=lose)
    answer = await write.send(client)
    line.repair()
    assert strike.fired == 1
    assert answer.status_code == calm.status, answer.text
    assert change(before, await setup.footprint()) == calm.change


# A pass that is cancelled in the middle of a call can leave the call's socket to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("lose", LOSSES)
async def test_a_worker_goes_on_after_commits_nobody_confirmed(
    postgres: TestServer, tmp_path: Path, lose: str, full: bool, figures: Figures
) -> None:
    """Clusters are built and taken down while every third commit of the worker is lost, or its answer."""
    rounds, losses = (25, 0) if full else (1, 0)
    with postgres.fresh_database() as scratch, running_site(tmp_path / "site", machines=16) as site:
        async with open_site_world(scratch, site) as world:
            with database_proxy(scratch.app_url) as (line, url):
                for number in range(rounds):
                    strike = line.strike = Strike(b"COMMIT", lose=lose, times=1000, every=3)
                    async with world.worker(url=url):
                        await build_and_remove(world, f"r{number}", line)
                    losses += strike.fired
            assert await world.value("SELECT count(*) FROM usage_intervals") == 8 * rounds
    figures(lose=lose, commits_lost=losses, clusters=8 * rounds)


async def build_and_remove(world: SiteWorld, prefix: str, line: Proxy) -> None:
    creations = [await world.create(f"{prefix}-{number}", "m2000-pod4") for number in range(8)]
    assert {(await world.finished(each)).state for each in creations} == {"succeeded"}
    assert len(world.partitions()) == 8
    deletions = [await world.delete(each.target_id) for each in creations]
    assert {(await world.finished(deletion)).state for deletion in deletions} == {"succeeded"}
    line.repair()
    await world.assert_nothing_left()
    assert await world.value("SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL") == 0

"""User data is encrypted in the database, and plain only at the site and in the worker that sends it there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from ipucloud.kernel.errors import NOT_CONFIGURED
from ipucloud.kernel.sealing import new_key, read_keys
from ipucloud.worker.reencryption import reencrypt
from tests.support.breakable import held
from tests.support.dumps import data_of
from tests.support.postgres import Database as Scratch
from tests.support.world import SiteWorld
from tests.worker.customers import refused

pytestmark = pytest.mark.anyio

SECRET = "swordfish-51c0"
USER_DATA = f"#cloud-config\nwrite_files: [{{path: /home/ipu/token, content: {SECRET}}}]\n"
OLD, NEW = new_key(), new_key()
STORED = "SELECT user_data FROM clusters"


@pytest.fixture
def world(world: SiteWorld) -> Iterator[SiteWorld]:
    world.settings = with_keys(world, OLD)
    yield world
    world.settings = with_keys(world, f"{NEW},{OLD}")


def with_keys(world: SiteWorld, keys: str | None) -> Any:
    return world.settings.model_copy(update={"secrets_key": None if keys is None else SecretStr(keys)})


async def at_the_site(world: SiteWorld) -> str | None:
    [host] = await held(world, "host")
    user_data: str | None = world.http.get(f"/v1/hosts/{host}").json()["server"]["user_data"]
    return user_data


async def test_it_is_plain_nowhere_but_at_the_site(world: SiteWorld, database: Scratch) -> None:
    async with world.worker():
        cluster = await world.build(user_data=USER_DATA)
        assert await at_the_site(world) == USER_DATA
        changed = USER_DATA.replace("token", "other")
        await world.succeeded(await world.rebuild(cluster, user_data=changed))
        assert await at_the_site(world) == changed
        await world.succeeded(await world.rebuild(cluster))
        assert await at_the_site(world) == changed, "left out: the present one"
    assert SECRET not in data_of(database.superuser_url)


async def test_a_worker_without_the_key_waits_for_it(world: SiteWorld) -> None:
    creation = await world.create(user_data=USER_DATA)
    async with world.worker(secrets_key=SecretStr(NEW)):
        await world.blocked(creation.target_id)
    assert "user data cannot be decrypted" in await world.value("SELECT blocked_by FROM clusters")
    async with world.worker(secrets_key=SecretStr(f"{NEW},{OLD}")):
        await world.succeeded(creation)
    assert await at_the_site(world) == USER_DATA
    world.settings = with_keys(world, NEW)
    assert (await refused(world.rebuild(creation.target_id))).kind is NOT_CONFIGURED


async def test_keys_are_replaced_and_what_was_plain_is_encrypted(world: SiteWorld) -> None:
    world.settings = with_keys(world, None)
    async with world.worker():
        cluster = await world.build(user_data=USER_DATA)
        assert await world.value(STORED) == USER_DATA
        for keys in (OLD, f"{NEW},{OLD}"):
            before = await world.value(STORED)
            await reencrypt(world.database, read_keys(keys))
            assert SECRET not in await world.value(STORED) != before
    world.settings = with_keys(world, NEW)
    async with world.worker():
        await world.succeeded(await world.rebuild(cluster))
    assert await at_the_site(world) == USER_DATA

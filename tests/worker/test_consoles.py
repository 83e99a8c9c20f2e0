"""Serial consoles of Poplar servers: what a site shows of each boot is read, and kept, in order and within bounds."""

from __future__ import annotations

from typing import Any

import pytest

from ipucloud.programs.consoles.store import KEPT_BOOTS, forget_consoles
from tests.support.machine import Need, needs
from tests.support.world import SiteWorld
from tests.worker.test_observation import observe

pytestmark = [pytest.mark.anyio, needs(Need.SANDBOX)]

USER_DATA = "#!/bin/sh\nprintf 'made by user data: \\033[31m\\000\\n'\nexit 7\n"


async def boots(world: SiteWorld) -> list[Any]:
    await observe(world)
    return [*await world.rows("SELECT * FROM console_boots ORDER BY number")]


async def test_every_boot_is_read_with_what_cloud_init_wrote_and_how_it_ended(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build(user_data=USER_DATA)
        [first] = await boots(world)
        assert await boots(world) == [first], "what was read is not read again"
        assert (first.number, first.ended_at, first.dropped) == (1, None, 0)
        for said in (
            "Linux version",
            "made by user data: \x1b[31m\ufffd",
            "part-001 ended with status 7",
            "bert-p0 login: ",
        ):
            assert said in first.text
        assert first.text.index("Linux version") < first.text.index("made by user data") < first.text.index("login:")
        await world.succeeded(await world.restart(cluster))
        orderly, second = await boots(world)
        assert orderly.boot_id == first.boot_id
        assert orderly.text.startswith(first.text)
        assert "reboot: Restarting system" in orderly.text[len(first.text) :]
        assert (orderly.ended_at is not None, second.number, second.ended_at) == (True, 2, None)
        assert "made by user data" not in second.text
        await world.succeeded(await world.restart(cluster, hard=True))
        _, cut, _ = await boots(world)
        assert (cut.text, cut.ended_at is not None) == (second.text, True)
        await world.succeeded(await world.suspend(cluster))
        assert (await boots(world))[-1].text.endswith("reboot: Power down\n")


@pytest.mark.parametrize("action", ["status", "drop_answer"])
async def test_a_console_that_is_not_answered_is_read_at_the_next_look(world: SiteWorld, action: str) -> None:
    async with world.worker():
        await world.build()
    await world.execute("DELETE FROM console_boots")
    world.fault(call="hosts.console", action=action, times=1)
    assert await boots(world) == []
    assert len(await boots(world)) == 1


async def test_the_last_boots_are_kept_and_old_ones_removed(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        await boots(world)
        await world.execute(
            "INSERT INTO console_boots SELECT project_id, server_id, 'old-' || old, 1 - old, started_at, started_at,"
            " '', 0, 0, observed_at - interval '2 days' FROM console_boots, generate_series(1, 20) AS old"
        )
        await world.succeeded(await world.restart(cluster))
        assert len(await boots(world)) == KEPT_BOOTS
        await forget_consoles(world.database, kept=86_400.0)
        assert [each.number for each in await boots(world)] == [1, 2]

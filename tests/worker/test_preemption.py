"""A preemptible cluster gives way, with a worker, the simulated site and what its customer finds after logging in."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime

import pytest

from ipucloud.wire.site import PREEMPTION_FILE
from tests.support.machine import Need, needs
from tests.support.preemptible import offer_preemptible
from tests.support.waiting import until
from tests.support.world import SiteWorld
from tests.worker.customers import Logins

pytestmark = [pytest.mark.anyio, needs(Need.OPENSSH)]

SITE = {"machines": 16, "options": ["--servers", "2"]}

SETTLED = """
SELECT bool_and(s.notice_revision IS NOT DISTINCT FROM c.notice_revision) AND min(c.notice_revision) >= :revision
  FROM clusters c JOIN poplar_servers s ON s.cluster_id = c.id WHERE c.id = :id
"""


async def test_it_is_told_on_its_servers_suspended_and_resumed_when_there_is_room(
    world: SiteWorld, logins: Logins
) -> None:
    async def on_server(command: str) -> tuple[int, str]:
        row = await world.one("SELECT * FROM poplar_servers WHERE cluster_id = :id", {"id": bert})
        done = await asyncio.to_thread(logins.to(row).ssh, command)
        return done.returncode, done.stdout.decode()

    async def shown(revision: int) -> None:
        await until(lambda: world.value(SETTLED, id=bert, revision=revision), "its server has the notice")

    async with world.database.begin() as connection:
        await offer_preemptible(connection)
    async with world.worker():
        bert = await world.build("bert", "m2000-pod64", preemptible=True, ssh_keys=["ours"], poplar_servers=1)
        # Who gives up has it withdrawn.
        given_up = await world.create("given-up", "m2000-pod16", wait_for_capacity=True)
        await shown(1)
        _, said = await on_server(f"cat {PREEMPTION_FILE}")
        deadline = datetime.fromisoformat((await world.cluster(bert))["preempt_at"])
        assert datetime.fromisoformat(json.loads(said)["preempt_at"]) == deadline.replace(microsecond=0)
        await world.cancel(given_up)
        await shown(2)
        assert (await on_server(f"ls {PREEMPTION_FILE}"))[0] != 0
        # The answer of the site is lost, and the request is repeated.
        world.fault(call="hosts.put_preemption", action="drop_answer", times=1)
        ernie = await world.create("ernie", "m2000-pod16", wait_for_capacity=True)
        await shown(3)
        await on_server("echo work > saved")
        assert (await on_server(f"ls {PREEMPTION_FILE}"))[0] == 0
        await world.execute(
            "UPDATE preemptions SET noticed_at = app_now() - interval '10 minutes', preempt_at = app_now()"
            " WHERE ended_at IS NULL"
        )
        await world.succeeded(ernie)
        cluster = await world.cluster(bert)
        assert (cluster["state"], cluster["preempt_at"], cluster["billing"]["status"]) == ("suspended", None, "paused")
        await world.delete(ernie.target_id)
        gone = "SELECT state = 'deleted' FROM clusters WHERE id = :id"
        await until(lambda: world.value(gone, id=ernie.target_id), "who needed the machines is gone")
        await world.succeeded(await world.resume(bert))
        assert await on_server(f"cat saved; ls {PREEMPTION_FILE} 2>/dev/null | wc -l") == (0, "work\n0\n")

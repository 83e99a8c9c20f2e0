"""A worker that is killed while it brings the key of a terminal to its server, or takes it away."""

from __future__ import annotations

from uuid import UUID

import asyncssh

from ipucloud.programs.terminals import store
from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.victims import Victim
from tests.support.waiting import until

_SEEN = "SELECT coalesce(key_seen_at, key_gone_at) IS NOT NULL FROM terminals WHERE id = :id"
_GONE = "SELECT key_gone_at IS NOT NULL FROM terminals WHERE id = :id"
_LAST = "SELECT id FROM terminals WHERE cluster_id = :id ORDER BY created_at DESC, id DESC LIMIT 1"


class OpenTerminal(Kind):
    name = "open-terminal"

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        server = await lab.value("SELECT name FROM poplar_servers WHERE cluster_id = :id", id=cluster)
        key = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
        async with lab.database.begin() as connection:
            await store.request(connection, lab.project.actor, cluster, server, public_key=key, limit=1_000)
        creation = await lab.creation(cluster)
        return Expectation(cluster, creation, "succeeded", "active")

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await self._comes_and_goes(lab, expectation)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.survivor():
            await self._comes_and_goes(lab, expectation)

    async def _comes_and_goes(self, lab: Lab, expectation: Expectation) -> None:
        terminal: UUID = await lab.value(_LAST, id=expectation.cluster)

        async def let_in() -> bool:
            return bool(await lab.value(_SEEN, id=terminal))

        async def gone() -> bool:
            return bool(await lab.value(_GONE, id=terminal))

        await until(let_in, "the key is let in")
        async with lab.database.begin() as connection:
            await store.end(connection, terminal, "client")
        await until(gone, "the key is taken away")


TERMINAL_KINDS: tuple[Kind, ...] = (OpenTerminal(),)

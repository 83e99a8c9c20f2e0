"""Workers that make exports, in this process or in one that can be killed."""

from __future__ import annotations

import random
import signal
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from ipucloud.billing.exports.connections import Rules
from ipucloud.billing.exports.operation import Exporter, ExportReconciler
from ipucloud.billing.exports.requests import RequestedExport, request_export
from ipucloud.catalogue.current import CurrentCatalogue
from ipucloud.db.engine import Database
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.clock import SystemClock
from ipucloud.kernel.sealing import new_key, read_keys
from ipucloud.reconcile.engine import Engine, EngineSettings
from tests.support.waiting import until
from tests.support.world import at_work

KEYS = read_keys(new_key())
_STATE = sa.text(
    """
    SELECT o.state, o.progress, o.error, x.fence, x.manifest, x.last_error, x.deliveries, o.finished_at
      FROM operations o JOIN exports x ON x.id = o.export_id WHERE x.id = :id
    """
)


class NoJitter(random.Random):
    """Draws the shortest wait."""

    def uniform(self, a: float, b: float) -> float:
        return 0.05


def worker(database: Database, *, private_too: bool = True) -> Engine:
    exporter = Exporter(
        database,
        provider="IPU Cloud",
        catalogue=CurrentCatalogue(None),
        rules=Rules(KEYS, private_too, frozenset({443})),
    )
    return Engine(
        database,
        [ExportReconciler(exporter, NoJitter())],
        clock=SystemClock(),
        settings=EngineSettings(slots=2, lease=20.0, poll=0.1, reap=0.2, drain=5.0),
        draw=NoJitter(),
    )


@dataclass(frozen=True)
class ExportClient:
    """Where one project's exports are asked for."""

    database: Database
    project_id: UUID

    async def ask(self, request: RequestedExport) -> UUID:
        async with self.database.begin() as connection:
            export_id, _ = await request_export(connection, Actor(self.project_id, None, "req-test"), request)
        return export_id

    async def state(self, export_id: UUID) -> Any:
        async with self.database.read() as connection:
            return (await connection.execute(_STATE, {"id": export_id})).one()

    async def pieces(self, export_id: UUID) -> dict[int, bytes]:
        """What is kept, by fence."""
        statement = sa.text("SELECT fence, data FROM export_chunks WHERE export_id = :id ORDER BY fence, ordinal")
        kept: dict[int, bytes] = {}
        async with self.database.read() as connection:
            for row in await connection.execute(statement, {"id": export_id}):
                kept[row.fence] = kept.get(row.fence, b"") + bytes(row.data)
        return kept

    async def work_until_done(self, *exports: UUID, **options: Any) -> None:
        """Run a worker until every operation has ended."""

        async def done() -> bool:
            return all([(await self.state(each)).finished_at is not None for each in exports])

        async with at_work(worker(self.database, **options)):
            await until(done, "the exports end")


async def work_until_killed(database: Database) -> None:
    """In a process of its own, which an alarm ends if nothing else does."""
    signal.alarm(90)
    await worker(database).run()

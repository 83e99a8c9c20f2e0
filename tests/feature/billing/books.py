"""A site's usage as bare facts, and its books, under a clock that the test sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import sqlalchemy as sa

from ipucloud.billing.bookkeeping import keep_books
from ipucloud.billing.metering.tables import usage_intervals
from ipucloud.billing.pricing.tables import prices
from ipucloud.clusters.tables import clusters
from ipucloud.db.engine import Database
from ipucloud.kernel.ids import external_name, new_id
from tests.support.factories import Project, make_project
from tests.support.world.clock import stop_clock

SKU, REGION, CURRENCY = "ipu-m2000", "luxembourg-2", "EUR"
GUARDS = ("DISABLE", "ENABLE")
_FORGET = "TRUNCATE usage_charges, ledger_transfers, hour_closes, dirty_hours, ledger_accounts"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def at(text: str) -> datetime:
    """`2026-03-31T23:59:30`, in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class Books:
    """One project's usage. `owner_url` sets the clock of the database."""

    database: Database
    owner_url: str
    project: Project

    def now(self, instant: datetime) -> None:
        stop_clock(self.owner_url, instant)

    async def keep(self, instant: datetime | None = None) -> None:
        """What a worker does every minute, at that instant."""
        if instant is not None:
            self.now(instant)
        await keep_books(self.database)

    async def cluster(self, project: Project | None = None) -> UUID:
        """A cluster in use: the row that facts refer to."""
        made, home = new_id(), project or self.project
        await self.insert(
            sa.insert(clusters).values(
                id=made,
                project_id=home.id,
                name=made.hex,
                region=REGION,
                flavor="m2000-pod4",
                machine_type="m2000",
                machines=1,
                ipus=4,
                sku=SKU,
                currency=CURRENCY,
                image="ubuntu",
                state="active",
                external_name=external_name(made, 1),
                ready_at=LONG_AGO,
                created_at=LONG_AGO,
            )
        )
        return made

    async def used(
        self,
        cluster: UUID,
        started_at: datetime,
        ended_at: datetime | None = None,
        *,
        quantity: int = 1,
        anchor_at: datetime | None = None,
        project: Project | None = None,
    ) -> UUID:
        made = new_id()
        await self.insert(
            sa.insert(usage_intervals).values(
                id=made,
                project_id=(project or self.project).id,
                cluster_id=cluster,
                sku=SKU,
                region=REGION,
                currency=CURRENCY,
                quantity=quantity,
                anchor_at=anchor_at or started_at,
                started_at=started_at,
                ended_at=ended_at,
            )
        )
        return made

    async def price(
        self, unit_price: str | Decimal, valid_from: datetime = LONG_AGO, valid_to: datetime | None = None
    ) -> UUID:
        made = new_id()
        await self.insert(
            sa.insert(prices).values(
                id=made,
                sku=SKU,
                region=REGION,
                currency=CURRENCY,
                unit_price=Decimal(unit_price),
                valid_from=valid_from,
                valid_to=valid_to,
                source="test",
            )
        )
        return made

    async def insert(self, statement: sa.Insert) -> None:
        async with self.database.begin() as connection:
            await connection.execute(statement)

    async def execute(self, statement: str, **parameters: object) -> None:
        async with self.database.begin() as connection:
            await connection.execute(sa.text(statement), parameters)

    async def rows(self, statement: str, **parameters: object) -> Sequence[Any]:
        async with self.database.begin() as connection:
            return (await connection.execute(sa.text(statement), parameters)).all()

    async def forget(self) -> None:
        """Take away everything that was posted, as nobody but the owner can, with the guards off."""
        tables = ("usage_charges", "ledger_transfers")
        off, on = ([f"ALTER TABLE {table} {how} TRIGGER {table}_kept" for table in tables] for how in GUARDS)
        with psycopg.connect(self.owner_url) as connection:
            for statement in (*off, _FORGET, *on):
                connection.execute(statement.encode())

    async def total(self) -> tuple[int, Decimal]:
        """Minutes and cost of everything that was posted."""
        [row] = await self.rows("SELECT coalesce(sum(minutes), 0), coalesce(sum(cost), 0) FROM usage_charges")
        return int(row[0]), row[1]

    async def digest(self) -> str:
        """Every charge and transfer, but for when it was posted."""
        charges = "SELECT to_jsonb(c) - 'posted_at' FROM usage_charges c ORDER BY hour, cluster_id, first_minute, rev"
        [charged] = await self.rows(f"SELECT md5(coalesce(string_agg(t::text, ''), '')) FROM ({charges}) t")  # noqa: S608
        transfers = "SELECT idem, kind, currency, amount, effective_at FROM ledger_transfers ORDER BY idem"
        [moved] = await self.rows(f"SELECT md5(coalesce(string_agg(t::text, ''), '')) FROM ({transfers}) t")  # noqa: S608
        return f"{charged[0]} {moved[0]}"


async def open_books(database: Database, owner_url: str) -> Books:
    async with database.begin() as connection:
        return Books(database, owner_url, await make_project(connection, quota=None))

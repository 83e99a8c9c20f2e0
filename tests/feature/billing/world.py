"""A site's usage as bare facts, and its books, under a clock that the test sets."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from ipucloud.billing.bookkeeping import keep_books
from ipucloud.billing.metering.tables import usage_intervals
from ipucloud.billing.pricing.tables import contract_prices, prices
from ipucloud.db.engine import Database
from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.tables import health_reports
from ipucloud.inventory.tables import hosts
from ipucloud.kernel.ids import new_id
from tests.support.factories import LONG_AGO, Project, make_cluster_row, make_project
from tests.support.postgres import Database as Scratch
from tests.support.world import World
from tests.support.world.clock import stop_clock

SKU, REGION, CURRENCY = "ipu-m2000", "luxembourg-2", "EUR"


def at(text: str) -> datetime:
    """`2026-03-31T23:59:30`, in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class BillingWorld(World):
    """One project's usage."""

    def __init__(self, database: Database, owner_url: str, project: Project) -> None:
        super().__init__(database, project)
        self.owner_url = owner_url

    def now(self, instant: datetime) -> None:
        """Set the database's clock."""
        stop_clock(self.owner_url, instant)

    async def keep(self, instant: datetime | None = None) -> None:
        """What a worker does every minute, at that instant."""
        if instant is not None:
            self.now(instant)
        await keep_books(self.database)

    async def make_cluster(self, project: Project | None = None) -> UUID:
        """A cluster in use: the row that facts refer to."""
        async with self.database.begin() as connection:
            return await make_cluster_row(connection, (project or self.project).id)

    async def used(
        self,
        cluster: UUID,
        started_at: datetime,
        ended_at: datetime | None = None,
        *,
        quantity: int = 1,
        credited: int = 0,
        anchor_at: datetime | None = None,
        project: Project | None = None,
        currency: str = CURRENCY,
        flavor: str = "m2000-pod16",
    ) -> UUID:
        interval = new_id()
        await self.insert(
            sa.insert(usage_intervals).values(
                id=interval,
                flavor=flavor,
                project_id=(project or self.project).id,
                resource_id=cluster,
                sku=SKU,
                region=REGION,
                currency=currency,
                quantity=quantity,
                credited=credited,
                anchor_at=anchor_at or started_at,
                started_at=started_at,
                ended_at=ended_at,
            )
        )
        return interval

    async def reported(
        self, first_seen_at: datetime, *, good_since: datetime | None = None, credited: bool = True
    ) -> UUID:
        """A health report of a host, of which nothing but its times matters here."""
        host, report = new_id(), new_id()
        await self.insert(sa.insert(hosts).values(id=host, region=REGION, name=str(host), address="10.1.0.1"))
        await self.insert(
            sa.insert(health_reports).values(
                id=report,
                region=REGION,
                host_id=host,
                source=Source.HOST,
                code=Code.HOST_FAILED if credited else Code.SERVER_OFF,
                allocation="prevented",
                credited=credited,
                detail="no heartbeat",
                message="The Poplar server's host has failed.",
                first_seen_at=first_seen_at,
                confirmed_at=first_seen_at,
                good_since=good_since,
                cleared_at=good_since,
            )
        )
        return report

    async def price(
        self,
        unit_price: str | Decimal,
        valid_from: datetime = LONG_AGO,
        valid_to: datetime | None = None,
        *,
        sku: str = SKU,
        currency: str = CURRENCY,
        account: UUID | None = None,
    ) -> None:
        """A version of a list price, or of the account's contract price."""
        table, of = (prices, {}) if account is None else (contract_prices, {"account_id": account})
        await self.insert(
            sa.insert(table).values(
                id=new_id(),
                sku=sku,
                region=REGION,
                currency=currency,
                unit_price=Decimal(unit_price),
                valid_from=valid_from,
                valid_to=valid_to,
                source="test",
                **of,
            )
        )

    async def pays(self, account: UUID, since: datetime, project: Project | None = None) -> None:
        """From then on the account pays for the project."""
        await self.execute(
            "INSERT INTO project_accounts (project_id, account_id, valid_from) VALUES (:project, :account, :since)",
            project=(project or self.project).id,
            account=account,
            since=since,
        )

    async def tuples(self, statement: str, **values: object) -> list[Any]:
        return [tuple(row) for row in await self.rows(statement, values)]

    async def insert(self, statement: sa.Insert) -> None:
        async with self.database.begin() as connection:
            await connection.execute(statement)

    async def total(self) -> tuple[int, Decimal]:
        """Minutes and cost of everything that was posted."""
        minutes, cost = await self.one("SELECT coalesce(sum(minutes), 0), coalesce(sum(cost), 0) FROM usage_charges")
        return int(minutes), cost

    async def digest(self) -> str:
        """Every charge and transfer, but for when it was posted."""
        charges = "SELECT to_jsonb(c) - 'posted_at' FROM usage_charges c ORDER BY hour, resource_id, first_minute, rev"
        transfers = "SELECT idem, kind, currency, amount, effective_at FROM ledger_transfers ORDER BY idem"
        return str([await self.tuples(statement) for statement in (charges, transfers)])


async def open_billing_world(database: Database, owner_url: str) -> BillingWorld:
    async with database.begin() as connection:
        return BillingWorld(database, owner_url, await make_project(connection, quota=None))


async def in_billing_world(scratch: Scratch, work: Any) -> Any:
    """What the work comes to, in a billing world of its own."""
    database = Database(scratch.app_url, pool_size=6)  # for three that keep the books at once
    try:
        return await work(await open_billing_world(database, scratch.owner_url))
    finally:
        await database.close()

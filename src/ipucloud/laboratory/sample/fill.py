"""Makes the sample in a database: requests of the product, in the order of the story, under a moved clock."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ipucloud.billing.accounts import store as accounts
from ipucloud.billing.bookkeeping import keep_books
from ipucloud.billing.budgets import store as budgets
from ipucloud.billing.exports.requests import RequestedExport, request_export
from ipucloud.billing.exports.selection import month_of
from ipucloud.billing.invoices.credit_notes import issue_credit_note
from ipucloud.billing.invoices.credits import grant
from ipucloud.billing.invoices.payments import record_payment
from ipucloud.billing.invoices.seller import update_seller
from ipucloud.catalogue.queries import Catalogue
from ipucloud.config import Settings
from ipucloud.contract.exports import Dataset, FileFormat, FocusVersion
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.identity import key_store, projects, token_store
from ipucloud.identity.roles import Role
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.money import Money
from ipucloud.laboratory.sample import story
from ipucloud.laboratory.sample.clock import DatabaseClock, Months
from ipucloud.laboratory.sample.cloud import Cloud, SampleError
from ipucloud.quotas.store import set_limit
from ipucloud.site.ports import Sites

Act = Callable[[], Awaitable[None]]

MACHINES = 16
REQUEST_ID = "sample"
TURNS = 60
"""Of the bookkeeping until a month is invoiced; a turn verifies two days of it."""

_USED_BEFORE = sa.text(
    "SELECT least((SELECT min(started_at) FROM usage_intervals), (SELECT min(hour) FROM hour_closes)) < :instant"
)
_NO_SELLER = sa.text("SELECT version = 1 FROM sellers")
_INVOICED = sa.text("SELECT EXISTS (SELECT FROM invoiced_months WHERE month = :month)")


class _Invoice(NamedTuple):
    number: str
    due: Decimal


_INVOICE = Query("SELECT number, due FROM invoices WHERE account_id = :account_id AND month = :month", _Invoice)


async def unused_months(database: Database) -> Months:
    """The months to make a sample of. Raises SampleError when something was used in them, or before."""
    months = Months.sealed_by(datetime.now(UTC))
    async with database.read() as connection:
        used = await connection.execute(_USED_BEFORE, {"instant": months.at(2, 2, 0)})
        if used.scalar_one():
            raise SampleError(
                f"The sample bills {months.first:%Y-%m} and {months.second:%Y-%m}, and clusters were used in this data "
                "directory before the end of these months. Choose another directory: --data-dir."
            )
    return months


async def fill(
    database: Database,
    clock: DatabaseClock,
    months: Months,
    *,
    sites: Sites,
    settings: Settings,
    catalogue: Catalogue,
    report: Callable[[int], None],
) -> None:
    """Make the sample in a database that nobody else uses; its clock shows the time again at the end.

    `report` hears how many per cent are done. Raises SampleError, and what the product's functions raise.
    """
    try:
        clock.show(months.at(*story.BEGIN))
        sample = _Sample(await _opened(database, sites, settings, catalogue), months)
        timeline = sorted(sample.timeline(), key=lambda event: event[0])
        for number, (instant, act) in enumerate(timeline):
            report(100 * number // len(timeline))
            clock.show(instant)
            await act()
            await keep_books(database)
    finally:
        clock.show_time()
    for month in months[:2]:
        await sample.export(month)


async def _opened(database: Database, sites: Sites, settings: Settings, catalogue: Catalogue) -> Cloud:
    """The project with its quotas, an SSH key, and an owner's token for its requests, whose secret nobody knows."""
    key = Ed25519PrivateKey.generate().public_key()
    line = key.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH).decode()
    async with database.begin() as connection:
        project = await projects.create(connection, slug=story.PROJECT, name=story.PROJECT, request_id=REQUEST_ID)
        token = await token_store.create(
            connection, env=settings.environment, project_id=project, name="research", role=Role.OWNER
        )
        actor = Actor(project, token.id, REQUEST_ID)
        await key_store.add(connection, actor, name=story.KEY_NAME, public_key=line)
        for region in catalogue.regions:
            for machine_type in region.machine_types:
                await set_limit(
                    connection, project_id=project, region=region.slug, machine_type=machine_type, machines=MACHINES
                )
        await accounts.update(connection, project, dict(story.CUSTOMER), if_version=None)
        if (await connection.execute(_NO_SELLER)).scalar_one():
            await update_seller(connection, dict(story.SELLER), if_version=None)
    return Cloud(database, sites, settings, catalogue, actor)


class _Sample:
    """What happens, and when."""

    def __init__(self, cloud: Cloud, months: Months) -> None:
        self._cloud = cloud
        self._months = months
        self._database = cloud.database
        self._account = cloud.actor.project_id
        self._clusters: dict[str, UUID] = {}
        self._report: UUID

    def timeline(self) -> list[tuple[datetime, Act]]:
        events: list[tuple[story.Moment, Act]] = [
            (story.BEGIN, self._grant),
            *((story.BEGIN, partial(self._budget, budget)) for budget in story.BUDGETS),
            *((moment, self._nothing) for moment in story.EVALUATIONS),
            *((moment, partial(self._bill, month)) for month, moment in enumerate(story.SEALED)),
            (story.PAID, self._pay),
            (story.CREDITED, self._credit),
            (story.FAULT[0], self._fail),
            (story.FAULT[1], self._work_again),
        ]
        for use in story.USES:
            events += [(use.since, partial(self._create, use)), (use.until, partial(self._delete, use))]
            if use.suspended is not None:
                since, until = use.suspended
                events += [(since, partial(self._suspend, use)), (until, partial(self._resume, use))]
        return [(self._months.at(*moment), act) for moment, act in events]

    async def export(self, month: date) -> None:
        """A CSV file of the month's cost, in FOCUS 1.2."""
        request = RequestedExport(Dataset.COST_AND_USAGE, FocusVersion.V1_2, FileFormat.CSV, month_of(month))
        async with self._database.begin() as connection:
            await projects.lock(connection, self._account)
            _, operation = await request_export(connection, self._cloud.actor, request)
        await self._cloud.finished(operation)

    async def _create(self, use: story.Use) -> None:
        self._clusters[use.name] = await self._cloud.create(use)

    async def _delete(self, use: story.Use) -> None:
        await self._cloud.delete(self._clusters[use.name])

    async def _suspend(self, use: story.Use) -> None:
        await self._cloud.suspend(self._clusters[use.name])

    async def _resume(self, use: story.Use) -> None:
        await self._cloud.resume(self._clusters[use.name])

    async def _nothing(self) -> None:
        """The bookkeeping follows every event."""

    async def _fail(self) -> None:
        self._report = await self._cloud.fail(self._clusters[story.FAULTY], story.FAULT_DETAIL)

    async def _work_again(self) -> None:
        await self._cloud.work_again(self._clusters[story.FAULTY], self._report)

    async def _grant(self) -> None:
        expires_at = self._months.at(*story.CREDIT_ENDS)
        async with self._database.begin() as connection:
            await grant(
                connection, self._account, _money(story.CREDIT), reason=story.CREDIT_REASON, expires_at=expires_at
            )

    async def _budget(self, new: budgets.NewBudget) -> None:
        owner = budgets.Owner("project", self._account)
        async with self._database.begin() as connection:
            await projects.lock(connection, self._account)
            await budgets.create(connection, owner, new, self._cloud.actor)

    async def _bill(self, month: int) -> None:
        """Keep the books until the month is sealed and invoiced."""
        for _ in range(TURNS):
            await keep_books(self._database)
            async with self._database.read() as connection:
                if (await connection.execute(_INVOICED, {"month": self._months[month]})).scalar_one():
                    return
        raise SampleError(f"The month {self._months[month]:%Y-%m} was not invoiced.")

    async def _pay(self) -> None:
        number, due = await self._first_invoice()
        async with self._database.begin() as connection:
            await record_payment(
                connection, self._account, _money(due), reference=story.PAYMENT_REFERENCE, invoice=number
            )

    async def _credit(self) -> None:
        number, _ = await self._first_invoice()
        async with self._database.begin() as connection:
            await issue_credit_note(connection, number, net=story.CREDITED_NET, reason=story.CREDITED_REASON)

    async def _first_invoice(self) -> tuple[str, Decimal]:
        async with self._database.read() as connection:
            return await _INVOICE.one(connection, {"account_id": self._account, "month": self._months.first})


def _money(amount: Decimal) -> Money:
    return Money.of(amount, story.CURRENCY)

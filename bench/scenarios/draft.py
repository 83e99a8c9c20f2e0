"""The draft invoice of clusters that ran all month, through the API, against its own SQL.

That is every statement that computes it, and in a second figure the one of its lines alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

import httpx
import psycopg

from bench.databases import kept_open
from bench.finding import Finding, at_most
from bench.rounds import alternate
from bench.servers import HOST, serving_product
from bench.stage import Stage
from ipucloud.billing.invoices.lines import Bill, drafted_lines
from ipucloud.billing.invoices.queries import draft_of
from ipucloud.billing.invoices.seller import install_shipped_rates
from ipucloud.billing.ledger.close import close_hour
from ipucloud.billing.ledger.months import open_months
from ipucloud.billing.reports.rollup import roll_up_days
from ipucloud.db.engine import Database
from ipucloud.db.statements import Tenant
from tests.feature.billing.world import BillingWorld, at, open_billing_world
from tests.support.postgres import Database as Scratch

GOAL = 2.0
BEGINS = at("2026-05-01T00:00:00")


@dataclass(frozen=True, slots=True)
class Size:
    """`drafts`: how often a side does its work in one turn. Of more than a day of `hours`, days are rolled up."""

    clusters: int = 100
    hours: int = 743
    drafts: int = 10


SMALLEST = Size(clusters=1, hours=25, drafts=1)


def run(stage: Stage, size: Size) -> list[Finding]:
    with stage.database() as urls, kept_open(urls.app_url) as (runner, database):
        billing = runner.run(_prepare(database, urls, size))
        headers = {"Authorization": f"Bearer {billing.project.token.secret}"}
        with (
            serving_product(stage.folder, urls.app_url) as server,
            httpx.Client(headers=headers, timeout=30.0) as client,
        ):
            url = f"http://{HOST}:{server.port}/v1/projects/{billing.project.slug}/billing/invoices/draft"
            rates = alternate(
                {
                    "API": lambda: _rate(lambda: client.get(url).raise_for_status(), size.drafts),
                    "SQL": lambda: runner.run(_computed(database, billing, size.drafts)),
                    "lines": lambda: runner.run(_lines_alone(database, billing, size.drafts)),
                },
                stage.rounds,
            )
    what = f"draft invoice of {size.clusters} clusters and {size.hours} hours by the API: time, over that of its SQL"
    of_lines = "the same, over that of the statement of its lines alone"
    return [
        Finding(what, rates.ratio("SQL", "API"), goal=at_most(GOAL), numbers=rates.numbers("SQL", "API")),
        Finding(of_lines, rates.ratio("lines", "API"), numbers=rates.numbers("lines", "API")),
    ]


async def _computed(database: Database, billing: BillingWorld, drafts: int) -> float:
    """As the API reads it: for the payer, who sees nobody else's rows."""
    project = billing.project.id
    started = time.perf_counter()
    for _ in range(drafts):
        async with database.read(Tenant(project, billing.project.token.id, project)) as connection:
            await draft_of(connection, project, "EUR", everything=False)
    return drafts / (time.perf_counter() - started)


async def _lines_alone(database: Database, billing: BillingWorld, drafts: int) -> float:
    async with database.read() as connection:
        started = time.perf_counter()
        for _ in range(drafts):
            await drafted_lines(connection, Bill(billing.project.id, "EUR", BEGINS.date()))
        return drafts / (time.perf_counter() - started)


async def _prepare(database: Database, urls: Scratch, size: Size) -> BillingWorld:
    """The last hours of a month of which everything but the present day is rolled up."""
    billing = await open_billing_world(database, urls.owner_url)
    async with database.begin() as connection:
        await install_shipped_rates(connection)
    billing.now(BEGINS)
    await billing.price(Decimal("0.0625"))
    for number in range(size.clusters):
        await billing.used(await billing.make_cluster(), BEGINS + timedelta(seconds=number), quantity=1 + number % 16)
    billing.now(BEGINS + timedelta(hours=size.hours, minutes=5))
    await open_months(database)
    for number in range(size.hours):
        await close_hour(database, _hour(number))
    await roll_up_days(database)
    with psycopg.connect(urls.superuser_url, autocommit=True) as superuser:
        superuser.execute("VACUUM ANALYZE")
    return billing


def _hour(number: int) -> datetime:
    return BEGINS + timedelta(hours=number)


def _rate(work: Callable[[], object], drafts: int) -> float:
    started = time.perf_counter()
    for _ in range(drafts):
        work()
    return drafts / (time.perf_counter() - started)

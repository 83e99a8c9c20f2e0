"""Billing a month: verified, rolled up, sealed, its names written down, and invoiced, by the worker's own code.

The process is killed at a random point, and another one goes on. `--size hours=744` for a whole month.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import psycopg
from psycopg.rows import scalar_row

from bench.child import Child
from bench.databases import opened
from bench.finding import Finding, at_least, at_most
from bench.rounds import alternate
from bench.stage import Stage
from ipucloud.billing.invoices.lines import lines_of_many
from ipucloud.billing.invoices.seller import install_shipped_rates
from ipucloud.billing.ledger.close import close_hour
from ipucloud.billing.ledger.months import open_months
from ipucloud.laboratory.sample.clock import Months
from tests.support.factories import furnish
from tests.support.postgres import Database as Scratch

PER_ACCOUNT = 100
MEMORY_GOAL, GROUPING_GOAL = 500, 0.6
PATIENCE = 6 * 3600.0


@dataclass(frozen=True, slots=True)
class Size:
    hours: int = 48
    clusters: int = 100_000

    @property
    def accounts(self) -> int:
        return self.clusters // PER_ACCOUNT


SMALLEST = Size(hours=1, clusters=PER_ACCOUNT)

_FILL = (
    "ALTER TABLE usage_intervals DROP CONSTRAINT ex_usage_intervals_no_overlap",
    """
    INSERT INTO projects (id, slug, name)
    SELECT gen_random_uuid(), 'project-' || n, 'Project' FROM generate_series(1, %(accounts)s) AS n
    """,
    # Clusters stand behind nothing that is read but their names.
    "ALTER TABLE clusters ENABLE ALWAYS TRIGGER clusters_resource",
    "SET session_replication_role = replica",
    """
    WITH placed AS (SELECT id, row_number() OVER () AS n FROM projects)
    INSERT INTO clusters (id, project_id, name, region, flavor, machine_type, machines, ipus, sku, currency, image,
                          state, external_name)
    SELECT uuidv7(), placed.id, 'cluster-' || g, 'luxembourg-2', 'm2000-pod4', 'm2000', 1, 4, 'ipu-m2000', 'EUR',
           'ubuntu', 'active', 'cluster-' || g || '-1'
      FROM generate_series(1, %(clusters)s) AS g JOIN placed ON placed.n = 1 + g %% %(accounts)s
     ORDER BY g
    """,
    """
    INSERT INTO usage_intervals (id, project_id, resource_id, flavor, sku, region, currency, quantity, anchor_at,
                                 started_at, ended_at)
    SELECT uuidv7(), project_id, id, flavor, sku, region, currency, 1 + g %% 16, began, began,
           %(begins)s::timestamptz + make_interval(hours => %(hours)s)
      FROM (SELECT *, row_number() OVER (ORDER BY id) AS g FROM clusters) AS numbered
     CROSS JOIN LATERAL (SELECT %(begins)s::timestamptz + make_interval(secs => g %% 3600) AS began) AS start
    """,
    # Hours of which nothing is measured, because nothing was used in them.
    """
    INSERT INTO hour_closes (hour, begun_at, closed_at, verified_at, charges)
    SELECT hour, app_now(), app_now(), app_now(), 0
      FROM generate_series(%(begins)s::timestamptz + make_interval(hours => %(hours)s),
                           app_now() - interval '61 minutes', interval '1 hour') AS hour
    """,
    "ANALYZE",
)
# From 0 to 2: what part of the hours was verified, and of the accounts has its invoice.
_NOT_YET = """
SELECT (SELECT count(*) FROM hour_closes WHERE charges > 0 AND verified_at IS NOT NULL)::float / %(hours)s
       + (SELECT count(*) FROM invoices)::float / %(accounts)s < %(point)s
"""
_WRONG = {
    "numbers have a gap": "SELECT count(*) = %(accounts)s AND max(sequence) = %(accounts)s FROM invoices",
    "an invoice is not its charges": """
        SELECT count(*) = 0
          FROM (SELECT account_id, sum(cost) AS cost FROM usage_charges GROUP BY account_id) AS used
          FULL JOIN invoices i USING (account_id) WHERE used.cost IS DISTINCT FROM i.cost
    """,
    "an account has usage that is not billed": """
        SELECT count(*) = 0 FROM ledger_accounts WHERE code = 'unbilled' AND debits <> credits
    """,
    "revenue is not what was billed": """
        SELECT credits - debits = (SELECT sum(cost) FROM invoices) FROM ledger_accounts WHERE code = 'revenue'
    """,
    "receivables are not what is due": """
        SELECT sum(debits - credits) = (SELECT sum(due) FROM invoices) FROM ledger_accounts WHERE code = 'receivable'
    """,
    "days are not their hours": """
        SELECT sum(cost) = (SELECT sum(cost) FROM invoices) FROM usage_days JOIN day_rollups USING (day, version)
    """,
    "names are missing": "SELECT count(*) = %(clusters)s + 2 * %(accounts)s FROM export_names",
}
_BARE = """
SELECT account_id, currency, project_id, sku, region, price_id, unit_price,
       date_trunc('month', hour AT TIME ZONE 'UTC')::date, sum(minutes), sum(minutes::bigint * quantity), sum(cost)
  FROM usage_charges WHERE billing_month = %(month)s GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
"""


@dataclass(frozen=True, slots=True)
class BilledMonth:
    """A month whose hours are closed, as the first of the next one finds them."""

    urls: Scratch
    size: Size
    month: date
    charges: int

    def values(self) -> dict[str, object]:
        begins = datetime(self.month.year, self.month.month, 1, tzinfo=UTC)
        sizes = {"hours": self.size.hours, "clusters": self.size.clusters, "accounts": self.size.accounts}
        return {**sizes, "month": self.month, "begins": begins}


def run(stage: Stage, size: Size) -> list[Finding]:
    month = Months.sealed_by(datetime.now(UTC)).second
    with stage.database() as urls:
        charges = asyncio.run(_prepare(BilledMonth(urls, size, month, 0)))
        billed = BilledMonth(urls, size, month, charges)
        return [*_bill(stage, billed), _grouping(stage, billed)]


async def _prepare(billed: BilledMonth) -> int:
    """Prices, clusters in use for so many hours, and those hours closed by the product itself; how many charges."""
    values = billed.values()
    async with opened(billed.urls.app_url, pool_size=2) as database:
        await furnish(database, project_count=0)
        async with database.begin() as connection:
            await install_shipped_rates(connection)
        with psycopg.connect(billed.urls.superuser_url, autocommit=True) as superuser:
            for statement in _FILL:
                superuser.execute(statement.encode(), values)
            await open_months(database)
            begins = datetime(billed.month.year, billed.month.month, 1, tzinfo=UTC)
            charges = sum([await close_hour(database, begins + timedelta(hours=n)) for n in range(billed.size.hours)])
            superuser.execute("VACUUM ANALYZE")
    return charges


def _bill(stage: Stage, billed: BilledMonth) -> Iterator[Finding]:
    command = ("-m", "bench.processes.bookkeeper", billed.urls.app_url, billed.month.isoformat())
    point = random.uniform(0.0, 2.0)  # noqa: S311  # no secret
    with Child.python(*command, log=stage.folder / "killed.log") as child:
        child.line()
        first = _until(billed, child, point)
        memory = child.memory()
        child.kill()
    with Child.python(*command, log=stage.folder / "second.log") as child:
        child.line()
        second = json.loads(child.line(PATIENCE))
        memory = max(memory, child.memory())
    _check(billed)
    what = f"billing a month of {billed.size.clusters:,} clusters, {billed.charges:,} charges"
    numbers = {"killed at": point / 2, "after s": first}
    yield Finding(f"{what}: memory of the process", memory, "MB", at_most(MEMORY_GOAL))
    yield Finding(f"{what}: the run after the kill", second["seconds"], "s", numbers=numbers)
    per_million = (first + second["seconds"]) / (billed.charges / 1e6)
    yield Finding(f"{what}: both runs, per million charges", per_million, "s", numbers={"turns": second["turns"]})


def _until(billed: BilledMonth, child: Child, point: float) -> float:
    """Wait until so much is done; the seconds it took."""
    started = time.perf_counter()
    with psycopg.connect(billed.urls.superuser_url, autocommit=True) as connection:
        cursor = connection.cursor(row_factory=scalar_row)
        while cursor.execute(_NOT_YET, {**billed.values(), "point": point}).fetchone():
            if not child.running:
                raise child.failure("ended")
            time.sleep(0.05)
    return time.perf_counter() - started


def _check(billed: BilledMonth) -> None:
    """Whatever was killed, the end is that of one run alone. Raises ValueError."""
    with psycopg.connect(billed.urls.superuser_url, autocommit=True) as connection:
        for sentence, right in _WRONG.items():
            if connection.execute(right.encode(), billed.values()).fetchone() != (True,):
                raise ValueError(sentence)


def _grouping(stage: Stage, billed: BilledMonth) -> Finding:
    sides = {"invoices": lambda: asyncio.run(_lines(billed)), "bare": lambda: _group(billed)}
    rates = alternate(sides, min(3, stage.rounds))
    what = "lines of all accounts' invoices, over one bare GROUP BY of the same charges"
    numbers = rates.numbers("invoices", "bare")
    return Finding(what, rates.ratio("invoices", "bare"), goal=at_least(GROUPING_GOAL), numbers=numbers)


async def _lines(billed: BilledMonth) -> float:
    with psycopg.connect(billed.urls.superuser_url) as connection:
        accounts = [account for (account,) in connection.execute("SELECT account_id FROM invoices")]
    async with opened(billed.urls.app_url) as database:
        started = time.perf_counter()
        bills = [bill async for bill, _ in lines_of_many(database, billed.month, accounts)]
        elapsed = time.perf_counter() - started
    if len(bills) != billed.size.accounts:
        raise ValueError(f"{len(bills)} accounts have lines")
    return billed.charges / elapsed


def _group(billed: BilledMonth) -> float:
    with psycopg.connect(billed.urls.superuser_url, options="-c jit=off -c work_mem=64MB") as connection:
        started = time.perf_counter()
        connection.execute(_BARE, billed.values()).fetchall()
        return billed.charges / (time.perf_counter() - started)

"""Writing a month of FOCUS rows as CSV and as Parquet, over the database's own COPY of the same charges.

Also a report of the month by the API, over its SQL and what any request costs, which is more than this SQL.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial

import httpx
import psycopg

from bench.child import Child
from bench.databases import opened
from bench.finding import Finding, at_least, at_most
from bench.rounds import alternate
from bench.servers import HOST, serving_product
from bench.stage import Stage
from ipucloud.billing.ledger.months import open_months
from ipucloud.billing.reports.report import report
from ipucloud.billing.reports.rollup import roll_up_days
from tests.support.factories import Project, furnish
from tests.support.postgres import Database as Scratch

HOURS = 600
CSV_GOAL, PARQUET_GOAL, REPORT_GOAL = 0.39, 0.6, 2.0


@dataclass(frozen=True, slots=True)
class Size:
    """`rows`: full hours of as many clusters as that takes. `reports`: how often one is asked for."""

    rows: int = 1_000_000
    reports: int = 40

    @property
    def clusters(self) -> int:
        return self.rows // HOURS


SMALLEST = Size(rows=HOURS, reports=1)

_FILL = (
    # Clusters stand behind nothing that an export reads but their names; the charges are as a close posts them.
    "ALTER TABLE clusters ENABLE ALWAYS TRIGGER clusters_resource",
    "SET session_replication_role = replica",
    """
    INSERT INTO clusters (id, project_id, name, region, flavor, machine_type, machines, ipus, sku, currency, image,
                          state, external_name, tags)
    SELECT uuidv7(), %(project)s, 'cluster-' || n, 'luxembourg-2', 'm2000-pod4', 'm2000', 1, 4, 'ipu-m2000', 'EUR',
           'ubuntu', 'active', 'cluster-' || n || '-1', '{"team": "vision"}' FROM generate_series(1, %(clusters)s) AS n
    """,
    """
    INSERT INTO usage_charges (billing_month, hour, resource_id, first_minute, project_id, account_id, interval_id,
                               price_id, started_at, ended_at, minutes, quantity, sku, region, currency, unit_price,
                               list_unit_price)
    SELECT %(month)s, hour, c.id, 60 * n, c.project_id, c.project_id, c.id, p.id, hour, hour + interval '1 hour', 60, 4,
           c.sku, c.region, c.currency, p.unit_price, p.unit_price
      FROM generate_series(0, %(hours)s - 1) AS n
     CROSS JOIN LATERAL (SELECT %(month)s::timestamptz + make_interval(hours => n) AS hour) AS time
     CROSS JOIN clusters c JOIN prices p ON p.sku = c.sku AND p.region = c.region
    """,
    """
    INSERT INTO hour_closes (hour, begun_at, closed_at, charges)
    SELECT DISTINCT hour, hour + interval '61 minutes', hour + interval '62 minutes', 1 FROM usage_charges
    """,
    "VACUUM ANALYZE",
)


def run(stage: Stage, size: Size) -> list[Finding]:
    with stage.database() as urls:
        month = (datetime.now(UTC).date().replace(day=1) - timedelta(days=1)).replace(day=1)
        customer = asyncio.run(_prepare(urls, size, month))
        return [*_files(stage, urls, size, month, customer), _report(stage, urls, size, month, customer)]


async def _prepare(urls: Scratch, size: Size, month: date) -> Project:
    """A month of charges of one project, and its roll-up."""
    async with opened(urls.app_url, pool_size=2) as database:
        (customer,) = await furnish(database)
        with psycopg.connect(urls.superuser_url, autocommit=True) as connection:
            connection.execute("SELECT open_billing_month(%s)", [month])
            values = {"project": customer.id, "month": month, "hours": HOURS, "clusters": size.clusters}
            for statement in _FILL:
                connection.execute(statement.encode(), values, prepare=False)
        await open_months(database)
        await roll_up_days(database)
    return customer


def _files(stage: Stage, urls: Scratch, size: Size, month: date, customer: Project) -> Iterator[Finding]:
    memory: dict[str, float] = {}

    def write(kind: str) -> float:
        arguments = ("-m", "bench.processes.exporter", kind, urls.app_url, month.isoformat(), str(customer.id))
        with Child.python(*arguments, log=stage.folder / f"{kind}.log") as child:
            written = json.loads(child.line(600.0))
        if written["rows"] != size.clusters * HOURS:
            raise ValueError(f"{written['rows']} rows were written")
        memory[kind] = written["memory"]
        rate: float = written["rows"] / written["seconds"]
        return rate

    sides = {kind: partial(write, kind) for kind in ("csv", "parquet", "copy")}
    rates = alternate(sides, min(3, stage.rounds))
    for kind, goal in (("csv", CSV_GOAL), ("parquet", PARQUET_GOAL)):
        yield Finding(
            f"{size.clusters * HOURS:,} FOCUS rows as {kind}, over COPY of their charges",
            rates.ratio(kind, "copy"),
            goal=at_least(goal),
            numbers=rates.numbers(kind, "copy"),
        )
        yield Finding(f"memory of the process that writes them as {kind}", memory[kind], "MB")


def _report(stage: Stage, urls: Scratch, size: Size, month: date, customer: Project) -> Finding:
    since, until = (f"{day:%Y-%m-%d}T00:00:00Z" for day in (month, month + timedelta(days=25)))
    query = {"since": since, "until": until}
    with serving_product(stage.folder, urls.app_url) as server:
        url = f"http://{HOST}:{server.port}/v1/projects/{customer.slug}/billing/report"
        with httpx.Client(headers={"Authorization": f"Bearer {customer.token.secret}"}) as client:
            api = [_seconds(lambda: client.get(url, params=query).raise_for_status()) for _ in range(size.reports)]
            project = url.removesuffix("/billing/report")
            plain = [_seconds(lambda: client.get(project).raise_for_status()) for _ in range(size.reports)]
    alone = asyncio.run(_statement_alone(urls, size, customer, since, until))
    api_median, read_median, sql_median = statistics.median(api), statistics.median(plain), statistics.median(alone)
    numbers = {"API ms": api_median * 1000, "read ms": read_median * 1000, "SQL ms": sql_median * 1000}
    what = "a report of the month by the API, over a read of the project and the report's SQL"
    return Finding(what, api_median / (read_median + sql_median), goal=at_most(REPORT_GOAL), numbers=numbers)


async def _statement_alone(urls: Scratch, size: Size, customer: Project, since: str, until: str) -> list[float]:
    begins, ends = datetime.fromisoformat(since), datetime.fromisoformat(until)
    seconds = []
    async with opened(urls.app_url) as database, database.read() as connection:
        for _ in range(size.reports):
            started = time.perf_counter()
            await report(connection, groups=(), since=begins, until=ends, project_id=customer.id)
            seconds.append(time.perf_counter() - started)
    return seconds


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started

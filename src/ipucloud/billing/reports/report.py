"""Reports: charges of a period, grouped and summed.

Rolled-up days are read from the roll-up, all other hours from the charges, in one statement and so one snapshot. Either
way a report is the exact sum of posted charges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import cache
from typing import NamedTuple
from uuid import UUID

from ipucloud.billing.reports.rollup import DAY_CLOSED, HOLDS
from ipucloud.contract.reports import ReportOut, ReportRowOut, SumsOut
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.csv_tables import text_cell, write_csv
from ipucloud.kernel.money import Money, total, written

MAX_DAYS = 400
MAX_ROWS = 50_000


class Group(StrEnum):
    """Groups of figures, besides the value of a tag."""

    CLUSTER = "cluster"
    PROJECT = "project"
    FLAVOR = "flavor"
    REGION = "region"
    SKU = "sku"
    DAY = "day"
    MONTH = "month"


TAG = "tag:"
_NAMES = {"cluster": "cluster_name", "project": "project_name"}
_VALUES = {
    Group.CLUSTER: "used.resource_id::text",
    Group.PROJECT: "used.project_id::text",
    Group.FLAVOR: "used.flavor",
    Group.REGION: "used.region",
    Group.SKU: "used.sku",
    Group.DAY: "to_char(used.day, 'YYYY-MM-DD')",
    Group.MONTH: "to_char(used.day, 'YYYY-MM')",
}
_PERIOD = """
WITH period AS (
  SELECT CAST(:since AS timestamptz) AS since, CAST(:until AS timestamptz) AS until
), payer AS MATERIALIZED (
  SELECT DISTINCT account_id FROM project_accounts WHERE project_id = CAST(:project_id AS uuid)
  UNION SELECT CAST(:account_id AS uuid) WHERE CAST(:account_id AS uuid) IS NOT NULL
), shown AS MATERIALIZED (
  -- A project that went to another payer shows its former one no more tags.
  SELECT CAST(:project_id AS uuid) AS project_id WHERE CAST(:account_id AS uuid) IS NULL
  UNION ALL SELECT project_id FROM projects_paid_by(CAST(:account_id AS uuid))
), whole AS MATERIALIZED (
  SELECT rolled.day, rolled.version FROM period, day_rollups AS rolled
"""
_USED = """
     AND rolled.day::timestamp AT TIME ZONE 'UTC' >= period.since
     AND (rolled.day + 1)::timestamp AT TIME ZONE 'UTC' <= period.until
), loose AS MATERIALIZED (
  SELECT greatest(begins, period.since) AS begins, least(begins + interval '1 day', period.until) AS ends,
         (begins AT TIME ZONE 'UTC')::date AS day, date_trunc('month', begins AT TIME ZONE 'UTC')::date AS month
    FROM period,
         generate_series(date_trunc('day', period.since, 'UTC'), period.until - interval '1 hour', interval '1 day')
           AS begins
   WHERE NOT EXISTS (SELECT FROM whole WHERE whole.day = (begins AT TIME ZONE 'UTC')::date)
), used AS (
  SELECT d.day, d.project_id, d.resource_id, d.flavor, d.sku, d.region, d.currency, d.minutes, d.machine_minutes,
         d.credited_machine_minutes, d.cost, d.list_cost
    FROM payer JOIN usage_days d USING (account_id) JOIN whole USING (day, version)
   WHERE CAST(:project_id AS uuid) IS NULL OR d.project_id = CAST(:project_id AS uuid)
  UNION ALL
  SELECT loose.day, c.project_id, c.resource_id, {flavor}, c.sku, c.region, c.currency, c.minutes,
         c.minutes::bigint * c.quantity, c.minutes::bigint * c.credited, c.cost,
         c.minutes * c.quantity * c.list_unit_price
    FROM loose CROSS JOIN payer
    JOIN usage_charges c ON c.account_id = payer.account_id AND c.hour >= loose.begins AND c.hour < loose.ends
                        AND c.billing_month >= loose.month
   WHERE CAST(:project_id AS uuid) IS NULL OR c.project_id = CAST(:project_id AS uuid)
)
"""
_USED_FLAVOR = "(SELECT flavor FROM usage_intervals u WHERE u.id = c.interval_id)"
_TAGGED = """
LEFT JOIN resources AS tagged
       ON tagged.id = used.resource_id AND tagged.project_id IN (SELECT project_id FROM shown)
"""
_NAMED = "LEFT JOIN resources AS clusters ON clusters.id = used.resource_id"
_SUMS = """
used.currency, sum(used.minutes)::bigint AS minutes, sum(used.machine_minutes)::bigint AS machine_minutes,
sum(used.credited_machine_minutes)::bigint AS credited_machine_minutes, sum(used.cost) AS cost,
sum(used.list_cost) AS list_cost
"""


class _Period(NamedTuple):
    """[since, until), whole hours. Charges are posted for hours before `posted_until`; None: for none yet."""

    since: datetime
    until: datetime
    posted_until: datetime | None


_POSTED = Query(
    """
    SELECT date_trunc('hour', coalesce(CAST(:since AS timestamptz), date_trunc('month', app_now(), 'UTC')), 'UTC')
               AS since,
           date_trunc('hour', coalesce(CAST(:until AS timestamptz), app_now()), 'UTC') AS until,
           (SELECT max(hour) + interval '1 hour' FROM hour_closes WHERE closed_at IS NOT NULL) AS posted_until
    """,
    _Period,
)


class _Row(NamedTuple):
    """The sums of a group, by the group's values in the order of its columns."""

    values: list[str]
    currency: str
    minutes: int
    machine_minutes: int
    credited_machine_minutes: int
    cost: Decimal
    list_cost: Decimal


@dataclass
class ReportTooBigError(Exception):
    """More than `MAX_DAYS` days or `MAX_ROWS` groups; the message is the remedy."""

    parameter: str
    detail: str


async def report(
    connection: Statements,
    *,
    groups: Sequence[str],
    since: datetime | None,
    until: datetime | None,
    project_id: UUID | None = None,
    account_id: UUID | None = None,
) -> ReportOut:
    """What a project used, or an account paid for, in [since, until); without bounds, the running UTC month.

    Bounds are cut to the hour. `groups` are names of `Group` or `tag:<key>`. An hour counts by when its minutes began,
    whichever bill its charges are on; hours that are not closed are not in it. Raises ReportTooBigError.
    """
    period = await _POSTED.one(connection, {"since": since, "until": until})
    if period.until - period.since > timedelta(days=MAX_DAYS):
        raise ReportTooBigError("since", f"A report can have at most {MAX_DAYS} days.")
    tags = [group.removeprefix(TAG) for group in groups if group.startswith(TAG)]
    columns = tuple(name for group in groups for name in _columns(group))
    values = {"project_id": project_id, "account_id": account_id, "since": period.since, "until": period.until}
    statement = _statement(tuple(TAG if group.startswith(TAG) else group for group in groups))
    records = await statement.all(connection, values | {f"tag_{place}": tag for place, tag in enumerate(tags)})
    rows = [_row(each, columns) for each in records]
    if len(rows) > MAX_ROWS:
        raise ReportTooBigError("group_by", "There are too many groups: choose a shorter period or fewer groups.")
    return ReportOut(**period._asdict(), columns=list(columns), rows=rows, totals=_totals(rows))


def as_csv(table: ReportOut) -> bytes:
    """A row for each group, without totals: the rows sum to them."""
    header = (*table.columns, "currency", "minutes", "machine_minutes", "credited_machine_minutes", "list_cost", "cost")
    return write_csv(header, (_cells(row) for row in table.rows))


def _cells(row: ReportRowOut) -> tuple[str | None, ...]:
    group = (None if value is None else text_cell(value) for value in row.group.values())
    used = (str(row.minutes), str(row.machine_minutes), str(row.credited_machine_minutes))
    return (
        *group,
        row.cost.currency,
        *used,
        *(written(cost.amount, cost.currency) for cost in (row.list_cost, row.cost)),
    )


def _columns(group: str) -> tuple[str, ...]:
    return (group, _NAMES[group]) if group in _NAMES else (group,)


@cache
def _statement(groups: tuple[str, ...]) -> Query[_Row]:
    values, tags = [], 0
    for group in groups:
        if group == TAG:
            values.append(f"tagged.tags ->> CAST(:tag_{tags} AS text)")
            tags += 1
            continue
        values.append(_VALUES[Group(group)])
        values += [f"{group}s.name"] if group in _NAMES else []
    keys = ", ".join([*values, "used.currency"])
    return Query(
        clauses(
            _PERIOD,
            DAY_CLOSED,
            "WHERE",
            HOLDS,
            # Charges have no flavor of their own; the interval that they are of has it.
            _USED.format(flavor=_USED_FLAVOR if Group.FLAVOR in groups else "CAST(NULL AS text)"),
            "SELECT",
            f"CAST(ARRAY[{', '.join(values)}] AS text[]) AS values,",
            _SUMS,
            "FROM used",
            _NAMED if Group.CLUSTER in groups else "",
            _TAGGED if TAG in groups else "",
            "LEFT JOIN projects ON projects.id = used.project_id" if Group.PROJECT in groups else "",
            f"GROUP BY {keys} ORDER BY {keys} LIMIT {MAX_ROWS + 1}",
        ),
        _Row,
    )


def _row(row: _Row, columns: Sequence[str]) -> ReportRowOut:
    return ReportRowOut(
        group=dict(zip(columns, row.values, strict=True)),
        minutes=row.minutes,
        machine_minutes=row.machine_minutes,
        credited_machine_minutes=row.credited_machine_minutes,
        cost=Money.of(row.cost, row.currency),
        list_cost=Money.of(row.list_cost, row.currency),
    )


def _totals(rows: Sequence[ReportRowOut]) -> list[SumsOut]:
    by_currency: dict[str, list[ReportRowOut]] = {}
    for row in rows:
        by_currency.setdefault(row.cost.currency, []).append(row)
    return [
        SumsOut(
            minutes=sum(row.minutes for row in of_currency),
            machine_minutes=sum(row.machine_minutes for row in of_currency),
            credited_machine_minutes=sum(row.credited_machine_minutes for row in of_currency),
            cost=Money.of(total(row.cost.amount for row in of_currency), currency),
            list_cost=Money.of(total(row.list_cost.amount for row in of_currency), currency),
        )
        for currency, of_currency in sorted(by_currency.items())
    ]

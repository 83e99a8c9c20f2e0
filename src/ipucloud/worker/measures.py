"""What the whole installation looks like, measured by one worker at a time and exported by the one that did it last.

Like an audit's result, a measurement is exported until the next one is overdue. Every label has few values: regions and
machine types of the catalogue, kinds declared in the code, and the words that the statements write.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from prometheus_client import REGISTRY
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from ipucloud.billing.dunning.overdue import OVERDUE
from ipucloud.db.documents import clauses
from ipucloud.db.engine import Database
from ipucloud.invariants.gauge import FRESH_INTERVALS
from ipucloud.inventory.health.tables import alerts_suppressed, answered_lately, read_lately, shown_health
from ipucloud.operations.frozen import frozen_until

MEASURE_SECONDS = 30.0

_Row = Sequence[object]
"""The labels' values, then the number."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A gauge, and the statement whose rows are its series: the labels' values in order, then the value."""

    name: str
    meaning: str
    labels: tuple[str, ...]
    statement: sa.TextClause


def _by_state(table: str) -> Measure:
    return Measure(
        table,
        f"{table.capitalize()} that are not deleted, by state; no series without one",
        ("region", "state"),
        sa.text(f"SELECT region, state, count(*) FROM {table} WHERE state <> 'deleted' GROUP BY region, state"),  # noqa: S608  # our own text
    )


def _gib(kind: str) -> Measure:
    return Measure(
        f"{kind}_gib",
        f"GiB of the {kind}s that are billed",
        ("region",),
        sa.text(
            f"""
            SELECT u.region, sum(u.quantity)
              FROM usage_intervals u JOIN resources r ON (r.project_id, r.id) = (u.project_id, u.resource_id)
             WHERE u.ended_at IS NULL AND r.kind = '{kind}' GROUP BY u.region
            """  # noqa: S608  # our own text
        ),
    )


MACHINES = Measure(
    "machines",
    "Machines by state: free, allocated, cleaning, validating, unhealthy, maintenance, silent",
    ("region", "machine_type", "state"),
    sa.text(
        """
        SELECT pods.region, machine_type, state, sum(bit_count(CAST(mask AS bit(16))))
          FROM pods LEFT JOIN vipu_controllers AS v ON v.region = pods.region AND v.name = pods.controller
         CROSS JOIN LATERAL (
           VALUES ('free', free_mask), ('allocated', allocated_mask), ('cleaning', cleaning_mask),
                  ('validating', validating_mask), ('maintenance', maintenance_mask),
                  ('unhealthy', CASE WHEN v.withheld THEN 0 ELSE unhealthy_mask END),
                  ('silent', CASE WHEN v.withheld THEN unhealthy_mask ELSE 0 END)) AS states (state, mask)
         GROUP BY pods.region, machine_type, state
        """
    ),
)
MACHINE_HEALTH = Measure(
    "machine_health",
    "Machines by health: ok, unknown, degraded, failed, silent (not read lately); no series without one",
    ("region", "machine_type", "health"),
    sa.text(
        f"""
        SELECT pods.region, machine_type,
               {shown_health("m.health", read_lately("reading"), answered_lately("wired"))} AS shown, count(*)
          FROM machines AS m JOIN pods ON pods.id = m.pod_id
          LEFT JOIN vipu_controllers AS wired ON wired.region = pods.region AND wired.name = pods.controller
          LEFT JOIN observations AS reading ON reading.region = pods.region AND reading.source = 'bmc'
         GROUP BY pods.region, machine_type, shown
        """  # noqa: S608  # our own text
    ),
)
CLUSTERS = Measure(
    "clusters",
    "Clusters that are not deleted, by state",
    ("region", "state"),
    sa.text("SELECT region, state, count(*) FROM clusters WHERE deleted_at IS NULL GROUP BY region, state"),
)
OPEN_OPERATIONS = Measure(
    "open_operations",
    "Operations that are not finished, by kind and time since the request",
    ("kind", "age"),
    sa.text(
        """
        SELECT kind,
               CASE WHEN created_at > app_now() - interval '10 minutes' THEN '<10m'
                    WHEN created_at > app_now() - interval '1 hour' THEN '<1h'
                    WHEN created_at > app_now() - interval '1 day' THEN '<1d'
                    ELSE '>=1d' END AS age, count(*)
          FROM operations WHERE NOT (state IN ('succeeded', 'failed', 'cancelled'))
         GROUP BY kind, age
        """
    ),
)
WORK_ITEMS = Measure(
    "work_items",
    "Work items by kind and state: due, leased, parked, resting",
    ("kind", "state"),
    sa.text(
        """
        SELECT kind,
               CASE WHEN parked_at IS NOT NULL THEN 'parked'
                    WHEN lease_owner IS NOT NULL THEN 'leased'
                    WHEN run_at <= app_now() THEN 'due'
                    ELSE 'resting' END AS state, count(*)
          FROM work GROUP BY kind, state
        """
    ),
)
OLDEST_DUE = Measure(
    "work_oldest_due_seconds",
    "How long the work item that has been due longest waits for a worker; 0 without one",
    (),
    sa.text(
        """
        SELECT coalesce(extract(epoch FROM app_now() - min(run_at)), 0) FROM work
         WHERE run_at IS NOT NULL AND lease_owner IS NULL AND run_at <= app_now()
        """
    ),
)
CLOSE_AGE = Measure(
    "hour_close_age_seconds",
    "Time since the end of the newest closed hour; absent before the first close",
    (),
    sa.text(
        """
        SELECT extract(epoch FROM app_now() - hour - interval '1 hour') FROM hour_closes
         WHERE closed_at IS NOT NULL ORDER BY hour DESC LIMIT 1
        """
    ),
)
LATE_MONTHS = Measure(
    "billing_months_late",
    "Billing months that are not sealed a day after their end, not invoiced, or not signed a day after sealing",
    ("step",),
    sa.text(
        """
        SELECT 'seal', count(*) FROM billing_months
         WHERE sealed_at IS NULL AND (month + interval '1 month 1 day') AT TIME ZONE 'UTC' <= app_now()
        UNION ALL
        SELECT 'invoice', count(*) FROM billing_months b
         WHERE sealed_at IS NOT NULL AND NOT EXISTS (SELECT FROM invoiced_months i WHERE i.month = b.month)
        UNION ALL
        SELECT 'sign', count(*) FROM billing_months b
         WHERE sealed_at <= app_now() - interval '1 day' AND EXISTS (SELECT FROM month_proofs)
           AND NOT EXISTS (SELECT FROM month_proofs p WHERE p.month = b.month)
        """
    ),
)
UNPRICED_MINUTES = Measure(
    "unpriced_minutes",
    "Minutes of closed hours that have no price and are not charged; no series without one",
    ("region", "sku", "currency"),
    sa.text("SELECT region, sku, currency, sum(minutes) FROM unpriced_minutes GROUP BY region, sku, currency"),
)
PREPAID = Measure(
    "prepaid_accounts",
    "Prepaid accounts by state: funded, low (at one of their levels), empty",
    ("state",),
    sa.text(
        """
        SELECT state.name, count(p.account_id)
          FROM (VALUES ('funded'), ('low'), ('empty')) AS state (name)
          LEFT JOIN prepaid_accounts p
            ON state.name = CASE WHEN p.state = 'funded' AND p.low_hours IS NOT NULL THEN 'low' ELSE p.state END
         GROUP BY state.name
        """
    ),
)
TOP_UPS = Measure(
    "top_ups",
    "Accounts that are topped up automatically, by state: active, requested, payment_failed, month_limit",
    ("state",),
    sa.text(
        """
        SELECT state.name, count(t.account_id)
          FROM (VALUES ('active'), ('requested'), ('payment_failed'), ('month_limit')) AS state (name)
          LEFT JOIN top_up_policies t
            ON state.name = coalesce(t.pause_reason, CASE WHEN t.payment_id IS NULL THEN 'active' ELSE 'requested' END)
         GROUP BY state.name
        """
    ),
)
DUNNING = Measure(
    "dunning_accounts",
    "Accounts with a dunning policy, by state: paid, overdue, refuse_creates, suspend",
    ("state",),
    sa.text(
        clauses(
            """
            SELECT state.name, count(d.account_id)
              FROM (VALUES ('paid'), ('overdue'), ('refuse_creates'), ('suspend')) AS state (name)
              LEFT JOIN dunning_policies d
                ON state.name = coalesce(d.restriction, CASE WHEN d.account_id IN (SELECT o.account_id FROM
            """,
            OVERDUE,
            "AS o) THEN 'overdue' ELSE 'paid' END) GROUP BY state.name",
        )
    ),
)
OBSERVATION_AGE = Measure(
    "observation_age_seconds",
    "Time since the last complete reading of a region's hardware by a source",
    ("region", "source"),
    sa.text(
        """
        SELECT region, source, extract(epoch FROM app_now() - coalesce(finished_at, failed_since))
          FROM observations WHERE coalesce(finished_at, failed_since) IS NOT NULL
        """
    ),
)
HEALTH_REPORTS = Measure(
    "health_reports",
    "Health reports that are not cleared, by state: suspected, live, suppressed by maintenance",
    ("region", "source", "code", "state"),
    sa.text(
        f"""
        SELECT region, source, code,
               CASE WHEN confirmed_at IS NULL THEN 'suspected'
                    WHEN {alerts_suppressed("r.machine_id", "r.host_id")} THEN 'suppressed'
                    ELSE 'live' END AS state, count(*)
          FROM health_reports AS r WHERE cleared_at IS NULL GROUP BY region, source, code, state
        """  # noqa: S608  # our own text
    ),
)
AUTOMATION_HALTED = Measure(
    "automation_halted",
    "1 while automatic actions are halted in a region because too much hardware failed at once",
    ("region",),
    sa.text("SELECT region, max((halted_since IS NOT NULL)::integer) FROM observations GROUP BY region"),
)

FROZEN = Measure(
    "removals_frozen",
    "1 while an operator has frozen removals in a region",
    ("region",),
    sa.text(f"SELECT region, ({frozen_until('site_regions.region')} IS NOT NULL)::integer FROM site_regions"),  # noqa: S608  # our own text
)
INVENTORY_FINDINGS = Measure(
    "inventory_findings",
    "Machines and hosts that are not as the expected inventory has them, by what differs; no series without one",
    ("region", "code"),
    sa.text("SELECT region, code, count(*) FROM inventory_findings GROUP BY region, code"),
)
CREDITED = Measure(
    "credited_machines",
    "Machines of clusters that do not work now and are not billed; no series without one",
    ("region",),
    sa.text(
        """
        SELECT region, sum(credited) FROM usage_intervals WHERE credited > 0 AND ended_at IS NULL GROUP BY region
        """
    ),
)
FAULT_REPORTS = Measure(
    "fault_reports",
    "Faults reported by customers that are open (without an answer) or confirmed (not repaired); no series without one",
    ("region", "state"),
    sa.text(
        """
        SELECT c.region, fault.state, count(*)
          FROM fault_reports fault JOIN clusters c ON (c.project_id, c.id) = (fault.project_id, fault.cluster_id)
         WHERE fault.state IN ('open', 'confirmed') GROUP BY 1, 2
        """
    ),
)
QUOTA_REQUESTS = Measure(
    "quota_requests",
    "Requests for higher quotas without a decision; no series without one",
    ("region",),
    sa.text("SELECT region, count(*) FROM quota_requests WHERE state = 'open' GROUP BY region"),
)
REPAIRS = Measure(
    "scheduled_repairs",
    "Repairs of clusters by state: scheduled, waiting (its time has come), running",
    ("region", "reason", "state"),
    sa.text(
        """
        SELECT c.region, r.reason,
               CASE WHEN r.operation_id IS NOT NULL THEN 'running' WHEN r.waits_for IS NOT NULL THEN 'waiting'
                    ELSE 'scheduled' END AS state, count(*)
          FROM scheduled_repairs r JOIN clusters c ON (c.project_id, c.id) = (r.project_id, r.cluster_id)
         WHERE r.ended_at IS NULL GROUP BY 1, 2, 3
        """
    ),
)
MEASURES = (
    *(MACHINES, MACHINE_HEALTH, CLUSTERS, OPEN_OPERATIONS, WORK_ITEMS, OLDEST_DUE),
    *(CLOSE_AGE, LATE_MONTHS, UNPRICED_MINUTES),
    *(PREPAID, TOP_UPS, DUNNING),
    *(OBSERVATION_AGE, HEALTH_REPORTS, AUTOMATION_HALTED, FROZEN, INVENTORY_FINDINGS, CREDITED, REPAIRS, FAULT_REPORTS),
    *(QUOTA_REQUESTS, _by_state("volumes"), _gib("volume"), _by_state("snapshots"), _gib("snapshot")),
    _by_state("addresses"),
)


class Measurements(Collector):
    """The collector: the last measurement, while it is fresh."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._rows: Mapping[str, Sequence[_Row]] = {}
        self._until = 0.0

    def report(self, rows: Mapping[str, Sequence[_Row]]) -> None:
        """Export these rows, by the measure's name, until the next measurement is overdue."""
        self._rows, self._until = rows, self._monotonic() + FRESH_INTERVALS * MEASURE_SECONDS

    def collect(self) -> Iterable[GaugeMetricFamily]:
        rows = self._rows if self._monotonic() < self._until else {}
        for measure in MEASURES:
            family = GaugeMetricFamily(measure.name, measure.meaning, labels=measure.labels)
            for *labels, value in rows.get(measure.name, ()):
                family.add_metric([str(label) for label in labels], float(str(value)))
            yield family


MEASUREMENTS = Measurements()
REGISTRY.register(MEASUREMENTS)


async def measure(database: Database) -> None:
    """Measure everything, each measure in a statement of its own."""
    async with database.read() as connection:
        MEASUREMENTS.report(
            {each.name: [tuple(row) for row in await connection.execute(each.statement)] for each in MEASURES}
        )

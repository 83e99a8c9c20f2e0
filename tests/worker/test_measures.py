"""What a worker does on its own account: it measures the whole installation, audits it, and forgets old answers."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from prometheus_client import REGISTRY

from ipucloud.db.rows import Query
from ipucloud.idempotency import store as idempotency
from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.reports import report
from ipucloud.worker.duties import audit_database
from ipucloud.worker.measures import MEASURE_SECONDS, MEASURES, Measurements, measure
from tests.support.filled import fill_in
from tests.worker.engines import Bench

pytestmark = pytest.mark.anyio


_MACHINE = Query(
    "SELECT m.id FROM machines m JOIN pods p ON p.id = m.pod_id WHERE p.region = 'luxembourg-2' ORDER BY m.id LIMIT 1",
    UUID,
)


def shown(metric: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(metric, labels)


async def test_a_filled_database_is_measured(bench: Bench) -> None:
    async with bench.database.begin() as connection:
        await fill_in(connection)
        machine = await _MACHINE.one(connection)
        failed: dict[str, Any] = {"source": Source.OPERATION, "code": Code.BUILD_FAILED, "detail": "it failed"}
        await report(connection, kind="machine", object_id=machine, **failed)
    await bench.execute("UPDATE work SET run_at = app_now() - interval '1 minute'")
    await measure(bench.database)
    assert shown("machines", region="luxembourg-2", machine_type="m2000", state="allocated") == 1
    assert shown("machines", region="luxembourg-2", machine_type="m2000", state="unhealthy") == 0
    silent = {"region": "luxembourg-2", "machine_type": "m2000"}
    assert (shown("machine_health", health="ok", **silent) or 0) == 0
    assert (shown("machine_health", health="silent", **silent) or 0) > 0, "nothing observed them"
    assert shown("open_operations", kind="cluster.delete", age=">=1d") == 1
    assert shown("work_items", kind="cluster", state="due") == 1
    assert 60 <= (shown("work_oldest_due_seconds") or 0) < 600
    assert (shown("hour_close_age_seconds") or 0) > 0
    assert [shown("billing_months_late", step=each) is None for each in ("seal", "invoice", "sign")] == [False] * 3
    assert [shown("prepaid_accounts", state=each) for each in ("funded", "low", "empty")] == [1, 0, 0]
    assert [shown("top_ups", state=each) for each in ("active", "month_limit")] == [0, 1]
    assert [shown("dunning_accounts", state=each) for each in ("paid", "overdue", "suspend")] == [1, 0, 0]
    reports = {"region": "luxembourg-2", "source": "operation", "code": "build_failed"}
    assert shown("health_reports", state="live", **reports) == 1
    async with bench.database.begin() as connection:
        order: dict[str, Any] = {"source": Source.OPERATOR, "code": Code.MAINTENANCE, "detail": "a new fan"}
        await report(connection, kind="machine", object_id=machine, **order)
    await measure(bench.database)
    assert shown("health_reports", state="live", **reports) is None
    assert shown("health_reports", state="suppressed", **reports) == 1


async def test_an_empty_database_is_measured(bench: Bench) -> None:
    await measure(bench.database)
    assert shown("work_oldest_due_seconds") == 0
    assert shown("hour_close_age_seconds") is None


async def test_the_gauge_shows_what_the_audit_found(bench: Bench) -> None:
    async with bench.database.begin() as connection:
        await fill_in(connection)
    await audit_database(bench.database)
    assert shown("invariant_violations", name="quota_counts_what_is_held") == 0
    await bench.execute("UPDATE quotas SET used = used + 3 WHERE used > 0")
    await audit_database(bench.database)
    assert shown("invariant_violations", name="quota_counts_what_is_held") == 1


def test_an_old_measurement_is_not_exported() -> None:
    now = 0.0
    measurements = Measurements(lambda: now)
    measurements.report({"work_oldest_due_seconds": [(3,)]})
    names = [each.name for each in MEASURES]
    assert [family.name for family in measurements.collect() if family.samples] == ["work_oldest_due_seconds"]
    now = 3 * MEASURE_SECONDS
    assert [family.name for family in measurements.collect()] == names
    assert not any(family.samples for family in measurements.collect())


async def test_stored_answers_go_a_day_after_the_cluster_they_made(bench: Bench) -> None:
    async with bench.database.begin() as connection:
        filled = await fill_in(connection)
    await bench.execute("DELETE FROM idempotency_keys")
    await bench.execute(
        """
        INSERT INTO idempotency_keys (scope, key, fingerprint, status, body, subject_id, created_at)
        SELECT c.project_id, kept.key, '\\x', 202, '\\x', CASE WHEN kept.of_cluster THEN c.id END, app_now() - kept.age
          FROM clusters c, (VALUES ('kept', true, interval '9 days'), ('fresh', false, interval '0'),
                                   ('old', false, interval '25 hours')) AS kept (key, of_cluster, age)
         WHERE c.id = :id
        """,
        id=filled.cluster,
    )
    await idempotency.sweep(bench.database)
    async with bench.database.read() as connection:
        keys = await connection.execute(sa.text("SELECT key FROM idempotency_keys ORDER BY key"))
    assert [*keys.scalars()] == ["fresh", "kept"]

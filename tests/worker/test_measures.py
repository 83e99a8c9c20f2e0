"""What a worker measures of the whole installation."""

from __future__ import annotations

import pytest
from prometheus_client import REGISTRY

from ipucloud.worker.measures import MEASURE_SECONDS, MEASURES, Measurements, measure
from tests.support.filled import fill_in
from tests.support.postgres import Database as Scratch
from tests.worker.engines import Bench

pytestmark = pytest.mark.anyio


def shown(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(name, labels)


async def test_a_filled_database_is_measured(database: Scratch) -> None:
    bench = Bench(database.app_url)
    async with bench.database.begin() as connection:
        await fill_in(connection)
    await bench.execute("UPDATE work SET run_at = app_now() - interval '1 minute'")
    await measure(bench.database)
    assert shown("machines", region="luxembourg-2", machine_type="m2000", state="allocated") == 1
    assert shown("machines", region="luxembourg-2", machine_type="m2000", state="unhealthy") == 0
    assert shown("open_operations", kind="cluster.delete", age=">=1d") == 1
    assert shown("work_items", kind="cluster", state="due") == 1
    assert 60 <= (shown("work_oldest_due_seconds") or 0) < 600
    assert (shown("hour_close_age_seconds") or 0) > 0
    assert shown("billing_months_late", step="seal") is not None
    await bench.database.close()


async def test_an_empty_database_is_measured(database: Scratch) -> None:
    bench = Bench(database.app_url)
    await measure(bench.database)
    assert shown("work_oldest_due_seconds") == 0
    assert shown("hour_close_age_seconds") is None
    await bench.database.close()


def test_an_old_measurement_is_not_exported() -> None:
    now = 0.0
    measurements = Measurements(lambda: now)
    measurements.report({"work_oldest_due_seconds": [(3,)]})
    names = [each.name for each in MEASURES]
    assert [family.name for family in measurements.collect() if family.samples] == ["work_oldest_due_seconds"]
    now = 3 * MEASURE_SECONDS
    assert [family.name for family in measurements.collect()] == names
    assert not any(family.samples for family in measurements.collect())

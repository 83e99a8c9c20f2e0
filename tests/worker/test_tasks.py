"""What a worker does on its own account."""

from __future__ import annotations

import pytest
from prometheus_client import REGISTRY

from ipucloud.worker.duties import audit_database
from tests.support.filled import fill_in
from tests.support.postgres import Database as Scratch
from tests.worker.engines import Bench

pytestmark = pytest.mark.anyio


def shown() -> float | None:
    return REGISTRY.get_sample_value("invariant_violations", {"name": "quota_counts_what_is_held"})


async def test_the_gauge_shows_what_the_audit_found(database: Scratch) -> None:
    bench = Bench(database.app_url)
    async with bench.database.begin() as connection:
        await fill_in(connection)
    await audit_database(bench.database)
    assert shown() == 0
    await bench.execute("UPDATE quotas SET used = used + 3 WHERE used > 0")
    await audit_database(bench.database)
    assert shown() == 1
    await bench.database.close()

"""The sample of `ipucloud up --sample`: what finance finds, made by the product, and the commands that show it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from ipucloud.catalogue.load import load
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.laboratory.sample.clock import Months
from ipucloud.laboratory.sample.cloud import SampleError
from ipucloud.laboratory.sample.make import Sample, exists, make, sample_of
from tests.support.api_process import api_process
from tests.support.control_plane import WORKER, process
from tests.support.invariants import assert_sound
from tests.support.postgres import TestServer
from tests.support.site import ACCESS_KEY, SECURE, running_site

pytestmark = pytest.mark.anyio

GUIDE = Path(__file__).parents[2] / "docs" / "finance.md"


@dataclass(frozen=True)
class SampleSystem:
    """A database with the sample, what `up` says of it, and settings that reach an empty site."""

    server: TestServer
    name: str
    settings: Settings
    database: Database
    sample: Sample

    async def value(self, statement: str) -> Any:
        async with self.database.read() as connection:
            return (await connection.execute(sa.text(statement))).scalar_one()


@pytest.fixture(scope="module")
async def system(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SampleSystem]:
    """Made once: a minute of work on a busy machine."""
    folder = tmp_path_factory.mktemp("sample")
    with postgres.fresh_database() as fresh, running_site(folder / "site", options=SECURE) as site:
        settings = Settings(
            database_url=SecretStr(fresh.app_url),
            site_url=site.url,
            site_token=SecretStr(site.token),
            vipu_access_key=SecretStr(ACCESS_KEY),
            vipu_client_certificate=site.client_files,
            secrets_key=SecretStr("A" * 43),
            data_dir=folder / "data",
            host="127.0.0.1",
            worker_internal_port=0,
        )
        assert not await exists(settings)
        await make(postgres.url, fresh.name, settings, load())
        database = Database(fresh.app_url)
        sample = await sample_of(database, settings)
        assert sample is not None
        yield SampleSystem(postgres, fresh.name, settings, database, sample)
        await database.close()


async def test_every_rule_holds(system: SampleSystem) -> None:
    await assert_sound(system.database)


async def test_two_sealed_months_have_all_that_finance_meets(system: SampleSystem) -> None:
    assert await system.value("SELECT count(*) FROM billing_months WHERE sealed_at IS NOT NULL") == 2
    assert await system.value("SELECT count(*) FROM invoices WHERE tax > 0 AND due > 0") == 2
    assert await system.value("SELECT count(*) FROM invoices WHERE promo_applied > 0") == 1
    assert await system.value("SELECT count(*) FROM invoices WHERE wallet_applied > 0") == 1
    assert await system.value("SELECT count(*) FROM credit_notes WHERE to_wallet > 0") == 1
    assert await system.value("SELECT count(*) FROM payments") == 1
    assert await system.value("SELECT count(DISTINCT budget_id) FROM budget_alerts") == 2
    assert await system.value("SELECT count(*) FROM exports WHERE manifest IS NOT NULL") == 2
    assert await system.value("SELECT sum(credited_machine_minutes) FROM invoice_lines") == 300
    assert await system.value("SELECT sum(credited_machine_minutes) FROM usage_days") == 300


async def test_clusters_came_and_went_in_their_months_and_hold_nothing(system: SampleSystem) -> None:
    assert await system.value("SELECT count(*) FROM clusters WHERE state = 'deleted' AND deleted_at < app_now()") == 5
    assert await system.value("SELECT max(deleted_at) < date_trunc('month', app_now()) FROM clusters")
    assert await system.value("SELECT count(*) FROM allocations WHERE freed_at IS NULL") == 0
    assert await system.value("SELECT count(*) FROM work WHERE parked_at IS NOT NULL OR lease_owner IS NOT NULL") == 0


async def test_the_clock_shows_the_time_again(system: SampleSystem) -> None:
    assert await system.value("SELECT app_now() = statement_timestamp()")


async def test_it_is_made_once_and_its_token_is_kept(system: SampleSystem) -> None:
    assert await exists(system.settings)
    assert await sample_of(system.database, system.settings) == system.sample


async def test_months_that_were_used_are_left_alone(system: SampleSystem) -> None:
    count = "SELECT count(*) FROM usage_charges"
    before = await system.value(count)
    with pytest.raises(SampleError, match="--data-dir"):
        await make(system.server.url, system.name, system.settings, load())
    assert await system.value(count) == before


def test_the_commands_of_the_guide_work_as_they_are_printed(system: SampleSystem, tmp_path: Path) -> None:
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL))
    first, last = system.sample.months
    (tmp_path / "ipucloud").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ipucloud.cli.main "$@"\n')
    (tmp_path / "ipucloud").chmod(0o755)
    with (
        api_process({"secrets_key": "A" * 43}, url=system.database.url) as api,
        process(WORKER, system.settings, tmp_path / "worker.log"),
    ):
        environment = {
            **os.environ,
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "IPUCLOUD_URL": f"http://127.0.0.1:{api.port}",
            "IPUCLOUD_TOKEN": system.sample.token,
            "IPUCLOUD_CONFIG_DIR": str(tmp_path / "config"),
            "FIRST": first,
            "LAST": last,
            "INVOICE": system.sample.invoice,
        }
        done = subprocess.run(
            ["sh", "-eux"], input=script, cwd=tmp_path, env=environment, text=True, capture_output=True, check=False
        )
    assert done.returncode == 0, done.stderr
    assert "CN-" in done.stdout
    assert "budget.threshold_reached" in done.stdout
    assert (tmp_path / f"{system.sample.invoice}.pdf").read_bytes().startswith(b"%PDF")
    rows = (tmp_path / f"{last}.csv").read_text().splitlines()
    assert rows[0].startswith('"') or "BilledCost" in rows[0]
    assert len(rows) > 300


@pytest.mark.parametrize(
    ("now", "months"),
    [
        ("2026-11-02T00:00:00", (date(2026, 9, 1), date(2026, 10, 1), date(2026, 11, 1))),
        ("2026-11-01T23:59:59", (date(2026, 8, 1), date(2026, 9, 1), date(2026, 10, 1))),
        ("2027-01-31T12:00:00", (date(2026, 11, 1), date(2026, 12, 1), date(2027, 1, 1))),
    ],
)
def test_its_months_can_be_sealed(now: str, months: tuple[date, date, date]) -> None:
    assert Months.sealed_by(datetime.fromisoformat(now).replace(tzinfo=UTC)) == months

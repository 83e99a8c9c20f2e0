"""Each corruption of the database is found, alone, by its rule, and repaired, left to a worker, or refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from ipucloud.db.engine import sqlalchemy_url
from ipucloud.db.guards import put_in_force
from ipucloud.events.restored import transactions_behind, use_up_transactions
from ipucloud.invariants.audit import audit
from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.repairing import Outcome, Repaired, Repairer
from ipucloud.invariants.rules import Finding, Refusal, violations
from ipucloud.kernel.clock import SystemClock
from tests.feature.invariants.corruption import Corruption
from tests.feature.invariants.corruptions import CORRUPTIONS
from tests.feature.invariants.healthy import Healthy
from tests.feature.invariants.partition_corruptions import PARTITIONS
from tests.feature.invariants.planting import plant
from tests.support.invariants import assert_sound
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

ALL = (*CORRUPTIONS, *PARTITIONS)
BY_NAME = {rule.name: rule for rule in INVARIANTS}
IN_A_TRANSACTION = {"application_role_has_no_power"}
"""Rules that are broken for every database of the server, and so only where nobody else sees it."""


def repairer(healthy: Healthy) -> Repairer:
    return Repairer(
        healthy.world.database,
        None,
        SystemClock(),
        requested_by="operator@console",
        request_life=0.0,
        call_timeout=20.0,
        poll_interval=0.0,
    )


async def repair(healthy: Healthy, findings: list[Finding], *, decided: bool = False) -> list[Repaired]:
    keys = {(each.rule.name, each.violation.object_id) for each in findings} if decided else set()
    return await replace(repairer(healthy), decided=keys).repair(findings)


async def test_a_healthy_database_breaks_no_rule(healthy: Healthy) -> None:
    await assert_sound(healthy.world.database)


@pytest.mark.parametrize("corruption", ALL, ids=lambda corruption: corruption.rule)
async def test_a_corruption_is_found_alone_and_repaired_or_refused(healthy: Healthy, corruption: Corruption) -> None:
    world = healthy.world
    plant(healthy.scratch.superuser_url, corruption.statements, healthy.values(), corruption.off)
    findings = await audit(world.database)
    assert {finding.rule.name for finding in findings} == {corruption.rule}
    repaired = await repair(healthy, findings)
    assert {each.outcome for each in repaired} == {corruption.outcome}
    assert all(each.sentence for each in repaired)
    logged = await world.column("SELECT state FROM repairs WHERE requested_by = 'operator@console'")
    left = {finding.rule.name for finding in await audit(world.database)}
    if corruption.outcome is Outcome.REFUSED:
        assert (logged, left) == ([], {corruption.rule})
        if not isinstance(BY_NAME[corruption.rule].repair, Refusal):
            decided = await repair(healthy, findings, decided=True)
            assert {each.outcome for each in decided} == {Outcome.REPAIRED}, decided
            left = {finding.rule.name for finding in await audit(world.database)}
            assert left == ({corruption.rule} if corruption.lasting else set())
    else:
        assert logged == ["succeeded"] * len(findings)
        assert left == ({corruption.rule} if corruption.lasting else set())


@pytest.mark.parametrize(
    "corruption", [each for each in ALL if each.outcome is not Outcome.REFUSED], ids=lambda each: each.rule
)
async def test_a_repair_that_comes_too_late_changes_nothing(healthy: Healthy, corruption: Corruption) -> None:
    """Somebody repaired it in the meantime; the second repair checks for itself."""
    plant(healthy.scratch.superuser_url, corruption.statements, healthy.values(), corruption.off)
    findings = await audit(healthy.world.database)
    await repair(healthy, findings)
    again = await repair(healthy, findings)
    if corruption.rule not in REPAIRS_THAT_ASK_ONLY:
        assert {each.outcome for each in again} == {Outcome.REFUSED}
    assert {finding.rule.name for finding in await audit(healthy.world.database)} <= {corruption.rule}


REPAIRS_THAT_ASK_ONLY = {"open_operation_has_work", "operation_ends_in_time"}
"""A wake can be repeated as often as one likes."""


async def test_the_role_of_the_application_is_checked_in_the_server_s_catalogue(database: Scratch) -> None:
    rule = BY_NAME["application_role_has_no_power"]
    engine = create_async_engine(sqlalchemy_url(database.superuser_url), poolclass=sa.NullPool)
    async with engine.connect() as connection:
        assert await violations(connection, rule) == []
        await connection.execute(sa.text("ALTER ROLE ipucloud_app CREATEDB BYPASSRLS"))
        found = {violation.detail for violation in await violations(connection, rule)}
        await connection.rollback()
    await engine.dispose()
    assert found == {"it makes databases", "it bypasses row security"}


def test_every_rule_is_broken_here_once() -> None:
    assert {corruption.rule for corruption in ALL} | IN_A_TRANSACTION == BY_NAME.keys()
    assert len(BY_NAME) == len(INVARIANTS) >= 30


async def test_restored_events_are_brought_into_the_past(healthy: Healthy) -> None:
    """A dump restored into a younger server: its events would be hidden, and new ones shown before them."""
    of_later = "UPDATE events SET transaction = transaction + 5000"
    plant(healthy.scratch.superuser_url, [of_later], {})
    assert {finding.rule.name for finding in await audit(healthy.world.database)} == {"events_are_of_the_past"}
    assert 4000 < transactions_behind(healthy.scratch.owner_url) <= 5001
    use_up_transactions(healthy.scratch.owner_url)
    assert transactions_behind(healthy.scratch.owner_url) == 0
    await assert_sound(healthy.world.database)


async def test_a_migration_puts_guards_in_force_again(healthy: Healthy) -> None:
    switched_off = (
        "ALTER TABLE operations DISABLE TRIGGER operations_final",
        "UPDATE pg_constraint SET convalidated = false WHERE conname = 'ck_quotas_used'",
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'uq_operations_open'::regclass",
        "SELECT open_billing_month('2026-05-05')",
        "GRANT INSERT ON usage_charges_2026_05 TO ipucloud_app",
    )
    plant(healthy.scratch.superuser_url, switched_off, {})
    broken = {finding.rule.name for finding in await audit(healthy.world.database)}
    assert broken >= {"guards_are_in_force", "partitions_of_charges_are_out_of_reach"}
    done = put_in_force(healthy.scratch.owner_url)
    assert [sentence.partition(" is ")[0] for sentence in done] == [
        "operations: operations_final",
        "quotas: ck_quotas_used",
        "operations: uq_operations_open",
        "usage_charges_2026_05: privileges",
    ]
    await assert_sound(healthy.world.database)
    assert put_in_force(healthy.scratch.owner_url) == []

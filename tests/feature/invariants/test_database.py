"""Each corruption of the database is found, alone, by its rule, and repaired, left to a worker, or refused."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from ipucloud.db.engine import sqlalchemy_url
from ipucloud.db.guards import put_in_force, revoke_powers
from ipucloud.events.feed import transactions_behind, use_up_transactions
from ipucloud.invariants.audit import audit
from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.repairing import Outcome, Repaired, Repairer
from ipucloud.invariants.rules import Finding, Refusal, violations
from ipucloud.kernel.clock import SystemClock
from tests.feature.invariants.corruption import Corruption
from tests.feature.invariants.corruptions import CORRUPTIONS
from tests.feature.invariants.healthy import Healthy
from tests.feature.invariants.partition_corruptions import PARTITIONS
from tests.feature.invariants.planting import plant, plant_in
from tests.support.cases import all_cases
from tests.support.invariants import assert_sound, statements
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
    return await replace(repairer(healthy), decided=keys, reason="lost by a defect").repair(findings)


async def test_a_healthy_database_breaks_no_rule(healthy: Healthy) -> None:
    await assert_sound(healthy.world.database)


async def test_every_corruption_is_found_alone(healthy: Healthy) -> None:
    """Each in a transaction that is rolled back, by the application's role; its own events are not of the past yet."""
    union = " UNION ALL ".join(
        f"SELECT '{name}' WHERE EXISTS ({text})" for name, text in statements(INVARIANTS).items()
    )
    with psycopg.connect(healthy.scratch.superuser_url, options="-c jit=off") as connection, all_cases() as case:
        for corruption in ALL:
            with case(corruption.rule), connection.transaction(force_rollback=True):
                plant_in(connection, corruption.statements, healthy.ids, corruption.off)
                connection.execute("SET LOCAL ROLE ipucloud_app")
                broken_rules = {name for (name,) in connection.execute(union.encode(), prepare=True)}
                assert broken_rules - ({"events_are_of_the_past"} - {corruption.rule}) == {corruption.rule}


@pytest.mark.sample(8)
@pytest.mark.parametrize("corruption", ALL, ids=lambda corruption: corruption.rule)
async def test_a_corruption_is_repaired_or_refused(healthy: Healthy, corruption: Corruption) -> None:
    world = healthy.world
    plant(healthy.scratch.superuser_url, corruption.statements, healthy.ids, corruption.off)
    findings = await audit(world.database)
    assert {finding.rule.name for finding in findings} == {corruption.rule}
    repaired = await repair(healthy, findings)
    assert {each.outcome for each in repaired} == {corruption.outcome}
    assert all(each.sentence for each in repaired)
    logged = await world.column("SELECT state FROM repairs WHERE requested_by = 'operator@console'")
    remaining = {finding.rule.name for finding in await audit(world.database)}
    if corruption.outcome is Outcome.REFUSED:
        assert (logged, remaining) == ([], {corruption.rule})
        if not isinstance(BY_NAME[corruption.rule].repair, Refusal):
            posted = await world.column("SELECT to_jsonb(t)::text FROM ledger_transfers t ORDER BY id")
            decided = await repair(healthy, findings, decided=True)
            assert {each.outcome for each in decided} == {Outcome.REPAIRED}, decided
            # History stands, whatever was repaired.
            after = await world.column("SELECT to_jsonb(t)::text FROM ledger_transfers t ORDER BY id")
            assert after[: len(posted)] == posted
            remaining = {finding.rule.name for finding in await audit(world.database)}
            assert remaining == ({corruption.rule} if corruption.lasting else set())
    else:
        assert logged == ["succeeded"] * len(findings)
        assert remaining == ({corruption.rule} if corruption.lasting else set())
        await comes_too_late(healthy, corruption, findings)


async def comes_too_late(healthy: Healthy, corruption: Corruption, findings: list[Finding]) -> None:
    """Somebody repaired it in the meantime; a second repair checks for itself, and changes nothing."""
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
        details = {violation.detail for violation in await violations(connection, rule)}
        await connection.rollback()
    await engine.dispose()
    assert details == {"it makes databases", "it bypasses row security"}


def test_a_migration_takes_powers_and_privileges_away(database: Scratch) -> None:
    """In a transaction that is never committed: a role is every database's of the server."""
    with psycopg.connect(database.superuser_url) as connection:
        assert revoke_powers(connection) == []
        updated = connection.execute(_UPDATED).fetchall()
        for statement in (
            "ALTER ROLE ipucloud_app CREATEDB BYPASSRLS",
            "GRANT pg_monitor TO ipucloud_app",
            "CREATE TABLE own ()",
            "ALTER TABLE own OWNER TO ipucloud_app",
            "GRANT DELETE ON events TO PUBLIC",
            "GRANT UPDATE ON prices, repairs TO ipucloud_app",
            "GRANT UPDATE (data) ON events TO ipucloud_app",
            "GRANT INSERT (month) ON billing_months TO PUBLIC",
            "GRANT TRUNCATE ON ledger_transfers TO ipucloud_app",
        ):
            connection.execute(statement)
        with connection.transaction(force_rollback=True):
            connection.execute("SET LOCAL ROLE ipucloud_owner")
            assert any("stays: " in sentence and "superuser" in sentence for sentence in revoke_powers(connection))
        assert [
            sentence.removeprefix("ipucloud_app: ").removesuffix(" is taken away.")
            for sentence in revoke_powers(connection)
        ] == [
            "the power over roles or databases",
            "membership of pg_monitor",
            "ownership",
            "INSERT on billing_months",
            "UPDATE, DELETE on events",
            "TRUNCATE on ledger_transfers",
            "UPDATE on prices",
            "UPDATE on repairs",
        ]
        assert revoke_powers(connection) == []
        assert connection.execute(_UPDATED).fetchall() == updated
        connection.rollback()


_UPDATED = """
SELECT table_name, column_name FROM information_schema.column_privileges
 WHERE grantee = 'ipucloud_app' AND privilege_type = 'UPDATE' ORDER BY 1, 2
"""
"""Columns that the application may update."""


def test_every_rule_is_broken_here_once() -> None:
    assert {corruption.rule for corruption in ALL} | IN_A_TRANSACTION == BY_NAME.keys()
    assert len(BY_NAME) == len(INVARIANTS) >= 30


async def test_adjusting_entries_make_good_what_was_posted_wrongly(healthy: Healthy) -> None:
    """To the wrong account, twice, without a record and beyond a credit: no posting is touched, and the books agree."""
    world = healthy.world
    plant(healthy.scratch.superuser_url, WRONGLY_POSTED, healthy.ids)
    assert "trial_balance_is_zero" not in await broken(healthy)
    posted = await world.column("SELECT to_jsonb(t)::text FROM ledger_transfers t ORDER BY id")
    repaired = await repair(healthy, await audit(world.database))
    assert {each.outcome for each in repaired} == {Outcome.REFUSED}
    rules = set()
    while findings := await audit(world.database):
        rules |= {each.rule.name for each in findings}
        together = await asyncio.gather(*[repair(healthy, findings, decided=True) for _ in range(3)])
        assert Outcome.REPAIRED in {each.outcome for run in together for each in run}
    assert rules == {"money_moves_once", "wallet_is_what_was_paid", "promotional_credit_is_what_was_granted"}
    assert await world.column(
        "SELECT a.code || ' ' || (a.credits - a.debits)::real FROM ledger_accounts a ORDER BY a.code, a.owner_id"
    ) == ["cash -5", "promo 0", "receivable 0", "revenue 0", "wallet 5"]
    transfers = await world.column("SELECT to_jsonb(t)::text FROM ledger_transfers t WHERE adjusts IS NULL ORDER BY id")
    assert transfers == posted
    reasons = await world.column("SELECT action FROM repairs WHERE requested_by = 'operator@console'")
    assert reasons
    assert all(action.endswith("because: lost by a defect") for action in reasons)


async def broken(healthy: Healthy) -> set[str]:
    return {finding.rule.name for finding in await audit(healthy.world.database)}


WRONGLY_POSTED = (
    "INSERT INTO payments (id, account_id, currency, direction, amount, reference, state, finished_at, to_wallet)"
    " VALUES (%(active)s, %(project)s, 'EUR', 'in', 5, 'x', 'done', app_now(), 5)",
    "INSERT INTO promo_credits (id, account_id, currency, amount, reason, expires_at)"
    " VALUES (%(active)s, %(project)s, 'EUR', 5, 'x', '2126-01-01Z')",
    "INSERT INTO promo_credit_uses (credit_id, amount) VALUES (%(active)s, 5), (%(active)s, 5)",
    "INSERT INTO ledger_accounts (code, owner_id, currency) VALUES ('cash', NULL, 'EUR'), ('revenue', NULL, 'EUR'),"
    " ('receivable', %(other)s, 'EUR'), ('promo', %(project)s, 'EUR'), ('wallet', %(project)s, 'EUR')",
    "INSERT INTO ledger_transfers (idem, kind, debit_id, credit_id, currency, amount, effective_at)"
    " SELECT x.idem, x.kind, d.id, c.id, 'EUR', x.amount, app_now()"
    " FROM (VALUES ('payment/' || %(active)s::uuid || '/wallet', 'top_up', 'cash', 'receivable', 5),"
    " ('payment/' || %(active)s::uuid || '/again', 'top_up', 'cash', 'wallet', 5),"
    " ('by hand', 'x', 'wallet', 'revenue', 2),"
    " ('credit/' || %(active)s::uuid || '/granted', 'credit_granted', 'revenue', 'promo', 5),"
    " ('credit/' || %(active)s::uuid || '/expired', 'credit_expired', 'promo', 'revenue', 5))"
    " AS x (idem, kind, debit, credit, amount)"
    " JOIN ledger_accounts d ON d.code = x.debit JOIN ledger_accounts c ON c.code = x.credit",
    "SELECT recount_ledger_account(id) FROM ledger_accounts",
)


async def test_restored_events_are_brought_into_the_past(healthy: Healthy) -> None:
    """A dump restored into a younger server: its events would be hidden, and new ones shown before them."""
    of_later = "UPDATE events SET transaction = pg_current_xact_id()::text::bigint + 5000"
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

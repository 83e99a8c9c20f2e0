"""Reminds of overdue invoices, and reports when an account is restricted for them and when no longer."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.accounts.store import readers_of
from ipucloud.billing.dunning.overdue import OVERDUE
from ipucloud.contract.event_types.money import ACCOUNT_RESTRICTED, ACCOUNT_RESTRICTION_LIFTED, INVOICE_OVERDUE
from ipucloud.db.documents import clauses, money
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.events.log import RECORD_FOR_ACCOUNT
from ipucloud.kernel.failpoints import failpoint

_ANY = Query("SELECT EXISTS (SELECT FROM dunning_policies)", bool)
_ONE_AT_A_TIME = sa.text("SELECT pg_advisory_xact_lock(7220505)")
# The highest level that was reached: if several are passed at once, one reminder is enough.
_REMIND = sa.text(
    clauses(
        """
        WITH reached AS (
          SELECT o.*, (SELECT max(level) FROM unnest(d.remind_after) AS level WHERE level <= o.days) AS level
            FROM dunning_policies d JOIN
        """,
        OVERDUE,
        """
              AS o ON o.account_id = d.account_id
        ), reminded AS (
          INSERT INTO dunning_reminders (invoice_id, days)
          SELECT r.id, r.level FROM reached r
           WHERE r.level IS NOT NULL
             AND NOT EXISTS (SELECT FROM dunning_reminders m WHERE m.invoice_id = r.id AND m.days >= r.level)
          RETURNING invoice_id
        )
        """,
        RECORD_FOR_ACCOUNT,
        "SELECT reader.project_id, reader.account_id, :type, 'invoice', r.id, jsonb_build_object(",
        f"'number', r.number, 'due_on', r.due_on, 'level', r.level, 'outstanding', {money('r.rest', 'r.currency')})",
        "FROM reminded m JOIN reached r ON r.id = m.invoice_id CROSS JOIN",
        readers_of("r.account_id"),
    )
)
_ENTER = sa.text(
    clauses(
        """
        WITH judged AS (
          SELECT d.account_id, CASE WHEN max(o.days) >= d.suspend_after THEN 'suspend'
                                    WHEN max(o.days) >= d.refuse_creates_after THEN 'refuse_creates' END AS restriction
            FROM dunning_policies d LEFT JOIN
        """,
        OVERDUE,
        """
              AS o ON o.account_id = d.account_id
           WHERE CAST(:account_id AS uuid) IS NULL OR d.account_id = :account_id
           GROUP BY d.account_id
        ), entered AS (
          UPDATE dunning_policies d SET restriction = j.restriction
            FROM judged j WHERE j.account_id = d.account_id AND d.restriction IS DISTINCT FROM j.restriction
          RETURNING d.account_id, d.restriction
        )
        """,
        RECORD_FOR_ACCOUNT,
        """
        SELECT reader.project_id, reader.account_id,
               CASE WHEN e.restriction IS NULL THEN CAST(:lifted AS text) ELSE CAST(:restricted AS text) END,
               'account', e.account_id, jsonb_strip_nulls(jsonb_build_object('restriction', e.restriction))
          FROM entered e CROSS JOIN
        """,
        readers_of("e.account_id"),
    )
)


async def watch_overdue(database: Database) -> int:
    """Send due reminders, and report changed restrictions; returns how many events.

    It is one transaction, so concurrent or killed runs report each step exactly once.
    """
    async with database.read() as connection:
        if not await _ANY.one(connection):
            return 0
    async with database.begin() as connection:
        await connection.execute(_ONE_AT_A_TIME)
        reminded = await connection.execute(_REMIND, {"type": INVOICE_OVERDUE.name})
        entered = await _enter(connection, None)
        failpoint("dunning.before_commit")
    return reminded.rowcount + entered


async def enter_restriction(connection: AsyncConnection, account_id: UUID) -> bool:
    """Enter and report what the account's policy makes of its overdue invoices now; False if it is entered."""
    await connection.execute(_ONE_AT_A_TIME)
    return await _enter(connection, account_id) > 0


async def _enter(connection: AsyncConnection, account_id: UUID | None) -> int:
    names = {"restricted": ACCOUNT_RESTRICTED.name, "lifted": ACCOUNT_RESTRICTION_LIFTED.name}
    return (await connection.execute(_ENTER, names | {"account_id": account_id})).rowcount

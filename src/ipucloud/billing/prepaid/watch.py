"""Monitors prepaid accounts: releases ended holds, reports low funds and each change of state once, and tops up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.accounts.store import readers_of
from ipucloud.billing.prepaid.funds import GONE, POSTED, Facts, prepaid_facts
from ipucloud.billing.prepaid.top_ups import top_up_accounts
from ipucloud.billing.reports.outlook import OVER_EVERYTHING
from ipucloud.contract.event_payloads.money import FundsLeft, FundsLow
from ipucloud.contract.event_types.money import ACCOUNT_FUNDS_EXHAUSTED, ACCOUNT_FUNDS_LOW, ACCOUNT_FUNDS_RESTORED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.db.documents import clauses
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.events.log import RECORD_FOR_ACCOUNT
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.money import Money

_ANY = Query("SELECT EXISTS (SELECT FROM prepaid_accounts) OR EXISTS (SELECT FROM create_holds)", bool)
_ONE_AT_A_TIME = sa.text("SELECT pg_advisory_xact_lock(7220504)")
_RELEASE = sa.text(
    clauses(
        "UPDATE create_holds h SET released_at = app_now(), reason = CASE WHEN",
        POSTED,
        "THEN 'posted' ELSE 'gone' END FROM cluster_lives c",
        "WHERE h.released_at IS NULL AND c.project_id = h.project_id AND c.id = h.cluster_id AND (",
        GONE,
        "OR",
        POSTED,
        ")",
    )
)
_ENTER = sa.text(
    clauses(
        """
        WITH judged AS (
          SELECT * FROM unnest(CAST(:accounts AS uuid[]), CAST(:states AS text[]), CAST(:levels AS integer[]),
                               CAST(:types AS text[]), CAST(:data AS text[]))
                     AS judged (account_id, state, low_hours, event, data)
        ), entered AS (
          UPDATE prepaid_accounts p
             SET state = j.state, low_hours = j.low_hours,
                 state_entered_at = CASE p.state WHEN j.state THEN p.state_entered_at ELSE app_now() END
            FROM judged j WHERE j.account_id = p.account_id
          RETURNING p.account_id, j.event, j.data
        )
        """,
        RECORD_FOR_ACCOUNT,
        """
        SELECT reader.project_id, reader.account_id, e.event, 'account', e.account_id, CAST(e.data AS jsonb)
          FROM entered e CROSS JOIN
        """,
        readers_of("e.account_id"),
        "WHERE e.event IS NOT NULL",
    )
)


class Change(NamedTuple):
    """A prepaid account's new state and level; `event` None: nothing to report."""

    account_id: UUID
    state: str
    low_hours: int | None
    event: EventType | None
    data: FundsLeft | None


def change_of(facts: Facts) -> Change | None:
    """What changed since the account was last looked at; None: nothing.

    A level is reported when the funds last no longer than it, and again after they lasted longer meanwhile.
    """
    standing = facts.standing
    remaining, state = standing.remaining(), standing.state
    level = standing.level(facts.warn_hours) if remaining > 0 else min(facts.warn_hours, default=None)
    if (state, level) == (facts.state, facts.low_hours):
        return None
    figures: dict[str, Any] = {
        "when_empty": facts.when_empty,
        "left": Money.of(remaining, facts.currency).model_dump(mode="json"),
        "lasts_until": standing.ends_at(),
    }
    event: EventType | None = None
    if state != facts.state:
        event = ACCOUNT_FUNDS_EXHAUSTED if state == "empty" else ACCOUNT_FUNDS_RESTORED
    elif level is not None and (facts.low_hours is None or level < facts.low_hours):
        low = FundsLow(**figures, hours=level)
        return Change(facts.account_id, state, level, ACCOUNT_FUNDS_LOW, low)
    return Change(facts.account_id, state, level, event, FundsLeft(**figures))


async def watch_prepaid(database: Database) -> int:
    """Release ended holds, report accounts whose funds are low, exhausted or restored, and request top-ups.

    Returns how many events of funds were reported: in one transaction, so concurrent or killed runs report a change
    exactly once. An account is `empty` while its funds before holds are zero or less.
    """
    async with database.read() as connection:
        if not await _ANY.one(connection):
            return 0
    async with database.begin() as connection:
        for statement in (*OVER_EVERYTHING, _ONE_AT_A_TIME, _RELEASE):
            await connection.execute(statement)
        accounts = await prepaid_facts(connection)
        changes = [change for each in accounts if (change := change_of(each)) is not None]
        reported = await _enter(connection, changes) if changes else 0
        failpoint("prepaid.before_commit")
    await top_up_accounts(database, accounts)
    return reported


async def _enter(connection: AsyncConnection, changes: Sequence[Change]) -> int:
    values = {
        "accounts": [each.account_id for each in changes],
        "states": [each.state for each in changes],
        "levels": [each.low_hours for each in changes],
        "types": [None if each.event is None else each.event.name for each in changes],
        "data": [None if each.data is None else each.data.model_dump_json() for each in changes],
    }
    return (await connection.execute(_ENTER, values)).rowcount

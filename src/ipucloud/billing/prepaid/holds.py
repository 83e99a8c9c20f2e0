"""Holds for the first hour of new clusters, so that concurrent creates cannot spend the same money."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.prepaid.funds import Facts, facts_of, shown
from ipucloud.billing.prepaid.tables import HOLDING
from ipucloud.db.rows import Query
from ipucloud.kernel.errors import FUNDS_EXHAUSTED, Problem
from ipucloud.kernel.money import Money

PARTS = ("wallet", "credit", "outstanding", "unbilled", "unposted", "held", "tax", "available")
"""Members of a refusal's `funds`; the last is made of the others."""
_LOCK = Query("SELECT when_empty FROM prepaid_accounts WHERE account_id = :account_id FOR NO KEY UPDATE", str)
# A resumed cluster may still have its previous hold.
_END = sa.text(
    """
    UPDATE create_holds SET released_at = app_now(), reason = 'gone'
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND released_at IS NULL
    """
)
_HOLD = sa.text(
    """
    INSERT INTO create_holds (cluster_id, project_id, account_id, amount, currency)
    VALUES (:cluster_id, :project_id, :account_id, :amount, :currency)
    """
)


async def hold(
    connection: AsyncConnection,
    *,
    account_id: UUID,
    project_id: UUID,
    cluster_id: UUID,
    per_minute: Money,
    minutes: int,
) -> None:
    """Hold the cost of so many minutes for the cluster; creates and resumes of an account are serialised.

    Nothing is held unless the account refuses when empty. Comes last in its transaction: billing is the end of the lock
    order. Raises `Problem` funds_exhausted if the available funds do not suffice for them and their tax.
    """
    locked = await _LOCK.one_or_none(connection, {"account_id": account_id})
    if locked not in HOLDING:
        return
    ids = {"project_id": project_id, "cluster_id": cluster_id}
    await connection.execute(_END, ids)
    amount = per_minute * minutes
    # A separate statement behind the lock, so that it sees the holds of earlier creates.
    facts = await facts_of(connection, account_id, currency=amount.currency)
    until = facts.now + timedelta(minutes=minutes)
    before = facts.standing.available(until=until)
    after = facts.standing.available(additional=amount.amount, until=until)
    if before <= 0 or after < 0:
        raise _exhausted(facts, Money.of(before - after, amount.currency), minutes)
    await connection.execute(
        _HOLD,
        ids | {"account_id": account_id, "amount": amount.amount, "currency": amount.currency},
    )


def _exhausted(facts: Facts, needed: Money, minutes: int) -> Problem:
    funds = shown(facts, minutes)
    figures = {name: getattr(funds, name) for name in PARTS} | {"needed": needed}
    return Problem(
        FUNDS_EXHAUSTED,
        "The account that pays for this project is prepaid, and its available funds do not cover the cluster's first "
        "hour; `funds` has the figures, taxes included. Top up the wallet, or delete clusters, and send the request "
        "again.",
        extra={"funds": {name: each.model_dump(mode="json") for name, each in figures.items()}},
    )

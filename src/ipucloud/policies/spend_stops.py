"""Suspending unpaid clusters: those over a budget that demands it, of a token whose cost limit is
reached, of an empty prepaid account, or of an overdue one.

Each is suspended in a transaction of its own, under its lock, together with the reason. After a worker is killed, the
next run suspends the rest; of two concurrent runs, the second finds nothing left to do.
"""

from __future__ import annotations

from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.budgets.suspending import note_over_budget, over_budget
from ipucloud.billing.dunning.overdue import overdue_clusters, suspending_invoice
from ipucloud.billing.prepaid.suspending import empty_payer, out_of_funds
from ipucloud.clusters.cost_limits.store import note_over_cost_limit, over_cost_limit
from ipucloud.clusters.locks import lock_cluster, set_reason
from ipucloud.clusters.operations.suspend import suspend
from ipucloud.clusters.states import BILLABLE
from ipucloud.config import Settings
from ipucloud.contract.event_payloads.clusters import (
    BudgetRef,
    ForcedSuspend,
    OutOfFunds,
    OverBudget,
    OverCostLimit,
    PaymentOverdue,
    TokenRef,
)
from ipucloud.contract.event_types.clusters import CLUSTER_SUSPEND_FORCED
from ipucloud.db.engine import Database
from ipucloud.events.log import record
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import Problem
from ipucloud.operations.ending import preempt_partitions

log = structlog.get_logger(__name__)

AT_ONCE = 1000
"""Most clusters of budgets, of tokens, of empty accounts and of overdue ones in one run; the next run continues."""
_STATES = sorted(BILLABLE)


async def suspend_unpaid(database: Database, settings: Settings) -> int:
    """Suspend every cluster that is due and return how many. `delete_protection` does not prevent it.

    Open operations on its partitions end as `preempted`: a customer could otherwise put off the suspension by beginning
    one after another. A cluster with an open operation of its own is left to the next run.
    """
    async with database.read() as connection:
        due = await over_budget(connection, states=_STATES, limit=AT_ONCE)
        due += await over_cost_limit(connection, states=_STATES, limit=AT_ONCE)
        due += await out_of_funds(connection, states=_STATES, limit=AT_ONCE)
        due += await overdue_clusters(connection, states=_STATES, limit=AT_ONCE)
    suspended = 0
    for project_id, cluster_id in dict.fromkeys(due):
        try:
            async with database.begin() as connection:
                suspended += await _suspend(connection, project_id, cluster_id, settings)
        except Problem as problem:
            log.info("cluster_not_suspended", cluster=str(cluster_id), problem=problem.kind.code)
    return suspended


async def _suspend(connection: AsyncConnection, project_id: UUID, cluster_id: UUID, settings: Settings) -> bool:
    """True if it was suspended. Raises `Problem` as `suspend` does; then nothing is recorded."""
    cluster = await lock_cluster(connection, project_id=project_id, cluster_id=cluster_id)
    if cluster.state not in BILLABLE:
        return False
    reason = await _reason(connection, project_id, cluster_id)
    if reason is None:
        return False
    sentence, cause = reason
    actor = Actor(project_id=project_id, token_id=None, request_id=f"unpaid-{cluster_id}")
    why = f"The cluster is being suspended: {sentence}."
    await preempt_partitions(connection, project_id=project_id, cluster_id=cluster_id, reason=why)
    accepted = await suspend(connection, actor, cluster_id, if_match=None, settings=settings)
    await set_reason(connection, project_id, cluster_id, sentence)
    await record(
        connection,
        CLUSTER_SUSPEND_FORCED,
        project_id=project_id,
        subject_id=cluster_id,
        operation_id=accepted.operation_id,
        request_id=actor.request_id,
        data=ForcedSuspend(cause),
    )
    return True


async def _reason(
    connection: AsyncConnection, project_id: UUID, cluster_id: UUID
) -> tuple[str, OverBudget | OverCostLimit | OutOfFunds | PaymentOverdue] | None:
    """For people, and for programs. None: the reason no longer applies."""
    reached = await note_over_budget(connection, cluster_id, states=_STATES)
    if reached is not None:
        budget = BudgetRef(id=reached.budget_id, name=reached.budget)
        return (
            f"the budget {reached.budget!r} has reached {reached.percent} % of its amount ({reached.measure})",
            OverBudget(reason="budget", budget=budget, on=reached.measure, percent=reached.percent),
        )
    limited = await note_over_cost_limit(connection, project_id, cluster_id)
    if limited is not None:
        token = TokenRef(id=limited.id, name=limited.name)
        return (
            f"the cost limit of the token {limited.name!r} is reached",
            OverCostLimit(reason="cost_limit", token=token),
        )
    payer = await empty_payer(connection, project_id, cluster_id, states=_STATES)
    if payer is not None:
        return "its prepaid account has no funds left", OutOfFunds(reason="funds", account=payer)
    late = await suspending_invoice(connection, project_id, cluster_id, states=_STATES)
    if late is not None:
        cause = PaymentOverdue(reason="overdue", account=late.account_id, invoice=late.number)
        return f"the invoice {late.number} has been due since {late.due_on} and is not paid", cause
    return None

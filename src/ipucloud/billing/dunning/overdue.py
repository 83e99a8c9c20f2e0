"""Overdue invoices, and what an account's policy makes of them: computed from the invoices whenever it matters.

So a payment that settles the last overdue invoice allows creates again at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from ipucloud.db.documents import clauses, money
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import PAYMENT_OVERDUE, Problem

OVERDUE = """(
  SELECT i.id, i.account_id, i.currency, i.number, i.due_on, open.rest,
         (app_now() AT TIME ZONE 'UTC')::date - i.due_on AS days
    FROM invoices i
   CROSS JOIN LATERAL (
         SELECT i.due - coalesce(sum(s.amount), 0) AS rest FROM invoice_settlements s WHERE s.invoice_id = i.id) AS open
   WHERE i.due > 0 AND i.due_on < (app_now() AT TIME ZONE 'UTC')::date AND open.rest > 0
)"""
"""Invoices with an amount that is still due after their due date; `days`: since then."""

REFUSING_INVOICE = clauses(
    "(SELECT json_build_object('number', o.number, 'due_on', o.due_on,",
    f"'outstanding', {money('o.rest', 'o.currency')})",
    "FROM dunning_policies d JOIN",
    OVERDUE,
    """
       AS o ON o.account_id = d.account_id
      WHERE d.account_id = (SELECT account_id FROM payer_of(:project_id, app_now()))
        AND o.days >= least(d.refuse_creates_after, d.suspend_after)
      ORDER BY o.due_on, o.number LIMIT 1)
    """,
)
"""A scalar subquery: the first overdue invoice for which `:project_id` gets no clusters, as JSON, else NULL."""


class Late(NamedTuple):
    """A cluster whose account has an invoice that is overdue for too long."""

    project_id: UUID
    cluster_id: UUID
    account_id: UUID
    number: str
    due_on: str


_LATE = Query(
    clauses(
        """
        SELECT c.project_id, c.id AS cluster_id, late.account_id, late.number, late.due_on::text AS due_on
          FROM (SELECT DISTINCT ON (d.account_id) d.account_id, o.number, o.due_on
                  FROM dunning_policies d JOIN
        """,
        OVERDUE,
        """
                    AS o ON o.account_id = d.account_id
                 WHERE o.days >= d.suspend_after
                   AND (CAST(:project_id AS uuid) IS NULL
                        OR d.account_id = (SELECT account_id FROM payer_of(:project_id, app_now())))
                 ORDER BY d.account_id, o.due_on, o.number) AS late
         CROSS JOIN LATERAL projects_paid_by(late.account_id) AS paid
          JOIN cluster_lives c ON c.project_id = paid.project_id AND c.state = ANY(CAST(:states AS text[]))
         WHERE (CAST(:cluster_id AS uuid) IS NULL OR c.id = :cluster_id)
           AND NOT EXISTS (
                 SELECT FROM operations o
                  WHERE o.cluster_id = c.id AND o.partition_id IS NULL
                    AND o.state NOT IN ('cancelled', 'failed', 'succeeded')
                    -- A cluster in use has one that only waits for capacity.
                    AND o.kind <> 'cluster.resize')
         ORDER BY c.id LIMIT :limit
        """,
    ),
    Late,
)


async def overdue_clusters(connection: Statements, *, states: Sequence[str], limit: int) -> list[tuple[UUID, UUID]]:
    """Project and id of clusters in one of the states that are to be suspended.

    None with an open operation of its own.
    """
    values = {"project_id": None, "cluster_id": None, "states": list(states), "limit": limit}
    return [(late.project_id, late.cluster_id) for late in await _LATE.all(connection, values)]


async def suspending_invoice(
    connection: Statements, project_id: UUID, cluster_id: UUID, *, states: Sequence[str]
) -> Late | None:
    """The invoice for which the cluster is to be suspended; None: it is not."""
    values = {"project_id": project_id, "cluster_id": cluster_id, "states": list(states), "limit": 1}
    return await _LATE.one_or_none(connection, values)


def refused(invoice: Mapping[str, object]) -> Problem:
    """409 that names the invoice."""
    return Problem(
        PAYMENT_OVERDUE,
        f"The invoice {invoice['number']} of the account that pays for this project is overdue, and until it is paid "
        "no cluster is created or resumed: `invoice`. Pay it and send the request again.",
        extra={"invoice": invoice},
    )

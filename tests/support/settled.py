"""Statements after which the rows of pods and hosts follow from allocations, or machines, that were written by hand."""

from __future__ import annotations

SETTLED = (
    "SELECT settle_pods(array_agg(id)) FROM pods",
    """
    WITH settled AS (
      UPDATE hosts SET held = NOT held
       WHERE held <> EXISTS (SELECT FROM allocations WHERE host_id = hosts.id AND freed_at IS NULL) RETURNING id
    )
    SELECT count(*) FROM settled
    """,
)

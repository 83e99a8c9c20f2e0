"""Rules about preemptible clusters: they are told before they are suspended, and billed at their own price."""

from __future__ import annotations

from ipucloud.invariants.rules import Invariant, Refusal

TOLD = Invariant(
    name="preempted_cluster_was_told",
    sentence="Only preemptible clusters are preempted, and not before the announced time.",
    object_type="cluster",
    remedy="Tell the customer, who can resume the cluster (`ipucloud clusters resume`), and credit what was lost"
    " (`ipucloud credits create`).",
    repair=Refusal("What a cluster's programs were doing cannot be brought back."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('%s, told for %s, suspended at %s', CASE WHEN c.preemptible THEN 'preemptible' ELSE 'ordinary' END,
                  told.preempt_at, o.created_at) AS detail
      FROM preemptions AS told
      JOIN clusters AS c ON (c.project_id, c.id) = (told.project_id, told.cluster_id)
      LEFT JOIN operations AS o ON (o.project_id, o.id) = (told.project_id, told.operation_id)
     WHERE NOT c.preemptible OR o.created_at < told.preempt_at
    """,
)

BILLED = Invariant(
    name="preemptible_cluster_is_billed_as_such",
    sentence="Exactly the preemptible clusters are billed at the preemptible price.",
    object_type="cluster",
    remedy="Credit the difference (`ipucloud credits create`), and have the customer suspend and resume the cluster.",
    repair=Refusal("Billed usage is never rewritten; a wrong bill is corrected by a credit."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('%s, billed as %s', CASE WHEN c.preemptible THEN 'preemptible' ELSE 'ordinary' END, u.sku) AS detail
      FROM usage_intervals AS u JOIN clusters AS c ON (c.project_id, c.id) = (u.project_id, u.resource_id)
     WHERE u.ended_at IS NULL AND u.reservation_id IS NULL AND c.preemptible <> (right(u.sku, 12) = '-preemptible')
    """,
)

RULES = (TOLD, BILLED)

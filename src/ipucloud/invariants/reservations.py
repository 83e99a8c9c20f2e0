"""Rules about reservations: what is reserved is held, and billed once; and about preemptible clusters."""

from __future__ import annotations

from ipucloud.invariants.rules import Invariant, Refusal

HELD = Invariant(
    name="reservation_is_held",
    sentence="A scheduled or active reservation holds exactly its machines, an ended or cancelled one none.",
    object_type="reservation",
    remedy="Find out who has its machines (`ipucloud admin machines list`), and agree with its customer what follows.",
    repair=Refusal("A person must decide which machines the reservation gets."),
    statement="""
    SELECT r.id::text AS object_id, r.project_id,
           format('it is %s, for %s machines, and has %s, %s of them used by no cluster', r.state,
                  r.blocks * r.machines, held.machines, held.unused) AS detail
      FROM reservations r,
           LATERAL (SELECT count(a.machine_id) AS machines,
                           count(*) FILTER (WHERE a.cluster_id IS NULL) AS unused
                      FROM allocations a
                     WHERE a.project_id = r.project_id AND a.reservation_id = r.id AND a.freed_at IS NULL) AS held
     WHERE CASE WHEN r.state IN ('scheduled', 'active') THEN held.machines <> r.blocks * r.machines
                ELSE held.unused > 0 END
    """,
)

BILLED = Invariant(
    name="reservation_is_billed",
    sentence="A reservation is billed for all its machines from beginning to end, unless it was cancelled.",
    object_type="reservation",
    remedy="Credit what was billed wrongly (`ipucloud credits create`); what was not billed is lost.",
    repair=Refusal("Billed usage is never rewritten; a wrong bill is corrected by a credit."),
    statement="""
    SELECT r.id::text AS object_id, r.project_id,
           format('it is %s from %s to %s, and billed %s', r.state, r.starts_at, r.ends_at,
                  coalesce(string_agg(format('for %s machines from %s to %s', u.quantity, u.started_at, u.ended_at),
                                      ', ' ORDER BY u.started_at), 'never')) AS detail
      FROM reservations r LEFT JOIN usage_intervals u ON (u.project_id, u.resource_id) = (r.project_id, r.id)
     GROUP BY r.id
    HAVING (count(u.id) > 0) <> (r.state IN ('active', 'ended'))
        OR bool_or(u.quantity <> r.blocks * r.machines)
        OR min(u.started_at) <> r.starts_at
        OR count(u.id) FILTER (WHERE u.ended_at IS NULL) <> CASE r.state WHEN 'active' THEN 1 ELSE 0 END
        -- Without a gap: intervals never overlap.
        OR r.starts_at + sum(u.ended_at - u.started_at)
             <> CASE r.state WHEN 'ended' THEN r.ends_at ELSE max(u.started_at) FILTER (WHERE u.ended_at IS NULL) END
    """,
)

ONCE = Invariant(
    name="machine_is_billed_once",
    sentence="No machine is billed twice at the same time (the last 31 days).",
    object_type="usage_interval",
    remedy="Credit the minutes that were billed twice (`ipucloud credits create`); if they still are, delete the"
    " cluster.",
    repair=Refusal("Billed usage is never rewritten; a wrong bill is corrected by a credit."),
    statement="""
    WITH billed AS (
      SELECT u.id, u.project_id, u.resource_id, a.machine_id,
             greatest(u.started_at, date_trunc('second', a.created_at)) AS since,
             least(coalesce(u.ended_at, 'infinity'),
                   CASE u.resource_id WHEN a.cluster_id THEN a.released_at ELSE a.freed_at END) AS until
        FROM usage_intervals u
        JOIN allocations a ON a.project_id = u.project_id AND u.resource_id IN (a.cluster_id, a.reservation_id)
       WHERE a.machine_id IS NOT NULL AND coalesce(u.ended_at, 'infinity') > app_now() - interval '31 days'
    )
    SELECT one.id::text AS object_id, one.project_id,
           format('%s machines are billed for %s too, since %s', count(DISTINCT one.machine_id), other.resource_id,
                  min(greatest(one.since, other.since))) AS detail
      FROM billed AS one JOIN billed AS other ON other.machine_id = one.machine_id
     WHERE one.resource_id < other.resource_id AND greatest(one.since, other.since) < least(one.until, other.until)
     GROUP BY one.id, one.project_id, other.resource_id
    """,
)

RULES = (HELD, BILLED, ONCE)


PREEMPTION_TOLD = Invariant(
    name="preempted_cluster_was_told",
    sentence="Only preemptible clusters are preempted, and not before the announced time.",
    object_type="cluster",
    remedy="Tell the customer, who can resume the cluster (`ipucloud clusters resume`), and credit what was lost"
    " (`ipucloud credits create`).",
    repair=Refusal("What a cluster's programs were doing cannot be brought back."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('%s, told for %s, suspended at %s', CASE WHEN c.preemptible THEN 'preemptible' ELSE 'ordinary' END,
                  p.preempt_at, o.created_at) AS detail
      FROM preemptions AS p
      JOIN clusters AS c ON (c.project_id, c.id) = (p.project_id, p.cluster_id)
      LEFT JOIN operations AS o ON (o.project_id, o.id) = (p.project_id, p.operation_id)
     WHERE NOT c.preemptible OR o.created_at < p.preempt_at
    """,
)

PREEMPTIBLE_BILLED = Invariant(
    name="preemptible_cluster_is_billed_as_such",
    sentence="Exactly the preemptible clusters are billed at the preemptible price.",
    object_type="cluster",
    remedy="Credit the difference (`ipucloud credits create`), and have the customer suspend and resume the cluster.",
    repair=Refusal("Billed usage is never rewritten; a wrong bill is corrected by a credit."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('%s, billed as %s', CASE WHEN c.preemptible THEN 'preemptible' ELSE 'ordinary' END, u.sku) AS detail
      FROM usage_intervals AS u JOIN clusters AS c ON (c.project_id, c.id) = (u.project_id, u.resource_id)
     WHERE u.ended_at IS NULL AND c.preemptible <> (right(u.sku, 12) = '-preemptible')
    """,
)

PREEMPTION_RULES = (PREEMPTION_TOLD, PREEMPTIBLE_BILLED)

"""Rules about reservations: what is reserved is held, and billed once."""

from __future__ import annotations

from ipucloud.invariants.rules import Invariant, Refusal

HELD = Invariant(
    name="reservation_is_held",
    sentence="A reservation that is scheduled or active has exactly the machines that were reserved, its clusters'"
    " included; one that has ended or was cancelled holds none.",
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
    sentence="A reservation is billed for all of its machines from its beginning to its end, unless it was cancelled.",
    object_type="reservation",
    remedy="Credit what was billed wrongly (`ipucloud credits create`); what was not billed is lost.",
    repair=Refusal("Billed usage is never rewritten; a wrong bill is corrected by a credit."),
    statement="""
    SELECT r.id::text AS object_id, r.project_id,
           format('it is %s from %s to %s, and billed %s', r.state, r.starts_at, r.ends_at,
                  coalesce(string_agg(format('for %s machines from %s to %s', u.quantity, u.started_at, u.ended_at),
                                      ', ' ORDER BY u.started_at), 'never')) AS detail
      FROM reservations r LEFT JOIN usage_intervals u ON (u.project_id, u.reservation_id) = (r.project_id, r.id)
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
    name="reserved_cluster_is_not_billed",
    sentence="A cluster that uses an active reservation has no open usage interval of its own.",
    object_type="cluster",
    remedy="Credit the cluster's minutes since the reservation began (`ipucloud credits create`), and delete it.",
    repair=Refusal("Billed usage is never rewritten; a wrong bill is corrected by a credit."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id, format('billed since %s', u.started_at) AS detail
      FROM usage_intervals u
      JOIN billed_clusters c ON c.project_id = u.project_id AND c.id = u.resource_id
     WHERE u.ended_at IS NULL AND c.kind = 'cluster' AND c.reserved AND c.unreserved_at IS NULL
    """,
)

RULES = (HELD, BILLED, ONCE)

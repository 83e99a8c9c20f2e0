"""Rules about operations and their steps."""

from __future__ import annotations

from types import MappingProxyType

from ipucloud.clusters.steps.teardown import QUARANTINE
from ipucloud.invariants.kinds import KINDS, STEPS
from ipucloud.invariants.rules import Invariant, Refusal, by, decided
from ipucloud.invariants.worker_repairs import wake_cluster_of_operation
from ipucloud.operations.frozen import FROZEN
from ipucloud.operations.states import TERMINAL

_FINAL = MappingProxyType({"final": sorted(TERMINAL)})
_WORK = MappingProxyType({"kinds": list(KINDS), "work_kinds": [kind.work_kind for kind in KINDS.values()]})
_QUARANTINE = MappingProxyType({"quarantine": QUARANTINE, "frozen": FROZEN})
_WORK_ITEM = """
LEFT JOIN unnest(CAST(:kinds AS text[]), CAST(:work_kinds AS text[])) AS known (kind, work_kind) ON known.kind = o.kind
LEFT JOIN work w ON w.kind = known.work_kind AND w.key = coalesce(o.cluster_id, o.export_id)::text
"""
_NEVER_CHANGES = Refusal("Finished operations never change; the database rejects it.")

ONE_OPEN = Invariant(
    name="object_has_one_open_operation",
    sentence="A cluster, and each of its partitions, has at most one open operation.",
    object_type="cluster",
    remedy="Delete the cluster; that ends its open operations.",
    repair=Refusal("It is unknown which operation the customer wants."),
    statement="""
    SELECT cluster_id::text AS object_id, project_id,
           string_agg(format('%s %s', kind, id), ', ' ORDER BY created_at, id) AS detail
      FROM operations WHERE finished_at IS NULL AND cluster_id IS NOT NULL
     GROUP BY project_id, cluster_id, partition_id HAVING count(*) > 1
    """,
)

COMPLETE = Invariant(
    name="finished_operation_is_complete",
    sentence="A finished operation has an end time, a failed one an error, a successful one 100% progress.",
    object_type="operation",
    remedy="Nothing waits for it, and nothing is billed by it. Find out what bypassed the trigger `operations_final`"
    " (`ipucloud admin what-is ID`).",
    repair=_NEVER_CHANGES,
    statement="""
    SELECT id::text AS object_id, project_id,
           format('%s, finished %s, %s %%, %s', state, coalesce(finished_at::text, 'never'), progress,
                  CASE WHEN error IS NULL THEN 'no error' ELSE 'error' END) AS detail
      FROM operations
     WHERE (state = ANY (:final)) <> (finished_at IS NOT NULL)
        OR (state = 'failed' AND error IS NULL) OR (state = 'succeeded' AND progress <> 100)
    """,
    parameters=_FINAL,
)

TIMES_IN_ORDER = Invariant(
    name="operation_times_in_order",
    sentence="An operation is created, then started, then finished.",
    object_type="operation",
    remedy="Wrong times do no harm. Find out what wrote them (`ipucloud admin what-is ID`).",
    repair=_NEVER_CHANGES,
    statement="""
    SELECT id::text AS object_id, project_id,
           format('asked for %s, started %s, finished %s', created_at, coalesce(started_at::text, 'never'),
                  coalesce(finished_at::text, 'never')) AS detail
      FROM operations
     WHERE started_at < created_at OR finished_at < coalesce(started_at, created_at)
    """,
)

KNOWN_KIND = Invariant(
    name="operation_is_of_a_known_kind",
    sentence="This version knows the kind and open steps of every open operation.",
    object_type="operation",
    remedy="Start a worker of the version that created it, or delete the cluster.",
    repair=Refusal("A worker of another version may know the kind or step."),
    statement="""
    SELECT o.id::text AS object_id, o.project_id,
           format('%s, steps %s', o.kind, string_agg(s.name, ', ' ORDER BY s.ordinal)) AS detail
      FROM operations o JOIN operation_steps s
        ON s.project_id IS NOT DISTINCT FROM o.project_id AND s.operation_id = o.id
     WHERE o.finished_at IS NULL AND s.state IN ('pending', 'running')
       AND o.kind || ' ' || s.name <> ALL (:known)
     GROUP BY o.id
    """,
    parameters=MappingProxyType({"known": [f"{kind} {step}" for kind, steps in STEPS.items() for step in steps]}),
)

NEXT_STEP = Invariant(
    name="open_operation_has_a_next_step",
    sentence="An open operation has a step that is not finished.",
    object_type="operation",
    remedy="Delete the cluster; that ends the operation and cleans up.",
    repair=Refusal("The operation's last step is unknown, and so is whether it was done."),
    statement="""
    SELECT o.id::text AS object_id, o.project_id, format('%s has no step left and is open', o.kind) AS detail
      FROM operations o
     WHERE o.finished_at IS NULL
       AND NOT EXISTS (SELECT FROM operation_steps s
                        WHERE s.project_id IS NOT DISTINCT FROM o.project_id AND s.operation_id = o.id
                          AND s.state IN ('pending', 'running'))
    """,
)

STEPS_ENDED = Invariant(
    name="finished_operation_has_finished_steps",
    sentence="A finished operation has no open step; if it succeeded, every failed step succeeded later.",
    object_type="operation",
    remedy="Apply the audit's repair. A failed step of a successful operation needs a person.",
    repair=by(
        "marks the open steps as skipped",
        """
        UPDATE operation_steps s SET state = 'skipped'
          FROM operations o
         WHERE o.project_id IS NOT DISTINCT FROM :project_id AND o.id = CAST(:object_id AS uuid)
           AND o.finished_at IS NOT NULL
           AND s.project_id IS NOT DISTINCT FROM o.project_id AND s.operation_id = o.id
           AND s.state IN ('pending', 'running')
        """,
    ),
    statement="""
    SELECT o.id::text AS object_id, o.project_id,
           format('%s: %s steps, %s open, %s failed', o.state, count(s.name),
                  count(s.name) FILTER (WHERE s.state IN ('pending', 'running')),
                  count(s.name) FILTER (WHERE s.state = 'failed')) AS detail
      FROM operations o
      LEFT JOIN (SELECT steps.*, bool_or(state = 'succeeded') OVER later AS made_good FROM operation_steps AS steps
                 WINDOW later AS (PARTITION BY operation_id, name ORDER BY ordinal
                                  ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)) AS s
             ON s.project_id IS NOT DISTINCT FROM o.project_id AND s.operation_id = o.id
     WHERE o.finished_at IS NOT NULL
     GROUP BY o.id
    HAVING count(s.name) = 0 OR bool_or(s.state IN ('pending', 'running'))
        OR (o.state = 'succeeded' AND bool_or(s.state = 'failed' AND s.made_good IS NOT TRUE))
    """,
)

IN_ORDER = Invariant(
    name="steps_are_taken_in_order",
    sentence="After an open step, none is finished or running.",
    object_type="operation",
    remedy="Delete the cluster; that ends the operation and cleans up.",
    repair=Refusal("What was done at the site is unknown; a step may have been left out."),
    statement="""
    SELECT operation_id::text AS object_id, project_id,
           string_agg(format('%s %s', name, state), ', ' ORDER BY ordinal) AS detail
      FROM (SELECT s.*, o.finished_at AS ended,
                   bool_or(s.state IN ('pending', 'running')) OVER before AS behind_an_open_one
              FROM operation_steps s JOIN operations o ON o.project_id = s.project_id AND o.id = s.operation_id
             WHERE o.finished_at IS NULL
            WINDOW before AS (PARTITION BY s.operation_id ORDER BY s.ordinal
                              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS placed
     GROUP BY operation_id, project_id
    HAVING bool_or(behind_an_open_one AND state NOT IN ('pending', 'skipped'))
    """,
)

STEP_TIMES = Invariant(
    name="finished_step_has_its_time",
    sentence="A step has an end time exactly when it succeeded or failed.",
    object_type="operation",
    remedy="A wrong time does no harm. Find out what wrote it.",
    repair=decided(
        "gives each finished step the end of its operation, and the others none",
        "The database does not show what really happened.",
        """
        UPDATE operation_steps AS s
           SET finished_at = CASE WHEN s.state IN ('succeeded', 'failed') THEN
                 greatest(coalesce(s.finished_at, o.finished_at, app_now()), s.started_at) END
          FROM operations AS o
         WHERE o.project_id IS NOT DISTINCT FROM :project_id AND o.id = CAST(:object_id AS uuid)
           AND s.operation_id = o.id
           AND s.project_id IS NOT DISTINCT FROM o.project_id
           AND ((s.state IN ('succeeded', 'failed')) <> (s.finished_at IS NOT NULL) OR s.finished_at < s.started_at)
        """,
    ),
    statement="""
    SELECT operation_id::text AS object_id, project_id,
           string_agg(format('%s %s, ended %s', name, state, coalesce(finished_at::text, 'never')), '; '
                      ORDER BY ordinal) AS detail
      FROM operation_steps
     WHERE (state IN ('succeeded', 'failed')) <> (finished_at IS NOT NULL) OR finished_at < started_at
     GROUP BY project_id, operation_id
    """,
)

HAS_WORK = Invariant(
    name="open_operation_has_work",
    sentence="The work item of every open operation is due, leased or parked.",
    object_type="operation",
    remedy="Apply the audit's repair.",
    repair=wake_cluster_of_operation,
    statement=f"""
    SELECT o.id::text AS object_id, o.project_id,
           format('%s of %s: %s', o.kind, coalesce(o.cluster_id, o.export_id),
                  CASE WHEN w.key IS NULL THEN 'no work item' ELSE 'work item not due or leased' END) AS detail
      FROM operations o {_WORK_ITEM}
     WHERE o.finished_at IS NULL AND num_nonnulls(w.run_at, w.lease_owner, w.parked_at) = 0
    """,  # noqa: S608  # our own text
    parameters=_WORK,
)

IN_TIME = Invariant(
    name="operation_ends_in_time",
    sentence="An open operation is at most two minutes past its deadline, unless its work is parked.",
    object_type="operation",
    remedy="Check its step: either no worker runs, or a clean-up waits for the site.",
    repair=wake_cluster_of_operation,
    statement=f"""
    SELECT o.id::text AS object_id, o.project_id,
           format('%s of %s should have ended at %s%s', o.kind, coalesce(o.cluster_id, o.export_id), o.deadline_at,
                  CASE WHEN o.undoing THEN '; it undoes itself' ELSE '' END) AS detail
      FROM operations o {_WORK_ITEM}
     WHERE o.finished_at IS NULL AND o.deadline_at < app_now() - interval '2 minutes' AND w.parked_at IS NULL
    """,  # noqa: S608  # our own text
    parameters=_WORK,
)

MOVES = Invariant(
    name="operation_makes_progress",
    sentence="An open operation finishes a step every five minutes, or within three times the usual duration, unless it"
    " is parked, frozen or waits for capacity.",
    object_type="operation",
    remedy="Check the host, machine or controller that it waits for; customers see the same in `blocked_by`.",
    repair=Refusal("The cause is at the site, or no worker runs; a person must check."),
    statement="""
    SELECT o.id::text AS object_id, o.project_id,
           format('%s of %s: no step ended since %s; step %s, checked %s times, failed %s times: %s',
                  o.kind, o.cluster_id, progress.at, step.name, step.checks, step.attempts,
                  coalesce(step.detail, 'not begun')) AS detail
      FROM operations o
      LEFT JOIN work w
             ON w.key = o.cluster_id::text
            AND w.kind = CASE WHEN o.partition_id IS NULL THEN 'cluster' ELSE 'partitions' END
     CROSS JOIN LATERAL (
       SELECT s.* FROM operation_steps s
        WHERE s.project_id = o.project_id AND s.operation_id = o.id AND s.state IN ('pending', 'running')
        ORDER BY s.ordinal LIMIT 1) AS step
     CROSS JOIN LATERAL (
       SELECT greatest(o.created_at, max(s.finished_at),
                       (SELECT coalesce(granted_at, until) FROM capacity_waits AS waited
                         WHERE waited.project_id = o.project_id AND waited.operation_id = o.id)) AS at
         FROM operation_steps s
        WHERE s.project_id = o.project_id AND s.operation_id = o.id) AS progress
     WHERE o.finished_at IS NULL AND o.export_id IS NULL AND w.parked_at IS NULL
       AND app_now() - progress.at > greatest(interval '5 minutes', 3 * (o.expected_at - o.created_at))
       -- A quarantine is as long as the operator said.
       AND step.detail IS DISTINCT FROM :quarantine AND starts_with(step.detail, :frozen) IS NOT TRUE
    """,
    parameters=_QUARANTINE,
)

CLEANED_UP = Invariant(
    name="cluster_is_cleaned_up_in_time",
    sentence="A cluster leaves `deleting` and `suspending` within `state_sla_seconds`, at least five minutes, unless it"
    " is parked, frozen or quarantined.",
    object_type="cluster",
    remedy="Check the host, machine or controller that it waits for; customers see the same in `blocked_by`.",
    repair=Refusal("The cause is at the site, or no worker runs; a person must check."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('in %s since %s, usually %s seconds; step %s, checked %s times, failed %s times: %s', c.state,
                  c.state_entered_at, c.state_sla_seconds, step.name, step.checks, step.attempts,
                  coalesce(step.detail, 'not begun')) AS detail
      FROM clusters c
      JOIN operations o ON o.project_id = c.project_id AND o.cluster_id = c.id AND o.finished_at IS NULL
       AND o.partition_id IS NULL
      LEFT JOIN work w ON w.kind = 'cluster' AND w.key = c.id::text
     CROSS JOIN LATERAL (
       SELECT s.* FROM operation_steps s
        WHERE s.project_id = o.project_id AND s.operation_id = o.id AND s.state IN ('pending', 'running')
        ORDER BY s.ordinal LIMIT 1) AS step
     WHERE c.state IN ('deleting', 'suspending') AND w.parked_at IS NULL
       AND app_now() - c.state_entered_at > greatest(interval '5 minutes', c.state_sla_seconds * interval '1 second')
       AND step.detail IS DISTINCT FROM :quarantine AND starts_with(step.detail, :frozen) IS NOT TRUE
    """,
    parameters=_QUARANTINE,
)

RULES = (
    ONE_OPEN,
    COMPLETE,
    TIMES_IN_ORDER,
    KNOWN_KIND,
    NEXT_STEP,
    STEPS_ENDED,
    IN_ORDER,
    STEP_TIMES,
    HAS_WORK,
    IN_TIME,
    MOVES,
    CLEANED_UP,
)

"""Rules about the logs: every change has its event, events refer to existing objects, and repairs finish."""

from __future__ import annotations

from types import MappingProxyType

from ipucloud.contract.event_types.names import ACCOUNT_TYPES, OPERATOR_TYPES
from ipucloud.contract.event_types.names import REGISTRY as EVENT_TYPES
from ipucloud.db.documents import clauses
from ipucloud.invariants.rules import Invariant, Refusal, by

OPERATIONS_LOGGED = Invariant(
    name="operation_is_in_the_log",
    sentence="Every operation has an event for its creation and its end.",
    object_type="operation",
    remedy="Apply the audit's repair; readers of the log have missed the event until then.",
    repair=by(
        "appends the missing events",
        "SELECT id FROM operations WHERE project_id IS NOT DISTINCT FROM :project_id AND id = CAST(:object_id AS uuid)"
        " FOR NO KEY UPDATE",
        """
        INSERT INTO events (project_id, account_id, type, subject_type, subject_id, operation_id, request_id, data)
        SELECT o.project_id, o.account_id, missing.type, CASE WHEN o.export_id IS NULL THEN 'cluster' ELSE 'export' END,
               coalesce(o.cluster_id, o.export_id), o.id, o.request_id,
               jsonb_build_object('kind', o.kind, 'late', true)
          FROM operations o,
               LATERAL (SELECT 'operation.created' AS type, 1 AS place
                        UNION ALL
                        SELECT 'operation.' || o.state, 2 WHERE o.finished_at IS NOT NULL) AS missing
         WHERE o.project_id IS NOT DISTINCT FROM :project_id AND o.id = CAST(:object_id AS uuid)
           AND NOT EXISTS (SELECT FROM events e
                            WHERE (e.project_id = o.project_id OR e.account_id = o.account_id)
                              AND e.subject_id = coalesce(o.cluster_id, o.export_id)
                              AND e.operation_id = o.id AND e.type = missing.type)
         ORDER BY missing.place
        """,
    ),
    statement="""
    SELECT o.id::text AS object_id, o.project_id,
           format('%s, %s; events: %s', o.kind, o.state, coalesce(array_to_string(logged.types, ', '), 'nothing'))
             AS detail
      FROM operations o
      LEFT JOIN (SELECT coalesce(project_id, account_id) AS home, operation_id, array_agg(type ORDER BY type) AS types
                   FROM events WHERE type LIKE 'operation.%' GROUP BY home, operation_id) AS logged
             ON logged.home = coalesce(o.project_id, o.account_id) AND logged.operation_id = o.id
     WHERE logged.types IS NULL OR 'operation.created' <> ALL (logged.types)
        OR (o.finished_at IS NOT NULL AND 'operation.' || o.state <> ALL (logged.types))
    """,
)

CLUSTERS_LOGGED = Invariant(
    name="cluster_state_is_in_the_log",
    sentence="Every cluster has an event for entering its current state.",
    object_type="cluster",
    remedy="Apply the audit's repair; readers of the log have missed the event until then.",
    repair=by(
        "appends the missing event",
        "SELECT id FROM clusters WHERE project_id = :project_id AND id = CAST(:object_id AS uuid) FOR NO KEY UPDATE",
        """
        INSERT INTO events (project_id, type, subject_type, subject_id, data)
        SELECT c.project_id, missing.type, 'cluster', c.id,
               CASE c.state WHEN 'creating'
                    THEN jsonb_build_object('region', c.region, 'flavor', c.flavor, 'late', true)
                    ELSE jsonb_build_object('reason', c.state_reason, 'late', true) END
          FROM clusters c,
               LATERAL (SELECT CASE c.state WHEN 'creating' THEN 'cluster.created'
                               ELSE 'cluster.' || c.state END AS type) AS missing
         WHERE c.project_id = :project_id AND c.id = CAST(:object_id AS uuid)
           AND NOT EXISTS (SELECT FROM events e
                            WHERE e.project_id = c.project_id AND e.subject_id = c.id AND e.type = missing.type)
        """,
    ),
    statement="""
    SELECT c.id::text AS object_id, c.project_id, format('no event says that it is in %s', c.state) AS detail
      FROM clusters c
     WHERE NOT EXISTS (SELECT FROM events e
                        WHERE e.project_id = c.project_id AND e.subject_id = c.id
                          AND e.type = CASE c.state WHEN 'creating' THEN 'cluster.created'
                                            ELSE 'cluster.' || c.state END)
    """,
)

OF_THE_PAST = Invariant(
    name="events_are_of_the_past",
    sentence="No event has a transaction number that the server has not reached.",
    object_type="event",
    remedy="The database was restored into a server with lower transaction numbers: stop the writers, and"
    " run `ipucloud migrate`, which uses up the numbers in between.",
    repair=Refusal("Until then, every event is written at a wrong position; the writers must be stopped first."),
    statement="""
    SELECT id::text AS object_id, project_id,
           format('%s of transaction %s; the next one is %s. It and whatever follows it is shown in a wrong order',
                  type, transaction, pg_snapshot_xmax(pg_current_snapshot())) AS detail
      FROM events WHERE transaction >= (pg_snapshot_xmax(pg_current_snapshot())::text)::bigint
     ORDER BY transaction, id
    """,
)

ABOUT_SOMETHING = Invariant(
    name="event_is_about_something",
    sentence="The objects that an event refers to exist in its project or account.",
    object_type="event",
    remedy="Restore the missing row from a backup; events are never removed.",
    repair=Refusal("Events are never changed, and nothing else records what happened."),
    statement="""
    SELECT e.id::text AS object_id, e.project_id,
           format('%s names %s %s, operation %s', e.type, e.subject_type, e.subject_id,
                  coalesce(e.operation_id::text, 'none')) AS detail
      FROM events e
     WHERE (e.operation_id IS NOT NULL
            AND NOT EXISTS (SELECT FROM operations o
                             WHERE (o.project_id = e.project_id OR o.account_id = e.account_id)
                               AND o.id = e.operation_id))
        OR (e.subject_type = 'cluster'
            AND NOT EXISTS (SELECT FROM clusters c WHERE c.project_id = e.project_id AND c.id = e.subject_id))
        OR (e.subject_type = 'partition'
            AND NOT EXISTS (SELECT FROM partitions p WHERE p.project_id = e.project_id AND p.id = e.subject_id))
    """,
)

REGISTERED = Invariant(
    name="event_type_is_registered",
    sentence="Every event has a registered type, a subject that the type allows, and a reader.",
    object_type="event",
    remedy="Start a version that knows the type. If there is none, report the event's type as a defect.",
    repair=Refusal("Events are never changed, and another version may know the type."),
    statement="""
    SELECT e.id::text AS object_id, e.project_id, format('%s about a %s', e.type, e.subject_type) AS detail
      FROM events e
     WHERE (e.type, e.subject_type) NOT IN (
             SELECT known.type, known.subject
               FROM unnest(CAST(:types AS text[]), CAST(:subjects AS text[])) AS known (type, subject))
       AND e.type <> ALL (CAST(:about_anything AS text[]))
        OR e.project_id IS NULL AND e.account_id IS NULL AND e.type <> ALL (CAST(:for_operators AS text[]))
        OR e.account_id IS NOT NULL AND e.type <> ALL (CAST(:for_accounts AS text[]))
     ORDER BY e.id
    """,
    parameters=MappingProxyType(
        {
            "types": [kind.name for kind in EVENT_TYPES.values() for _ in kind.subjects],
            "subjects": [subject for kind in EVENT_TYPES.values() for subject in kind.subjects],
            "for_operators": OPERATOR_TYPES,
            "for_accounts": ACCOUNT_TYPES,
            "about_anything": [kind.name for kind in EVENT_TYPES.values() if not kind.subjects],
        }
    ),
)

_INTERRUPTED = "state = 'running' AND started_at < app_now() - interval '1 hour'"

REPAIRS_END = Invariant(
    name="repair_finishes",
    sentence="A repair finishes within an hour.",
    object_type="repair",
    remedy="The audit was interrupted: apply its repair. It finds whatever remains to be repaired.",
    repair=by(
        "records that the repair was interrupted",
        clauses(
            "UPDATE repairs SET state = 'failed', error = 'The audit was interrupted.', finished_at = app_now()",
            "WHERE id = CAST(:object_id AS uuid) AND",
            _INTERRUPTED,
        ),
    ),
    statement=clauses(
        "SELECT id::text AS object_id, project_id,",
        "format('%s of %s %s, begun %s', rule, object_type, object_id, started_at) AS detail FROM repairs WHERE",
        _INTERRUPTED,
    ),
)

RULES = (OPERATIONS_LOGGED, CLUSTERS_LOGGED, OF_THE_PAST, ABOUT_SOMETHING, REGISTERED, REPAIRS_END)

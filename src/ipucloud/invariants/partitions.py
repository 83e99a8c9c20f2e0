"""Rules about the partitions of clusters."""

from __future__ import annotations

from ipucloud.invariants.rules import Invariant, Refusal, by
from ipucloud.invariants.states import STATES

OPERATION_MATCHES_DESIRED_STATE = Invariant(
    name="operation_matches_desired_state",
    sentence="A partition's desired state matches its open operation.",
    object_type="partition",
    remedy="Remove the partition; that ends the operation and sets the desired state again.",
    repair=Refusal("Either the operation or the desired state may be what the customer requested."),
    statement="""
    SELECT p.id::text AS object_id, p.project_id,
           format('operation %s is a %s, and %s is wanted', o.id, o.kind, p.desired_state) AS detail
      FROM operations o JOIN partitions p ON p.project_id = o.project_id AND p.id = o.partition_id
     WHERE o.finished_at IS NULL
       AND p.desired_state <> CASE WHEN o.undoing AND o.kind = 'partition.reset' THEN 'unmanaged'
                          WHEN o.kind = 'partition.remove' OR o.undoing THEN 'absent'
                          WHEN o.kind = 'partition.create' THEN 'present' ELSE 'reset' END
    """,
)

DESIRED_STATE_HAS_OPERATION = Invariant(
    name="desired_state_has_operation",
    sentence="A partition to be made, reset or removed has an open operation.",
    object_type="partition",
    remedy="Apply the audit's repair; the next pass records the partition's actual state.",
    repair=by(
        "leaves the partition as it is",
        """
        UPDATE partitions p SET desired_state = 'unmanaged', reset_fence = NULL, reset_sent_at = NULL,
            reset_confirmed = false,
               version = version + 1
         WHERE p.project_id = :project_id AND p.id = CAST(:object_id AS uuid) AND p.removed_at IS NULL
           AND p.desired_state <> 'unmanaged'
           AND NOT EXISTS (SELECT FROM operations o WHERE o.project_id = p.project_id AND o.partition_id = p.id
                              AND o.finished_at IS NULL)
        """,
    ),
    statement="""
    SELECT p.id::text AS object_id, p.project_id, format('%s is wanted, and no operation runs',
        p.desired_state) AS detail
      FROM partitions p JOIN clusters c ON c.project_id = p.project_id AND c.id = p.cluster_id
     WHERE p.removed_at IS NULL AND p.desired_state <> 'unmanaged' AND c.state = ANY (:working)
       AND NOT EXISTS (SELECT FROM operations o WHERE o.project_id = p.project_id AND o.partition_id = p.id
                          AND o.finished_at IS NULL)
    """,
    parameters=STATES,
)

GONE_WITH_THE_CLUSTER = Invariant(
    name="gone_cluster_has_no_partition",
    sentence="Partitions of a deleted, suspended or failed cluster are removed.",
    object_type="partition",
    remedy="Apply the audit's repair: the cluster's machines were observed clean.",
    repair=by(
        "marks the partition as removed",
        """
        UPDATE partitions
           SET desired_state = CASE origin WHEN 'customer' THEN desired_state ELSE 'absent' END, state = 'removed',
               removed_at = app_now(),
               state_entered_at = app_now(), version = version + 1
         WHERE project_id = :project_id AND id = CAST(:object_id AS uuid) AND removed_at IS NULL
        """,
    ),
    statement="""
    SELECT p.id::text AS object_id, p.project_id,
           format('the cluster is in %s, the partition in %s', c.state, p.state) AS detail
      FROM partitions p JOIN clusters c ON c.project_id = p.project_id AND c.id = p.cluster_id
     WHERE p.removed_at IS NULL AND c.state = ANY (:taken_down)
    """,
    parameters=STATES,
)

NAMED_AFTER_THE_CLUSTER = Invariant(
    name="partition_is_named_after_its_cluster",
    sentence="A partition's id consists of its cluster's external name and a number.",
    object_type="partition",
    remedy="Find the partition at the controller, and delete the cluster once its customer agrees.",
    repair=Refusal("An id at the controller cannot be changed, and a partition with another id is not ours."),
    statement="""
    SELECT p.id::text AS object_id, p.project_id, format('it has the id %s', p.external_name) AS detail
      FROM partitions p JOIN clusters c ON c.project_id = p.project_id AND c.id = p.cluster_id
     WHERE p.removed_at IS NULL
       AND (p.origin = 'cluster' AND p.external_name <> c.external_name
            OR p.origin = 'api' AND p.external_name <> c.external_name || '-' || p.number)
    """,
)

ONE_OWNER_PER_IPU = Invariant(
    name="ipu_is_in_one_partition",
    sentence="No IPU was last observed in two partitions of a cluster.",
    object_type="cluster",
    remedy="List the partitions at the controller. If it really reports this, do not trust its answers.",
    repair=Refusal("The controller is authoritative; the next pass reads it again."),
    statement="""
    SELECT cluster_id::text AS object_id, project_id,
           format('IPU %s of %s is in %s', ipu, machine, string_agg(name, ', ' ORDER BY name)) AS detail
      FROM (SELECT p.project_id, p.cluster_id, p.external_name AS name, i.value ->> 'machine' AS machine,
                   i.value ->> 'ipu' AS ipu
              FROM partitions p, jsonb_array_elements(p.observed -> 'ipus') AS i
             WHERE p.removed_at IS NULL AND p.state <> 'missing') AS ipus
     WHERE machine IS NOT NULL
     GROUP BY project_id, cluster_id, machine, ipu HAVING count(*) > 1
    """,
)


LOOKED_AT = Invariant(
    name="partitions_are_reconciled",
    sentence="The partitions' work item of every cluster in use is due, leased or parked.",
    object_type="cluster",
    remedy="Apply the audit's repair.",
    repair=by(
        "makes the work item due",
        """
        INSERT INTO work (kind, key, project_id, run_at) VALUES ('partitions', :object_id, :project_id, app_now())
        ON CONFLICT (kind, key) DO UPDATE SET run_at = app_now(), wake_seq = work.wake_seq + 1
           WHERE num_nonnulls(work.run_at, work.lease_owner, work.parked_at) = 0
        """,
    ),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           CASE WHEN w.key IS NULL THEN 'no work item' ELSE 'work item not due or leased' END AS detail
      FROM clusters c LEFT JOIN work w ON w.kind = 'partitions' AND w.key = c.id::text
     WHERE c.state = ANY (:working) AND num_nonnulls(w.run_at, w.lease_owner, w.parked_at) = 0
       AND EXISTS (SELECT FROM partitions p
                    WHERE p.project_id = c.project_id AND p.cluster_id = c.id AND p.removed_at IS NULL)
    """,
    parameters=STATES,
)

RULES = (
    OPERATION_MATCHES_DESIRED_STATE,
    DESIRED_STATE_HAS_OPERATION,
    GONE_WITH_THE_CLUSTER,
    NAMED_AFTER_THE_CLUSTER,
    ONE_OWNER_PER_IPU,
    LOOKED_AT,
)

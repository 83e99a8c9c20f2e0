"""Ways in which what is known of partitions can be wrong."""

from __future__ import annotations

from ipucloud.invariants.repairing import Outcome
from tests.feature.invariants.corruption import corruption as _c
from tests.feature.invariants.corruption import refused

_REQUESTED = (
    "INSERT INTO operations (id, project_id, cluster_id, partition_id, kind, state, request_id, deadline_at)"
    " SELECT gen_random_uuid(), project_id, %(active)s, %(partition)s, 'partition.remove', 'queued', 'again',"
    " app_now() + interval '1 hour' FROM clusters WHERE id = %(active)s",
    "INSERT INTO operation_steps (operation_id, ordinal, project_id, name, stage)"
    " SELECT id, 1, project_id, 'remove_partition', 'PARTITION' FROM operations WHERE request_id = 'again'",
    "INSERT INTO events (project_id, type, subject_type, subject_id, operation_id)"
    " SELECT project_id, 'operation.created', 'cluster', cluster_id, id FROM operations WHERE request_id = 'again'",
)
_LEFT = (
    "INSERT INTO partitions (id, project_id, cluster_id, origin, name, external_name, desired_state, state)"
    " SELECT gen_random_uuid(), project_id, id, 'cluster', external_name, external_name, 'unmanaged', 'active'"
    " FROM clusters WHERE id = %(deleted)s"
)
_TWIN = (
    "INSERT INTO partitions (id, project_id, cluster_id, origin, name, external_name, desired_state, state, observed,"
    " observed_at)"
    " SELECT gen_random_uuid(), project_id, cluster_id, 'customer', 'twin', 'twin', 'unmanaged', 'active', observed,"
    " observed_at FROM partitions WHERE id = %(partition)s"
)

PARTITIONS = (
    refused("operation_matches_desired_state", *_REQUESTED),
    _c(
        "desired_state_has_operation",
        Outcome.REPAIRED,
        "UPDATE partitions SET desired_state = 'absent', state = 'removing' WHERE id = %(partition)s",
    ),
    _c("gone_cluster_has_no_partition", Outcome.REPAIRED, _LEFT),
    refused(
        "partition_is_named_after_its_cluster",
        "UPDATE partitions SET external_name = 'another-1' WHERE id = %(partition)s",
    ),
    refused("ipu_is_in_one_partition", _TWIN),
    _c("partitions_are_reconciled", Outcome.REPAIRED, "DELETE FROM work WHERE kind = 'partitions'"),
)

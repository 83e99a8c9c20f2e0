"""Ways in which clusters, their operations and their work items can be wrong, each planted alone."""

from __future__ import annotations

from ipucloud.invariants.repairing import Outcome
from tests.feature.invariants.corruption import corruption as _c
from tests.feature.invariants.corruption import refused

REPAIRED, LEFT, REFUSED = Outcome.REPAIRED, Outcome.LEFT_TO_WORKER, Outcome.REFUSED

_END = (
    "UPDATE operations SET state = 'failed', error = '{{}}', finished_at = app_now()"
    " WHERE cluster_id = %({cluster})s AND finished_at IS NULL",
    "UPDATE operation_steps SET state = 'skipped' FROM operations o"
    " WHERE operation_id = o.id AND o.cluster_id = %({cluster})s AND operation_steps.state = 'pending'",
    "INSERT INTO events (project_id, type, subject_type, subject_id, operation_id)"
    " SELECT project_id, 'operation.failed', 'cluster', cluster_id, id FROM operations"
    " WHERE cluster_id = %({cluster})s AND state = 'failed'",
)
_NEW_OPERATION = (
    "INSERT INTO operations (id, project_id, cluster_id, kind, state, request_id, deadline_at)"
    " SELECT gen_random_uuid(), project_id, %({cluster})s, kind, 'queued', 'again', deadline_at FROM operations"
    " WHERE id = %(operation)s",
    "INSERT INTO operation_steps (operation_id, ordinal, project_id, name, stage)"
    " SELECT o.id, s.ordinal, s.project_id, s.name, s.stage FROM operations o, operation_steps s"
    " WHERE o.request_id = 'again' AND s.operation_id = %(operation)s",
    "INSERT INTO events (project_id, type, subject_type, subject_id, operation_id)"
    " SELECT project_id, 'operation.created', 'cluster', cluster_id, id FROM operations WHERE request_id = 'again'",
)

CLUSTERS = (
    refused("cluster_being_created_has_its_operation", *(each.format(cluster="creating") for each in _END)),
    _c("cluster_being_deleted_has_its_operation", LEFT, *(each.format(cluster="deleting") for each in _END)),
    _c(
        "suspending_or_resuming_cluster_has_its_operation",
        REFUSED,
        "UPDATE clusters SET state = 'suspending' WHERE id = %(active)s",
        "UPDATE usage_intervals SET ended_at = greatest(started_at, date_trunc('second', app_now()))"
        " WHERE resource_id = %(active)s",
        "INSERT INTO events (project_id, type, subject_type, subject_id)"
        " SELECT project_id, 'cluster.suspending', 'cluster', id FROM clusters WHERE id = %(active)s",
    ),
    refused(
        "resize_holds_both_sizes",
        "INSERT INTO resizes (operation_id, project_id, cluster_id, from_flavor, from_machines, from_ipus, from_sku,"
        " to_flavor, to_machines, to_ipus, to_sku, moves, idle)"
        " SELECT %(operation)s, project_id, id, flavor, machines, ipus, sku, 'm2000-pod8', 2, 8, sku, false, 'joins'"
        " FROM clusters WHERE id = %(creating)s",
    ),
    refused("settled_cluster_is_not_being_changed", *(each.format(cluster="active") for each in _NEW_OPERATION)),
    _c(
        "cluster_is_degraded_by_its_faults",
        REPAIRED,
        "UPDATE clusters SET state = 'degraded' WHERE id = %(active)s",
        "INSERT INTO events (project_id, type, subject_type, subject_id)"
        " SELECT project_id, 'cluster.degraded', 'cluster', id FROM clusters WHERE id = %(active)s",
    ),
    _c(
        "fault_of_a_billed_cluster_is_credited",
        REPAIRED,
        "INSERT INTO health_reports (id, region, host_id, source, code, allocation, credited, detail, message,"
        " confirmed_at, cluster_id) SELECT %(partition)s, 'luxembourg-2', host_id, 'host', 'host_failed', 'prevented',"
        " true, 'no heartbeat', 'Its host has failed.', app_now(), cluster_id FROM allocations"
        " WHERE cluster_id = %(active)s AND host_id IS NOT NULL",
        "UPDATE hosts SET health = 'failed', allocatable = false"
        " WHERE id = (SELECT host_id FROM allocations WHERE cluster_id = %(active)s AND host_id IS NOT NULL)",
        "UPDATE clusters SET state = 'degraded' WHERE id = %(active)s",
        "INSERT INTO events (project_id, type, subject_type, subject_id)"
        " SELECT project_id, 'cluster.degraded', 'cluster', id FROM clusters WHERE id = %(active)s",
    ),
    _c(
        "confirmed_fault_report_is_live",
        REPAIRED,
        "INSERT INTO health_reports (id, region, machine_id, source, code, allocation, credited, detail, confirmed_at,"
        " cleared_at) SELECT %(partition)s, 'luxembourg-2', machine_id, 'operator', 'bmc_critical', 'prevented', true,"
        " 'as seen', app_now(), app_now() FROM allocations WHERE cluster_id = %(active)s AND ordinal = 0"
        " AND machine_id IS NOT NULL",
        "INSERT INTO fault_reports (id, project_id, cluster_id, machine_id, name, category, description, state,"
        " created_by, answer, answered_by, answered_at, report_id)"
        " SELECT %(partition)s, project_id, cluster_id, machine_id, 'm0', 'ipu', 'it hangs', 'confirmed', id,"
        " 'it does', id, app_now(), %(partition)s"
        " FROM allocations WHERE cluster_id = %(active)s AND ordinal = 0 AND machine_id IS NOT NULL",
    ),
    _c(
        "confirmed_fault_report_is_live",
        REPAIRED,
        "INSERT INTO health_reports (id, region, machine_id, source, code, allocation, credited, detail, confirmed_at)"
        " SELECT %(partition)s, 'luxembourg-2', id, 'bmc', 'sensor_warning', 'allowed', false, 'as seen', app_now()"
        " FROM machines ORDER BY name DESC LIMIT 1",
        "INSERT INTO fault_reports (id, project_id, cluster_id, machine_id, name, category, description, state,"
        " created_by, answer, answered_by, answered_at, report_id)"
        " SELECT %(partition)s, project_id, c.id, machine_id, 'm0', 'ipu', 'it hangs', 'confirmed', c.id,"
        " 'it does', c.id, app_now(), h.id FROM clusters AS c, health_reports AS h WHERE c.id = %(deleted)s",
    ),
    refused(
        "cluster_times_in_order", "UPDATE clusters SET ready_at = created_at - interval '1 day' WHERE id = %(active)s"
    ),
    refused(
        "cluster_has_its_own_name_outside",
        "UPDATE clusters SET external_name = 'somebody-else-1' WHERE id = %(active)s",
        "UPDATE poplar_servers SET name = 'somebody-else-1-p0' WHERE cluster_id = %(active)s",
        "UPDATE partitions SET external_name = 'somebody-else-1' || coalesce('-' || number, '')"
        " WHERE cluster_id = %(active)s",
    ),
    refused("every_host_of_a_cluster_has_its_server", "DELETE FROM poplar_servers WHERE cluster_id = %(active)s"),
    refused(
        "server_is_named_after_its_cluster",
        "UPDATE poplar_servers SET name = 'somebody-else-1-p0' WHERE cluster_id = %(active)s",
    ),
    _c(
        "working_cluster_has_running_servers",
        LEFT,
        "UPDATE poplar_servers SET ssh_port = NULL WHERE cluster_id = %(active)s",
        lasting=True,
    ),
    refused(
        "suspended_cluster_keeps_its_servers",
        "UPDATE poplar_servers SET state = 'running' WHERE cluster_id = %(suspended)s",
    ),
    _c(
        "gone_cluster_has_no_server",
        REPAIRED,
        "UPDATE poplar_servers SET state = 'running', ssh_host = '203.0.113.9' WHERE cluster_id = %(deleted)s",
    ),
    refused(
        "cluster_has_an_endpoint_of_its_own",
        "UPDATE clusters SET endpoint_host = '203.0.113.9', endpoint_port = 1 WHERE id IN (%(active)s, %(creating)s)",
    ),
    _c(
        "cluster_without_allocation_has_no_endpoint",
        REPAIRED,
        "UPDATE clusters SET endpoint_host = '203.0.113.9', endpoint_port = 1 WHERE id = %(suspended)s",
    ),
)

OPERATIONS = (
    refused(
        "object_has_one_open_operation",
        *(each.format(cluster="creating") for each in _NEW_OPERATION),
        off=("uq_operations_open",),
    ),
    refused("finished_operation_is_complete", "UPDATE operations SET progress = 50 WHERE id = %(finished)s"),
    refused(
        "operation_times_in_order",
        "UPDATE operations SET started_at = created_at - interval '1 day' WHERE id = %(finished)s",
    ),
    refused(
        "operation_is_of_a_known_kind",
        "UPDATE operation_steps SET name = 'dance' WHERE operation_id = %(operation)s AND ordinal = 2",
    ),
    refused(
        "open_operation_has_a_next_step",
        "UPDATE operation_steps SET state = 'skipped' WHERE operation_id = %(operation)s",
    ),
    _c(
        "finished_operation_has_finished_steps",
        REPAIRED,
        "UPDATE operation_steps SET state = 'running' WHERE operation_id = %(finished)s AND ordinal = 2",
    ),
    refused(
        "steps_are_taken_in_order",
        "UPDATE operation_steps SET state = 'succeeded', finished_at = app_now()"
        " WHERE operation_id = %(operation)s AND ordinal = 3",
    ),
    refused(
        "finished_step_has_its_time",
        "UPDATE operation_steps SET finished_at = app_now() WHERE operation_id = %(finished)s AND ordinal = 2",
    ),
    _c(
        "open_operation_has_work",
        LEFT,
        "UPDATE work SET run_at = NULL, claimed_seq = wake_seq WHERE key = %(creating)s::text",
    ),
    _c("open_operation_has_work", LEFT, "DELETE FROM work WHERE key = %(creating)s::text"),
    _c(
        "operation_ends_in_time",
        LEFT,
        "UPDATE operations SET deadline_at = app_now() - interval '1 hour' WHERE id = %(operation)s",
        lasting=True,
    ),
    refused(
        "operation_makes_progress",
        "UPDATE operations SET created_at = created_at - interval '1 day', expected_at = expected_at - interval '1 day'"
        " WHERE id = %(operation)s",
    ),
    refused(
        "cluster_is_cleaned_up_in_time",
        "UPDATE clusters SET state_entered_at = state_entered_at - interval '1 day' WHERE id = %(deleting)s",
    ),
)

WORK_ITEMS = (
    _c("lease_is_whole", REPAIRED, "UPDATE work SET fence = -1 WHERE key = %(active)s::text"),
    _c(
        "lease_is_whole",
        REPAIRED,
        "UPDATE work SET lease_owner = 7, run_at = NULL WHERE key = %(active)s::text",
        off=("ck_work_lease",),
    ),
    _c(
        "expired_lease_is_freed",
        REPAIRED,
        "UPDATE work SET lease_owner = 7, lease_until = app_now() - interval '1 hour' WHERE key = %(active)s::text",
    ),
    refused("attempts_are_bounded", "UPDATE work SET attempt = 11 WHERE key = %(active)s::text"),
    refused(
        "no_work_item_is_parked",
        "UPDATE work SET run_at = NULL, parked_at = app_now(), last_error = 'KeyError: x'"
        " WHERE key = %(creating)s::text",
    ),
    _c("parked_work_item_is_idle", REPAIRED, "UPDATE work SET parked_at = app_now() WHERE key = %(creating)s::text"),
    _c("no_wake_is_lost", REPAIRED, "UPDATE work SET run_at = NULL WHERE kind = 'cluster' AND key = %(active)s::text"),
    _c(
        "work_item_belongs_to_its_cluster",
        REPAIRED,
        "UPDATE work SET project_id = %(other)s WHERE key = %(active)s::text",
    ),
    _c(
        "work_item_belongs_to_its_cluster",
        REPAIRED,
        "INSERT INTO work (kind, key, project_id, run_at) VALUES ('cluster', 'no uuid', %(project)s, app_now())",
    ),
)

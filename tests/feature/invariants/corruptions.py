"""Thirty and more ways in which a database can be wrong, each planted alone.

Where a rule cannot be broken alone, the statements set right what else would be: a machine too few is taken out of the
quota too, for instance. So every audit of these finds exactly the rule it is planted for.
"""

from __future__ import annotations

from ipucloud.db.documents import clauses
from ipucloud.invariants.repairing import Outcome
from tests.feature.invariants.corruption import Corruption
from tests.feature.invariants.invoice_corruptions import INVOICES
from tests.feature.invariants.ledger_corruptions import LEDGER
from tests.feature.invariants.live_corruptions import LIVE

REPAIRED, LEFT, REFUSED = Outcome.REPAIRED, Outcome.LEFT_TO_WORKER, Outcome.REFUSED


def _c(rule: str, outcome: Outcome, *statements: str, off: tuple[str, ...] = (), lasting: bool = False) -> Corruption:
    return Corruption(rule, outcome, statements, off, lasting)


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


def _machine(cluster: str, machine: str, *changes: str) -> str:
    """Give the cluster's machines, or some of them, another one in their place."""
    return clauses("UPDATE allocations SET machine_id = (", machine, ")", *changes).replace("{cluster}", cluster)


_OF = "WHERE cluster_id = %({cluster})s AND machine_id IS NOT NULL"
_FIRST_OF_ACTIVE = (
    "SELECT machine_id FROM allocations WHERE cluster_id = %(active)s AND ordinal = 0 AND host_id IS NULL"
)
_OF_CREATING = "SELECT machine_id FROM allocations WHERE cluster_id = %(creating)s AND host_id IS NULL"
_IN_LUXEMBOURG = "SELECT m.id FROM machines m WHERE m.slot = 15 AND m.name LIKE 'lux%%'"
_IN_AMSTERDAM = "SELECT m.id FROM machines m WHERE m.slot = 0 AND m.name LIKE 'ams%%'"

CLUSTERS = (
    _c("cluster_being_created_has_its_operation", REFUSED, *(each.format(cluster="creating") for each in _END)),
    _c("cluster_being_deleted_has_its_operation", LEFT, *(each.format(cluster="deleting") for each in _END)),
    _c(
        "suspending_or_resuming_cluster_has_its_operation",
        REFUSED,
        "UPDATE clusters SET state = 'suspending' WHERE id = %(active)s",
        "UPDATE usage_intervals SET ended_at = greatest(started_at, date_trunc('second', app_now()))"
        " WHERE cluster_id = %(active)s",
        "INSERT INTO events (project_id, type, subject_type, subject_id)"
        " SELECT project_id, 'cluster.suspending', 'cluster', id FROM clusters WHERE id = %(active)s",
    ),
    _c(
        "settled_cluster_is_not_being_changed",
        REFUSED,
        *(each.format(cluster="active") for each in _NEW_OPERATION),
    ),
    _c(
        "cluster_times_in_order",
        REFUSED,
        "UPDATE clusters SET ready_at = created_at - interval '1 day' WHERE id = %(active)s",
    ),
    _c(
        "cluster_has_its_own_name_outside",
        REFUSED,
        "UPDATE clusters SET external_name = 'somebody-else-1' WHERE id = %(active)s",
        "UPDATE poplar_servers SET name = 'somebody-else-1-p0' WHERE cluster_id = %(active)s",
        "UPDATE partitions SET external_name = 'somebody-else-1' || coalesce('-' || number, '')"
        " WHERE cluster_id = %(active)s",
    ),
    _c(
        "every_host_of_a_cluster_has_its_server",
        REFUSED,
        "DELETE FROM poplar_servers WHERE cluster_id = %(active)s",
    ),
    _c(
        "server_is_named_after_its_cluster",
        REFUSED,
        "UPDATE poplar_servers SET name = 'somebody-else-1-p0' WHERE cluster_id = %(active)s",
    ),
    _c(
        "working_cluster_has_running_servers",
        LEFT,
        "UPDATE poplar_servers SET ssh_port = NULL WHERE cluster_id = %(active)s",
        lasting=True,
    ),
    _c(
        "suspended_cluster_keeps_its_servers",
        REFUSED,
        "UPDATE poplar_servers SET state = 'running' WHERE cluster_id = %(resting)s",
    ),
    _c(
        "gone_cluster_has_no_server",
        REPAIRED,
        "UPDATE poplar_servers SET state = 'running', ssh_host = '203.0.113.9' WHERE cluster_id = %(deleted)s",
    ),
)

OPERATIONS = (
    _c(
        "cluster_has_one_open_operation",
        REFUSED,
        *(each.format(cluster="creating") for each in _NEW_OPERATION),
        off=("uq_operations_open_cluster",),
    ),
    _c("finished_operation_is_complete", REFUSED, "UPDATE operations SET progress = 50 WHERE id = %(finished)s"),
    _c(
        "operation_times_in_order",
        REFUSED,
        "UPDATE operations SET started_at = created_at - interval '1 day' WHERE id = %(finished)s",
    ),
    _c(
        "operation_is_of_a_known_kind",
        REFUSED,
        "UPDATE operation_steps SET name = 'dance' WHERE operation_id = %(operation)s AND ordinal = 2",
    ),
    _c(
        "open_operation_has_a_next_step",
        REFUSED,
        "UPDATE operation_steps SET state = 'skipped' WHERE operation_id = %(operation)s",
    ),
    _c(
        "finished_operation_has_finished_steps",
        REPAIRED,
        "UPDATE operation_steps SET state = 'running' WHERE operation_id = %(finished)s AND ordinal = 2",
    ),
    _c(
        "steps_are_taken_in_order",
        REFUSED,
        "UPDATE operation_steps SET state = 'succeeded', finished_at = app_now()"
        " WHERE operation_id = %(operation)s AND ordinal = 3",
    ),
    _c(
        "finished_step_has_its_time",
        REFUSED,
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
    _c(
        "operation_makes_progress",
        REFUSED,
        "UPDATE operations SET created_at = created_at - interval '1 day', expected_at = expected_at - interval '1 day'"
        " WHERE id = %(operation)s",
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
    _c("attempts_are_bounded", REFUSED, "UPDATE work SET attempt = 11 WHERE key = %(active)s::text"),
    _c(
        "no_work_item_is_parked",
        REFUSED,
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

MACHINES = (
    _c(
        "machine_has_one_holder",
        REFUSED,
        _machine("creating", _FIRST_OF_ACTIVE, _OF),
        off=("uq_allocations_live_machine",),
    ),
    _c(
        "gone_cluster_holds_nothing",
        LEFT,
        "UPDATE allocations SET freed_at = NULL WHERE cluster_id = %(deleted)s",
        "UPDATE quotas SET used = used + 1 WHERE used > 0",
        lasting=True,
    ),
    _c(
        "cluster_holds_its_machines",
        REFUSED,
        "DELETE FROM allocations WHERE cluster_id = %(active)s AND machine_id IS NOT NULL AND ordinal = 3",
        "UPDATE quotas SET used = used - 1 WHERE used > 0",
    ),
    _c(
        "suspended_cluster_holds_no_machine",
        REFUSED,
        "INSERT INTO allocations (id, project_id, cluster_id, machine_id, ordinal)"
        " SELECT gen_random_uuid(), c.project_id, c.id, m.id, 0 FROM clusters c, machines m"
        " WHERE c.id = %(resting)s AND m.slot = 15 AND m.name LIKE 'lux%%'",
        "UPDATE quotas SET used = used + 1 WHERE used > 0",
    ),
    _c(
        "working_cluster_released_nothing",
        REFUSED,
        "UPDATE allocations SET released_at = app_now() WHERE cluster_id = %(active)s",
    ),
    _c(
        "allocation_times_in_order",
        REFUSED,
        "UPDATE allocations SET released_at = created_at - interval '1 day' WHERE cluster_id = %(deleted)s",
    ),
    _c(
        "machine_is_freed_before_it_is_taken",
        REFUSED,
        _machine("deleted", _OF_CREATING, ", created_at = created_at - interval '1 hour'", _OF),
    ),
    _c(
        "cluster_numbers_its_machines",
        REFUSED,
        "UPDATE allocations SET ordinal = ordinal + 1 WHERE cluster_id = %(active)s AND machine_id IS NOT NULL",
    ),
    _c(
        "cluster_machines_form_a_block",
        REFUSED,
        _machine("active", _IN_LUXEMBOURG, _OF, "AND ordinal = 3"),
    ),
    _c(
        "machines_are_what_the_cluster_asked_for",
        REFUSED,
        _machine("creating", _IN_AMSTERDAM, _OF),
    ),
)

_NEW_INTERVAL = (
    "INSERT INTO usage_intervals (id, project_id, cluster_id, sku, region, currency, quantity, anchor_at, started_at,"
    " ended_at) SELECT gen_random_uuid(), project_id, cluster_id, sku, region, currency, quantity, anchor_at,"
    " started_at + interval '1 hour', started_at + interval '2 hours' FROM usage_intervals"
    " WHERE cluster_id = %(deleting)s"
)

BILLING = (
    _c("billable_cluster_is_billed", REPAIRED, "DELETE FROM usage_intervals WHERE cluster_id = %(active)s"),
    _c(
        "unusable_cluster_is_not_billed",
        REPAIRED,
        "UPDATE usage_intervals SET ended_at = NULL WHERE cluster_id = %(deleting)s",
    ),
    _c(
        "interval_begins_in_the_cluster_s_life",
        REFUSED,
        "UPDATE usage_intervals SET anchor_at = anchor_at - interval '1 day',"
        " started_at = started_at - interval '1 day' WHERE cluster_id = %(active)s",
    ),
    _c(
        "interval_ends_when_delete_is_asked_for",
        REFUSED,
        "UPDATE usage_intervals SET ended_at = ended_at + interval '1 day' WHERE cluster_id = %(deleting)s",
    ),
    _c("nothing_is_billed_twice", REFUSED, _NEW_INTERVAL, off=("ex_usage_intervals_no_overlap",)),
    _c(
        "cluster_is_billed_as_what_it_is",
        REPAIRED,
        "UPDATE usage_intervals SET quantity = 9 WHERE cluster_id = %(active)s",
    ),
    _c(
        "intervals_share_an_anchor",
        REFUSED,
        "UPDATE usage_intervals SET anchor_at = anchor_at - interval '1 hour' WHERE cluster_id = %(active)s",
    ),
    _c("billed_cluster_was_ready", REFUSED, "UPDATE clusters SET ready_at = NULL WHERE id = %(active)s"),
    _c(
        "billed_usage_has_a_price",
        REFUSED,
        "UPDATE prices SET valid_to = date_trunc('second', app_now(), 'UTC') - interval '1 hour'"
        " WHERE sku = 'ipu-m2000'",
    ),
    _c(
        "sku_has_one_price",
        REFUSED,
        "INSERT INTO prices (id, sku, region, currency, unit_price, valid_from, source)"
        " SELECT gen_random_uuid(), sku, region, currency, 1, valid_from, 'again' FROM prices WHERE sku = 'ipu-m2000'",
        off=("ex_prices_no_overlap",),
    ),
)

TENANCY = (
    _c("quota_counts_what_is_held", REPAIRED, "UPDATE quotas SET used = used + 3 WHERE used > 0"),
    _c("quota_is_not_exceeded", REFUSED, "UPDATE quotas SET machine_limit = 1 WHERE used > 1", off=("ck_quotas_used",)),
    _c(
        "references_resolve",
        REFUSED,
        "UPDATE machines SET pod_id = gen_random_uuid() WHERE slot = 15 AND name LIKE 'lux%%'",
    ),
    _c(
        "tokens_that_are_named_exist",
        REFUSED,
        "UPDATE operations SET requested_by = gen_random_uuid() WHERE id = %(finished)s",
    ),
    _c(
        "token_role_fits_its_project",
        REPAIRED,
        "UPDATE tokens SET role = 'admin' WHERE project_id = %(other)s",
        off=("ck_tokens_platform_role",),
    ),
    _c("ended_project_has_no_token", REPAIRED, "UPDATE projects SET deleted_at = app_now() WHERE id = %(other)s"),
    _c(
        "ended_project_has_no_cluster",
        REFUSED,
        "UPDATE projects SET deleted_at = app_now() WHERE id = %(project)s",
        "UPDATE tokens SET revoked_at = app_now() WHERE project_id = %(project)s",
    ),
    _c(
        "stored_answer_has_its_effect",
        REPAIRED,
        "INSERT INTO idempotency_keys (scope, key, fingerprint, status, body, subject_id)"
        " VALUES (%(project)s, 'k', '', 202, '', gen_random_uuid())",
    ),
)

LOGS = (
    _c(
        "operation_is_in_the_log",
        REPAIRED,
        "DELETE FROM events WHERE type = 'operation.succeeded' AND operation_id = %(finished)s",
    ),
    _c("cluster_state_is_in_the_log", REPAIRED, "DELETE FROM events WHERE type = 'cluster.active'"),
    _c(
        "events_are_of_the_past",
        REFUSED,
        "UPDATE events SET transaction = 9000000000000 WHERE operation_id = %(operation)s",
    ),
    _c(
        "event_is_about_something",
        REFUSED,
        "UPDATE events SET subject_id = gen_random_uuid()"
        " WHERE operation_id = %(operation)s AND type = 'operation.created'",
    ),
    _c(
        "event_type_is_registered",
        REFUSED,
        "INSERT INTO events (project_id, type, subject_type, subject_id)"
        " SELECT project_id, 'cluster.actve', 'cluster', id FROM clusters WHERE id = %(active)s",
    ),
    _c(
        "event_type_is_registered",
        REFUSED,
        "INSERT INTO events (project_id, type, subject_type, subject_id)"
        " SELECT project_id, 'token.created', 'cluster', id FROM clusters WHERE id = %(active)s",
    ),
    _c(
        "repair_finishes",
        REPAIRED,
        "INSERT INTO repairs (id, rule, object_type, object_id, detail, action, requested_by, started_at)"
        " VALUES (gen_random_uuid(), 'r', 'server', 's', 'd', 'a', 'somebody', app_now() - interval '2 hours')",
    ),
)

GUARDS = (
    _c("guards_are_in_force", REFUSED, "ALTER TABLE operations DISABLE TRIGGER operations_final"),
    _c("guards_are_in_force", REFUSED, "DROP INDEX uq_operations_open_cluster"),
    _c("guards_are_in_force", REFUSED, "ALTER TABLE quotas DROP CONSTRAINT ck_quotas_used"),
    _c("reference_has_an_index", REFUSED, "ALTER TABLE hosts ADD COLUMN pod_id uuid REFERENCES pods (id)"),
    _c("application_cannot_rewrite_history", REFUSED, "GRANT UPDATE ON events TO ipucloud_app"),
    _c("application_cannot_rewrite_history", REFUSED, "GRANT UPDATE (quantity) ON usage_intervals TO ipucloud_app"),
)

CORRUPTIONS = (
    *CLUSTERS,
    *OPERATIONS,
    *WORK_ITEMS,
    *MACHINES,
    *BILLING,
    *LEDGER,
    *INVOICES,
    *LIVE,
    *TENANCY,
    *LOGS,
    *GUARDS,
)

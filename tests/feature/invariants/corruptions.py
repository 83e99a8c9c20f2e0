"""Thirty and more ways in which a database can be wrong, each planted alone.

Where a rule cannot be broken alone, the statements set right what else would be: a machine too few is taken out of the
quota too, for instance. So every audit of these finds exactly the rule it is planted for.
"""

from __future__ import annotations

from dataclasses import replace

from ipucloud.db.documents import clauses
from ipucloud.invariants.repairing import Outcome
from tests.feature.invariants.address_corruptions import ADDRESSES
from tests.feature.invariants.cluster_corruptions import CLUSTERS, OPERATIONS, WORK_ITEMS
from tests.feature.invariants.corruption import corruption as _c
from tests.feature.invariants.corruption import refused
from tests.feature.invariants.credit_corruptions import CREDITS
from tests.feature.invariants.invoice_corruptions import INVOICES
from tests.feature.invariants.ledger_corruptions import LEDGER
from tests.feature.invariants.live_corruptions import LIVE
from tests.feature.invariants.preemption_corruptions import PREEMPTION
from tests.feature.invariants.reservation_corruptions import RESERVATIONS
from tests.feature.invariants.volume_corruptions import VOLUMES
from tests.support.settled import SETTLED

REPAIRED, LEFT, REFUSED = Outcome.REPAIRED, Outcome.LEFT_TO_WORKER, Outcome.REFUSED


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

_HOLDERS = (
    refused(
        "machine_has_one_holder", _machine("creating", _FIRST_OF_ACTIVE, _OF), off=("uq_allocations_live_machine",)
    ),
    _c(
        "gone_cluster_holds_nothing",
        LEFT,
        "UPDATE allocations SET freed_at = NULL WHERE cluster_id = %(deleted)s",
        "UPDATE quotas SET used = used + 1 WHERE used > 0",
        lasting=True,
    ),
    refused(
        "cluster_holds_its_machines",
        "DELETE FROM allocations WHERE cluster_id = %(active)s AND machine_id IS NOT NULL AND ordinal = 3",
        "UPDATE quotas SET used = used - 1 WHERE used > 0",
    ),
    refused(
        "suspended_cluster_holds_no_machine",
        "INSERT INTO allocations (id, project_id, cluster_id, machine_id, ordinal)"
        " SELECT gen_random_uuid(), c.project_id, c.id, m.id, 0 FROM clusters c, machines m"
        " WHERE c.id = %(suspended)s AND m.slot = 15 AND m.name LIKE 'lux%%'",
        "UPDATE quotas SET used = used + 1 WHERE used > 0",
    ),
    refused(
        "working_cluster_released_nothing",
        "UPDATE allocations SET released_at = app_now() WHERE cluster_id = %(active)s",
    ),
    refused(
        "allocation_times_in_order",
        "UPDATE allocations SET released_at = created_at - interval '1 day' WHERE cluster_id = %(deleted)s",
    ),
    refused(
        "machine_is_freed_before_it_is_taken",
        _machine("deleted", _OF_CREATING, ", created_at = created_at - interval '1 hour'", _OF),
    ),
    refused(
        "freed_hardware_was_observed_clean",
        "DELETE FROM hardware_cleanings c USING allocations a WHERE a.id = allocation_id"
        " AND a.cluster_id = %(deleted)s",
    ),
    _c(
        "validation_keeps_its_machine",
        REPAIRED,
        "INSERT INTO hardware_validations (id, machine_id, reason) SELECT gen_random_uuid(), id, 'operator'"
        " FROM machines WHERE slot = 15 AND name LIKE 'lux%%'",
    ),
    _c(
        "validation_keeps_its_machine",
        REPAIRED,
        "INSERT INTO hardware_validations (id, machine_id, reason, name, started_at, deadline_at)"
        " SELECT gen_random_uuid(), id, 'operator', 'val-0', app_now(), app_now()"
        " FROM machines WHERE slot = 15 AND name LIKE 'lux%%'",
    ),
    refused(
        "machine_in_use_is_not_validated",
        "INSERT INTO hardware_validations (id, machine_id, reason, name, started_at, deadline_at)"
        " SELECT gen_random_uuid(), machine_id, 'operator', 'val-0', app_now(), app_now() FROM allocations"
        " WHERE cluster_id = %(active)s AND machine_id IS NOT NULL AND ordinal = 0",
        "INSERT INTO health_reports (id, region, machine_id, source, code, allocation, credited, detail, confirmed_at)"
        " SELECT gen_random_uuid(), 'luxembourg-2', machine_id, 'operation', 'not_validated', 'prevented', false, '',"
        " app_now() FROM hardware_validations",
        "UPDATE machines SET allocatable = false, validating = true"
        " WHERE id IN (SELECT machine_id FROM hardware_validations)",
    ),
    refused(
        "cluster_numbers_its_machines",
        "UPDATE allocations SET ordinal = ordinal + 1 WHERE cluster_id = %(active)s AND machine_id IS NOT NULL",
    ),
    refused("cluster_machines_form_a_block", _machine("active", _IN_LUXEMBOURG, _OF, "AND ordinal = 3")),
    refused("machines_are_what_the_cluster_asked_for", _machine("creating", _IN_AMSTERDAM, _OF)),
)

MACHINES = tuple(replace(each, statements=(*each.statements, *SETTLED)) for each in _HOLDERS)

_MACHINE = "UPDATE machines SET {} WHERE slot = 15 AND name LIKE 'lux%%'"
_HOST = "UPDATE hosts SET {} WHERE NOT held AND name LIKE 'lux%%'"

ROOM = (
    *(
        _c(f"{kind}_follows_its_reports", REPAIRED, changes.format(column), *SETTLED)
        for kind, changes in (("machine", _MACHINE), ("host", _HOST))
        for column in ("health = 'failed'", "maintenance = true", "allocatable = false")
    ),
    _c("pod_shows_its_machines", REPAIRED, "UPDATE pods SET unhealthy_mask = 1 WHERE name LIKE 'lux%%'"),
    _c("run_shows_its_whole_pods", REPAIRED, "UPDATE pod_runs SET whole_mask = whole_mask # 4"),
    _c("host_shows_whether_it_is_held", REPAIRED, "UPDATE hosts SET held = NOT held"),
    _c("controller_has_an_authority", REFUSED, "UPDATE vipu_controllers SET authority = NULL"),
)

_NEW_INTERVAL = (
    "INSERT INTO usage_intervals (id, project_id, resource_id, flavor, sku, region, currency, quantity, anchor_at,"
    " started_at, ended_at) SELECT gen_random_uuid(), project_id, resource_id, flavor, sku, region, currency, quantity,"
    " anchor_at, started_at + interval '1 hour', started_at + interval '2 hours' FROM usage_intervals"
    " WHERE resource_id = %(deleting)s"
)

BILLING = (
    _c("billable_cluster_is_billed", REPAIRED, "DELETE FROM usage_intervals WHERE resource_id = %(active)s"),
    _c(
        "unusable_cluster_is_not_billed",
        REPAIRED,
        "UPDATE usage_intervals SET ended_at = NULL WHERE resource_id = %(deleting)s",
    ),
    _c(
        "interval_begins_in_the_cluster_s_life",
        REFUSED,
        "UPDATE usage_intervals SET anchor_at = anchor_at - interval '1 day',"
        " started_at = started_at - interval '1 day' WHERE resource_id = %(active)s",
    ),
    _c(
        "interval_ends_when_delete_is_asked_for",
        REFUSED,
        "UPDATE usage_intervals SET ended_at = ended_at + interval '1 day' WHERE resource_id = %(deleting)s",
    ),
    _c("nothing_is_billed_twice", REFUSED, _NEW_INTERVAL, off=("ex_usage_intervals_no_overlap",)),
    _c(
        "cluster_is_billed_as_what_it_is",
        REPAIRED,
        "UPDATE usage_intervals SET quantity = 9 WHERE resource_id = %(active)s",
    ),
    refused(
        "cluster_is_priced_in_its_payers_currency",
        "UPDATE billing_accounts SET currency = 'CHF' WHERE id = %(project)s",
    ),
    _c(
        "intervals_share_an_anchor",
        REFUSED,
        "UPDATE usage_intervals SET anchor_at = anchor_at - interval '1 hour' WHERE resource_id = %(active)s",
    ),
    refused("billed_cluster_was_ready", "UPDATE clusters SET ready_at = NULL WHERE id = %(active)s"),
    refused("billed_usage_has_a_price", "UPDATE prices SET sku = 'ipu-gone' WHERE sku = 'ipu-m2000'"),
    refused(
        "price_book_has_no_hole",
        "UPDATE prices SET valid_to = date_trunc('second', app_now(), 'UTC') + interval '1 hour'"
        " WHERE sku = 'ipu-m2000'",
    ),
    refused(
        "sku_has_one_price",
        "INSERT INTO prices (id, sku, region, currency, unit_price, valid_from, source)"
        " SELECT gen_random_uuid(), sku, region, currency, 1, valid_from, 'again' FROM prices WHERE sku = 'ipu-m2000'",
        off=("ex_prices_no_overlap",),
    ),
)

TENANCY = (
    _c("quota_counts_what_is_held", REPAIRED, "UPDATE quotas SET used = used + 3 WHERE used > 0"),
    refused("quota_is_not_exceeded", "UPDATE quotas SET machine_limit = 1 WHERE used > 1", off=("ck_quotas_used",)),
    refused(
        "references_resolve",
        "UPDATE machines SET pod_id = gen_random_uuid() WHERE slot = 15 AND name LIKE 'lux%%'",
        *SETTLED,
    ),
    refused(
        "tokens_that_are_named_exist", "UPDATE operations SET requested_by = gen_random_uuid() WHERE id = %(finished)s"
    ),
    _c(
        "token_role_fits_its_project",
        REPAIRED,
        "UPDATE tokens SET role = 'admin' WHERE project_id = %(other)s",
        off=("ck_tokens_platform_role",),
    ),
    _c("ended_project_has_no_token", REPAIRED, "UPDATE projects SET deleted_at = app_now() WHERE id = %(other)s"),
    _c(
        "deactivated_person_has_no_token",
        REPAIRED,
        "INSERT INTO users (id, email, deactivated_at) VALUES (%(other)s, 'left@example.com', app_now())",
        "INSERT INTO tokens (id, project_id, name, role, display_prefix, secret_hash, kind, owner_id) VALUES"
        " (gen_random_uuid(), %(other)s, 'left', 'viewer', '', sha256('left'), 'member', %(other)s)",
    ),
    refused(
        "ended_project_has_no_cluster",
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
    refused(
        "events_are_of_the_past", "UPDATE events SET transaction = 9000000000000 WHERE operation_id = %(operation)s"
    ),
    refused(
        "event_is_about_something",
        "UPDATE events SET subject_id = gen_random_uuid()"
        " WHERE operation_id = %(operation)s AND type = 'operation.created'",
    ),
    refused(
        "event_type_is_registered",
        "INSERT INTO events (project_id, type, subject_type, subject_id)"
        " SELECT project_id, 'cluster.actve', 'cluster', id FROM clusters WHERE id = %(active)s",
    ),
    refused(
        "event_type_is_registered",
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
    refused("guards_are_in_force", "ALTER TABLE operations DISABLE TRIGGER operations_final"),
    refused("guards_are_in_force", "DROP INDEX uq_operations_open"),
    refused("guards_are_in_force", "ALTER TABLE quotas DROP CONSTRAINT ck_quotas_used"),
    refused("reference_has_an_index", "ALTER TABLE hosts ADD COLUMN pod_id uuid REFERENCES pods (id)"),
    refused("application_cannot_rewrite_history", "GRANT UPDATE ON events TO ipucloud_app"),
    refused("application_cannot_rewrite_history", "GRANT UPDATE (data) ON events TO ipucloud_app"),
    _c("application_cannot_rewrite_history", REFUSED, "GRANT UPDATE (quantity) ON usage_intervals TO ipucloud_app"),
)

CORRUPTIONS = (
    *CLUSTERS,
    *OPERATIONS,
    *WORK_ITEMS,
    *MACHINES,
    *PREEMPTION,
    *RESERVATIONS,
    *VOLUMES,
    *ADDRESSES,
    *ROOM,
    *BILLING,
    *CREDITS,
    *LEDGER,
    *INVOICES,
    *LIVE,
    *TENANCY,
    *LOGS,
    *GUARDS,
)

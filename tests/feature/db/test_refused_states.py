"""States that the database itself refuses, so that a fault in the code is an error and not a wrong bill."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product

import psycopg
import pytest
from psycopg.errors import CheckViolation, ExclusionViolation, IntegrityConstraintViolation, UniqueViolation

from ipucloud.kernel.ids import new_id
from tests.support.cases import all_cases
from tests.support.filled_names import Filled
from tests.support.postgres import Database

NEW_INTERVAL = """
INSERT INTO usage_intervals (id, project_id, resource_id, flavor, sku, region, currency, quantity, anchor_at,
                             started_at, ended_at)
SELECT %(id)s, project_id, resource_id, flavor, sku, region, currency, {quantity}, anchor_at, {started_at}, {ended_at}
  FROM usage_intervals WHERE credited = 0
"""
NEW_CREDIT = """
INSERT INTO usage_intervals (id, project_id, resource_id, flavor, sku, region, currency, quantity, credited,
                             anchor_at, started_at, ended_at)
SELECT %(id)s, project_id, resource_id, flavor, sku, region, currency, quantity, {credited}, anchor_at, ended_at,
       ended_at
  FROM usage_intervals LIMIT 1
"""
NEW_PRICE = """
INSERT INTO prices (id, sku, region, currency, unit_price, valid_from, valid_to, source)
VALUES (%(id)s, {sku}, 'luxembourg-2', 'EUR', {unit_price}, {valid_from}, {valid_to}, 'test')
"""
NEW_CLUSTER = """
INSERT INTO clusters (id, project_id, name, region, flavor, machine_type, machines, ipus, sku, currency, image, state,
                      external_name)
SELECT %(id)s, project_id, {name}, region, flavor, machine_type, 1, {ipus}, sku, currency, image, 'creating', {external}
  FROM clusters
"""
NEW_ALLOCATION = """
INSERT INTO allocations (id, project_id, cluster_id, machine_id, host_id, ordinal)
SELECT %(id)s, project_id, id, {machine}, {host}, 2 FROM clusters
"""
NEW_OPERATION = """
INSERT INTO operations (id, project_id, cluster_id, kind, state, request_id, deadline_at)
SELECT %(id)s, project_id, id, 'cluster.create', 'queued', 'req', app_now() FROM clusters
"""
NEW_EXPORT = """
INSERT INTO exports (id, project_id, dataset, focus_version, format, month, since, until)
SELECT %(id)s, project_id, 'cost-and-usage', '1.4', 'csv', {month}, {since}, {until} FROM clusters
"""
NEW_HEALTH_REPORT = """
INSERT INTO health_reports (id, region, machine_id, host_id, source, code, allocation, credited, detail)
SELECT %(id)s, region, {machine}, host_id, source, code, {allocation}, credited, detail FROM health_reports
"""


VIOLATIONS = {"ck": CheckViolation, "uq": UniqueViolation, "ex": ExclusionViolation}
"""What a statement ends with, by how the constraint's name begins."""


@dataclass(frozen=True)
class Wrong:
    """A statement, and the constraint that it violates."""

    what: str
    statement: str
    constraint: str


WRONG = (
    *(
        Wrong(
            f"an export of {what}",
            NEW_EXPORT.format(month=month, since=since, until=until),
            "ck_exports_period",
        )
        for what, month, since, until in (
            ("a month and days", "'2026-05-01'", "'2026-05-01'", "'2026-06-01'"),
            ("no days", "NULL", "NULL", "NULL"),
            ("days without an end", "NULL", "'2026-05-01'", "NULL"),
            ("no day at all", "NULL", "'2026-05-01'", "'2026-05-01'"),
            ("more than a year", "NULL", "'2025-05-01'", "'2026-05-03'"),
        )
    ),
    Wrong(
        "a second live report of one source and code",
        NEW_HEALTH_REPORT.format(machine="NULL", allocation="allocation"),
        "uq_health_reports_live",
    ),
    Wrong(
        "a report of a machine and a host",
        NEW_HEALTH_REPORT.format(machine="%(machine)s::uuid", allocation="allocation"),
        "ck_health_reports_one_object",
    ),
    Wrong(
        "a report that may prevent allocation or not",
        NEW_HEALTH_REPORT.format(machine="NULL", allocation="'perhaps'"),
        "ck_health_reports_allocation",
    ),
    Wrong(
        "two clusters of one name live in a project",
        NEW_CLUSTER.format(name="name", ipus=4, external="'other-1'"),
        "uq_clusters_living_name",
    ),
    Wrong(
        "an external name is used again",
        NEW_CLUSTER.format(name="'gpt'", ipus=4, external="external_name"),
        "uq_clusters_external_name",
    ),
    Wrong(
        "a machine has not four IPUs",
        NEW_CLUSTER.format(name="'gpt'", ipus=5, external="'other-1'"),
        "ck_clusters_size",
    ),
    Wrong("a deleted cluster has no time of deletion", "UPDATE clusters SET state = 'deleted'", "ck_clusters_deleted"),
    Wrong("a state nobody knows", "UPDATE clusters SET state = 'sleeping'", "ck_clusters_state"),
    Wrong("a cluster has two open operations", NEW_OPERATION, "uq_operations_open"),
    Wrong(
        "an operation ends without a time",
        "UPDATE operations SET state = 'succeeded' WHERE id = %(open)s",
        "ck_operations_finished",
    ),
    Wrong(
        "a failure without an error",
        "UPDATE operations SET state = 'failed', finished_at = app_now() WHERE id = %(open)s",
        "ck_operations_failure_has_error",
    ),
    Wrong(
        "a machine is held twice",
        NEW_ALLOCATION.format(machine="%(machine)s::uuid", host="NULL::uuid"),
        "uq_allocations_live_machine",
    ),
    Wrong(
        "a host is held twice",
        NEW_ALLOCATION.format(machine="NULL::uuid", host="%(host)s::uuid"),
        "uq_allocations_live_host",
    ),
    Wrong(
        "an allocation of nothing",
        NEW_ALLOCATION.format(machine="NULL::uuid", host="NULL::uuid"),
        "ck_allocations_one_resource",
    ),
    Wrong(
        "a machine is free that was never released",
        "UPDATE allocations SET freed_at = app_now()",
        "ck_allocations_released_before_freed",
    ),
    Wrong("more is used than the quota", "UPDATE quotas SET used = machine_limit + 1", "ck_quotas_used"),
    Wrong("less than nothing is used", "UPDATE quotas SET used = -1", "ck_quotas_used"),
    Wrong(
        "an hour is billed twice",
        NEW_INTERVAL.format(quantity=1, started_at="ended_at - interval '1 second'", ended_at="NULL"),
        "ex_usage_intervals_no_overlap",
    ),
    Wrong(
        "an interval of no machine",
        NEW_INTERVAL.format(quantity=0, started_at="ended_at", ended_at="NULL"),
        "ck_usage_intervals_quantity",
    ),
    Wrong(
        "more machines are credited than are used",
        NEW_CREDIT.format(credited="quantity + 1"),
        "ck_usage_intervals_credited",
    ),
    Wrong("fewer machines than none are credited", NEW_CREDIT.format(credited=-1), "ck_usage_intervals_credited"),
    Wrong(
        "an interval ends before it starts",
        NEW_INTERVAL.format(
            quantity=1, started_at="ended_at + interval '1 minute'", ended_at="ended_at + interval '1 second'"
        ),
        "ck_usage_intervals_order",
    ),
    Wrong(
        "an interval ends within a second",
        NEW_INTERVAL.format(quantity=1, started_at="ended_at", ended_at="ended_at + interval '1 millisecond'"),
        "ck_usage_intervals_whole_seconds",
    ),
    Wrong(
        "two prices at one instant",
        NEW_PRICE.format(sku="'ipu-m2000'", unit_price=1, valid_from="'2026-01-01Z'", valid_to="NULL"),
        "ex_prices_no_overlap",
    ),
    Wrong(
        "a price below nothing",
        NEW_PRICE.format(sku="'ipu-new'", unit_price=-1, valid_from="'2026-01-01Z'", valid_to="NULL"),
        "ck_prices_unit_price",
    ),
    Wrong(
        "a price that never was in force",
        NEW_PRICE.format(sku="'ipu-new'", unit_price=1, valid_from="'2026-01-01Z'", valid_to="'2026-01-01Z'"),
        "ck_prices_valid",
    ),
    Wrong(
        "a token of the platform within a project",
        "UPDATE tokens SET role = 'admin' WHERE project_id IS NOT NULL",
        "ck_tokens_platform_role",
    ),
    Wrong(
        "a token of an account within a project",
        "UPDATE tokens SET account_id = project_id, role = 'payer' WHERE project_id IS NOT NULL",
        "ck_tokens_one_home",
    ),
    Wrong(
        "a token narrowed to nothing, which would read as all of its role",
        "UPDATE tokens SET scopes = '{}' WHERE kind = 'service'",
        "ck_tokens_scopes",
    ),
    Wrong(
        "a narrowed membership",
        "WITH person AS (INSERT INTO users (id, email) VALUES (%(id)s, 'narrow@example.com') RETURNING id)"
        " UPDATE tokens SET kind = 'member', owner_id = (SELECT id FROM person), scopes = '{cluster:read}'"
        " WHERE project_id IS NOT NULL",
        "ck_tokens_scopes_kind",
    ),
    Wrong("a lease without an end", "UPDATE work SET lease_owner = 1", "ck_work_lease"),
)


def test_wrong_states_are_refused(database: Database, filled: Filled) -> None:
    values = {"machine": filled.machine, "host": filled.host, "open": filled.open_operation}
    with psycopg.connect(database.app_url) as connection, all_cases() as case:
        for wrong in WRONG:
            violation = VIOLATIONS[wrong.constraint[:2]]
            with case(wrong.what), pytest.raises(violation, match=wrong.constraint), connection.transaction():
                connection.execute(wrong.statement.encode(), values | {"id": new_id()})


def test_a_finished_operation_never_changes(database: Database, filled: Filled) -> None:
    changes = ("state = 'failed', error = '{}'", "finished_at = app_now()", "error = '{}'", "progress = 1")
    final = partial(pytest.raises, IntegrityConstraintViolation, match="is finished and never changes")
    with all_cases() as case:
        for url, change in product((database.app_url, database.owner_url), changes):
            with case(change), psycopg.connect(url) as connection, final():
                statement = f"UPDATE operations SET {change} WHERE id = %s"  # noqa: S608  # the changes above
                connection.execute(statement.encode(), [filled.finished_operation])


def test_what_follows_at_once_is_allowed(database: Database, filled: Filled) -> None:
    """Intervals and prices may touch; a released and freed machine may be taken again; a dead name may be reused."""
    values = {"id": new_id(), "machine": filled.machine}
    with psycopg.connect(database.app_url) as connection:
        for statement in (
            NEW_INTERVAL.format(quantity=2, started_at="ended_at", ended_at="NULL"),
            "UPDATE prices SET valid_to = '2126-06-01Z' WHERE sku = 'ipu-m2000'",
            NEW_PRICE.format(sku="'ipu-m2000'", unit_price=1, valid_from="'2126-06-01Z'", valid_to="NULL"),
            "UPDATE allocations SET released_at = app_now(), freed_at = app_now()",
            NEW_ALLOCATION.format(machine="%(machine)s::uuid", host="NULL::uuid"),
            "UPDATE clusters SET state = 'deleted', deleted_at = app_now()",
            NEW_CLUSTER.format(name="name", ipus=4, external="'other-1'"),
        ):
            assert connection.execute(statement.encode(), values).rowcount > 0


def test_an_ended_usage_interval_never_changes(database: Database, filled: Filled) -> None:
    with psycopg.connect(database.owner_url) as connection:
        connection.execute("UPDATE usage_intervals SET ended_at = started_at WHERE ended_at IS NULL")
        with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="has ended and never changes"):
            connection.execute("UPDATE usage_intervals SET ended_at = started_at")

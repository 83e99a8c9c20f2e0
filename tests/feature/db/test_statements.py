"""Every statement of the product fits the schema, whether or not a test runs its path."""

from __future__ import annotations

import psycopg
import pytest

from tests.support.postgres import Database
from tests.support.statements import calls_of_text, prepared, refusals, statements

NEVER_NULL = {
    ("ipucloud.clusters.not_working", "block"): "only what is of a reservation",
    ("ipucloud.billing.exports.connections", "secret"): "only connections that are not deleted",
    ("ipucloud.billing.exports.operation", "fence"): "read by the delivery, which follows the build",
    ("ipucloud.billing.exports.operation", "manifest"): "read by the delivery, which follows the build",
    ("ipucloud.billing.invoices.issue", "owner_id"): "only accounts `unbilled`, which belong to a billing account",
    ("ipucloud.policies.idle", "minutes"): "only clusters that are watched",
    ("ipucloud.clusters.cost_limits.store", "cost_limit"): "only tokens with a cost limit",
    ("ipucloud.clusters.cost_limits.store", "currency"): "only tokens with a cost limit",
    **{("ipucloud.identity.audit_log", each): "only sealed entries" for each in ("seq", "previous_hash", "hash")},
    ("ipucloud.inventory.reserved", ""): "an allocation is of a machine or of a host",
    **dict.fromkeys(
        (("ipucloud.inventory.reserved", each) for each in ("block", "reservation_id")), "only what is of a reservation"
    ),
    ("ipucloud.inventory.validations", ""): "only reports about machines are written",
    ("ipucloud.invariants.records", ""): "only validations that have a name",
    ("ipucloud.operations.cancelling", "cluster_id"): "only operations on clusters can be cancelled",
    ("ipucloud.identity.ssh_authorities", "private_key"): "only authorities that have not ended",
    ("ipucloud.identity.device_logins", "member_id"): "only logins that were approved are used",
    ("ipucloud.partitions.record", "partition_id"): "only operations on partitions",
}
"""Fields without None although their columns may be NULL, with the reason why these rows have a value."""


UNREAD = {"ipucloud.worker.measures": "labels of a metric and its value, in the order that a `Measure` declares"}
"""Modules with statements whose rows are passed on as they are, with what they are."""


def test_every_statement_is_found() -> None:
    """One that is made inside a function, at run time, would escape: make it when its module is imported."""
    written = {statement.written for statement in statements()}
    assert sorted(str(place) for place in set(calls_of_text()) - written) == []
    assert len(statements()) > 300


def test_postgresql_prepares_every_statement(database: Database) -> None:
    assert "\n\n".join(refusals(database.app_url)) == ""


def test_rows_of_several_columns_have_types(database: Database) -> None:
    """One column is a scalar; more of them are the fields of a `db.rows.Query`."""
    untyped = [
        each.statement for each in prepared(database.app_url) if len(each.columns) > 1 and not each.statement.row
    ]
    assert [str(each.place) for each in untyped if each.place.module not in UNREAD] == []


def test_fields_of_columns_that_may_be_null_may_be_none(database: Database) -> None:
    """As far as PostgreSQL tells: not of an expression, nor of a table that is joined outer."""
    nullable = {
        (each.statement.place.module, field.name)
        for each in prepared(database.app_url)
        for field, column in zip(each.statement.row or (), each.columns, strict=False)
        if column.nullable and not field.optional
    }
    assert nullable == NEVER_NULL.keys()


def test_a_renamed_column_is_noticed(database: Database) -> None:
    with psycopg.connect(database.owner_url) as connection:
        connection.execute("ALTER TABLE ssh_keys RENAME COLUMN fingerprint TO finger_print")
    refused = refusals(database.app_url)
    assert any(
        "ipucloud.identity.key_store, line " in each and '"fingerprint" does not exist' in each for each in refused
    )


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE clusters ALTER incarnation TYPE numeric",
        "ALTER TABLE tokens ALTER expires_at TYPE timestamp",
    ],
)
def test_a_column_of_another_type_than_its_reader_expects_is_noticed(database: Database, change: str) -> None:
    before = refusals(database.app_url)
    with psycopg.connect(database.owner_url) as connection:
        connection.execute(change.encode())
    assert any("The row has" in each for each in set(refusals(database.app_url)) - set(before))

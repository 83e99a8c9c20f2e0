"""What the role of the running product may not do, whatever its code asks."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

from ipucloud.db.tenancy import TENANT_ROLE
from ipucloud.schema import metadata
from tests.support.filled_names import Filled
from tests.support.postgres import Database

REFUSED = (
    # What was billed, and at which price.
    "UPDATE usage_intervals SET started_at = started_at",
    "UPDATE usage_intervals SET anchor_at = anchor_at",
    "UPDATE usage_intervals SET quantity = quantity",
    "UPDATE usage_intervals SET credited = credited",
    "UPDATE usage_intervals SET flavor = flavor",
    "UPDATE billed_facts SET fact = fact",
    "DELETE FROM bill_proofs",
    "UPDATE month_proofs SET signature = signature",
    "UPDATE usage_credits SET cited_at = cited_at",
    "DELETE FROM usage_credits",
    "UPDATE usage_intervals SET sku = sku",
    "UPDATE usage_intervals SET resource_id = resource_id",
    "DELETE FROM usage_intervals",
    "TRUNCATE usage_intervals",
    "UPDATE prices SET unit_price = 0",
    "UPDATE prices SET valid_from = valid_from",
    "DELETE FROM prices",
    # What happened, and who asked.
    "UPDATE events SET type = type",
    "DELETE FROM events",
    "TRUNCATE events",
    "UPDATE repairs SET requested_by = requested_by",
    "DELETE FROM repairs",
    "DELETE FROM health_reports",
    "UPDATE health_reports SET first_seen_at = first_seen_at",
    "DELETE FROM operations",
    "DELETE FROM operation_steps",
    "DELETE FROM clusters",
    "DELETE FROM poplar_servers",
    "DELETE FROM allocations",
    "DELETE FROM projects",
    "DELETE FROM quotas",
    "DELETE FROM tokens",
    "UPDATE ssh_keys SET public_key = public_key",
    # The schema.
    "CREATE TABLE mine (id int)",
    "CREATE SCHEMA mine",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE OR REPLACE FUNCTION app_now() RETURNS timestamptz LANGUAGE sql AS 'SELECT now()'",
    "DROP TABLE work",
    "ALTER TABLE quotas DROP CONSTRAINT ck_quotas_used",
    "ALTER TABLE operations DISABLE TRIGGER operations_final",
    "INSERT INTO alembic_version VALUES ('9999')",
    "UPDATE alembic_version SET version_num = version_num",
    "DELETE FROM alembic_version",
    # Other roles' rights.
    "SET ROLE ipucloud_owner",
    "SET session_replication_role = replica",
    "CREATE ROLE mine",
)


@pytest.mark.parametrize("statement", REFUSED)
def test_is_refused(database: Database, statement: str) -> None:
    with psycopg.connect(database.app_url) as connection, pytest.raises(InsufficientPrivilege):
        connection.execute(statement.encode())


def test_ends_what_may_end(database: Database, filled: Filled) -> None:
    with psycopg.connect(database.app_url) as connection:
        for statement in (
            "UPDATE prices SET valid_to = NULL",
            "DELETE FROM ssh_keys",
            "DELETE FROM work",
            "DELETE FROM idempotency_keys",
        ):
            assert connection.execute(statement.encode()).rowcount > 0


def test_has_no_special_power(database: Database) -> None:
    """It may take one role, which may less than itself."""
    with psycopg.connect(database.app_url) as connection:
        powers = connection.execute(
            "SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls FROM pg_roles"
            " WHERE rolname = current_user"
        ).fetchone()
        assert powers == (False,) * 5
        groups = (
            "SELECT rolname FROM pg_roles WHERE pg_has_role(current_user, oid, 'MEMBER') AND rolname <> current_user"
        )
        assert connection.execute(groups).fetchall() == [(TENANT_ROLE,)]


def test_owns_nothing_in_any_database(database: Database) -> None:
    with psycopg.connect(database.app_url) as connection:
        owned = "SELECT count(*) FROM pg_shdepend WHERE refobjid = current_user::regrole AND deptype = 'o'"
        assert connection.execute(owned).fetchone() == (0,)


def test_reads_and_adds_to_every_table(database: Database) -> None:
    """A migration that makes a table and forgets its grants would be noticed by the first customer otherwise."""
    with psycopg.connect(database.app_url) as connection:
        granted = "SELECT has_table_privilege(%s, 'SELECT') AND has_any_column_privilege(%s, 'INSERT')"
        lacking = [name for name in metadata.tables if connection.execute(granted, [name, name]).fetchone() != (True,)]
    assert sorted(lacking) == ["audit_log_start", "billing_months"], "functions of the owner write these"


def test_reads_every_view(database: Database) -> None:
    with psycopg.connect(database.app_url) as connection:
        views = "SELECT viewname, has_table_privilege(viewname, 'SELECT') FROM pg_views WHERE schemaname = 'public'"
        readable: dict[str, bool] = dict(connection.execute(views).fetchall())
    assert [name for name, granted in readable.items() if not granted] == []
    assert {"cluster_lives", "shown_partitions"} <= readable.keys()

"""No reference leaves its project: seen in the catalogue for every table, and tried for each kind of row."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
import pytest
from psycopg.errors import ForeignKeyViolation
from psycopg.rows import class_row

from ipucloud.kernel.ids import new_id
from ipucloud.schema import metadata
from tests.support.filled_names import Filled
from tests.support.postgres import Database

WITHOUT_PROJECT_REFERENCE = {
    "usage_charges": "posted by one statement from usage_intervals, whose references hold; one per row costs too much",
    "usage_days": "made from usage_charges, and made again at will",
    "work": "a work item of the platform belongs to the nil project, which has no row",
}
"""Tables with project_id whose project need not exist."""


@dataclass(frozen=True)
class Reference:
    """A foreign key by the names of its columns."""

    name: str
    source: str
    target: str
    columns: list[str]


REFERENCES = """
SELECT c.conname AS name, c.conrelid::regclass::text AS source, c.confrelid::regclass::text AS target,
       array(SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY AS k (number, place)
               JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number ORDER BY k.place) AS columns
  FROM pg_constraint c WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace ORDER BY c.conname
"""

INDEXED = """
SELECT EXISTS (
  SELECT FROM pg_constraint c JOIN pg_index i ON i.indrelid = c.conrelid
   WHERE c.conname = %(name)s AND i.indisvalid
     AND (SELECT array_agg(k ORDER BY k) FROM unnest(c.conkey) AS k)
       = (SELECT array_agg(k ORDER BY k) FROM unnest((i.indkey::int2[])[0:cardinality(c.conkey) - 1]) AS k)
     AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) = '(' || %(column)s || ' IS NOT NULL)'))
"""


def references(database: Database) -> list[Reference]:
    with psycopg.connect(database.superuser_url, row_factory=class_row(Reference)) as connection:
        return connection.execute(REFERENCES).fetchall()


def tenant_tables() -> set[str]:
    return {name for name, table in metadata.tables.items() if "project_id" in table.columns}


def test_every_reference_between_tables_of_tenants_carries_the_project(database: Database) -> None:
    """Or the billing account, where rows belong to either."""
    tenants = tenant_tables()
    between = [each for each in references(database) if each.source in tenants and each.target in tenants]
    assert len(between) >= 5
    owners = {"project_id", "account_id", "owner_account_id"}
    assert [each.name for each in between if not owners & set(each.columns)] == []


def test_every_row_of_a_tenant_belongs_to_a_project_that_exists(database: Database) -> None:
    to_projects = {each.source for each in references(database) if each.target == "projects"}
    assert tenant_tables() - to_projects == WITHOUT_PROJECT_REFERENCE.keys()


def test_every_reference_has_an_index_that_begins_with_it(database: Database) -> None:
    """Otherwise the deletion of the row referred to, and every join from it, reads the whole table."""
    with psycopg.connect(database.superuser_url) as connection:
        missing = [
            each.name
            for each in references(database)
            if connection.execute(INDEXED, {"name": each.name, "column": each.columns[-1]}).fetchone() != (True,)
        ]
    assert missing == []


@pytest.mark.parametrize(
    ("table", "statement"),
    [
        (
            "poplar_servers",
            "INSERT INTO poplar_servers (id, project_id, cluster_id, ordinal, name, state)"
            " VALUES (%(id)s, %(foreign)s, %(cluster)s, 2, 'x', 'pending')",
        ),
        (
            "allocations",
            "INSERT INTO allocations (id, project_id, cluster_id, ordinal, machine_id)"
            " SELECT %(id)s, %(foreign)s, %(cluster)s, 2, m.id FROM machines m WHERE m.id <> %(machine)s LIMIT 1",
        ),
        (
            "operations",
            "INSERT INTO operations (id, project_id, cluster_id, kind, state, request_id, deadline_at, finished_at)"
            " VALUES (%(id)s, %(foreign)s, %(cluster)s, 'cluster.create', 'succeeded', 'r', app_now(), app_now())",
        ),
        (
            "operation_steps",
            "INSERT INTO operation_steps (operation_id, ordinal, project_id, name, stage)"
            " VALUES (%(operation)s, 99, %(foreign)s, 'x', 'NETWORK')",
        ),
        (
            "usage_intervals",
            "INSERT INTO usage_intervals (id, project_id, resource_id, flavor, sku, region, currency, quantity,"
            " anchor_at, started_at, ended_at) VALUES (%(id)s, %(foreign)s, %(cluster)s, 'm2000-pod4', 'ipu-m2000',"
            " 'luxembourg-2', 'EUR', 1, '2020-01-01Z', '2020-01-01Z', '2020-01-02Z')",
        ),
        (
            "usage_credits",
            "INSERT INTO usage_credits (project_id, interval_id, report_id)"
            " SELECT %(foreign)s, u.id, r.id FROM usage_intervals u, health_reports r WHERE u.credited = 0 LIMIT 1",
        ),
        (
            "partitions",
            "INSERT INTO partitions (id, project_id, cluster_id, origin, name, external_name, desired_state, state)"
            " VALUES (%(id)s, %(foreign)s, %(cluster)s, 'customer', 'x', 'x', 'unmanaged', 'active')",
        ),
        ("clusters", "UPDATE clusters SET project_id = %(foreign)s WHERE id = %(cluster)s"),
    ],
)
def test_a_row_cannot_refer_to_another_projects(database: Database, filled: Filled, table: str, statement: str) -> None:
    values = {
        "id": new_id(),
        "foreign": filled.other_project.id,
        "cluster": filled.cluster,
        "machine": filled.machine,
        "operation": filled.open_operation,
    }
    with psycopg.connect(database.app_url) as connection, pytest.raises(ForeignKeyViolation, match=table):
        connection.execute(statement.encode(), values)

"""What every table shares: one MetaData with named constraints, and the database's own clock.

`app_now()` is the only clock of durable instants. It is the statement's time in production, and a simulation can
replace it as a whole, so no code path can tell the difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

PRELUDE = (
    "CREATE FUNCTION app_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT statement_timestamp()'",
    # The embedded server has no btree_gist; a range over the key type lets EXCLUDE compare keys for equality.
    'CREATE TYPE textrange AS RANGE (subtype = text, collation = "C")',
)


@sa.event.listens_for(metadata, "before_create")
def _create_prelude(_metadata: object, connection: sa.Connection, **_options: object) -> None:
    for statement in PRELUDE:
        connection.exec_driver_sql(statement)


DB_NOW = sa.func.app_now(type_=sa.DateTime(timezone=True))


def instant(name: str, *, nullable: bool = True, default_now: bool = False) -> sa.Column[object]:
    """A UTC instant; with `default_now` the database's time of the statement that inserts the row."""
    return sa.Column(
        name,
        sa.DateTime(timezone=True),
        nullable=nullable and not default_now,
        server_default=sa.text("app_now()") if default_now else None,
    )


def json_column(name: str, *, default: str | None = None, comment: str | None = None) -> sa.Column[object]:
    """A jsonb column; `default` is SQL text such as `'{}'`, and makes the column NOT NULL."""
    return sa.Column(
        name,
        pg.JSONB,
        nullable=default is None,
        server_default=sa.text(default) if default is not None else None,
        comment=comment,
    )


def one_of(column: str, values: type[StrEnum] | Iterable[str]) -> sa.CheckConstraint:
    """A check that `column` holds one of `values`, taken from the state table."""
    listed = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=column)


def tenant_key(table: str) -> sa.ForeignKeyConstraint:
    """The project a tenant row belongs to; `table` names the constraint."""
    return sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=f"fk_{table}_project_id")


def same_project(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    """A reference that cannot leave the project: (project_id, column) → target(project_id, id)."""
    return sa.ForeignKeyConstraint(
        ["project_id", column],
        [f"{target}.project_id", f"{target}.id"],
        name=f"fk_{table}_project_id_{column}",
    )


def make_with(table: sa.Table, *statements: str) -> None:
    """Run the statements whenever the table was created."""

    def run(_table: object, connection: sa.Connection, **_options: object) -> None:
        for statement in statements:
            connection.execute(sa.text(statement))

    sa.event.listen(table, "after_create", run)

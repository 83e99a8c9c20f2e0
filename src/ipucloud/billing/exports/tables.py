"""Exports, their stored files, connections and schedules: of projects and of billing accounts."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from ipucloud.contract.exports import MAX_DAYS, MAX_PER_DAY, Dataset, FileFormat, FocusVersion
from ipucloud.contract.s3_connections import S3Failure
from ipucloud.db.base import instant, json_column, metadata, one_of, same_project, tenant_key
from ipucloud.db.documents import Fragment, clauses

NAME_KINDS = ("account", "project", "cluster")
SCHEDULE_NAME = "c.name || '.' || s.every || '.' || s.dataset"
NAMED_SCHEDULES = Fragment(
    clauses(
        "(SELECT s.project_id, s.account_id, s.id,",
        SCHEDULE_NAME,
        "AS name FROM export_schedules s JOIN s3_connections c ON c.id = s.connection_id WHERE s.deleted_at IS NULL)",
        "AS named",
    )
)
"""For a FROM: the project_id or account_id, the id and the name of every schedule."""


def _owner(account: str) -> tuple[sa.Column[Any], sa.Column[Any]]:
    """The project or the account whose row it is, in `project_id` or the column `account`."""
    return (
        sa.Column("project_id", sa.Uuid, comment="NULL: of an account"),
        sa.Column(account, sa.Uuid, sa.ForeignKey("billing_accounts.id"), comment="NULL: of a project"),
    )


def _same_account(table: str, account: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    """The same as `same_project`, of rows of billing accounts."""
    references = [f"{target}.account_id", f"{target}.id"]
    return sa.ForeignKeyConstraint([account, column], references, name=f"fk_{table}_{account}_{column}")


export_months = sa.Table(
    "export_months",
    metadata,
    sa.Column("month", sa.Date, sa.ForeignKey("billing_months.month"), primary_key=True),
    instant("frozen_at", default_now=True),
    comment="append-only; sealed months whose names were written down",
)

export_names = sa.Table(
    "export_names",
    metadata,
    sa.Column("month", sa.Date, sa.ForeignKey("export_months.month"), primary_key=True),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    json_column("tags"),
    one_of("kind", NAME_KINDS),
    comment="append-only; what was called how when its month was sealed",
)

s3_connections = sa.Table(
    "s3_connections",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    *_owner("account_id"),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("endpoint", sa.Text, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("bucket", sa.Text, nullable=False),
    sa.Column("prefix", sa.Text, nullable=False),
    sa.Column("access_key_id", sa.Text, nullable=False),
    sa.Column("secret", sa.Text, comment="sealed; NULL once it is deleted"),
    instant("created_at", default_now=True),
    instant("deleted_at"),
    sa.Column("attachable", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("tested_at", sa.DateTime(timezone=True), comment="NULL: not since its last change"),
    sa.Column("test_failed", sa.Text, comment="NULL: the test succeeded"),
    sa.Column("test_detail", sa.Text),
    tenant_key("s3_connections"),
    sa.CheckConstraint("num_nonnulls(project_id, account_id) = 1", name="one_home"),
    one_of("test_failed", S3Failure),
    sa.CheckConstraint("num_nulls(test_failed, test_detail) IN (0, 2)", name="test"),
    sa.UniqueConstraint("project_id", "id"),
    sa.UniqueConstraint("account_id", "id"),
    sa.CheckConstraint("NOT attachable OR project_id IS NOT NULL", name="attachable"),
    sa.CheckConstraint("(secret IS NULL) = (deleted_at IS NOT NULL)", name="secret"),
)
for _index, _column in (
    ("uq_s3_connections_name", s3_connections.c.project_id),
    ("uq_s3_connections_account_name", s3_connections.c.account_id),
):
    _held = s3_connections.c.deleted_at.is_(None)
    sa.Index(_index, _column, s3_connections.c.name, unique=True, postgresql_where=_held)

export_schedules = sa.Table(
    "export_schedules",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    *_owner("account_id"),
    sa.Column("connection_id", sa.Uuid, nullable=False),
    sa.Column("dataset", sa.Text, nullable=False),
    sa.Column("focus_version", sa.Text, nullable=False),
    sa.Column("format", sa.Text, nullable=False),
    sa.Column("every", sa.Text, nullable=False),
    instant("next_at", nullable=False),
    instant("created_at", default_now=True),
    instant("deleted_at"),
    tenant_key("export_schedules"),
    same_project("export_schedules", "connection_id", "s3_connections"),
    _same_account("export_schedules", "account_id", "connection_id", "s3_connections"),
    sa.CheckConstraint("num_nonnulls(project_id, account_id) = 1", name="one_home"),
    one_of("dataset", Dataset),
    one_of("focus_version", FocusVersion),
    one_of("format", FileFormat),
    sa.Column("provisional", sa.Boolean, nullable=False, server_default=sa.text("false")),
    one_of("every", ("hour", "day", "month")),
    sa.UniqueConstraint("project_id", "id"),
    sa.UniqueConstraint("account_id", "id"),
    comment="hour: the day of the hour before, so far; day: the month of the day before, so far; month: the one before,"
    " once it is sealed",
)
sa.Index(
    "ix_export_schedules_due", export_schedules.c.next_at, postgresql_where=export_schedules.c.deleted_at.is_(None)
)
sa.Index("ix_export_schedules_connection", export_schedules.c.project_id, export_schedules.c.connection_id)
sa.Index("ix_export_schedules_account", export_schedules.c.account_id, export_schedules.c.connection_id)


exports = sa.Table(
    "exports",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    *_owner("owner_account_id"),
    sa.Column(
        "account_id",
        sa.Uuid,
        sa.ForeignKey("billing_accounts.id"),
        comment="whose whole bill it is; NULL: the part of the project",
    ),
    sa.Column("connection_id", sa.Uuid, comment="NULL: for download"),
    sa.Column("schedule_id", sa.Uuid),
    instant("scheduled_for"),
    sa.Column("dataset", sa.Text, nullable=False),
    sa.Column("focus_version", sa.Text, nullable=False),
    sa.Column("format", sa.Text, nullable=False),
    sa.Column("month", sa.Date, comment="NULL: another period than a month"),
    sa.Column("since", sa.Date),
    sa.Column("until", sa.Date, comment="the day behind the last one"),
    sa.Column("fence", sa.BigInteger, comment="of the claim that made the file; its chunks hold"),
    json_column("manifest"),
    instant("created_at", default_now=True),
    instant("built_at"),
    instant("delivered_at"),
    instant("expires_at"),
    sa.Column("deliveries", sa.Integer, nullable=False, server_default="0", comment="that failed"),
    sa.Column("last_error", sa.Text),
    sa.Column(
        "provisional",
        sa.Boolean,
        nullable=False,
        server_default=sa.text("false"),
        comment="with hours that are not closed",
    ),
    tenant_key("exports"),
    same_project("exports", "connection_id", "s3_connections"),
    same_project("exports", "schedule_id", "export_schedules"),
    _same_account("exports", "owner_account_id", "connection_id", "s3_connections"),
    _same_account("exports", "owner_account_id", "schedule_id", "export_schedules"),
    sa.CheckConstraint(
        "num_nonnulls(project_id, owner_account_id) = 1"
        " AND (owner_account_id IS NULL OR owner_account_id IS NOT DISTINCT FROM account_id)",
        name="one_home",
    ),
    one_of("dataset", Dataset),
    one_of("focus_version", FocusVersion),
    one_of("format", FileFormat),
    sa.CheckConstraint("extract(day FROM month) = 1", name="month"),
    sa.CheckConstraint(
        "num_nulls(since, until) = CASE WHEN month IS NULL THEN 0 ELSE 2 END"
        f" AND until - since BETWEEN 1 AND {MAX_DAYS}",
        name="period",
    ),
    sa.CheckConstraint("num_nulls(fence, manifest, built_at, expires_at) IN (0, 4)", name="built"),
    sa.CheckConstraint("(schedule_id IS NULL) = (scheduled_for IS NULL)", name="scheduled"),
    sa.UniqueConstraint("project_id", "id"),
    sa.UniqueConstraint("owner_account_id", "id"),
    sa.UniqueConstraint("schedule_id", "scheduled_for", name="uq_exports_scheduled"),
)
sa.Index("ix_exports_project_created", exports.c.project_id, exports.c.created_at, exports.c.id)
sa.Index("ix_exports_owner_created", exports.c.owner_account_id, exports.c.created_at, exports.c.id)
sa.Index("ix_exports_account", exports.c.account_id, postgresql_where=exports.c.account_id.is_not(None))
for _name, _column in (("connection", exports.c.connection_id), ("schedule", exports.c.schedule_id)):
    sa.Index(f"ix_exports_{_name}", exports.c.project_id, _column, postgresql_where=_column.is_not(None))
    sa.Index(f"ix_exports_owner_{_name}", exports.c.owner_account_id, _column, postgresql_where=_column.is_not(None))
sa.Index("ix_exports_expires", exports.c.expires_at)

export_limits = sa.Table(
    "export_limits",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True, server_default=sa.text("gen_random_uuid()")),
    *_owner("account_id"),
    sa.Column("per_day", sa.Integer, nullable=False),
    instant("changed_at", default_now=True),
    tenant_key("export_limits"),
    sa.CheckConstraint("num_nonnulls(project_id, account_id) = 1", name="one_home"),
    sa.UniqueConstraint("project_id"),
    sa.UniqueConstraint("account_id"),
    sa.CheckConstraint(f"per_day BETWEEN 0 AND {MAX_PER_DAY}", name="per_day"),
    comment="how many exports a project or an account may request within 24 hours, where an operator has set it",
)

export_chunks = sa.Table(
    "export_chunks",
    metadata,
    sa.Column("export_id", sa.Uuid, sa.ForeignKey("exports.id"), primary_key=True),
    sa.Column("fence", sa.BigInteger, primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
    comment="a file in pieces, until it expires; those of another fence than the export's are left-overs",
)

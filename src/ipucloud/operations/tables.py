"""Operations and their steps."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.contract.operations import ActorKind, OperationState
from ipucloud.db.base import instant, json_column, metadata, one_of, same_project, tenant_key
from ipucloud.operations.states import TERMINAL, StepState

_DONE = "state IN ({})".format(", ".join(f"'{state}'" for state in sorted(TERMINAL)))

operations = sa.Table(
    "operations",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, comment="NULL: of an account"),
    sa.Column("account_id", sa.Uuid, sa.ForeignKey("billing_accounts.id"), comment="NULL: of a project"),
    sa.Column("cluster_id", sa.Uuid, comment="NULL: the operation is about an export"),
    sa.Column("partition_id", sa.Uuid, comment="of that cluster, when the operation is about one of its partitions"),
    sa.Column("export_id", sa.Uuid, comment="when the operation is about an export"),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("cancellable", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("stage", sa.Text, nullable=True),
    sa.Column("progress", sa.SmallInteger, nullable=False, server_default="0"),
    json_column("error"),
    sa.Column("request_id", sa.Text, nullable=False),
    sa.Column("requested_by", sa.Uuid, nullable=True, comment="token"),
    instant("created_at", default_now=True),
    instant("started_at"),
    instant("finished_at"),
    instant("deadline_at", nullable=False),
    instant("expected_at"),
    sa.Column("undoing", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("version", sa.BigInteger, nullable=False, server_default="1"),
    sa.Column(
        "actor",
        sa.Text,
        server_default=sa.text("nullif(current_setting('ipucloud.actor', true), '')"),
        comment="e-mail of the person, or name of the token, that asked",
    ),
    sa.Column(
        "actor_kind",
        sa.Text,
        nullable=False,
        server_default=sa.text("coalesce(nullif(current_setting('ipucloud.actor_kind', true), ''), 'platform')"),
    ),
    sa.Column("forced_reason", sa.Text, comment="why an operator has it end without dead hardware; NULL: as usual"),
    tenant_key("operations"),
    same_project("operations", "cluster_id", "clusters"),
    same_project("operations", "partition_id", "partitions"),
    same_project("operations", "export_id", "exports"),
    sa.ForeignKeyConstraint(
        ["account_id", "export_id"],
        ["exports.owner_account_id", "exports.id"],
        name="fk_operations_account_id_export_id",
    ),
    sa.CheckConstraint("num_nonnulls(project_id, account_id) = 1", name="one_home"),
    sa.CheckConstraint("account_id IS NULL OR export_id IS NOT NULL", name="of_account"),
    one_of("state", OperationState),
    one_of("actor_kind", ActorKind),
    sa.CheckConstraint("progress BETWEEN 0 AND 100", name="progress"),
    sa.CheckConstraint(
        "num_nonnulls(cluster_id, export_id) = 1 AND (partition_id IS NULL OR cluster_id IS NOT NULL)", name="target"
    ),
    sa.CheckConstraint(f"({_DONE}) = (finished_at IS NOT NULL)", name="finished"),
    sa.CheckConstraint("state <> 'failed' OR error IS NOT NULL", name="failure_has_error"),
    sa.UniqueConstraint("project_id", "id"),
    sa.UniqueConstraint("account_id", "id"),
)
sa.Index(
    "uq_operations_open",
    operations.c.cluster_id,
    operations.c.partition_id,
    unique=True,
    postgresql_nulls_not_distinct=True,
    postgresql_where=sa.text(f"NOT ({_DONE}) AND cluster_id IS NOT NULL"),
)
sa.Index("ix_operations_project_created", operations.c.project_id, operations.c.created_at, operations.c.id)
sa.Index(
    "ix_operations_partition",
    operations.c.project_id,
    operations.c.partition_id,
    postgresql_where=operations.c.partition_id.is_not(None),
)
sa.Index(
    "uq_operations_export",
    operations.c.project_id,
    operations.c.export_id,
    unique=True,
    postgresql_where=operations.c.export_id.is_not(None),
)
sa.Index(
    "uq_operations_account_export",
    operations.c.account_id,
    operations.c.export_id,
    unique=True,
    postgresql_where=operations.c.export_id.is_not(None),
)
sa.Index("ix_operations_created", operations.c.created_at, operations.c.id)
sa.Index("ix_operations_request", operations.c.request_id)
sa.Index("ix_operations_cluster", operations.c.project_id, operations.c.cluster_id)

operation_steps = sa.Table(
    "operation_steps",
    metadata,
    sa.Column("operation_id", sa.Uuid, primary_key=True),
    sa.Column("ordinal", sa.SmallInteger, primary_key=True),
    sa.Column("project_id", sa.Uuid, comment="NULL: of an account"),
    sa.Column("account_id", sa.Uuid, sa.ForeignKey("billing_accounts.id"), comment="NULL: of a project"),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("stage", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False, server_default="pending"),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    sa.Column("detail", sa.Text),
    instant("started_at"),
    instant("finished_at"),
    sa.Column("checks", sa.Integer, nullable=False, server_default="0", comment="checks that found it not done"),
    sa.Column("blocked", sa.Boolean, nullable=False, server_default=sa.false(), comment="it takes longer than usual"),
    json_column("notes"),
    instant("retry_at"),
    tenant_key("operation_steps"),
    same_project("operation_steps", "operation_id", "operations"),
    sa.ForeignKeyConstraint(
        ["account_id", "operation_id"],
        ["operations.account_id", "operations.id"],
        name="fk_operation_steps_account_id_operation_id",
    ),
    sa.CheckConstraint("num_nonnulls(project_id, account_id) = 1", name="one_home"),
    one_of("state", StepState),
)
sa.Index("ix_operation_steps_operation", operation_steps.c.project_id, operation_steps.c.operation_id)
sa.Index("ix_operation_steps_account", operation_steps.c.account_id, operation_steps.c.operation_id)

freezes = sa.Table(
    "freezes",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("region", sa.Text, comment="NULL: every region"),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("created_by", sa.Uuid, nullable=False, comment="token"),
    instant("created_at", default_now=True),
    instant("expires_at", nullable=False),
    instant("ended_at"),
    sa.Column("ended_by", sa.Uuid, comment="token; NULL when it expired"),
    sa.Column("end_reason", sa.Text),
    sa.CheckConstraint(
        "num_nulls(ended_at, end_reason) IN (0, 2) AND (ended_by IS NULL OR ended_at IS NOT NULL)", name="end"
    ),
    comment="while one is live, no step that removes or switches off begins; live: not ended, not expired",
)
sa.Index(
    "uq_freezes_open",
    freezes.c.region,
    unique=True,
    postgresql_nulls_not_distinct=True,
    postgresql_where=freezes.c.ended_at.is_(None),
)

FINAL_OPERATION = """
CREATE FUNCTION refuse_change_of_finished_operation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'operation % is finished and never changes', OLD.id USING ERRCODE = 'integrity_constraint_violation';
END $$
"""
FINAL_OPERATION_TRIGGER = """
CREATE TRIGGER operations_final BEFORE UPDATE ON operations FOR EACH ROW
WHEN (OLD.finished_at IS NOT NULL) EXECUTE FUNCTION refuse_change_of_finished_operation()
"""


@sa.event.listens_for(operations, "after_create")
def _guard_finished_operations(_table: object, connection: sa.Connection, **_options: object) -> None:
    for statement in (FINAL_OPERATION, FINAL_OPERATION_TRIGGER):
        connection.execute(sa.text(statement))

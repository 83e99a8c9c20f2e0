"""Billing accounts have exports, S3 connections for their delivery, and schedules.

Revision ID: 0156
Revises: 0165
"""

from __future__ import annotations

from alembic import op

revision = "0156"
down_revision = "0165"
branch_labels = None
depends_on = None

OWNED = ("s3_connections", "export_schedules", "export_limits", "operations", "operation_steps")

UP = (
    *(
        statement
        for table in OWNED
        if table != "export_limits"
        for statement in (
            f"ALTER TABLE {table} ALTER project_id DROP NOT NULL",
            f"COMMENT ON COLUMN {table}.project_id IS 'NULL: of an account'",
        )
    ),
    *(
        statement
        for table in OWNED
        for statement in (
            f"ALTER TABLE {table} ADD account_id UUID",
            f"ALTER TABLE {table} ADD CONSTRAINT fk_{table}_account_id FOREIGN KEY(account_id)"
            " REFERENCES billing_accounts (id)",
            f"ALTER TABLE {table} ADD CONSTRAINT ck_{table}_one_home CHECK (num_nonnulls(project_id, account_id) = 1)",
            f"COMMENT ON COLUMN {table}.account_id IS 'NULL: of a project'",
        )
    ),
    "ALTER TABLE s3_connections ADD CONSTRAINT ck_s3_connections_attachable"
    " CHECK (NOT attachable OR project_id IS NOT NULL)",
    "ALTER TABLE s3_connections ADD CONSTRAINT uq_s3_connections_account_id_id UNIQUE (account_id, id)",
    "CREATE UNIQUE INDEX uq_s3_connections_account_name ON s3_connections (account_id, name) WHERE deleted_at IS NULL",
    "ALTER TABLE export_schedules ADD CONSTRAINT uq_export_schedules_account_id_id UNIQUE (account_id, id)",
    "CREATE INDEX ix_export_schedules_account ON export_schedules (account_id, connection_id)",
    "ALTER TABLE export_schedules ADD CONSTRAINT fk_export_schedules_account_id_connection_id"
    " FOREIGN KEY(account_id, connection_id) REFERENCES s3_connections (account_id, id)",
    "ALTER TABLE export_limits DROP CONSTRAINT pk_export_limits",
    "ALTER TABLE export_limits ADD id UUID DEFAULT gen_random_uuid() NOT NULL",
    "ALTER TABLE export_limits ADD CONSTRAINT pk_export_limits PRIMARY KEY (id)",
    "ALTER TABLE export_limits ALTER project_id DROP NOT NULL",
    "COMMENT ON COLUMN export_limits.project_id IS 'NULL: of an account'",
    "ALTER TABLE export_limits ADD CONSTRAINT uq_export_limits_project_id UNIQUE (project_id)",
    "ALTER TABLE export_limits ADD CONSTRAINT uq_export_limits_account_id UNIQUE (account_id)",
    "COMMENT ON TABLE export_limits IS"
    " 'how many exports a project or an account may request within 24 hours, where an operator has set it'",
    "ALTER TABLE exports ALTER project_id DROP NOT NULL",
    "ALTER TABLE exports ADD owner_account_id UUID",
    "ALTER TABLE exports ADD CONSTRAINT fk_exports_owner_account_id FOREIGN KEY(owner_account_id)"
    " REFERENCES billing_accounts (id)",
    "ALTER TABLE exports ADD CONSTRAINT ck_exports_one_home CHECK (num_nonnulls(project_id, owner_account_id) = 1"
    " AND (owner_account_id IS NULL OR owner_account_id IS NOT DISTINCT FROM account_id))",
    "COMMENT ON COLUMN exports.project_id IS 'NULL: of an account'",
    "COMMENT ON COLUMN exports.owner_account_id IS 'NULL: of a project'",
    "COMMENT ON COLUMN exports.account_id IS 'whose whole bill it is; NULL: the part of the project'",
    "ALTER TABLE exports ADD CONSTRAINT uq_exports_owner_account_id_id UNIQUE (owner_account_id, id)",
    "ALTER TABLE exports ADD CONSTRAINT fk_exports_owner_account_id_connection_id"
    " FOREIGN KEY(owner_account_id, connection_id) REFERENCES s3_connections (account_id, id)",
    "ALTER TABLE exports ADD CONSTRAINT fk_exports_owner_account_id_schedule_id"
    " FOREIGN KEY(owner_account_id, schedule_id) REFERENCES export_schedules (account_id, id)",
    "CREATE INDEX ix_exports_owner_created ON exports (owner_account_id, created_at, id)",
    "CREATE INDEX ix_exports_owner_connection ON exports (owner_account_id, connection_id)"
    " WHERE connection_id IS NOT NULL",
    "CREATE INDEX ix_exports_owner_schedule ON exports (owner_account_id, schedule_id) WHERE schedule_id IS NOT NULL",
    "ALTER TABLE operations ADD CONSTRAINT ck_operations_of_account"
    " CHECK (account_id IS NULL OR export_id IS NOT NULL)",
    "ALTER TABLE operations ADD CONSTRAINT uq_operations_account_id_id UNIQUE (account_id, id)",
    "CREATE UNIQUE INDEX uq_operations_account_export ON operations (account_id, export_id)"
    " WHERE export_id IS NOT NULL",
    "ALTER TABLE operations ADD CONSTRAINT fk_operations_account_id_export_id"
    " FOREIGN KEY(account_id, export_id) REFERENCES exports (owner_account_id, id)",
    "ALTER TABLE operation_steps ADD CONSTRAINT fk_operation_steps_account_id_operation_id"
    " FOREIGN KEY(account_id, operation_id) REFERENCES operations (account_id, id)",
    "CREATE INDEX ix_operation_steps_account ON operation_steps (account_id, operation_id)",
)
DOWN = (
    "DELETE FROM operation_steps WHERE account_id IS NOT NULL",
    "DELETE FROM operations WHERE account_id IS NOT NULL",
    "DELETE FROM export_chunks WHERE export_id IN (SELECT id FROM exports WHERE owner_account_id IS NOT NULL)",
    "DELETE FROM exports WHERE owner_account_id IS NOT NULL",
    "DELETE FROM export_schedules WHERE account_id IS NOT NULL",
    "DELETE FROM s3_connections WHERE account_id IS NOT NULL",
    "DELETE FROM export_limits WHERE account_id IS NOT NULL",
    "ALTER TABLE operation_steps DROP account_id",
    "ALTER TABLE operations DROP account_id",
    "ALTER TABLE exports DROP owner_account_id",
    "COMMENT ON COLUMN exports.account_id IS 'NULL: of the project alone'",
    "ALTER TABLE export_schedules DROP account_id",
    "ALTER TABLE s3_connections DROP CONSTRAINT ck_s3_connections_attachable",
    "ALTER TABLE s3_connections DROP account_id",
    "ALTER TABLE export_limits DROP account_id",
    "ALTER TABLE export_limits DROP CONSTRAINT uq_export_limits_project_id",
    "ALTER TABLE export_limits DROP id",
    "ALTER TABLE export_limits ADD CONSTRAINT pk_export_limits PRIMARY KEY (project_id)",
    "COMMENT ON TABLE export_limits IS"
    " 'how many exports a project may request within 24 hours, where an operator has set it'",
    *(
        statement
        for table in (*OWNED, "exports")
        for statement in (
            f"ALTER TABLE {table} ALTER project_id SET NOT NULL",
            f"COMMENT ON COLUMN {table}.project_id IS NULL",
        )
    ),
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)

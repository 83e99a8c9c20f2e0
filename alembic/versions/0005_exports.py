"""The daily roll-up and cost exports.

Revision ID: 0005
Revises: 0004
"""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

ROLLUP = (
    """
    CREATE TABLE day_rollups (
        day DATE NOT NULL,
        version INTEGER DEFAULT '0' NOT NULL,
        hours INTEGER DEFAULT '0' NOT NULL,
        revisions BIGINT DEFAULT '0' NOT NULL,
        clusters BIGINT DEFAULT '0' NOT NULL,
        built_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_day_rollups PRIMARY KEY (day)
    )
    """,
    "COMMENT ON TABLE day_rollups IS 'holds while hours and revisions are what hour_closes has'",
    "COMMENT ON COLUMN day_rollups.version IS 'of the rows that hold'",
    "COMMENT ON COLUMN day_rollups.hours IS 'of the day that were closed'",
    "COMMENT ON COLUMN day_rollups.revisions IS 'sum of those hours'' revisions'",
    "COMMENT ON COLUMN day_rollups.clusters IS 'rows'",
    """
    CREATE TABLE usage_days (
        day DATE NOT NULL,
        version INTEGER NOT NULL,
        account_id UUID NOT NULL,
        project_id UUID NOT NULL,
        cluster_id UUID NOT NULL,
        sku TEXT NOT NULL,
        region TEXT NOT NULL,
        currency TEXT NOT NULL,
        minutes BIGINT NOT NULL,
        machine_minutes BIGINT NOT NULL,
        cost NUMERIC(28, 10) NOT NULL,
        list_cost NUMERIC(28, 10) NOT NULL,
        CONSTRAINT pk_usage_days PRIMARY KEY (day, version, cluster_id, account_id, sku, region, currency),
        CONSTRAINT fk_usage_days_day FOREIGN KEY(day) REFERENCES day_rollups (day)
    )
    """,
    "COMMENT ON TABLE usage_days IS 'what the charges of a day come to'",
    "CREATE INDEX ix_usage_days_account ON usage_days (account_id, day)",
)
EXPORTS = (
    """
    CREATE TABLE export_months (
        month DATE NOT NULL,
        frozen_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_export_months PRIMARY KEY (month),
        CONSTRAINT fk_export_months_month FOREIGN KEY(month) REFERENCES billing_months (month)
    )
    """,
    "COMMENT ON TABLE export_months IS 'append-only; sealed months whose names were written down'",
    """
    CREATE TABLE export_names (
        month DATE NOT NULL,
        kind TEXT NOT NULL,
        id UUID NOT NULL,
        name TEXT NOT NULL,
        tags JSONB,
        CONSTRAINT pk_export_names PRIMARY KEY (month, kind, id),
        CONSTRAINT ck_export_names_kind CHECK (kind IN ('account', 'project', 'cluster')),
        CONSTRAINT fk_export_names_month FOREIGN KEY(month) REFERENCES export_months (month)
    )
    """,
    "COMMENT ON TABLE export_names IS 'append-only; what was called how when its month was sealed'",
    """
    CREATE TABLE s3_connections (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        name TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        region TEXT NOT NULL,
        bucket TEXT NOT NULL,
        prefix TEXT NOT NULL,
        access_key_id TEXT NOT NULL,
        secret TEXT,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        deleted_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_s3_connections PRIMARY KEY (id),
        CONSTRAINT fk_s3_connections_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT uq_s3_connections_project_id_id UNIQUE (project_id, id),
        CONSTRAINT ck_s3_connections_secret CHECK ((secret IS NULL) = (deleted_at IS NOT NULL))
    )
    """,
    "COMMENT ON COLUMN s3_connections.secret IS 'sealed; NULL once it is deleted'",
    "CREATE UNIQUE INDEX uq_s3_connections_name ON s3_connections (project_id, name) WHERE deleted_at IS NULL",
    """
    CREATE TABLE export_schedules (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        connection_id UUID NOT NULL,
        dataset TEXT NOT NULL,
        focus_version TEXT NOT NULL,
        format TEXT NOT NULL,
        every TEXT NOT NULL,
        next_at TIMESTAMP WITH TIME ZONE NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        deleted_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_export_schedules PRIMARY KEY (id),
        CONSTRAINT fk_export_schedules_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_export_schedules_project_id_connection_id FOREIGN KEY(project_id, connection_id) REFERENCES s3_connections (project_id, id),
        CONSTRAINT ck_export_schedules_dataset CHECK (dataset IN ('cost-and-usage', 'billing-period', 'invoice-detail')),
        CONSTRAINT ck_export_schedules_focus_version CHECK (focus_version IN ('1.2', '1.4')),
        CONSTRAINT ck_export_schedules_format CHECK (format IN ('csv', 'parquet')),
        CONSTRAINT ck_export_schedules_every CHECK (every IN ('day', 'month')),
        CONSTRAINT uq_export_schedules_project_id_id UNIQUE (project_id, id)
    )
    """,
    "COMMENT ON TABLE export_schedules IS 'day: the month of the day before, so far; month: the one before, once it is sealed'",
    "CREATE INDEX ix_export_schedules_connection ON export_schedules (project_id, connection_id)",
    "CREATE INDEX ix_export_schedules_due ON export_schedules (next_at) WHERE deleted_at IS NULL",
    """
    CREATE TABLE exports (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        account_id UUID,
        connection_id UUID,
        schedule_id UUID,
        scheduled_for DATE,
        dataset TEXT NOT NULL,
        focus_version TEXT NOT NULL,
        format TEXT NOT NULL,
        month DATE NOT NULL,
        fence BIGINT,
        manifest JSONB,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        built_at TIMESTAMP WITH TIME ZONE,
        delivered_at TIMESTAMP WITH TIME ZONE,
        expires_at TIMESTAMP WITH TIME ZONE,
        deliveries INTEGER DEFAULT '0' NOT NULL,
        last_error TEXT,
        CONSTRAINT pk_exports PRIMARY KEY (id),
        CONSTRAINT fk_exports_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_exports_project_id_connection_id FOREIGN KEY(project_id, connection_id) REFERENCES s3_connections (project_id, id),
        CONSTRAINT fk_exports_project_id_schedule_id FOREIGN KEY(project_id, schedule_id) REFERENCES export_schedules (project_id, id),
        CONSTRAINT ck_exports_dataset CHECK (dataset IN ('cost-and-usage', 'billing-period', 'invoice-detail')),
        CONSTRAINT ck_exports_focus_version CHECK (focus_version IN ('1.2', '1.4')),
        CONSTRAINT ck_exports_format CHECK (format IN ('csv', 'parquet')),
        CONSTRAINT ck_exports_month CHECK (extract(day FROM month) = 1),
        CONSTRAINT ck_exports_built CHECK (num_nulls(fence, manifest, built_at, expires_at) IN (0, 4)),
        CONSTRAINT ck_exports_scheduled CHECK ((schedule_id IS NULL) = (scheduled_for IS NULL)),
        CONSTRAINT uq_exports_project_id_id UNIQUE (project_id, id),
        CONSTRAINT uq_exports_scheduled UNIQUE (schedule_id, scheduled_for),
        CONSTRAINT fk_exports_account_id FOREIGN KEY(account_id) REFERENCES billing_accounts (id)
    )
    """,
    "COMMENT ON COLUMN exports.account_id IS 'NULL: of the project alone'",
    "COMMENT ON COLUMN exports.connection_id IS 'NULL: for download'",
    "COMMENT ON COLUMN exports.scheduled_for IS 'the day of the schedule'",
    "COMMENT ON COLUMN exports.fence IS 'of the ticket that made the file; its chunks hold'",
    "COMMENT ON COLUMN exports.deliveries IS 'that failed'",
    "CREATE INDEX ix_exports_account ON exports (account_id) WHERE account_id IS NOT NULL",
    "CREATE INDEX ix_exports_connection ON exports (project_id, connection_id) WHERE connection_id IS NOT NULL",
    "CREATE INDEX ix_exports_expires ON exports (expires_at)",
    "CREATE INDEX ix_exports_project_created ON exports (project_id, created_at, id)",
    "CREATE INDEX ix_exports_schedule ON exports (project_id, schedule_id) WHERE schedule_id IS NOT NULL",
    """
    CREATE TABLE export_chunks (
        export_id UUID NOT NULL,
        fence BIGINT NOT NULL,
        ordinal INTEGER NOT NULL,
        data BYTEA NOT NULL,
        CONSTRAINT pk_export_chunks PRIMARY KEY (export_id, fence, ordinal),
        CONSTRAINT fk_export_chunks_export_id FOREIGN KEY(export_id) REFERENCES exports (id)
    )
    """,
    "COMMENT ON TABLE export_chunks IS 'a file in pieces, until it expires; those of another fence than the export''s are left-overs'",
)
OPERATIONS = (
    "ALTER TABLE operations ALTER cluster_id DROP NOT NULL",
    "ALTER TABLE operations ADD export_id UUID",
    "COMMENT ON COLUMN operations.cluster_id IS 'NULL: the operation is about an export'",
    "COMMENT ON COLUMN operations.export_id IS 'when the operation is about an export'",
    "ALTER TABLE operations ADD CONSTRAINT fk_operations_project_id_export_id FOREIGN KEY (project_id, export_id)"
    " REFERENCES exports (project_id, id)",
    "ALTER TABLE operations ADD CONSTRAINT ck_operations_export CHECK"
    " ((kind LIKE 'export.%') = (export_id IS NOT NULL) AND num_nonnulls(cluster_id, export_id) = 1)",
    "CREATE UNIQUE INDEX uq_operations_export ON operations (project_id, export_id) WHERE export_id IS NOT NULL",
)
GRANTS = (
    "GRANT SELECT, INSERT, UPDATE ON day_rollups TO ipucloud_app",
    "GRANT SELECT, INSERT, DELETE ON usage_days TO ipucloud_app",
    "GRANT SELECT, INSERT ON export_months, export_names TO ipucloud_app",
    "GRANT SELECT, INSERT ON s3_connections, export_schedules, exports TO ipucloud_app",
    "GRANT UPDATE (secret, deleted_at) ON s3_connections TO ipucloud_app",
    "GRANT UPDATE (next_at, deleted_at) ON export_schedules TO ipucloud_app",
    "GRANT UPDATE (fence, manifest, built_at, delivered_at, expires_at, deliveries, last_error) ON exports"
    " TO ipucloud_app",
    "GRANT SELECT, INSERT, DELETE ON export_chunks TO ipucloud_app",
)
GONE = (
    "DELETE FROM operation_steps s USING operations o WHERE o.id = s.operation_id AND o.export_id IS NOT NULL",
    "DELETE FROM operations WHERE export_id IS NOT NULL",
    "ALTER TABLE operations DROP COLUMN export_id, ALTER cluster_id SET NOT NULL",
    "COMMENT ON COLUMN operations.cluster_id IS NULL",
    "DROP TABLE export_chunks, exports, export_schedules, s3_connections, export_names, export_months",
    "DROP TABLE usage_days, day_rollups",
)


def upgrade() -> None:
    for statement in (*ROLLUP, *EXPORTS, *OPERATIONS, *GRANTS):
        op.execute(statement)


def downgrade() -> None:
    for statement in GONE:
        op.execute(statement)

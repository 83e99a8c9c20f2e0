"""Health reports of machines and hosts, and what follows from them.

Revision ID: 0017
Revises: 0016
"""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE health_reports (
        id UUID NOT NULL,
        region TEXT NOT NULL,
        machine_id UUID,
        host_id UUID,
        source TEXT NOT NULL,
        code TEXT NOT NULL,
        allocation TEXT NOT NULL,
        credited BOOLEAN NOT NULL,
        detail TEXT NOT NULL,
        message TEXT,
        first_seen_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        confirmed_at TIMESTAMP WITH TIME ZONE,
        last_seen_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        good_since TIMESTAMP WITH TIME ZONE,
        cleared_at TIMESTAMP WITH TIME ZONE,
        expires_at TIMESTAMP WITH TIME ZONE,
        created_by TEXT,
        cluster_id UUID,
        CONSTRAINT pk_health_reports PRIMARY KEY (id),
        CONSTRAINT ck_health_reports_source
            CHECK (source IN ('bmc', 'v-ipu', 'host', 'ssh', 'site', 'operation', 'operator')),
        CONSTRAINT ck_health_reports_code
            CHECK (code IN ('bmc_critical', 'powered_off', 'firmware_differs', 'agent_unreachable', 'link_down',
                            'link_degraded', 'host_failed', 'server_off', 'ssh_unreachable', 'host_key_changed',
                            'not_observed', 'build_failed', 'not_clean', 'maintenance', 'drain', 'quarantine')),
        CONSTRAINT ck_health_reports_allocation CHECK (allocation IN ('allowed', 'prevented')),
        CONSTRAINT ck_health_reports_one_object CHECK (num_nonnulls(machine_id, host_id) = 1),
        CONSTRAINT fk_health_reports_machine_id FOREIGN KEY(machine_id) REFERENCES machines (id),
        CONSTRAINT fk_health_reports_host_id FOREIGN KEY(host_id) REFERENCES hosts (id)
    )
    """,
    "COMMENT ON COLUMN health_reports.credited IS 'a cluster''s minutes with the object are credited'",
    "COMMENT ON COLUMN health_reports.detail IS 'for operators'",
    "COMMENT ON COLUMN health_reports.message IS 'for customers; NULL: they do not see the report'",
    "COMMENT ON COLUMN health_reports.confirmed_at IS 'NULL: suspected, without effect'",
    "COMMENT ON COLUMN health_reports.good_since IS 'the first of the good readings in a row'",
    "COMMENT ON COLUMN health_reports.cleared_at IS 'NULL: live'",
    "COMMENT ON COLUMN health_reports.created_by IS 'id of an operator''s token'",
    "COMMENT ON COLUMN health_reports.cluster_id IS 'held the object when the report was confirmed'",
    "CREATE INDEX ix_health_reports_machine ON health_reports (machine_id, first_seen_at) WHERE machine_id IS NOT NULL",
    "CREATE INDEX ix_health_reports_host ON health_reports (host_id, first_seen_at) WHERE host_id IS NOT NULL",
    "CREATE INDEX ix_health_reports_region ON health_reports (region) WHERE cleared_at IS NULL",
    """
    CREATE UNIQUE INDEX uq_health_reports_live ON health_reports (machine_id, host_id, source, code)
     NULLS NOT DISTINCT WHERE cleared_at IS NULL
    """,
    """
    CREATE TABLE observations (
        region TEXT NOT NULL,
        source TEXT NOT NULL,
        started_at TIMESTAMP WITH TIME ZONE,
        finished_at TIMESTAMP WITH TIME ZONE,
        objects INTEGER DEFAULT '0' NOT NULL,
        answered INTEGER DEFAULT '0' NOT NULL,
        error TEXT,
        failed_since TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_observations PRIMARY KEY (region, source),
        CONSTRAINT ck_observations_source
            CHECK (source IN ('bmc', 'v-ipu', 'host', 'ssh', 'site', 'operation', 'operator')),
        CONSTRAINT ck_observations_complete CHECK ((started_at IS NULL) = (finished_at IS NULL)),
        CONSTRAINT ck_observations_failed CHECK ((error IS NULL) = (failed_since IS NULL)),
        CONSTRAINT fk_observations_region FOREIGN KEY(region) REFERENCES site_regions (region)
    )
    """,
    "COMMENT ON TABLE observations IS 'the last complete reading of a region by each source'",
    "COMMENT ON COLUMN observations.started_at IS 'of the last complete reading'",
    "COMMENT ON COLUMN observations.finished_at IS 'of the last complete reading'",
    "COMMENT ON COLUMN observations.objects IS 'asked for'",
    "COMMENT ON COLUMN observations.error IS 'why the last reading is not complete'",
    "GRANT SELECT, INSERT ON health_reports, observations TO ipucloud_app",
    "GRANT UPDATE (detail, confirmed_at, last_seen_at, good_since, cleared_at, expires_at, created_by, cluster_id)"
    " ON health_reports TO ipucloud_app",
    "GRANT UPDATE ON observations TO ipucloud_app",
)
BEFORE = "health IN ('ok', 'degraded', 'failed')"
NOW = "health IN ('ok', 'unknown', 'degraded', 'failed')"


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)
    for table in ("machines", "hosts"):
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT ck_{table}_health")
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT ck_{table}_health CHECK ({NOW})")
        op.execute(f"ALTER TABLE {table} ADD allocatable BOOLEAN DEFAULT true NOT NULL")
        op.execute(f"COMMENT ON COLUMN {table}.allocatable IS 'no live report prevents it'")
        # Reports of what an operator set by hand before reports existed.
        op.execute(
            f"""
            INSERT INTO health_reports (id, region, {table[:-1]}_id, source, code, allocation, credited, detail,
                                        confirmed_at)
            SELECT gen_random_uuid(), {"p.region" if table == "machines" else "o.region"}, o.id, 'operator',
                   CASE WHEN o.maintenance THEN 'maintenance' ELSE 'quarantine' END, 'prevented', false,
                   'was set before health reports existed', app_now()
              FROM {table} o {"JOIN pods p ON p.id = o.pod_id" if table == "machines" else ""}
             WHERE o.maintenance OR o.health <> 'ok'
            """  # noqa: S608  # our own names
        )
        op.execute(f"UPDATE {table} SET health = 'ok', allocatable = false WHERE maintenance OR health <> 'ok'")  # noqa: S608  # our own names


def downgrade() -> None:
    for table in ("machines", "hosts"):
        op.execute(f"UPDATE {table} SET health = 'degraded' WHERE health = 'unknown'")  # noqa: S608  # our own names
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT ck_{table}_health")
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT ck_{table}_health CHECK ({BEFORE})")
        op.execute(f"ALTER TABLE {table} DROP allocatable")
    op.execute("DROP TABLE observations")
    op.execute("DROP TABLE health_reports")

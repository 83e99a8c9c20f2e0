"""The spine: identity, inventory, clusters, operations, work, events, prices and usage.

Revision ID: 0001
Revises:
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

PRELUDE = (
    "CREATE FUNCTION app_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT statement_timestamp()'",
    'CREATE TYPE textrange AS RANGE (subtype = text, collation = "C")',
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
FINAL_INTERVAL = """
CREATE FUNCTION refuse_change_of_ended_interval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'usage interval % has ended and never changes', OLD.id
    USING ERRCODE = 'integrity_constraint_violation';
END $$
"""
FINAL_INTERVAL_TRIGGER = """
CREATE TRIGGER usage_intervals_final BEFORE UPDATE ON usage_intervals FOR EACH ROW
WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION refuse_change_of_ended_interval()
"""
FINAL = (FINAL_OPERATION, FINAL_OPERATION_TRIGGER, FINAL_INTERVAL, FINAL_INTERVAL_TRIGGER)
# The application owns nothing: it may not change what a bill or an audit rests on.
APP_ROLE = """
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'ipucloud_app') THEN
    CREATE ROLE ipucloud_app NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
  END IF;
END $$
"""
GRANTS = (
    "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
    "GRANT USAGE ON SCHEMA public TO ipucloud_app",
    "GRANT SELECT ON ALL TABLES IN SCHEMA public TO ipucloud_app",
    "GRANT INSERT ON ALL TABLES IN SCHEMA public TO ipucloud_app",
    "REVOKE INSERT ON alembic_version FROM ipucloud_app",
    "GRANT UPDATE, DELETE ON hosts, idempotency_keys, machine_pools, machines, partitions, pods, site_regions, work"
    " TO ipucloud_app",
    "GRANT UPDATE ON allocations, clusters, operation_steps, operations, poplar_servers, projects, quotas, tokens"
    " TO ipucloud_app",
    "GRANT DELETE ON ssh_keys TO ipucloud_app",
    "GRANT UPDATE (valid_to) ON prices TO ipucloud_app",
    "GRANT UPDATE (ended_at) ON usage_intervals TO ipucloud_app",
    "GRANT UPDATE (state, error, finished_at) ON heals TO ipucloud_app",
)


def upgrade() -> None:
    for statement in PRELUDE:
        op.execute(statement)
    op.create_table(
        "idempotency_keys",
        sa.Column("scope", sa.Uuid(), nullable=False, comment="project, or the nil uuid for the platform"),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=False),
        sa.Column("headers", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("subject_id", sa.Uuid(), nullable=True, comment="kept until 24 h after this object is gone"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("app_now()"), nullable=False),
        sa.PrimaryKeyConstraint("scope", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_index("ix_idempotency_keys_created", "idempotency_keys", ["created_at"], unique=False)
    op.create_table(
        "machine_pools",
        sa.Column("region", sa.Text(), nullable=False),
        sa.Column("machine_type", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("region", "machine_type", name=op.f("pk_machine_pools")),
        comment="one row to lock while machines of a region and type are chosen",
    )
    op.create_table(
        "prices",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("sku", sa.Text(), nullable=False),
        sa.Column("region", sa.Text(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("unit_price", sa.Numeric(precision=20, scale=10), nullable=False, comment="per machine-minute"),
        sa.Column("valid_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("valid_to", sa.DateTime(timezone=True), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        postgresql.ExcludeConstraint(
            (
                sa.text(
                    "textrange(sku || ' ' || region || ' ' || currency, sku || ' ' || region || ' ' || currency, '[]')"
                ),
                "&&",
            ),
            (sa.text("tstzrange(valid_from, valid_to)"), "&&"),
            using="gist",
            name="ex_prices_no_overlap",
        ),
        sa.CheckConstraint(
            "date_trunc('second', valid_from, 'UTC') = valid_from AND date_trunc('second', valid_to, 'UTC') = valid_to",
            name=op.f("ck_prices_whole_seconds"),
        ),
        sa.CheckConstraint("unit_price >= 0", name=op.f("ck_prices_unit_price")),
        sa.CheckConstraint("valid_to > valid_from", name=op.f("ck_prices_valid")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_prices")),
    )
    op.create_index("ix_prices_key", "prices", ["sku", "region", "currency", "valid_from"], unique=False)
    op.create_table(
        "projects",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("app_now()"), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("number", name="uq_projects_number"),
    )
    op.create_index("uq_projects_slug", "projects", ["slug"], unique=True)
    op.create_table(
        "site_regions",
        sa.Column("region", sa.Text(), nullable=False),
        sa.Column("vipu_host", sa.Text(), nullable=True, comment="NULL: no machine of the region is under V-IPU"),
        sa.Column("vipu_user_port", sa.Integer(), nullable=True),
        sa.Column("vipu_admin_port", sa.Integer(), nullable=True),
        sa.Column(
            "typical_seconds", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False
        ),
        sa.Column("synced_at", sa.DateTime(timezone=True), server_default=sa.text("app_now()"), nullable=False),
        sa.CheckConstraint(
            "num_nulls(vipu_host, vipu_user_port, vipu_admin_port) IN (0, 3)", name=op.f("ck_site_regions_vipu")
        ),
        sa.PrimaryKeyConstraint("region", name=op.f("pk_site_regions")),
    )
    op.create_table(
        "work",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False, comment="whose turn it is; the nil uuid for the platform"),
        sa.Column("run_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("wake_seq", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("claimed_seq", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("lease_owner", sa.BigInteger(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("attempt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("parked_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("(lease_owner IS NULL) = (lease_until IS NULL)", name=op.f("ck_work_lease")),
        sa.PrimaryKeyConstraint("kind", "key", name=op.f("pk_work")),
    )
    op.create_index(
        "ix_work_due",
        "work",
        ["project_id", "run_at"],
        unique=False,
        postgresql_where=sa.text("run_at IS NOT NULL AND lease_owner IS NULL"),
    )
    op.create_index(
        "ix_work_leased", "work", ["lease_owner"], unique=False, postgresql_where=sa.text("lease_owner IS NOT NULL")
    )
    op.create_table(
        "clusters",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("region", sa.Text(), nullable=False),
        sa.Column("flavor", sa.Text(), nullable=False),
        sa.Column("machine_type", sa.Text(), nullable=False),
        sa.Column("machines", sa.Integer(), nullable=False),
        sa.Column("ipus", sa.Integer(), nullable=False),
        sa.Column("allocated_through", sa.Text(), server_default="v-ipu", nullable=False),
        sa.Column("sku", sa.Text(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("image", sa.Text(), nullable=False),
        sa.Column("reconfigurable", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("ssh_keys", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("user_data", sa.Text(), nullable=True),
        sa.Column("tags", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("delete_protection", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("state_reason", sa.Text(), nullable=True),
        sa.Column("state_entered_at", sa.DateTime(timezone=True), server_default=sa.text("app_now()"), nullable=False),
        sa.Column("state_sla_seconds", sa.Integer(), nullable=True),
        sa.Column("blocked_by", sa.Text(), nullable=True),
        sa.Column("incarnation", sa.Integer(), server_default="1", nullable=False),
        sa.Column("external_name", sa.Text(), nullable=False, comment="<cluster>-<incarnation>, never reused"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("app_now()"), nullable=False),
        sa.Column("ready_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("delete_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("version", sa.BigInteger(), server_default="1", nullable=False),
        sa.CheckConstraint("(state = 'deleted') = (deleted_at IS NOT NULL)", name=op.f("ck_clusters_deleted")),
        sa.CheckConstraint(
            "state IN ('creating', 'active', 'degraded', 'resizing', 'suspending', 'suspended', 'resuming', 'rebooting', 'rebuilding', 'error', 'deleting', 'deleted')",
            name=op.f("ck_clusters_state"),
        ),
        sa.CheckConstraint(
            "allocated_through IN ('v-ipu', 'host-devices')", name=op.f("ck_clusters_allocated_through")
        ),
        sa.CheckConstraint(
            "machines > 0 AND CASE allocated_through WHEN 'v-ipu' THEN ipus = 4 * machines ELSE ipus > 0 END",
            name=op.f("ck_clusters_size"),
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_clusters_project_id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clusters")),
        sa.UniqueConstraint("external_name", name=op.f("uq_clusters_external_name")),
        sa.UniqueConstraint("project_id", "id", name=op.f("uq_clusters_project_id_id")),
    )
    op.create_index("ix_clusters_project_created", "clusters", ["project_id", "created_at", "id"], unique=False)
    op.create_index(
        "ix_clusters_project_living",
        "clusters",
        ["project_id", "created_at", "id"],
        unique=False,
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_index(
        "uq_clusters_living_name",
        "clusters",
        ["project_id", "name"],
        unique=True,
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column(
            "transaction",
            sa.BigInteger(),
            server_default=sa.text("(pg_current_xact_id()::text)::bigint"),
            nullable=False,
            comment="readers stay below the oldest open one",
        ),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("subject_type", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.Uuid(), nullable=False),
        sa.Column("operation_id", sa.Uuid(), nullable=True),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("data", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("app_now()"), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_events_project_id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    op.create_index("ix_events_feed", "events", ["project_id", "transaction", "id"], unique=False)
    op.create_index("ix_events_subject", "events", ["project_id", "subject_id", "transaction", "id"], unique=False)
    op.create_table(
        "pods",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("region", sa.Text(), nullable=False),
        sa.Column("machine_type", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("vipu_cluster_id", sa.Text(), nullable=True, comment="NULL: a server with IPUs of its own"),
        sa.Column("gw_group", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("topology", sa.Text(), nullable=False),
        sa.Column("gateway_topology", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["region", "machine_type"], ["machine_pools.region", "machine_pools.machine_type"], name="fk_pods_pool"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pods")),
        sa.UniqueConstraint("name", name=op.f("uq_pods_name")),
        sa.UniqueConstraint(
            "region", "machine_type", "gw_group", "position", name=op.f("uq_pods_region_machine_type_gw_group_position")
        ),
    )
    op.create_table(
        "quotas",
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("region", sa.Text(), nullable=False),
        sa.Column("machine_type", sa.Text(), nullable=False),
        sa.Column("machine_limit", sa.Integer(), nullable=False),
        sa.Column("used", sa.Integer(), server_default="0", nullable=False),
        sa.CheckConstraint("used BETWEEN 0 AND machine_limit", name=op.f("ck_quotas_used")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_quotas_project_id"),
        sa.PrimaryKeyConstraint("project_id", "region", "machine_type", name=op.f("pk_quotas")),
    )
    op.create_table(
        "ssh_keys",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("key_type", sa.Text(), nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False, comment="re-serialised: type and base64, no comment"),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("app_now()"), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_ssh_keys_project_id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ssh_keys")),
        sa.UniqueConstraint("project_id", "id", name=op.f("uq_ssh_keys_project_id_id")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_ssh_keys_project_id_name")),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=True, comment="NULL: a platform token"),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("display_prefix", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False, comment="SHA-256 of the whole token"),
        sa.Column("created_by", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("app_now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(project_id IS NULL) = (role IN ('admin', 'support'))", name=op.f("ck_tokens_platform_role")
        ),
        sa.CheckConstraint(
            "role IN ('viewer', 'operator', 'billing', 'owner', 'admin', 'support')", name=op.f("ck_tokens_role")
        ),
        sa.CheckConstraint("octet_length(secret_hash) = 32", name=op.f("ck_tokens_secret_hash")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_tokens_project_id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("project_id", "id", name=op.f("uq_tokens_project_id_id")),
    )
    op.create_index("uq_tokens_secret_hash", "tokens", ["secret_hash"], unique=True)
    op.create_table(
        "machines",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("pod_id", sa.Uuid(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False, comment="its V-IPU agent id too"),
        sa.Column("rnic", sa.Text(), nullable=False),
        sa.Column("bmc", sa.Text(), nullable=False),
        sa.Column("gateway", sa.Text(), nullable=True),
        sa.Column("health", sa.Text(), server_default="ok", nullable=False),
        sa.Column("maintenance", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.CheckConstraint("health IN ('ok', 'degraded', 'failed')", name=op.f("ck_machines_health")),
        sa.CheckConstraint("slot BETWEEN 0 AND 15", name=op.f("ck_machines_slot")),
        sa.ForeignKeyConstraint(["pod_id"], ["pods.id"], name="fk_machines_pod_id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_machines")),
        sa.UniqueConstraint("name", name=op.f("uq_machines_name")),
        sa.UniqueConstraint("pod_id", "slot", name=op.f("uq_machines_pod_id_slot")),
    )
    op.create_table(
        "hosts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("region", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("machine_id", sa.Uuid(), nullable=True, comment="the machine that the host itself is"),
        sa.Column("health", sa.Text(), server_default="ok", nullable=False),
        sa.Column("maintenance", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.CheckConstraint("health IN ('ok', 'degraded', 'failed')", name=op.f("ck_hosts_health")),
        sa.ForeignKeyConstraint(["machine_id"], ["machines.id"], name="fk_hosts_machine_id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hosts")),
        sa.UniqueConstraint("machine_id", name=op.f("uq_hosts_machine_id")),
        sa.UniqueConstraint("name", name=op.f("uq_hosts_name")),
    )
    op.create_index(op.f("ix_hosts_region"), "hosts", ["region"], unique=False)
    op.create_table(
        "partitions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("cluster_id", sa.Uuid(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=True, comment="of those asked for by the API, counted per cluster"),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("external_name", sa.Text(), nullable=False, comment="its id at the controller"),
        sa.Column("wish", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("state_reason", sa.Text(), nullable=True),
        sa.Column("state_entered_at", sa.DateTime(timezone=True), server_default=sa.text("app_now()"), nullable=False),
        sa.Column("requested", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("observed", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ipuof", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("ipuof_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reset_relocatable", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("reset_fence", sa.BigInteger(), nullable=True, comment="fence under which a reset was to be sent"),
        sa.Column("reset_sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reset_confirmed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("app_now()"), nullable=False),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("version", sa.BigInteger(), server_default="1", nullable=False),
        sa.CheckConstraint(
            "(origin = 'api') = (requested IS NOT NULL AND number IS NOT NULL)",
            name=op.f("ck_partitions_requested"),
        ),
        sa.CheckConstraint("(ipuof IS NULL) = (ipuof_at IS NULL)", name=op.f("ck_partitions_ipuof")),
        sa.CheckConstraint("(observed IS NULL) = (observed_at IS NULL)", name=op.f("ck_partitions_observed")),
        sa.CheckConstraint("(state = 'removed') = (removed_at IS NOT NULL)", name=op.f("ck_partitions_removed")),
        sa.CheckConstraint("origin <> 'customer' OR wish = 'kept'", name=op.f("ck_partitions_customers_own_are_kept")),
        sa.CheckConstraint("origin IN ('cluster', 'api', 'customer')", name=op.f("ck_partitions_origin")),
        sa.CheckConstraint(
            "state IN ('creating', 'active', 'resetting', 'error', 'unknown', 'missing', 'removing', 'removed')",
            name=op.f("ck_partitions_state"),
        ),
        sa.CheckConstraint("wish IN ('made', 'kept', 'reset', 'gone')", name=op.f("ck_partitions_wish")),
        sa.CheckConstraint(
            "wish = 'gone' OR origin = 'customer' OR removed_at IS NULL", name=op.f("ck_partitions_removed_are_gone")
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "cluster_id"],
            ["clusters.project_id", "clusters.id"],
            name="fk_partitions_project_id_cluster_id",
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_partitions_project_id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_partitions")),
        sa.UniqueConstraint("cluster_id", "external_name", name=op.f("uq_partitions_cluster_id_external_name")),
        sa.UniqueConstraint("project_id", "id", name=op.f("uq_partitions_project_id_id")),
    )
    op.create_index("ix_partitions_cluster", "partitions", ["project_id", "cluster_id", "created_at"], unique=False)
    op.create_index(
        "uq_partitions_living_name",
        "partitions",
        ["cluster_id", "name"],
        unique=True,
        postgresql_where=sa.text("removed_at IS NULL AND origin = 'api'"),
    )
    op.create_table(
        "operations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("cluster_id", sa.Uuid(), nullable=False),
        sa.Column(
            "partition_id",
            sa.Uuid(),
            nullable=True,
            comment="of that cluster, when the operation is about one of its partitions",
        ),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=True),
        sa.Column("progress", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("error", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("requested_by", sa.Uuid(), nullable=True, comment="token"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("app_now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expected_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("undoing", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("version", sa.BigInteger(), server_default="1", nullable=False),
        sa.CheckConstraint(
            "(state IN ('cancelled', 'failed', 'succeeded')) = (finished_at IS NOT NULL)",
            name=op.f("ck_operations_finished"),
        ),
        sa.CheckConstraint(
            "(kind LIKE 'partition.%') = (partition_id IS NOT NULL)", name=op.f("ck_operations_partition")
        ),
        sa.CheckConstraint("state <> 'failed' OR error IS NOT NULL", name=op.f("ck_operations_failure_has_error")),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled')",
            name=op.f("ck_operations_state"),
        ),
        sa.CheckConstraint("progress BETWEEN 0 AND 100", name=op.f("ck_operations_progress")),
        sa.ForeignKeyConstraint(
            ["project_id", "cluster_id"],
            ["clusters.project_id", "clusters.id"],
            name="fk_operations_project_id_cluster_id",
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "partition_id"],
            ["partitions.project_id", "partitions.id"],
            name="fk_operations_project_id_partition_id",
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_operations_project_id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_operations")),
        sa.UniqueConstraint("project_id", "id", name=op.f("uq_operations_project_id_id")),
    )
    op.create_index("ix_operations_cluster", "operations", ["project_id", "cluster_id"], unique=False)
    op.create_index(
        "ix_operations_partition",
        "operations",
        ["project_id", "partition_id"],
        unique=False,
        postgresql_where=sa.text("partition_id IS NOT NULL"),
    )
    op.create_index("ix_operations_project_created", "operations", ["project_id", "created_at", "id"], unique=False)
    op.create_index(
        "uq_operations_open_cluster",
        "operations",
        ["cluster_id"],
        unique=True,
        postgresql_where=sa.text("NOT (state IN ('cancelled', 'failed', 'succeeded'))"),
    )
    op.create_table(
        "poplar_servers",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("cluster_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False, comment="<external name>-p<ordinal>"),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("ssh_host", sa.Text(), nullable=True),
        sa.Column("ssh_port", sa.Integer(), nullable=True),
        sa.Column("ssh_user", sa.Text(), nullable=True),
        sa.Column("host_key", sa.Text(), nullable=True),
        sa.Column("host_key_fingerprint", sa.Text(), nullable=True),
        sa.CheckConstraint("state IN ('pending', 'running', 'deleted')", name=op.f("ck_poplar_servers_state")),
        sa.ForeignKeyConstraint(
            ["project_id", "cluster_id"],
            ["clusters.project_id", "clusters.id"],
            name="fk_poplar_servers_project_id_cluster_id",
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_poplar_servers_project_id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_poplar_servers")),
        sa.UniqueConstraint("cluster_id", "ordinal", name=op.f("uq_poplar_servers_cluster_id_ordinal")),
        sa.UniqueConstraint("project_id", "id", name=op.f("uq_poplar_servers_project_id_id")),
    )
    op.create_index("ix_poplar_servers_cluster", "poplar_servers", ["project_id", "cluster_id"], unique=False)
    op.create_table(
        "usage_intervals",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("cluster_id", sa.Uuid(), nullable=False),
        sa.Column("sku", sa.Text(), nullable=False),
        sa.Column("region", sa.Text(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("quantity", sa.Integer(), nullable=False, comment="machines"),
        sa.Column("anchor_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        postgresql.ExcludeConstraint(
            (sa.text("textrange(cluster_id::text, cluster_id::text, '[]')"), "&&"),
            (sa.text("tstzrange(started_at, ended_at)"), "&&"),
            using="gist",
            name="ex_usage_intervals_no_overlap",
        ),
        sa.CheckConstraint(
            "date_trunc('second', anchor_at, 'UTC') = anchor_at AND date_trunc('second', started_at, 'UTC') = started_at AND date_trunc('second', ended_at, 'UTC') = ended_at",
            name=op.f("ck_usage_intervals_whole_seconds"),
        ),
        sa.CheckConstraint("anchor_at <= started_at AND started_at <= ended_at", name=op.f("ck_usage_intervals_order")),
        sa.CheckConstraint("quantity > 0", name=op.f("ck_usage_intervals_quantity")),
        sa.ForeignKeyConstraint(
            ["project_id", "cluster_id"],
            ["clusters.project_id", "clusters.id"],
            name="fk_usage_intervals_project_id_cluster_id",
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_usage_intervals_project_id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_usage_intervals")),
    )
    op.create_index("ix_usage_intervals_cluster", "usage_intervals", ["project_id", "cluster_id"], unique=False)
    op.create_index(
        "uq_usage_intervals_open",
        "usage_intervals",
        ["cluster_id"],
        unique=True,
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_table(
        "allocations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("cluster_id", sa.Uuid(), nullable=False),
        sa.Column("machine_id", sa.Uuid(), nullable=True),
        sa.Column("host_id", sa.Uuid(), nullable=True),
        sa.Column("ordinal", sa.Integer(), nullable=False, comment="place of the machine or host within the cluster"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("app_now()"), nullable=False),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("freed_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "freed_at IS NULL OR (released_at IS NOT NULL AND released_at <= freed_at)",
            name=op.f("ck_allocations_released_before_freed"),
        ),
        sa.CheckConstraint("num_nonnulls(machine_id, host_id) = 1", name=op.f("ck_allocations_one_resource")),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name="fk_allocations_host_id"),
        sa.ForeignKeyConstraint(["machine_id"], ["machines.id"], name="fk_allocations_machine_id"),
        sa.ForeignKeyConstraint(
            ["project_id", "cluster_id"],
            ["clusters.project_id", "clusters.id"],
            name="fk_allocations_project_id_cluster_id",
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_allocations_project_id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_allocations")),
    )
    op.create_index("ix_allocations_cluster", "allocations", ["project_id", "cluster_id"], unique=False)
    op.create_index(
        "ix_allocations_host", "allocations", ["host_id"], unique=False, postgresql_where=sa.text("host_id IS NOT NULL")
    )
    op.create_index(
        "ix_allocations_machine",
        "allocations",
        ["machine_id"],
        unique=False,
        postgresql_where=sa.text("machine_id IS NOT NULL"),
    )
    op.create_index(
        "uq_allocations_live_host",
        "allocations",
        ["host_id"],
        unique=True,
        postgresql_where=sa.text("freed_at IS NULL"),
    )
    op.create_index(
        "uq_allocations_live_machine",
        "allocations",
        ["machine_id"],
        unique=True,
        postgresql_where=sa.text("freed_at IS NULL"),
    )
    op.create_table(
        "operation_steps",
        sa.Column("operation_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.SmallInteger(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), server_default="pending", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('pending', 'running', 'succeeded', 'failed', 'skipped')", name=op.f("ck_operation_steps_state")
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "operation_id"],
            ["operations.project_id", "operations.id"],
            name="fk_operation_steps_project_id_operation_id",
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_operation_steps_project_id"),
        sa.PrimaryKeyConstraint("operation_id", "ordinal", name=op.f("pk_operation_steps")),
    )
    op.create_index("ix_operation_steps_operation", "operation_steps", ["project_id", "operation_id"], unique=False)
    op.create_table(
        "heals",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("object_type", sa.Text(), nullable=False),
        sa.Column("object_id", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False, comment="what the audit saw"),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=False, comment="who ran the audit, and where"),
        sa.Column("project_id", sa.Uuid(), nullable=True, comment="NULL: nothing of a customer's"),
        sa.Column("operation_id", sa.Uuid(), nullable=True, comment="the operation that a worker was left the rest to"),
        sa.Column("state", sa.Text(), server_default="running", nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.text("app_now()"), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("(state = 'running') = (finished_at IS NULL)", name=op.f("ck_heals_finished")),
        sa.CheckConstraint("(state = 'failed') = (error IS NOT NULL)", name=op.f("ck_heals_failure_has_error")),
        sa.CheckConstraint("state IN ('running', 'succeeded', 'failed')", name=op.f("ck_heals_state")),
        sa.ForeignKeyConstraint(
            ["project_id", "operation_id"],
            ["operations.project_id", "operations.id"],
            name="fk_heals_project_id_operation_id",
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_heals_project_id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_heals")),
    )
    op.create_index("ix_heals_operation", "heals", ["project_id", "operation_id"], unique=False)
    op.create_index("ix_heals_started", "heals", ["started_at"], unique=False)
    for statement in (*FINAL, APP_ROLE, *GRANTS):
        op.execute(statement)


def downgrade() -> None:
    op.drop_index("ix_heals_started", table_name="heals")
    op.drop_index("ix_heals_operation", table_name="heals")
    op.drop_table("heals")
    op.drop_index("ix_operation_steps_operation", table_name="operation_steps")
    op.drop_table("operation_steps")
    op.drop_index("uq_allocations_live_machine", table_name="allocations", postgresql_where=sa.text("freed_at IS NULL"))
    op.drop_index("uq_allocations_live_host", table_name="allocations", postgresql_where=sa.text("freed_at IS NULL"))
    op.drop_index(
        "ix_allocations_machine", table_name="allocations", postgresql_where=sa.text("machine_id IS NOT NULL")
    )
    op.drop_index("ix_allocations_host", table_name="allocations", postgresql_where=sa.text("host_id IS NOT NULL"))
    op.drop_index("ix_allocations_cluster", table_name="allocations")
    op.drop_table("allocations")
    op.drop_index("uq_usage_intervals_open", table_name="usage_intervals", postgresql_where=sa.text("ended_at IS NULL"))
    op.drop_index("ix_usage_intervals_cluster", table_name="usage_intervals")
    op.drop_table("usage_intervals")
    op.drop_index("ix_poplar_servers_cluster", table_name="poplar_servers")
    op.drop_table("poplar_servers")
    op.drop_index(
        "uq_operations_open_cluster",
        table_name="operations",
        postgresql_where=sa.text("NOT (state IN ('cancelled', 'failed', 'succeeded'))"),
    )
    op.drop_index("ix_operations_project_created", table_name="operations")
    op.drop_index(
        "ix_operations_partition", table_name="operations", postgresql_where=sa.text("partition_id IS NOT NULL")
    )
    op.drop_index("ix_operations_cluster", table_name="operations")
    op.drop_table("operations")
    op.drop_index(
        "uq_partitions_living_name",
        table_name="partitions",
        postgresql_where=sa.text("removed_at IS NULL AND origin = 'api'"),
    )
    op.drop_index("ix_partitions_cluster", table_name="partitions")
    op.drop_table("partitions")
    op.drop_index(op.f("ix_hosts_region"), table_name="hosts")
    op.drop_table("hosts")
    op.drop_table("machines")
    op.drop_index("uq_tokens_secret_hash", table_name="tokens")
    op.drop_table("tokens")
    op.drop_table("ssh_keys")
    op.drop_table("quotas")
    op.drop_table("pods")
    op.drop_index("ix_events_subject", table_name="events")
    op.drop_index("ix_events_feed", table_name="events")
    op.drop_table("events")
    op.drop_index("uq_clusters_living_name", table_name="clusters", postgresql_where=sa.text("deleted_at IS NULL"))
    op.drop_index("ix_clusters_project_living", table_name="clusters", postgresql_where=sa.text("deleted_at IS NULL"))
    op.drop_index("ix_clusters_project_created", table_name="clusters")
    op.drop_table("clusters")
    op.drop_index("ix_work_leased", table_name="work", postgresql_where=sa.text("lease_owner IS NOT NULL"))
    op.drop_index(
        "ix_work_due", table_name="work", postgresql_where=sa.text("run_at IS NOT NULL AND lease_owner IS NULL")
    )
    op.drop_table("work")
    op.drop_table("site_regions")
    op.drop_index("uq_projects_slug", table_name="projects")
    op.drop_table("projects")
    op.drop_index("ix_prices_key", table_name="prices")
    op.drop_table("prices")
    op.drop_table("machine_pools")
    op.drop_index("ix_idempotency_keys_created", table_name="idempotency_keys")
    op.drop_table("idempotency_keys")
    op.execute("DROP FUNCTION refuse_change_of_finished_operation()")
    op.execute("DROP FUNCTION refuse_change_of_ended_interval()")
    op.execute("DROP TYPE textrange")
    op.execute("DROP FUNCTION app_now()")

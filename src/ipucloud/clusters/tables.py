"""Clusters and their Poplar servers."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.clusters import DISKS, ClusterState
from ipucloud.contract.estimates import BillingStart
from ipucloud.db.base import instant, json_column, make_with, metadata, one_of, same_project, tenant_key
from ipucloud.inventory import tables as inventory
from ipucloud.inventory.resizing import ResizePart
from ipucloud.resources.tables import ResourceKind, copied

CLUSTER_LIVES = """
CREATE VIEW cluster_lives WITH (security_invoker = true) AS
SELECT id, project_id, state, state_entered_at, delete_requested_at, ready_at,
       EXISTS (SELECT FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
                WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
                  AND a.machine_id IS NOT NULL AND r.state = 'active') AS reserved,
       (SELECT max(r.ends_at)
          FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
         WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
           AND a.machine_id IS NOT NULL AND r.state = 'active' AND r.ends_at <= app_now()) AS unreserved_at
  FROM clusters
"""
"""What billing asks of the life of a cluster, besides its row of `resources`.

`reserved`: the reservation that holds its machines is billed, and not the cluster; `unreserved_at`: only until then,
which is over, but no worker has ended it yet.
`ready_at`: when it was first active. What it was billed before can still change, and is nothing if it never is.
"""


clusters = sa.Table(
    "clusters",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("flavor", sa.Text, nullable=False),
    sa.Column("machine_type", sa.Text, nullable=False),
    sa.Column("machines", sa.Integer, nullable=False),
    sa.Column("ipus", sa.Integer, nullable=False),
    sa.Column("allocated_through", sa.Text, nullable=False, server_default=AllocatedThrough.V_IPU.value),
    sa.Column("sku", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("image", sa.Text, nullable=False),
    sa.Column("reconfigurable", sa.Boolean, nullable=False, server_default=sa.true()),
    json_column("ssh_keys", default="'[]'"),
    sa.Column("keys_revision", sa.Integer, nullable=False, server_default="1", comment="counts changes of ssh_keys"),
    sa.Column(
        "ssh_authority",
        sa.Text,
        comment="public key whose certificates its servers are to accept, of keys_revision too; NULL: none",
    ),
    sa.Column(
        "s3_revision",
        sa.Integer,
        nullable=False,
        server_default="0",
        comment="counts changes of its S3 connections; 0: it never had one",
    ),
    json_column("allowed_sources", default="'[]'", comment="networks from which SSH is let in; none: from everywhere"),
    sa.Column(
        "sources_revision",
        sa.Integer,
        nullable=False,
        server_default="0",
        comment="counts changes of its allowed sources; 0: it never had any",
    ),
    sa.Column(
        "notice_revision",
        sa.Integer,
        nullable=False,
        server_default="0",
        comment="counts notices of its preemption, and their ends; 0: it never had one",
    ),
    sa.Column("user_data", sa.Text),
    json_column("tags", default="'{}'"),
    sa.Column("delete_protection", sa.Boolean, nullable=False, server_default=sa.false()),
    instant("expires_at"),
    sa.Column("expiry_warned_at", sa.DateTime(timezone=True), comment="of this expires_at"),
    sa.Column("auto_repair", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Column("repair_window", pg.JSONB, comment="as in the API; NULL: repairs begin at any time"),
    sa.Column("idle_suspend_minutes", sa.Integer, comment="suspended after so long without use; NULL: never"),
    sa.Column("idle_counted_from", sa.DateTime(timezone=True), comment="when idle_suspend_minutes was changed"),
    sa.Column(
        "preemptible",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="suspended, with notice, when an ordinary cluster needs its machines",
    ),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("state_reason", sa.Text),
    instant("state_entered_at", default_now=True),
    sa.Column("state_sla_seconds", sa.Integer),
    sa.Column("blocked_by", sa.Text),
    sa.Column("incarnation", sa.Integer, nullable=False, server_default="1"),
    sa.Column("external_name", sa.Text, nullable=False, comment="<cluster>-<incarnation>, never reused"),
    sa.Column("endpoint_host", sa.Text, comment="user endpoint of its V-IPU allocation; NULL: it has none now"),
    sa.Column("endpoint_port", sa.Integer),
    instant("created_at", default_now=True),
    instant("ready_at"),
    instant("delete_requested_at"),
    instant("deleted_at"),
    sa.Column("version", sa.BigInteger, nullable=False, server_default="1"),
    sa.Column("billing_starts", sa.Text, nullable=False, server_default=BillingStart.ACTIVE.value),
    tenant_key("clusters"),
    one_of("state", ClusterState),
    one_of("billing_starts", BillingStart),
    sa.CheckConstraint("(state = 'deleted') = (deleted_at IS NOT NULL)", name="deleted"),
    one_of("allocated_through", AllocatedThrough),
    sa.CheckConstraint(
        "machines > 0 AND CASE allocated_through WHEN 'v-ipu' THEN ipus = 4 * machines ELSE ipus > 0 END", name="size"
    ),
    sa.CheckConstraint("num_nulls(endpoint_host, endpoint_port) IN (0, 2)", name="endpoint"),
    sa.CheckConstraint("idle_suspend_minutes > 0", name="idle_suspend_minutes"),
    sa.UniqueConstraint("project_id", "id"),
    sa.UniqueConstraint("external_name"),
)
sa.Index(
    "uq_clusters_living_name",
    clusters.c.project_id,
    clusters.c.name,
    unique=True,
    postgresql_where=clusters.c.deleted_at.is_(None),
)
sa.Index("ix_clusters_project_created", clusters.c.project_id, clusters.c.created_at, clusters.c.id)
sa.Index(
    "ix_clusters_project_living",
    clusters.c.project_id,
    clusters.c.created_at,
    clusters.c.id,
    postgresql_where=clusters.c.deleted_at.is_(None),
)
sa.Index(
    "ix_clusters_expires_at",
    clusters.c.expires_at,
    postgresql_where=sa.and_(clusters.c.deleted_at.is_(None), clusters.c.expires_at.is_not(None)),
)
sa.Index(
    "ix_clusters_region_idle",
    clusters.c.region,
    postgresql_where=sa.and_(clusters.c.deleted_at.is_(None), clusters.c.idle_suspend_minutes.is_not(None)),
)
sa.Index(
    "ix_clusters_preemptible",
    clusters.c.region,
    clusters.c.machine_type,
    postgresql_where=sa.and_(clusters.c.deleted_at.is_(None), clusters.c.preemptible),
)
make_with(
    inventory.allocations,
    CLUSTER_LIVES,
    *copied(
        "clusters",
        ResourceKind.CLUSTER,
        quantity="NEW.machines",
        flavor="NEW.flavor",
        machine_type="NEW.machine_type",
        machine_ipus="NEW.ipus / NEW.machines",
        ends_at="CASE WHEN NOT NEW.delete_protection THEN NEW.expires_at END",
    ),
)

resizes = sa.Table(
    "resizes",
    metadata,
    sa.Column("operation_id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("cluster_id", sa.Uuid, nullable=False),
    sa.Column("from_flavor", sa.Text, nullable=False),
    sa.Column("from_machines", sa.Integer, nullable=False),
    sa.Column("from_ipus", sa.Integer, nullable=False),
    sa.Column("from_sku", sa.Text, nullable=False),
    sa.Column("to_flavor", sa.Text, nullable=False),
    sa.Column("to_machines", sa.Integer, nullable=False),
    sa.Column("to_ipus", sa.Integer, nullable=False),
    sa.Column("to_sku", sa.Text, nullable=False),
    sa.Column("moves", sa.Boolean, comment="to another block of machines; NULL: it has waited for capacity so far"),
    sa.Column("idle", sa.Text, comment="the allocations that its present steps leave alone; NULL: none"),
    tenant_key("resizes"),
    same_project("resizes", "cluster_id", "clusters"),
    same_project("resizes", "operation_id", "operations"),
    one_of("idle", ResizePart),
    sa.CheckConstraint("from_machines > 0 AND to_machines > 0 AND from_machines <> to_machines", name="sizes"),
    comment="what a resize leads from and to, for as long as its cluster is known",
)
sa.Index("ix_resizes_cluster", resizes.c.project_id, resizes.c.cluster_id)
sa.Index("ix_resizes_operation", resizes.c.project_id, resizes.c.operation_id)

vipu_access_keys = sa.Table(
    "vipu_access_keys",
    metadata,
    sa.Column("name", sa.Text, primary_key=True, comment="its id at the controller, never reused"),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("cluster_id", sa.Uuid, nullable=False),
    sa.Column("number", sa.Integer, nullable=False, comment="counted per cluster"),
    sa.Column("sha256", sa.Text, nullable=False, comment="of the secret, which is stored nowhere"),
    sa.Column("ends_server_key", sa.Boolean, nullable=False),
    instant("created_at", default_now=True),
    instant("replaced_at"),
    tenant_key("vipu_access_keys"),
    same_project("vipu_access_keys", "cluster_id", "clusters"),
    sa.CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name="sha256"),
    sa.UniqueConstraint("cluster_id", "number"),
    comment="keys that customers have to secure V-IPU controllers",
)
sa.Index("ix_vipu_access_keys_cluster", vipu_access_keys.c.project_id, vipu_access_keys.c.cluster_id)
sa.Index(
    "uq_vipu_access_keys_valid",
    vipu_access_keys.c.cluster_id,
    unique=True,
    postgresql_where=vipu_access_keys.c.replaced_at.is_(None),
)

poplar_servers = sa.Table(
    "poplar_servers",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("cluster_id", sa.Uuid, nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("name", sa.Text, nullable=False, comment="<external name>-p<ordinal>"),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("ssh_host", sa.Text),
    sa.Column("ssh_port", sa.Integer),
    sa.Column("ssh_user", sa.Text),
    sa.Column("host_key", sa.Text),
    sa.Column("host_key_fingerprint", sa.Text),
    sa.Column("boot_before", sa.Text, comment="while it restarts: its boot id before that, once known"),
    sa.Column(
        "generation", sa.Integer, nullable=False, server_default="1", comment="how often its system was to be written"
    ),
    json_column("ssh_keys", comment="as in clusters; those it was last seen to accept, NULL: not seen"),
    instant("ssh_keys_since"),
    sa.Column("ssh_authority", sa.Text, comment="as in clusters; the one it was last seen to trust"),
    sa.Column("s3_revision", sa.Integer, comment="as in clusters; the one it was last seen to have, NULL: not seen"),
    json_column("s3_connections", comment="names of those it was last seen to have"),
    json_column("s3_mounts", comment="folders at which it was last seen to have mounted some of them"),
    instant("s3_observed_at"),
    sa.Column("notice_revision", sa.Integer, comment="as in clusters; the one it was last seen to have"),
    sa.Column("sources_revision", sa.Integer, comment="as in clusters; the one its site was last seen to enforce"),
    json_column("allowed_sources", comment="as in clusters; those that its site was last seen to enforce"),
    instant("sources_observed_at"),
    tenant_key("poplar_servers"),
    same_project("poplar_servers", "cluster_id", "clusters"),
    one_of("state", ("pending", "running", "rebooting", "rebuilding", "off", "deleted")),
    sa.UniqueConstraint("project_id", "id"),
    sa.UniqueConstraint("cluster_id", "ordinal"),
)
cluster_rebuilds = sa.Table(
    "cluster_rebuilds",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("operation_id", sa.Uuid, primary_key=True),
    sa.Column("cluster_id", sa.Uuid, nullable=False),
    sa.Column("disk", sa.Text, nullable=False),
    sa.Column("image", sa.Text, nullable=False),
    sa.Column("user_data", sa.Text),
    json_column("ssh_keys", default="'[]'"),
    sa.Column("keys_revision", sa.Integer, nullable=False),
    instant("begun_at"),
    tenant_key("cluster_rebuilds"),
    same_project("cluster_rebuilds", "cluster_id", "clusters"),
    same_project("cluster_rebuilds", "operation_id", "operations"),
    one_of("disk", DISKS),
    comment="what Poplar servers are to be written with; the cluster has it once a server was written",
)
sa.Index("ix_cluster_rebuilds_cluster", cluster_rebuilds.c.project_id, cluster_rebuilds.c.cluster_id)
sa.Index("ix_poplar_servers_cluster", poplar_servers.c.project_id, poplar_servers.c.cluster_id)

cluster_s3_connections = sa.Table(
    "cluster_s3_connections",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("cluster_id", sa.Uuid, primary_key=True),
    sa.Column("connection_id", sa.Uuid, primary_key=True),
    sa.Column("place", sa.Integer, nullable=False),
    instant("created_at", default_now=True),
    tenant_key("cluster_s3_connections"),
    same_project("cluster_s3_connections", "cluster_id", "clusters"),
    same_project("cluster_s3_connections", "connection_id", "s3_connections"),
    comment="S3 connections that the servers of a cluster are to have",
)
sa.Index(
    "ix_cluster_s3_connections_connection",
    cluster_s3_connections.c.project_id,
    cluster_s3_connections.c.connection_id,
)

CLUSTERS_OF = """
CREATE FUNCTION clusters_of(project uuid, ids uuid[]) RETURNS TABLE (id uuid, name text, deleted boolean)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT its.id, its.name, its.deleted_at IS NOT NULL FROM clusters AS its
   WHERE its.project_id = project AND its.id = ANY (ids)
$$
"""
"""The clusters that a token is limited to, for the package of tokens."""


@sa.event.listens_for(metadata, "after_create")
def _create_clusters_of(_metadata: object, connection: sa.Connection, **_options: object) -> None:
    connection.exec_driver_sql(CLUSTERS_OF)

"""The log of repairs, and the tables that rules are generated from."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.billing.accounts import tables as accounts
from ipucloud.billing.exports import tables as exports
from ipucloud.billing.ledger import tables as ledger
from ipucloud.billing.metering import tables as metering
from ipucloud.billing.pricing import tables as pricing
from ipucloud.clusters import tables as clusters
from ipucloud.clusters.addresses import tables as addresses
from ipucloud.clusters.fault_reports import tables as fault_reports
from ipucloud.clusters.idle import tables as idle
from ipucloud.clusters.repairs import tables as scheduled_repairs
from ipucloud.clusters.schedules import tables as schedules
from ipucloud.clusters.volumes import tables as volumes
from ipucloud.clusters.volumes.snapshots import tables as snapshots
from ipucloud.db.base import instant, metadata, one_of, same_project, tenant_key
from ipucloud.events import tables as events
from ipucloud.identity import tables as identity
from ipucloud.inventory import reservation_tables
from ipucloud.inventory import tables as inventory
from ipucloud.inventory.health import tables as health
from ipucloud.operations import tables as operations
from ipucloud.partitions import tables as partitions
from ipucloud.quotas import tables as quotas
from ipucloud.reconcile import tables as reconcile
from ipucloud.resources import tables as resources

repairs = sa.Table(
    "repairs",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("rule", sa.Text, nullable=False),
    sa.Column("object_type", sa.Text, nullable=False),
    sa.Column("object_id", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False, comment="what the audit found"),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("requested_by", sa.Text, nullable=False, comment="who ran the audit, and where"),
    sa.Column("project_id", sa.Uuid, nullable=True, comment="NULL: not a customer's object"),
    sa.Column("region", sa.Text, comment="NULL: the database alone was repaired"),
    sa.Column("operation_id", sa.Uuid, nullable=True, comment="the operation in which a worker does the rest"),
    sa.Column("state", sa.Text, nullable=False, server_default="running"),
    sa.Column("error", sa.Text),
    instant("started_at", default_now=True),
    instant("finished_at"),
    tenant_key("repairs"),
    same_project("repairs", "operation_id", "operations"),
    one_of("state", ("running", "succeeded", "failed")),
    sa.CheckConstraint("(state = 'running') = (finished_at IS NULL)", name="finished"),
    sa.CheckConstraint("(state = 'failed') = (error IS NOT NULL)", name="failure_has_error"),
)
sa.Index("ix_repairs_operation", repairs.c.project_id, repairs.c.operation_id)
sa.Index("ix_repairs_started", repairs.c.started_at)

site_findings = sa.Table(
    "site_findings",
    metadata,
    sa.Column("rule", sa.Text, primary_key=True),
    sa.Column("region", sa.Text, primary_key=True),
    sa.Column("object_id", sa.Text, primary_key=True),
    sa.Column("host", sa.Text, primary_key=True, server_default="", comment="empty: not on a host"),
    sa.Column("project_id", sa.Uuid, comment="NULL: not a customer's object"),
    sa.Column("detail", sa.Text, nullable=False),
    instant("first_seen_at", default_now=True),
    instant("last_seen_at", default_now=True),
    sa.Column("sightings", sa.Integer, nullable=False, server_default="1", comment="sweeps in a row that found it"),
    sa.Column("left_because", sa.Text, comment="why the last sweep left it as it is"),
    tenant_key("site_findings"),
    comment="what the last sweep found at the sites against a rule",
)
sa.Index("ix_site_findings_project", site_findings.c.project_id)

TABLES = (
    repairs,
    site_findings,
    *(
        table
        for module in (
            accounts,
            ledger,
            metering,
            pricing,
            exports,
            clusters,
            fault_reports,
            scheduled_repairs,
            schedules,
            idle,
            events,
            health,
            identity,
            inventory,
            reservation_tables,
            resources,
            operations,
            partitions,
            quotas,
            reconcile,
            snapshots,
            addresses,
            volumes,
        )
        for table in vars(module).values()
        if isinstance(table, sa.Table)
    ),
)
"""Every table of the layers below, and our own."""

"""Quotas in machines, per project, region and machine type."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.base import metadata, tenant_key

quotas = sa.Table(
    "quotas",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("region", sa.Text, primary_key=True),
    sa.Column("machine_type", sa.Text, primary_key=True),
    sa.Column("machine_limit", sa.Integer, nullable=False),
    sa.Column("used", sa.Integer, nullable=False, server_default="0"),
    tenant_key("quotas"),
    sa.CheckConstraint("used BETWEEN 0 AND machine_limit", name="used"),
)

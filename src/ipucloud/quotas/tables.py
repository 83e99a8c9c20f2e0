"""Quotas in machines, per project, region and machine type; of volumes, in GiB; of addresses; and requests for more."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.contract.quota_requests import QuotaRequestState
from ipucloud.db.base import instant, metadata, one_of, tenant_key

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

volume_quotas = sa.Table(
    "volume_quotas",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("region", sa.Text, primary_key=True),
    sa.Column("gib_limit", sa.Integer, nullable=False),
    tenant_key("volume_quotas"),
    sa.CheckConstraint("gib_limit >= 0", name="gib_limit"),
    comment="without a row the limit is that of the settings",
)

address_quotas = sa.Table(
    "address_quotas",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("region", sa.Text, primary_key=True),
    sa.Column("address_limit", sa.Integer, nullable=False),
    tenant_key("address_quotas"),
    sa.CheckConstraint("address_limit >= 0", name="address_limit"),
    comment="without a row the limit is that of the settings",
)

quota_requests = sa.Table(
    "quota_requests",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("machine_type", sa.Text, nullable=False),
    sa.Column("wanted_limit", sa.Integer, nullable=False, comment="machines that the project wants to be able to hold"),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False, server_default="open"),
    sa.Column("created_by", sa.Uuid, nullable=False, comment="token"),
    instant("created_at", default_now=True),
    sa.Column("granted_limit", sa.Integer, comment="the limit that was set instead of the one before"),
    sa.Column("answer", sa.Text, comment="the operator's, for the customer"),
    sa.Column("decided_by", sa.Uuid, comment="token that granted, declined or withdrew it"),
    instant("decided_at"),
    tenant_key("quota_requests"),
    one_of("state", QuotaRequestState),
    sa.CheckConstraint(
        "num_nulls(decided_by, decided_at) = CASE WHEN state = 'open' THEN 2 ELSE 0 END", name="decided"
    ),
    sa.CheckConstraint("(granted_limit IS NOT NULL) = (state = 'granted')", name="granted"),
    sa.CheckConstraint("wanted_limit > 0 AND granted_limit BETWEEN 1 AND wanted_limit", name="limits"),
    sa.CheckConstraint("state <> 'declined' OR answer IS NOT NULL", name="declined"),
    sa.CheckConstraint("answer IS NULL OR state IN ('granted', 'declined')", name="answer"),
)
sa.Index(
    "uq_quota_requests_open",
    quota_requests.c.project_id,
    quota_requests.c.region,
    quota_requests.c.machine_type,
    unique=True,
    postgresql_where=sa.text("state = 'open'"),
)
sa.Index("ix_quota_requests_project", quota_requests.c.project_id, quota_requests.c.created_at, quota_requests.c.id)

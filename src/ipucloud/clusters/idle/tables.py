"""What sites show of the use of Poplar servers."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.base import instant, metadata, same_project, tenant_key

server_uses = sa.Table(
    "server_uses",
    metadata,
    sa.Column("server_id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("sessions", sa.Integer, comment="logins that are open; NULL: the site does not show it"),
    sa.Column("attached_ipus", sa.Integer, comment="IPUs that programs hold; NULL: the site does not show it"),
    sa.Column("idle_since", sa.DateTime(timezone=True), comment="NULL: it is in use, or nobody knows"),
    instant("observed_at", nullable=False),
    tenant_key("server_uses"),
    same_project("server_uses", "server_id", "poplar_servers"),
    sa.CheckConstraint("idle_since IS NULL OR (sessions = 0 AND attached_ipus = 0)", name="idle_since"),
    comment="written by observation alone, of clusters with idle_suspend_minutes",
)
sa.Index("ix_server_uses_server", server_uses.c.project_id, server_uses.c.server_id)

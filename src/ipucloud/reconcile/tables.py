"""The engine's work table: one work item per object that may need attention."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.base import instant, metadata

work = sa.Table(
    "work",
    metadata,
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column(
        "project_id", sa.Uuid, nullable=False, comment="for turns between projects; the nil uuid for the platform"
    ),
    instant("run_at"),
    sa.Column("wake_seq", sa.BigInteger, nullable=False, server_default="1"),
    sa.Column("claimed_seq", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("lease_owner", sa.BigInteger),
    instant("lease_until"),
    sa.Column("fence", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
    sa.Column("last_error", sa.Text),
    instant("parked_at"),
    sa.CheckConstraint("(lease_owner IS NULL) = (lease_until IS NULL)", name="lease"),
)
sa.Index(
    "ix_work_due",
    work.c.project_id,
    work.c.run_at,
    postgresql_where=sa.and_(work.c.run_at.is_not(None), work.c.lease_owner.is_(None)),
)
sa.Index("ix_work_leased", work.c.lease_owner, postgresql_where=work.c.lease_owner.is_not(None))

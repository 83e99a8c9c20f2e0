"""What callers took of limits that several processes share."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.base import instant, metadata

rate_limits = sa.Table(
    "rate_limits",
    metadata,
    sa.Column("key", sa.LargeBinary, primary_key=True, comment="digest of the limit and its caller"),
    sa.Column("taken", sa.BigInteger, nullable=False, comment="by all processes together"),
    instant("at", default_now=True),
    sa.CheckConstraint("taken > 0", name="taken"),
    prefixes=["UNLOGGED"],
    comment="unlogged: a crash of the server forgets it, and every process goes on with what it counted itself",
)
sa.Index("ix_rate_limits_at", rate_limits.c.at)

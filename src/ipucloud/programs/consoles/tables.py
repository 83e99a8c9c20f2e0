"""What was read of each boot."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.base import instant, metadata, same_project, tenant_key

console_boots = sa.Table(
    "console_boots",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("server_id", sa.Uuid, primary_key=True),
    sa.Column("boot_id", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, nullable=False, comment="counted per server by the site"),
    instant("started_at", nullable=False),
    instant("ended_at"),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("dropped", sa.BigInteger, nullable=False, comment="bytes before the text that are gone"),
    sa.Column("written", sa.BigInteger, nullable=False, comment="bytes of all boots of the server when it was read"),
    instant("observed_at", nullable=False),
    tenant_key("console_boots"),
    same_project("console_boots", "server_id", "poplar_servers"),
    comment="written by observation alone: serial consoles, the last boots of each server",
)
sa.Index("ix_console_boots_observed", console_boots.c.observed_at)

"""Terminals, open and over, and the logins by which requests reach services."""

from __future__ import annotations

from typing import get_args

import sqlalchemy as sa

from ipucloud.contract.operations import ActorKind
from ipucloud.contract.poplar_servers import LoginPurpose, TerminalEnd
from ipucloud.db.base import instant, metadata, one_of, same_project, tenant_key

terminals = sa.Table(
    "terminals",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("cluster_id", sa.Uuid, nullable=False),
    sa.Column("server_id", sa.Uuid, nullable=False),
    sa.Column("public_key", sa.Text, nullable=False, comment="of this login only"),
    sa.Column("created_by", sa.Uuid, nullable=False, comment="token"),
    sa.Column(
        "actor",
        sa.Text,
        server_default=sa.text("nullif(current_setting('ipucloud.actor', true), '')"),
        comment="e-mail of the person, or name of the token, that asked",
    ),
    sa.Column(
        "actor_kind",
        sa.Text,
        nullable=False,
        server_default=sa.text("coalesce(nullif(current_setting('ipucloud.actor_kind', true), ''), 'platform')"),
    ),
    instant("created_at", default_now=True),
    instant("key_until", nullable=False),
    instant("key_seen_at"),
    instant("key_gone_at"),
    instant("connected_at"),
    instant("alive_at", nullable=False),
    instant("ended_at"),
    sa.Column("ended_by", sa.Text),
    sa.Column("purpose", sa.Text, nullable=False, server_default="terminal"),
    tenant_key("terminals"),
    same_project("terminals", "cluster_id", "clusters"),
    same_project("terminals", "server_id", "poplar_servers"),
    one_of("actor_kind", ActorKind),
    one_of("ended_by", get_args(TerminalEnd)),
    one_of("purpose", get_args(LoginPurpose)),
    sa.CheckConstraint("(ended_at IS NULL) = (ended_by IS NULL)", name="ended"),
    comment="logins of API processes to Poplar servers, for a terminal or to reach services; the private key of one is"
    " in the memory of its process",
)
sa.Index("ix_terminals_cluster", terminals.c.project_id, terminals.c.cluster_id)
sa.Index("ix_terminals_server", terminals.c.project_id, terminals.c.server_id)
sa.Index(
    "ix_terminals_open", terminals.c.project_id, terminals.c.created_at, postgresql_where=terminals.c.ended_at.is_(None)
)

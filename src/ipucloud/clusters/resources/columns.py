"""The columns that the tables of resources share."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from ipucloud.db.base import instant, json_column, one_of, same_project, tenant_key

Items = tuple[sa.Column[Any] | sa.Constraint, ...]


def of_resource(table: str, states: type[StrEnum]) -> Items:
    """Identity, tags, place, price and life; `states` has `creating`, `deleting` and `deleted`."""
    return (
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        json_column("tags", default="'{}'"),
        sa.Column("region", sa.Text, nullable=False),
        sa.Column("external_name", sa.Text, nullable=False, comment="at the site: the id and the incarnation"),
        sa.Column("sku", sa.Text, nullable=False),
        sa.Column("currency", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False, server_default="creating"),
        sa.Column("state_reason", sa.Text),
        instant("state_entered_at", default_now=True),
        sa.Column("created_by", sa.Uuid, nullable=False, comment="token"),
        instant("created_at", default_now=True),
        instant("delete_requested_at"),
        instant("deleted_at"),
        tenant_key(table),
        sa.UniqueConstraint("project_id", "id"),
        sa.UniqueConstraint("external_name"),
        one_of("state", states),
        sa.CheckConstraint("(delete_requested_at IS NOT NULL) = (state IN ('deleting', 'deleted'))", name="requested"),
        sa.CheckConstraint("(deleted_at IS NOT NULL) = (state = 'deleted')", name="deleted"),
    )


def of_attachment(table: str) -> Items:
    """The server that has it."""
    return (
        sa.Column("cluster_id", sa.Uuid, comment="whose server has it, gets it or loses it"),
        sa.Column("server_id", sa.Uuid),
        sa.Column(
            "revision", sa.Integer, nullable=False, server_default="0", comment="of its attachment; it only grows"
        ),
        same_project(table, "cluster_id", "clusters"),
        same_project(table, "server_id", "poplar_servers"),
    )

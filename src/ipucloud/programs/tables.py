"""Columns that every table of programs has, and the tables of what they wrote."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from ipucloud.contract.operations import ActorKind
from ipucloud.db.base import instant, json_column, metadata, one_of, same_project, tenant_key


def placed() -> tuple[sa.Column[Any], ...]:
    """Which program it is, and on which server of which cluster it runs."""
    return (
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("cluster_id", sa.Uuid, nullable=False),
        sa.Column("server_id", sa.Uuid, nullable=False),
    )


def started_as() -> tuple[sa.Column[Any], ...]:
    """What is started."""
    return (
        json_column("command", default="'[]'"),
        sa.Column("directory", sa.Text),
        json_column("environment", default="'{}'", comment="names with sealed values"),
        sa.Column("image", sa.Text, comment="reference of the container image; NULL: none"),
        sa.Column("registry_username", sa.Text),
        sa.Column("registry_password", sa.Text, comment="sealed; NULL once it has ended"),
    )


def state_of(first: str) -> tuple[sa.Column[Any], ...]:
    """Its state, and what ended it; `first` is the state that it is recorded in."""
    return (
        sa.Column("state", sa.Text, nullable=False, server_default=first),
        sa.Column("state_reason", sa.Text),
        sa.Column("ended_by", sa.Text),
    )


def log_read() -> tuple[sa.Column[Any], ...]:
    """How much of its output was read."""
    return (
        sa.Column(
            "log_bytes", sa.BigInteger, nullable=False, server_default="0", comment="read of the present attempt's"
        ),
        sa.Column("log_parts", sa.Integer, nullable=False, server_default="0", comment="of all attempts"),
    )


def requested() -> tuple[sa.Column[Any], ...]:
    """Who requested it, and when."""
    return (
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
    )


def rules(table: str, *, ended: tuple[str, ...]) -> tuple[sa.Constraint, ...]:
    """What holds of every program of `table`; `ended`: the states that are never left."""
    listed = ", ".join(f"'{state}'" for state in ended)
    return (
        tenant_key(table),
        same_project(table, "cluster_id", "clusters"),
        same_project(table, "server_id", "poplar_servers"),
        one_of("actor_kind", ActorKind),
        sa.CheckConstraint(f"(ended_at IS NOT NULL) = (state IN ({listed}))", name="ended"),
        sa.CheckConstraint("(ended_at IS NOT NULL) = (ended_by IS NOT NULL)", name="ended_by_something"),
        sa.CheckConstraint("registry_username IS NULL OR image IS NOT NULL", name="registry_of_image"),
        sa.CheckConstraint("registry_password IS NULL OR registry_username IS NOT NULL", name="registry_login"),
        sa.CheckConstraint("state <> 'running' OR (started_at IS NOT NULL AND sent_at IS NOT NULL)", name="running"),
        sa.UniqueConstraint("project_id", "id"),
    )


def log_table(name: str, owner: str, target: str, *, comment: str) -> sa.Table:
    """What the programs of the table `target` wrote; `owner` is the column with the program's id."""
    return sa.Table(
        name,
        metadata,
        sa.Column("project_id", sa.Uuid, primary_key=True),
        sa.Column(owner, sa.Uuid, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        instant("read_at", default_now=True),
        tenant_key(name),
        same_project(name, owner, target),
        comment=comment,
    )

"""Reservations: blocks of machines that are held for a project, and billed for a time to come."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.contract.capacity import ReservationState
from ipucloud.db.base import instant, make_with, metadata, one_of, tenant_key
from ipucloud.resources.tables import ResourceKind, copied

reservations = sa.Table(
    "reservations",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("flavor", sa.Text, nullable=False),
    sa.Column("machine_type", sa.Text, nullable=False),
    sa.Column("blocks", sa.Integer, nullable=False, comment="clusters that it has room for"),
    sa.Column("machines", sa.Integer, nullable=False, comment="of one block"),
    sa.Column("ipus", sa.Integer, nullable=False, comment="of one block"),
    sa.Column("servers", sa.Integer, nullable=False, comment="Poplar servers of one block"),
    sa.Column("own_hosts", sa.Boolean, nullable=False, comment="the machines are the hosts"),
    sa.Column("sku", sa.Text, nullable=False, comment="that reserved minutes are billed as"),
    sa.Column("currency", sa.Text, nullable=False),
    instant("starts_at", nullable=False),
    instant("ends_at", nullable=False),
    sa.Column("cancel_until", sa.DateTime(timezone=True), comment="NULL: it could never be cancelled"),
    sa.Column("state", sa.Text, nullable=False, server_default=ReservationState.SCHEDULED.value),
    instant("state_entered_at", default_now=True),
    sa.Column("created_by", sa.Uuid, nullable=False, comment="token"),
    instant("created_at", default_now=True),
    tenant_key("reservations"),
    sa.UniqueConstraint("project_id", "id"),
    one_of("state", ReservationState),
    sa.CheckConstraint("blocks > 0 AND machines > 0 AND ipus > 0 AND servers > 0", name="size"),
    sa.CheckConstraint("starts_at < ends_at", name="period"),
    sa.CheckConstraint(
        "date_trunc('minute', starts_at, 'UTC') = starts_at AND date_trunc('minute', ends_at, 'UTC') = ends_at",
        name="whole_minutes",
    ),
    comment="blocks of machines held for a project, and billed from starts_at to ends_at",
)
sa.Index("ix_reservations_project", reservations.c.project_id, reservations.c.created_at, reservations.c.id)
sa.Index(
    "ix_reservations_live",
    reservations.c.starts_at,
    postgresql_where=reservations.c.state.in_(["scheduled", "active"]),
)
make_with(
    reservations,
    *copied(
        "reservations",
        ResourceKind.RESERVATION,
        tags="'{}'",
        quantity="NEW.blocks * NEW.machines",
        flavor="NEW.flavor",
        machine_type="NEW.machine_type",
        machine_ipus="NEW.ipus / NEW.machines",
        ends_at="NEW.ends_at",
        deleted_at="CASE WHEN NEW.state IN ('ended', 'cancelled') THEN NEW.state_entered_at END",
    ),
)

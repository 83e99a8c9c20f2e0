"""Addresses, and their states: as data, from which the documentation's diagram is drawn."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from ipucloud.contract.addresses import AddressState
from ipucloud.db.base import instant, json_column, make_with, metadata, one_of, same_project, tenant_key
from ipucloud.kernel.transitions import TransitionTable
from ipucloud.resources.tables import ResourceKind, copied

_S = AddressState
ADDRESS_STATES: TransitionTable[AddressState] = TransitionTable(
    "address",
    _S.CREATING,
    {
        _S.CREATING: frozenset({_S.AVAILABLE, _S.ERROR, _S.DELETING}),
        _S.AVAILABLE: frozenset({_S.ATTACHING, _S.DELETING}),
        _S.ATTACHING: frozenset({_S.ATTACHED, _S.DETACHING}),
        _S.ATTACHED: frozenset({_S.ATTACHING, _S.DETACHING}),
        _S.DETACHING: frozenset({_S.AVAILABLE}),
        _S.DELETING: frozenset({_S.DELETED}),
        _S.DELETED: frozenset(),
        _S.ERROR: frozenset({_S.DELETING}),
    },
)
EXISTING = frozenset({_S.AVAILABLE, _S.ATTACHING, _S.ATTACHED, _S.DETACHING})
"""The states in which it is billed."""


addresses = sa.Table(
    "addresses",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    json_column("tags", default="'{}'"),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("external_name", sa.Text, nullable=False, comment="at the site: the id and the incarnation"),
    sa.Column(
        "allowed_sources",
        pg.ARRAY(sa.Text),
        nullable=False,
        server_default="{}",
        comment="networks from which connections through it are taken; none: from everywhere",
    ),
    sa.Column("ip", sa.Text, comment="as its site chose it"),
    sa.Column("port", sa.Integer, comment="of SSH at it"),
    instant("observed_at"),
    sa.Column("sku", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False, server_default=AddressState.CREATING.value),
    sa.Column("state_reason", sa.Text),
    instant("state_entered_at", default_now=True),
    sa.Column("cluster_id", sa.Uuid, comment="whose server has it, gets it or loses it"),
    sa.Column("server_id", sa.Uuid),
    sa.Column("revision", sa.Integer, nullable=False, server_default="0", comment="of its attachment; it only grows"),
    sa.Column("created_by", sa.Uuid, nullable=False, comment="token"),
    instant("created_at", default_now=True),
    instant("delete_requested_at"),
    instant("deleted_at"),
    tenant_key("addresses"),
    same_project("addresses", "cluster_id", "clusters"),
    same_project("addresses", "server_id", "poplar_servers"),
    sa.UniqueConstraint("project_id", "id"),
    sa.UniqueConstraint("external_name"),
    one_of("state", AddressState),
    sa.CheckConstraint("port BETWEEN 1 AND 65535", name="port"),
    sa.CheckConstraint(
        "CASE WHEN state IN ('creating', 'error') THEN num_nulls(ip, port, observed_at) = 3"
        " WHEN state IN ('deleting', 'deleted') THEN num_nulls(ip, port, observed_at) IN (0, 3)"
        " ELSE num_nulls(ip, port, observed_at) = 0 END",
        name="observed",
    ),
    sa.CheckConstraint(
        "num_nulls(cluster_id, server_id) = CASE WHEN state IN ('attaching', 'attached', 'detaching') THEN 0"
        " ELSE 2 END",
        name="attachment",
    ),
    sa.CheckConstraint("(delete_requested_at IS NOT NULL) = (state IN ('deleting', 'deleted'))", name="requested"),
    sa.CheckConstraint("(deleted_at IS NOT NULL) = (state = 'deleted')", name="deleted"),
    comment="public addresses that outlive clusters",
)
sa.Index("ix_addresses_project", addresses.c.project_id, addresses.c.created_at, addresses.c.id)
sa.Index("ix_addresses_cluster", addresses.c.project_id, addresses.c.cluster_id)
sa.Index("ix_addresses_server", addresses.c.project_id, addresses.c.server_id)
make_with(addresses, *copied("addresses", ResourceKind.ADDRESS, quantity="1"))

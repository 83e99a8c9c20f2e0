"""Addresses, and their states: as data, from which the documentation's diagram is drawn."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from ipucloud.clusters.resources.columns import of_attachment, of_resource
from ipucloud.contract.addresses import AddressState
from ipucloud.db.base import instant, make_with, metadata
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
    *of_resource("addresses", AddressState),
    *of_attachment("addresses"),
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
    comment="public addresses that outlive clusters",
)
sa.Index("ix_addresses_project", addresses.c.project_id, addresses.c.created_at, addresses.c.id)
sa.Index("ix_addresses_cluster", addresses.c.project_id, addresses.c.cluster_id)
sa.Index("ix_addresses_server", addresses.c.project_id, addresses.c.server_id)
make_with(addresses, *copied("addresses", ResourceKind.ADDRESS, quantity="1"))

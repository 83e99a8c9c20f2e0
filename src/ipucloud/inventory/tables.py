"""Sites, pods, machines, hosts and their allocations.

An allocation is live from the request that takes a machine until an observation of the site shows it clean again.
`released_at`: the customer has left; `freed_at`: the next one may come.
"""

from __future__ import annotations

from typing import get_args

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from ipucloud.contract.operator_validations import ValidationReason, ValidationResult
from ipucloud.contract.simulated_faults import SimulatedFaultKind, SimulatedFaultState, SimulatedLink
from ipucloud.db.base import instant, json_column, make_with, metadata, one_of, same_project, tenant_key
from ipucloud.inventory import functions
from ipucloud.inventory.health.codes import Health
from ipucloud.inventory.resizing import ResizePart
from ipucloud.inventory.snapshot import SlotState

site_regions = sa.Table(
    "site_regions",
    metadata,
    sa.Column("region", sa.Text, primary_key=True),
    json_column("typical_seconds", default="'{}'"),
    instant("synced_at", default_now=True),
    sa.Column(
        "simulated",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="the site says that it has no hardware, and can be asked for faults",
    ),
    sa.Column(
        "containers",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="the site says that its servers run container images",
    ),
)

simulated_faults = sa.Table(
    "simulated_faults",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column(
        "region",
        sa.Text,
        sa.ForeignKey("site_regions.region", name="fk_simulated_faults_region"),
        nullable=False,
    ),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column(
        "name",
        sa.Text,
        nullable=False,
        comment="of the machine or host; of the region: every V-IPU controller of the site",
    ),
    sa.Column("link", sa.Text),
    sa.Column("state", sa.Text, nullable=False, server_default="requested"),
    instant("state_entered_at", default_now=True),
    sa.Column("detail", sa.Text, comment="why it is not carried out yet, or not at all"),
    sa.Column("created_by", sa.Uuid, nullable=False, comment="token"),
    instant("created_at", default_now=True),
    one_of("kind", SimulatedFaultKind),
    one_of("link", get_args(SimulatedLink)),
    one_of("state", SimulatedFaultState),
    sa.CheckConstraint("(link IS NOT NULL) = (kind = 'link')", name="of_link"),
)
sa.Index("ix_simulated_faults_region", simulated_faults.c.region, simulated_faults.c.created_at, simulated_faults.c.id)
sa.Index(
    "uq_simulated_faults_open",
    simulated_faults.c.kind,
    simulated_faults.c.name,
    unique=True,
    postgresql_where=sa.text("state NOT IN ('ended', 'failed')"),
)

vipu_controllers = sa.Table(
    "vipu_controllers",
    metadata,
    sa.Column(
        "region", sa.Text, sa.ForeignKey("site_regions.region", name="fk_vipu_controllers_region"), primary_key=True
    ),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("admin_port", sa.Integer, nullable=False),
    sa.Column("secure", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("authority", sa.Text, comment="PEM that it is verified with; NULL: it speaks plaintext"),
    sa.Column("cluster_test", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Column("version", sa.Text, comment="as it said last"),
    sa.Column("version_at", sa.DateTime(timezone=True), comment="when it said so first"),
    sa.Column("started_at", sa.DateTime(timezone=True), comment="of the last complete reading"),
    sa.Column("finished_at", sa.DateTime(timezone=True), comment="of the last complete reading"),
    sa.Column("stale_at", sa.DateTime(timezone=True), comment="from then on nothing is known; NULL: never observed"),
    sa.Column("error", sa.Text, comment="why the last reading is not complete"),
    instant("failed_since"),
    sa.Column(
        "withheld",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="two readings in a row failed: new clusters get none of its machines",
    ),
    sa.CheckConstraint("(version IS NULL) = (version_at IS NULL)", name="version"),
    sa.CheckConstraint("(started_at IS NULL) = (finished_at IS NULL)", name="complete"),
    sa.CheckConstraint("(error IS NULL) = (failed_since IS NULL)", name="failed"),
)

_LARGEST = """
CASE WHEN {mask} = 65535 THEN 16
     WHEN {mask} & 255 = 255 OR {mask} >> 8 = 255 THEN 8
     WHEN {mask} & ({mask} >> 1) & ({mask} >> 2) & ({mask} >> 3) & 4369 <> 0 THEN 4
     WHEN {mask} & ({mask} >> 1) & 21845 <> 0 THEN 2
     WHEN {mask} <> 0 THEN 1 ELSE 0 END
"""
"""The size of the largest aligned block of set bits, of 16."""


def _mask(name: str) -> sa.Column[int]:
    """Bit i is the slot i."""
    return sa.Column(name, sa.Integer, nullable=False, server_default=sa.text("0"))


pod_runs = sa.Table(
    "pod_runs",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("machine_type", sa.Text, nullable=False),
    sa.Column("gw_group", sa.Text, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    _mask("whole_mask"),
    sa.Column(
        "largest_run", sa.Integer, sa.Computed(_LARGEST.format(mask="whole_mask"), persisted=True), nullable=False
    ),
    sa.UniqueConstraint("region", "machine_type", "gw_group", "number"),
    sa.CheckConstraint("whole_mask BETWEEN 0 AND 65535", name="whole_mask"),
    comment="16 neighbouring pods: number is position / 16; bit i of whole_mask: pod position % 16 = i is wholly free",
)

pods = sa.Table(
    "pods",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("machine_type", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("vipu_cluster_id", sa.Text, comment="NULL: a server with IPUs of its own"),
    sa.Column("controller", sa.Text, comment="that it is under; NULL: a server with IPUs of its own"),
    sa.Column("gw_group", sa.Text, nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("topology", sa.Text, nullable=False),
    sa.Column("gateway_topology", sa.Text),
    sa.Column("run_id", sa.Uuid, sa.ForeignKey("pod_runs.id", name="fk_pods_run_id"), nullable=False, index=True),
    *(_mask(f"{state}_mask") for state in SlotState if state is not SlotState.SILENT),
    sa.Column(
        "largest_free", sa.Integer, sa.Computed(_LARGEST.format(mask="free_mask"), persisted=True), nullable=False
    ),
    sa.UniqueConstraint("region", "machine_type", "gw_group", "position"),
    sa.ForeignKeyConstraint(
        ["region", "controller"], ["vipu_controllers.region", "vipu_controllers.name"], name="fk_pods_controller"
    ),
    sa.CheckConstraint("free_mask BETWEEN 0 AND 65535", name="free_mask"),
)

sa.Index("ix_pods_controller", pods.c.region, pods.c.controller)

machines = sa.Table(
    "machines",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("pod_id", sa.Uuid, sa.ForeignKey("pods.id", name="fk_machines_pod_id"), nullable=False),
    sa.Column("slot", sa.Integer, nullable=False),
    sa.Column("name", sa.Text, nullable=False, unique=True, comment="its V-IPU agent id too"),
    sa.Column("rnic", sa.Text, nullable=False),
    sa.Column("bmc", sa.Text, nullable=False),
    sa.Column("gateway", sa.Text),
    sa.Column(
        "topology_ids",
        ARRAY(sa.Integer),
        comment="of its IPUs 0 to 3 at its V-IPU controller; NULL: it is not under V-IPU",
    ),
    sa.Column("health", sa.Text, nullable=False, server_default="ok"),
    sa.Column("maintenance", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column(
        "allocatable", sa.Boolean, nullable=False, server_default=sa.true(), comment="no live report prevents it"
    ),
    sa.Column("unlisted_since", sa.DateTime(timezone=True), comment="the site's inventory does not list it any more"),
    sa.Column(
        "validating",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="nothing but its validation keeps it from clusters",
    ),
    one_of("health", Health),
    sa.CheckConstraint("slot BETWEEN 0 AND 15", name="slot"),
    sa.CheckConstraint(
        "cardinality(topology_ids) = 4 AND 0 <= ALL (topology_ids) AND 63 >= ALL (topology_ids)", name="topology_ids"
    ),
    sa.UniqueConstraint("pod_id", "slot"),
)

hosts = sa.Table(
    "hosts",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("region", sa.Text, nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column(
        "machine_id",
        sa.Uuid,
        sa.ForeignKey("machines.id", name="fk_hosts_machine_id"),
        comment="the machine that is this host",
    ),
    sa.Column("health", sa.Text, nullable=False, server_default="ok"),
    sa.Column("maintenance", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column(
        "allocatable", sa.Boolean, nullable=False, server_default=sa.true(), comment="no live report prevents it"
    ),
    sa.Column("held", sa.Boolean, nullable=False, server_default=sa.false(), comment="a cluster holds it"),
    sa.Column("unlisted_since", sa.DateTime(timezone=True), comment="the site's inventory does not list it any more"),
    one_of("health", Health),
    sa.UniqueConstraint("machine_id"),
)

allocations = sa.Table(
    "allocations",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("cluster_id", sa.Uuid, comment="NULL: a reservation holds it, and no cluster yet"),
    sa.Column("machine_id", sa.Uuid, sa.ForeignKey("machines.id", name="fk_allocations_machine_id")),
    sa.Column("host_id", sa.Uuid, sa.ForeignKey("hosts.id", name="fk_allocations_host_id")),
    sa.Column("ordinal", sa.Integer, nullable=False, comment="place of the machine or host within the cluster"),
    instant("created_at", default_now=True),
    instant("released_at"),
    instant("freed_at"),
    sa.Column("resize", sa.Text, comment="part in the open resize of its cluster; NULL: it stays, or none is open"),
    sa.Column(
        "counted",
        sa.Boolean,
        nullable=False,
        server_default=sa.true(),
        comment="in the project's quota; false: the other block of a resize is",
    ),
    sa.Column("reservation_id", sa.Uuid, comment="that it is of; NULL: of none"),
    sa.Column("block", sa.Integer, comment="number of the block within the reservation"),
    tenant_key("allocations"),
    same_project("allocations", "cluster_id", "clusters"),
    same_project("allocations", "reservation_id", "reservations"),
    sa.CheckConstraint("num_nonnulls(cluster_id, reservation_id) > 0", name="holder"),
    sa.CheckConstraint("(reservation_id IS NULL) = (block IS NULL)", name="block"),
    sa.CheckConstraint("num_nonnulls(machine_id, host_id) = 1", name="one_resource"),
    sa.CheckConstraint(
        "freed_at IS NULL OR (released_at IS NOT NULL AND released_at <= freed_at)", name="released_before_freed"
    ),
    one_of("resize", ResizePart),
)
sa.Index(
    "uq_allocations_live_machine",
    allocations.c.machine_id,
    unique=True,
    postgresql_where=allocations.c.freed_at.is_(None),
)
sa.Index(
    "uq_allocations_live_host",
    allocations.c.host_id,
    unique=True,
    postgresql_where=allocations.c.freed_at.is_(None),
)
sa.Index("ix_allocations_cluster", allocations.c.project_id, allocations.c.cluster_id)
sa.Index(
    "ix_allocations_reservation",
    allocations.c.project_id,
    allocations.c.reservation_id,
    postgresql_where=allocations.c.reservation_id.is_not(None),
)
sa.Index("ix_allocations_machine", allocations.c.machine_id, postgresql_where=allocations.c.machine_id.is_not(None))
sa.Index("ix_allocations_host", allocations.c.host_id, postgresql_where=allocations.c.host_id.is_not(None))

hardware_cleanings = sa.Table(
    "hardware_cleanings",
    metadata,
    sa.Column(
        "allocation_id",
        sa.Uuid,
        sa.ForeignKey("allocations.id", name="fk_hardware_cleanings_allocation_id"),
        primary_key=True,
    ),
    sa.Column("external_name", sa.Text, nullable=False, comment="under which the cluster had used the hardware"),
    json_column("observed", default="'{}'"),
    instant("observed_at", default_now=True),
    comment="what the site showed of a machine or host before another cluster could get it",
)
sa.Index("ix_hardware_cleanings_observed", hardware_cleanings.c.observed_at)

hardware_validations = sa.Table(
    "hardware_validations",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column(
        "machine_id", sa.Uuid, sa.ForeignKey("machines.id", name="fk_hardware_validations_machine_id"), nullable=False
    ),
    sa.Column("reason", sa.Text, nullable=False),
    instant("requested_at", default_now=True),
    sa.Column("requested_by", sa.Text, comment="id of an operator's token"),
    sa.Column("alone", sa.Boolean, nullable=False, server_default=sa.false(), comment="not with others of its pod"),
    sa.Column("name", sa.Text, comment="at the site, of all that are tested together; NULL: it waits"),
    instant("started_at"),
    sa.Column("deadline_at", sa.DateTime(timezone=True), comment="of its present part"),
    sa.Column("result", sa.Text),
    sa.Column("findings", sa.Text),
    instant("tested_at"),
    sa.Column("released_at", sa.DateTime(timezone=True), comment="nothing of it was at the site; not yet verified"),
    instant("ended_at"),
    one_of("reason", get_args(ValidationReason)),
    one_of("result", get_args(ValidationResult)),
    sa.CheckConstraint("num_nulls(name, started_at, deadline_at) IN (0, 3)", name="started"),
    sa.CheckConstraint("(result IS NULL) = (tested_at IS NULL) OR name IS NULL", name="tested"),
    sa.CheckConstraint("ended_at IS NULL OR result IS NOT NULL", name="ended"),
)
sa.Index(
    "uq_hardware_validations_open",
    hardware_validations.c.machine_id,
    unique=True,
    postgresql_where=hardware_validations.c.ended_at.is_(None),
)
sa.Index("ix_hardware_validations_machine", hardware_validations.c.machine_id, hardware_validations.c.requested_at)
sa.Index(
    "ix_hardware_validations_name",
    hardware_validations.c.name,
    postgresql_where=hardware_validations.c.name.is_not(None),
)

# Best room first. Whole pods are found through their run.
sa.Index(
    "ix_pods_room",
    pods.c.region,
    pods.c.machine_type,
    pods.c.largest_free,
    pods.c.gw_group,
    pods.c.position,
    postgresql_where=sa.text("largest_free BETWEEN 1 AND 8"),
)
sa.Index(
    "ix_pod_runs_room",
    pod_runs.c.region,
    pod_runs.c.machine_type,
    pod_runs.c.largest_run,
    pod_runs.c.gw_group,
    pod_runs.c.number,
    postgresql_where=pod_runs.c.largest_run > 0,
)
sa.Index(
    "ix_hosts_free",
    hosts.c.region,
    hosts.c.name,
    postgresql_where=sa.text("machine_id IS NULL AND NOT held"),
)
# Rows that every create changes: room on their page for the next version, and no dead index entries that pile up.
make_with(
    allocations,
    *(
        f"ALTER TABLE {table} SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0)"
        for table in ("pods", "pod_runs", "hosts")
    ),
    functions.POD_MASKS,
    functions.SETTLE_PODS,
    functions.LOCK_ROOM,
    functions.LOCK_HOSTS,
)

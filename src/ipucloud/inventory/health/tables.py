"""Health reports of machines and hosts, and when each region was observed last."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from ipucloud.db.base import instant, make_with, metadata, one_of
from ipucloud.inventory.health.codes import PREVENTING_AUTOMATION, SUPPRESSING_ALERTS, Allocation, Code, Source

CITED_FAULTS = """
CREATE VIEW cited_faults WITH (security_invoker = true) AS
SELECT r.id, CASE WHEN r.machine_id IS NULL THEN 'poplar_server' ELSE 'machine' END AS kind, m.name AS machine, r.code,
       r.message, r.first_seen_at,
       CASE WHEN r.cleared_at IS NOT NULL THEN coalesce(r.good_since, r.cleared_at) END AS ended_at
  FROM health_reports r LEFT JOIN machines m ON m.id = r.machine_id
"""
"""What customers may know of a report: what failed, when it was first seen, and when its end was first seen."""


def read_lately(reading: str) -> str:
    """A condition: the row `reading` of `observations`, from a LEFT JOIN, still says something."""
    return f"coalesce({reading}.stale_at > app_now(), false)"


def answered_lately(controller: str) -> str:
    """The same of a V-IPU controller; true without one."""
    return f"coalesce({controller}.stale_at > app_now(), {controller}.name IS NULL)"


def shown_health(health: str, read: str, answered: str = "true") -> str:
    """The health of hardware for operators: `silent`, and not what it was last, when nobody could look for too long.

    `read` is whether its BMC or host was read lately, `answered` whether its V-IPU controller was. A fault that the BMC
    still shows is not hidden by a silent controller.
    """
    return f"CASE WHEN NOT {read} OR {health} = 'ok' AND NOT {answered} THEN 'silent' ELSE {health} END"


def automation_allowed(machine_id: str, host_id: str) -> str:
    """A condition: no person works on the hardware with these ids (SQL expressions, either may be NULL)."""
    return f"NOT {_reported(machine_id, host_id, PREVENTING_AUTOMATION)}"


def alerts_suppressed(machine_id: str, host_id: str) -> str:
    """A condition: what else is reported about the hardware raises no alert. Arguments as above."""
    return _reported(machine_id, host_id, SUPPRESSING_ALERTS)


def _reported(machine_id: str, host_id: str, codes: Iterable[Code]) -> str:
    return f"""EXISTS (
        SELECT FROM health_reports AS other
         WHERE (other.machine_id = {machine_id} OR other.host_id = {host_id}) AND other.cleared_at IS NULL
           AND other.confirmed_at IS NOT NULL AND other.code IN ({", ".join(f"'{code}'" for code in codes)}))"""


health_reports = sa.Table(
    "health_reports",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("machine_id", sa.Uuid, sa.ForeignKey("machines.id", name="fk_health_reports_machine_id")),
    sa.Column("host_id", sa.Uuid, sa.ForeignKey("hosts.id", name="fk_health_reports_host_id")),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("code", sa.Text, nullable=False),
    sa.Column("allocation", sa.Text, nullable=False),
    sa.Column("credited", sa.Boolean, nullable=False, comment="a cluster's minutes with the object are credited"),
    sa.Column("detail", sa.Text, nullable=False, comment="for operators"),
    sa.Column("message", sa.Text, comment="for customers; NULL: they do not see the report"),
    instant("first_seen_at", default_now=True),
    sa.Column("confirmed_at", sa.DateTime(timezone=True), comment="NULL: suspected, without effect"),
    instant("last_seen_at", default_now=True),
    sa.Column(
        "good_readings", sa.Integer, nullable=False, server_default="0", comment="in a row, since it was seen last"
    ),
    sa.Column("good_since", sa.DateTime(timezone=True), comment="the first of the good readings in a row"),
    sa.Column("cleared_at", sa.DateTime(timezone=True), comment="NULL: live"),
    instant("expires_at"),
    sa.Column("maintenance_at", sa.DateTime(timezone=True), comment="of a drain: when its planned maintenance begins"),
    sa.Column("created_by", sa.Text, comment="id of an operator's token"),
    sa.Column("cluster_id", sa.Uuid, comment="held the object when the report was confirmed"),
    one_of("source", Source),
    one_of("code", Code),
    one_of("allocation", Allocation),
    sa.CheckConstraint("num_nonnulls(machine_id, host_id) = 1", name="one_object"),
    sa.CheckConstraint("maintenance_at IS NULL OR code = 'drain'", name="maintenance_at"),
)
sa.Index(
    "uq_health_reports_live",
    health_reports.c.machine_id,
    health_reports.c.host_id,
    health_reports.c.source,
    health_reports.c.code,
    unique=True,
    postgresql_nulls_not_distinct=True,
    postgresql_where=health_reports.c.cleared_at.is_(None),
)
sa.Index("ix_health_reports_region", health_reports.c.region, postgresql_where=health_reports.c.cleared_at.is_(None))
sa.Index(
    "ix_health_reports_machine",
    health_reports.c.machine_id,
    health_reports.c.first_seen_at,
    postgresql_where=health_reports.c.machine_id.is_not(None),
)
sa.Index(
    "ix_health_reports_host",
    health_reports.c.host_id,
    health_reports.c.first_seen_at,
    postgresql_where=health_reports.c.host_id.is_not(None),
)
make_with(health_reports, CITED_FAULTS)

observations = sa.Table(
    "observations",
    metadata,
    sa.Column("region", sa.Text, sa.ForeignKey("site_regions.region", name="fk_observations_region"), primary_key=True),
    sa.Column("source", sa.Text, primary_key=True),
    sa.Column("started_at", sa.DateTime(timezone=True), comment="of the last complete reading"),
    sa.Column("finished_at", sa.DateTime(timezone=True), comment="of the last complete reading"),
    sa.Column("stale_at", sa.DateTime(timezone=True), comment="from then on nothing is known; NULL: never observed"),
    sa.Column("objects", sa.Integer, nullable=False, server_default="0", comment="asked for"),
    sa.Column("answered", sa.Integer, nullable=False, server_default="0"),
    sa.Column("error", sa.Text, comment="why the last reading is not complete"),
    instant("failed_since"),
    sa.Column("halted_since", sa.DateTime(timezone=True), comment="too much failed at once: nothing acts by itself"),
    one_of("source", Source),
    sa.CheckConstraint("(started_at IS NULL) = (finished_at IS NULL)", name="complete"),
    sa.CheckConstraint("(error IS NULL) = (failed_since IS NULL)", name="failed"),
    comment="the last complete reading of a region by each source",
)

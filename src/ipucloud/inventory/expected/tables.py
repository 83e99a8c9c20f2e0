"""What the site shows of each machine and host, what an operator expects, and what changed."""

from __future__ import annotations

from enum import StrEnum

import sqlalchemy as sa

from ipucloud.db.base import instant, make_with, metadata, one_of
from ipucloud.inventory.health.codes import CODES
from ipucloud.inventory.health.tables import observations

INVENTORY_FINDINGS = """
CREATE VIEW inventory_findings WITH (security_invoker = true) AS
SELECT inventory.region, kind, name, finding.code, finding.expected, finding.shown,
       greatest(finding.since, hardware.changed_at, inventory.created_at) AS since
  FROM expected_inventories inventory
  JOIN (SELECT region, kind, name, e.name IS NOT NULL AS is_expected, s.name IS NOT NULL AS was_seen,
               e.serial AS expected_serial, e.model AS expected_model, e.firmware AS expected_firmware,
               e.pod AS expected_pod, e.slot AS expected_slot, e.changed_at,
               s.serial, s.model, s.firmware, s.pod, s.slot, s.first_seen_at, s.changed_at AS seen_changed_at,
               s.missing_since
          FROM expected_hardware e FULL JOIN shown_hardware s USING (region, kind, name)) hardware
    ON hardware.region = inventory.region
  JOIN observations reading
    ON reading.region = inventory.region AND reading.finished_at IS NOT NULL
       AND reading.source = CASE kind WHEN 'machine' THEN 'bmc' ELSE 'host' END
 CROSS JOIN LATERAL (VALUES
         ('missing', is_expected AND (NOT was_seen OR missing_since IS NOT NULL), expected_serial, NULL,
          missing_since),
         ('surplus', NOT is_expected AND missing_since IS NULL, NULL, serial, first_seen_at),
         ('wrong_serial', missing_since IS NULL AND expected_serial <> serial, expected_serial, serial,
          seen_changed_at),
         ('wrong_model', missing_since IS NULL AND expected_model <> model, expected_model, model, seen_changed_at),
         ('firmware_differs', missing_since IS NULL AND expected_firmware <> firmware, expected_firmware, firmware,
          seen_changed_at),
         ('cabling', missing_since IS NULL AND (expected_pod, expected_slot) <> (pod, slot),
          expected_pod || ' slot ' || expected_slot, pod || ' slot ' || slot, seen_changed_at)
       ) AS finding (code, differs, expected, shown, since)
 WHERE finding.differs
"""
"""Nothing is found in a region that was never read completely, or has no expected inventory."""


class Happened(StrEnum):
    """What happened to a machine or host. The values are stable: they are in the API."""

    ADDED = "added"
    REMOVED = "removed"
    RETURNED = "returned"
    SERIAL_CHANGED = "serial_changed"
    MODEL_CHANGED = "model_changed"
    FIRMWARE_CHANGED = "firmware_changed"
    MOVED = "moved"
    ACCEPTED = "accepted"


def _object() -> tuple[sa.Column[object], ...]:
    return (
        sa.Column("region", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True, comment="machine or host"),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("serial", sa.Text),
        sa.Column("model", sa.Text),
        sa.Column("firmware", sa.Text),
    )


shown_inventories = sa.Table(
    "shown_inventories",
    metadata,
    sa.Column("region", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("digest", sa.Text, nullable=False),
    one_of("kind", CODES),
    comment="a digest of the last reading of a region that was written to shown_hardware",
)
shown_hardware = sa.Table(
    "shown_hardware",
    metadata,
    *_object(),
    sa.Column("parts", sa.Text, nullable=False, server_default="{}", comment="firmware of parts, as JSON"),
    sa.Column("pod", sa.Text, comment="by the V-IPU controller"),
    sa.Column("slot", sa.Integer, comment="by the V-IPU controller"),
    sa.Column("part_serials", sa.Text, nullable=False, server_default="{}", comment="serial numbers of parts, as JSON"),
    instant("first_seen_at", default_now=True),
    instant("changed_at", default_now=True),
    sa.Column("missing_since", sa.DateTime(timezone=True), comment="NULL: it was in the last reading"),
    one_of("kind", CODES),
    comment="what machines and hosts show of themselves, whether or not they are registered",
)
sa.Index("ix_shown_hardware_serial", shown_hardware.c.serial)

expected_inventories = sa.Table(
    "expected_inventories",
    metadata,
    sa.Column("region", sa.Text, primary_key=True),
    instant("created_at", default_now=True),
    instant("changed_at", default_now=True),
    sa.Column("changed_by", sa.Text, nullable=False, comment="id of an operator's token"),
    comment="the regions whose hardware is compared with an expected inventory",
)
expected_hardware = sa.Table(
    "expected_hardware",
    metadata,
    *_object(),
    sa.Column("rack", sa.Text),
    sa.Column("pod", sa.Text),
    sa.Column("slot", sa.Integer),
    instant("changed_at", default_now=True),
    sa.ForeignKeyConstraint(
        ["region"], ["expected_inventories.region"], name="fk_expected_hardware_region", ondelete="CASCADE"
    ),
    sa.UniqueConstraint("kind", "serial", deferrable=True, initially="DEFERRED"),
    one_of("kind", CODES),
    sa.CheckConstraint("(pod IS NULL) = (slot IS NULL) AND (pod IS NULL OR kind = 'machine')", name="place"),
    comment="what an operator expects; NULL: any",
)
for read in (shown_hardware, observations):
    expected_hardware.add_is_dependent_on(read)
make_with(expected_hardware, INVENTORY_FINDINGS)

hardware_events = sa.Table(
    "hardware_events",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True, server_default=sa.text("gen_random_uuid()")),
    instant("at", default_now=True),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False, comment="for operators"),
    sa.Column("actor", sa.Text, comment="id of an operator's token"),
    one_of("kind", CODES),
    one_of("type", Happened),
)
sa.Index("ix_hardware_events_object", hardware_events.c.kind, hardware_events.c.name, hardware_events.c.at)
sa.Index("ix_hardware_events_region", hardware_events.c.region, hardware_events.c.at)

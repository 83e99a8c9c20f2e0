"""What hardware shows of itself, what is expected of it, and what happened to it.

Revision ID: 0029
Revises: 0028
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

NEW = "'surplus'::text, 'wrong_serial'::text, 'wrong_model'::text, 'cabling'::text"
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
UP = (
    """
    CREATE TABLE shown_inventories (
        region TEXT NOT NULL,
        kind TEXT NOT NULL,
        digest TEXT NOT NULL,
        CONSTRAINT pk_shown_inventories PRIMARY KEY (region, kind),
        CONSTRAINT ck_shown_inventories_kind CHECK (kind IN ('machine', 'host'))
    )
    """,
    "COMMENT ON TABLE shown_inventories IS"
    " 'a digest of the last reading of a region that was written to shown_hardware'",
    """
    CREATE TABLE shown_hardware (
        region TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        serial TEXT,
        model TEXT,
        firmware TEXT,
        parts TEXT DEFAULT '{}' NOT NULL,
        pod TEXT,
        slot INTEGER,
        first_seen_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        changed_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        missing_since TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_shown_hardware PRIMARY KEY (region, kind, name),
        CONSTRAINT ck_shown_hardware_kind CHECK (kind IN ('machine', 'host'))
    )
    """,
    "COMMENT ON TABLE shown_hardware IS"
    " 'what machines and hosts show of themselves, whether or not they are registered'",
    "COMMENT ON COLUMN shown_hardware.kind IS 'machine or host'",
    "COMMENT ON COLUMN shown_hardware.parts IS 'firmware of parts, as JSON'",
    "COMMENT ON COLUMN shown_hardware.pod IS 'by the V-IPU controller'",
    "COMMENT ON COLUMN shown_hardware.slot IS 'by the V-IPU controller'",
    "COMMENT ON COLUMN shown_hardware.missing_since IS 'NULL: it was in the last reading'",
    "CREATE INDEX ix_shown_hardware_serial ON shown_hardware (serial)",
    """
    CREATE TABLE expected_inventories (
        region TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        changed_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        changed_by TEXT NOT NULL,
        CONSTRAINT pk_expected_inventories PRIMARY KEY (region)
    )
    """,
    "COMMENT ON TABLE expected_inventories IS 'the regions whose hardware is compared with an expected inventory'",
    "COMMENT ON COLUMN expected_inventories.changed_by IS 'id of an operator''s token'",
    """
    CREATE TABLE expected_hardware (
        region TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        serial TEXT,
        model TEXT,
        firmware TEXT,
        rack TEXT,
        pod TEXT,
        slot INTEGER,
        changed_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_expected_hardware PRIMARY KEY (region, kind, name),
        CONSTRAINT fk_expected_hardware_region FOREIGN KEY(region) REFERENCES expected_inventories (region)
            ON DELETE CASCADE,
        CONSTRAINT uq_expected_hardware_kind_serial UNIQUE (kind, serial) DEFERRABLE INITIALLY DEFERRED,
        CONSTRAINT ck_expected_hardware_kind CHECK (kind IN ('machine', 'host')),
        CONSTRAINT ck_expected_hardware_place
            CHECK ((pod IS NULL) = (slot IS NULL) AND (pod IS NULL OR kind = 'machine'))
    )
    """,
    "COMMENT ON TABLE expected_hardware IS 'what an operator expects; NULL: any'",
    "COMMENT ON COLUMN expected_hardware.kind IS 'machine or host'",
    """
    CREATE TABLE hardware_events (
        id UUID DEFAULT gen_random_uuid() NOT NULL,
        at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        region TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        type TEXT NOT NULL,
        detail TEXT NOT NULL,
        actor TEXT,
        CONSTRAINT pk_hardware_events PRIMARY KEY (id),
        CONSTRAINT ck_hardware_events_kind CHECK (kind IN ('machine', 'host')),
        CONSTRAINT ck_hardware_events_type
            CHECK (type IN ('added', 'removed', 'returned', 'serial_changed', 'model_changed', 'firmware_changed',
                            'moved', 'accepted'))
    )
    """,
    "COMMENT ON COLUMN hardware_events.detail IS 'for operators'",
    "COMMENT ON COLUMN hardware_events.actor IS 'id of an operator''s token'",
    "CREATE INDEX ix_hardware_events_object ON hardware_events (kind, name, at)",
    "CREATE INDEX ix_hardware_events_region ON hardware_events (region, at)",
    "ALTER TABLE machines ADD unlisted_since TIMESTAMP WITH TIME ZONE",
    "ALTER TABLE hosts ADD unlisted_since TIMESTAMP WITH TIME ZONE",
    "COMMENT ON COLUMN machines.unlisted_since IS 'the site''s inventory does not list it any more'",
    "COMMENT ON COLUMN hosts.unlisted_since IS 'the site''s inventory does not list it any more'",
    INVENTORY_FINDINGS,
    "GRANT SELECT, INSERT, UPDATE ON shown_inventories, shown_hardware TO ipucloud_app",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON expected_inventories, expected_hardware TO ipucloud_app",
    "GRANT SELECT, INSERT ON hardware_events TO ipucloud_app",
    "GRANT SELECT ON inventory_findings TO ipucloud_app",
)


def upgrade() -> None:
    _replace("'not_clean'::text", f"'not_clean'::text, {NEW}")
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP VIEW inventory_findings")
    for table in ("machines", "hosts"):
        op.execute(f"ALTER TABLE {table} DROP unlisted_since")
    for table in (
        "hardware_events",
        "expected_hardware",
        "expected_inventories",
        "shown_hardware",
        "shown_inventories",
    ):
        op.execute(f"DROP TABLE {table}")
    op.execute(f"DELETE FROM health_reports WHERE code IN ({NEW})")  # noqa: S608  # our own names
    _replace(f", {NEW}", "")


def _replace(old: str, new: str) -> None:
    """Change the list of codes that a report may have."""
    constraint = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'ck_health_reports_code'"
    definition: str = op.get_bind().execute(sa.text(constraint)).scalar_one()
    op.execute("ALTER TABLE health_reports DROP CONSTRAINT ck_health_reports_code")
    op.execute(f"ALTER TABLE health_reports ADD CONSTRAINT ck_health_reports_code {definition.replace(old, new)}")

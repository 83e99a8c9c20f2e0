"""The findings: where what a region's hardware shows of itself differs from what is expected."""

from __future__ import annotations

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

"""Types of events about the platform and its hardware."""

from __future__ import annotations

from ipucloud.contract.event_payloads import platform
from ipucloud.contract.event_types.registry import register, register_platform

FAULT_REPORT_OPENED = register(
    "fault_report.opened", "A fault was reported to the operator.", payload=platform.FaultReported, operators=True
)
FAULT_REPORT_CONFIRMED = register(
    "fault_report.confirmed", "The operator confirmed the fault.", payload=platform.FaultReported, operators=True
)
FAULT_REPORT_DISMISSED = register(
    "fault_report.dismissed",
    "The operator did not find the fault.",
    payload=platform.FaultReported,
    operators=True,
)
FAULT_REPORT_CLOSED = register(
    "fault_report.closed",
    "The cluster gave up the hardware before the repair.",
    payload=platform.FaultReported,
    operators=True,
)
FAULT_REPORT_REPAIRED = register(
    "fault_report.repaired",
    "The hardware was replaced or works again.",
    payload=platform.FaultReported,
    operators=True,
)
AUDIT_REPAIRED = register(
    "audit.repaired",
    "An audit repaired the subject, or something of the project.",
    payload=platform.AuditRepair,
    operators=True,
    anything=True,
)
FREEZE_STARTED = register_platform(
    "freeze.started", "Removals are frozen until `expires_at` at the latest.", payload=platform.FreezeOf
)
FREEZE_ENDED = register_platform(
    "freeze.ended",
    "A freeze of removals ended, was replaced or expired.",
    payload=platform.FreezeOf,
)
HARDWARE_MAINTAINED = register_platform(
    "hardware.maintained",
    "An operator started or announced maintenance.",
    "region",
    payload=platform.HardwareOrdered,
)
HARDWARE_DRAINED = register_platform(
    "hardware.drained", "An operator keeps new clusters off hardware.", "region", payload=platform.HardwareOrdered
)
HARDWARE_QUARANTINED = register_platform(
    "hardware.quarantined", "An operator suspects hardware.", "region", payload=platform.HardwareOrdered
)
HARDWARE_RETURNED = register_platform(
    "hardware.returned_to_service",
    "Hardware can be used again.",
    "region",
    payload=platform.HardwareOrdered,
)
AUTOMATION_HALTED = register_platform(
    "automation.halted",
    "Too much hardware failed at once; nothing in the region acts by itself.",
    "region",
    payload=platform.MassDisappearance,
)
AUTOMATION_RESUMED = register_platform("automation.resumed", "Workers act by themselves again.", "region")
INVENTORY_DIFFERS = register_platform(
    "inventory.differs",
    "Hardware does not match the expected inventory and is held back.",
    *("machine", "host"),
    payload=platform.InventoryDiffers,
)
INVENTORY_AGREES = register_platform(
    "inventory.agrees",
    "Hardware matches the expected inventory again.",
    *("machine", "host"),
    payload=platform.InventoryDiffers,
)

"""Types of events about the platform and its hardware."""

from __future__ import annotations

from ipucloud.contract.event_payloads import base
from ipucloud.contract.event_types.registry import register, register_platform

FAULT_REPORT_OPENED = register(
    "fault_report.opened", "A fault was reported to the operator.", payload=base.FaultReported, operators=True
)
FAULT_REPORT_CONFIRMED = register(
    "fault_report.confirmed", "The operator found the reported fault.", payload=base.FaultReported, operators=True
)
FAULT_REPORT_DISMISSED = register(
    "fault_report.dismissed",
    "The operator did not find the reported fault.",
    payload=base.FaultReported,
    operators=True,
)
FAULT_REPORT_CLOSED = register(
    "fault_report.closed",
    "The cluster of a confirmed fault report was deleted, or suspended without the hardware, before the repair.",
    payload=base.FaultReported,
    operators=True,
)
FAULT_REPORT_REPAIRED = register(
    "fault_report.repaired",
    "The hardware with the reported fault was replaced, or works again.",
    payload=base.FaultReported,
    operators=True,
)
AUDIT_REPAIRED = register(
    "audit.repaired",
    "An audit repaired the subject; if it has no id of its own, the subject is the project.",
    payload=base.AuditRepair,
    operators=True,
    anything=True,
)
FREEZE_STARTED = register_platform(
    "freeze.started", "Removals are frozen, until `expires_at` at the latest.", payload=base.FreezeOf
)
FREEZE_ENDED = register_platform(
    "freeze.ended",
    "A freeze of removals has ended: by an operator, because another one took its place, or by its expiry.",
    payload=base.FreezeOf,
)
HARDWARE_MAINTAINED = register_platform(
    "hardware.maintained",
    "An operator maintains hardware, or has announced that.",
    "region",
    payload=base.HardwareOrdered,
)
HARDWARE_DRAINED = register_platform(
    "hardware.drained", "An operator keeps new clusters from hardware.", "region", payload=base.HardwareOrdered
)
HARDWARE_QUARANTINED = register_platform(
    "hardware.quarantined", "An operator suspects hardware.", "region", payload=base.HardwareOrdered
)
HARDWARE_RETURNED = register_platform(
    "hardware.returned_to_service",
    "An operator ended maintenance, drain or quarantine; or isolated or replaced hardware was observed good.",
    "region",
    payload=base.HardwareOrdered,
)
AUTOMATION_HALTED = register_platform(
    "automation.halted",
    "Too much hardware failed at once: nothing acts by itself in the region.",
    "region",
    payload=base.MassDisappearance,
)
AUTOMATION_RESUMED = register_platform(
    "automation.resumed", "So little hardware is failing that workers act by themselves again.", "region"
)
INVENTORY_DIFFERS = register_platform(
    "inventory.differs",
    "Hardware is not as the expected inventory has it; new clusters do not get it.",
    *("machine", "host"),
    payload=base.InventoryDiffers,
)
INVENTORY_AGREES = register_platform(
    "inventory.agrees",
    "Hardware is again as the expected inventory has it.",
    *("machine", "host"),
    payload=base.InventoryDiffers,
)

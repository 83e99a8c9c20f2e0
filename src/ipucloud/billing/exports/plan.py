"""What an export's operation does, as data."""

from __future__ import annotations

from ipucloud.operations.plan import PlannedStep

EXPORT = "export.create"
"""The kind of operation."""
WORK_KIND = "export"
"""The kind of ticket; its key is the export's id."""

BUILD, DELIVER = "build_file", "deliver_file"
EXPORT_STEPS = (BUILD, DELIVER)
_KEPT = "it is kept here for download"


def plan(*, delivered: bool) -> tuple[PlannedStep, ...]:
    """The steps of an export that is `delivered` to S3, or only kept for download."""
    return (PlannedStep(BUILD, "BUILD"), PlannedStep(DELIVER, "DELIVER", skipped=None if delivered else _KEPT))

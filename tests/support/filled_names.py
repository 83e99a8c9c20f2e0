"""What the objects of a filled database are called, and when they happened."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from tests.support.factories import Project

CREATED_AT = datetime(2026, 5, 1, 9, 45, tzinfo=UTC)
READY_AT = datetime(2026, 5, 1, 10, 0, tzinfo=UTC)
DELETED_AT = datetime(2026, 5, 1, 11, 0, tzinfo=UTC)
FAR_AWAY = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Filled:
    """What the rows are called. The cluster holds `machine` and `host`; both belong to `project`."""

    project: Project
    other_project: Project
    cluster: UUID
    finished_operation: UUID
    open_operation: UUID
    machine: UUID
    host: UUID

"""The work of observing a region: its kind, the right to write what was read, its metrics.

`worker.measures` has the metrics of the database.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from prometheus_client import Counter, Gauge
from sqlalchemy.ext.asyncio import AsyncConnection

Fence: TypeAlias = Callable[[AsyncConnection], Awaitable[None]]
"""Raises when the right to write has passed to another worker; until the transaction ends, it does not pass."""


OBSERVATION = "observation"
"""Kind of the work items; the key is the region."""
SOON_SECONDS = 1.0
"""Pause before a reading that decides something."""


READ = Gauge("observed_objects", "Machines and hosts that answered in the last reading", ["region", "source"])
SECONDS = Gauge("observation_seconds", "Length of the last reading and of writing what it showed", ["region"])
FAILED = Counter("observations_failed", "Readings that were not complete", ["region", "source"])
DISAPPEARED = Counter("mass_disappearances", "Readings in which too many objects failed at once", ["region"])
CHANGED = Counter("hardware_changes", "Serial numbers, models, firmware and places that changed", ["region", "type"])

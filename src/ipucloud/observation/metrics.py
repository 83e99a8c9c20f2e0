"""The metrics of observation, of the worker that read a region last; `worker.measures` has those of the database."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

READ = Gauge("observed_objects", "Machines and hosts that answered in the last reading", ["region", "source"])
SECONDS = Gauge("observation_seconds", "Length of the last reading and of writing what it showed", ["region"])
FAILED = Counter("observations_failed", "Readings that were not complete", ["region", "source"])
DISAPPEARED = Counter("mass_disappearances", "Readings in which too many objects failed at once", ["region"])
CHANGED = Counter("hardware_changes", "Serial numbers, models, firmware and places that changed", ["region", "type"])

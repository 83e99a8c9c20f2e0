"""Every mutant by its name."""

from __future__ import annotations

from tests.sim.mutants import (
    accounting,
    clusters,
    engine,
    hardware,
    money,
    reaching,
    rebuilds,
    repairs,
    resizes,
    restarts,
    schedules,
    storage,
    truth,
    waits,
)
from tests.sim.mutants.planting import MUTANTS

__all__ = [
    "MUTANTS",
    "accounting",
    "clusters",
    "engine",
    "hardware",
    "money",
    "reaching",
    "rebuilds",
    "repairs",
    "resizes",
    "restarts",
    "schedules",
    "storage",
    "truth",
    "waits",
]

"""What differs between histories: each seed has its own weather, so that no fault can hide another for ever."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.sim.faults import Mix, SiteFault

MACHINES = 8
HOSTS = 5

OBSERVATION_SECONDS = 30.0

PALETTES = ((0.0,), (0.0, 5.0, 20.0), (0.0, 5.0, 20.0), (0.0, 5.0, 20.0, 90.0), (20.0, 40.0))

WAITING = frozenset({"serve_waiting_clusters", "follow_preemptions", "follow_reservations"})
"""The tasks of those who wait for capacity, reserve it, or give way."""

# Changes are few and reads many: each kind of call has its own rates.
_READS = {
    SiteFault.STALE: 0.08,
    SiteFault.LOST_BEFORE: 0.03,
    SiteFault.ERROR_BEFORE: 0.03,
    SiteFault.BUSY: 0.02,
    SiteFault.REFUSED: 0.004,
    SiteFault.SLOW: 0.03,
}
_CHANGES = {
    SiteFault.GHOST: 0.12,
    SiteFault.DUPLICATE: 0.12,
    SiteFault.LOST_AFTER: 0.08,
    SiteFault.ERROR_AFTER: 0.08,
    SiteFault.LOST_BEFORE: 0.05,
    SiteFault.ERROR_BEFORE: 0.05,
    SiteFault.BUSY: 0.05,
    SiteFault.REFUSED: 0.01,
    SiteFault.SLOW: 0.08,
}

# The periodic tasks of a worker, and in how many histories each runs: an audit sends as many statements as all else.
# Repairs are started only where the hardware is observed.
TASKS = {
    "sync_inventory": 0.2,
    "delete_expired_clusters": 0.2,
    "sweep_idempotency_keys": 0.05,
    "clean_leftovers": 1.0,
    "sweep_leftovers": 0.2,
    "audit_database": 0.02,
    "audit_sites": 0.05,
}

REPAIRED = (0.0, 0.2, 1.0)
"""How probable it is, in a history, that a customer who uses a cluster has hardware of it replaced."""
RESTARTED = (0.0, 0.5, 1.0)
"""How probable it is, in a history, that a customer who uses a cluster restarts its servers."""
RESIZED = (0.0, 0.5, 1.0)
"""How probable it is, in a history, that a customer who uses a cluster resizes it."""
REBUILT = (0.0, 0.5, 1.0)
"""How probable it is, in a history, that a customer who uses a cluster has its servers rebuilt."""
FAILING = (0.0, 0.03, 0.1)
"""How often hardware fails at what it is asked to do."""
SETTLED = 0.3
"""In how many histories nothing goes wrong until customers use their clusters: what comes later is met more often."""
CROWDED = 0.25
"""In how many histories more customers come than there is room for, who wait, reserve, and are preempted."""
OBSERVED = 0.3
"""In how many histories workers observe the hardware from the start, which may fail in use."""
REPAIRS = 0.7
"""In how many of those workers repair clusters by themselves."""
LIMITS = (1, 2, 5)
"""How many clusters workers may begin to repair in an hour."""
VALIDATED = 0.2
"""In how many histories machines are validated before the next cluster gets them."""
FORGETS = (0.0, 0.01)
"""How often, where losses are repaired by sweeps, the V-IPU controller forgets everything."""
LEFTOVERS = (0.05, 0.2)
"""How often, where leftovers are swept, something of a cluster that is gone comes back."""

BILLED_FROM_REQUEST = 7
"""In one of so many histories billing starts at the request. Which ones: a rule of the seed, so that all others stay
the histories that they were."""


@dataclass(frozen=True)
class Weather:
    """The parameters of one history. Rates are per step of a worker; durations in seconds of virtual time.

    `steps`: how many choices that are not background the safety phase has. `horizon`: when the last customer has
    come. `settled`: faults begin once customers use their clusters. `strikes`: how often hardware in use breaks
    once no other faults occur. `grain`: how probable a boundary inside a transaction is. `tick`: what a step takes
    at most. `settings`: those of the workers that differ.
    """

    steps: int
    clusters: int
    horizon: float
    kill_rate: float
    freeze_rate: float
    presence_loss_rate: float
    drain_rate: float
    tick: float
    grain: float
    mix: Mix
    palette: tuple[float, ...]
    weights: tuple[int, ...]
    quota: int
    own_partitions: float
    repairs: float
    restarts: float
    resizes: float
    rebuilds: float
    tasks: frozenset[str]
    observed: bool
    strike_rate: float
    strikes: int
    leftover_rate: float
    partition_rate: float
    distrust_rate: float
    forget_rate: float
    crowded: bool
    settled: bool
    settings: Mapping[str, Any]
    billed_from_request: bool


def weather(seed: int, draw: random.Random) -> Weather:
    workers = draw.choice((2, 2, 3))
    tasks = {name for name, probability in TASKS.items() if draw.random() < probability}
    observed = draw.random() < OBSERVED
    if observed and draw.random() < REPAIRS:
        tasks.add("start_repairs")
    crowded = draw.random() < CROWDED
    if crowded:
        tasks |= WAITING
    return Weather(
        steps=draw.choice((150, 300, 300, 300, 1200)),
        clusters=draw.randint(2, 6) + 3 * crowded,
        horizon=draw.choice((2.0, 60.0, 300.0, 900.0)),
        kill_rate=draw.choice((0.0, 0.01, 0.03, 0.1)),
        freeze_rate=draw.choice((0.0, 0.005, 0.02, 0.05)),
        presence_loss_rate=draw.choice((0.0, 0.0, 0.005)),
        drain_rate=draw.choice((0.0, 0.0, 0.005)),
        tick=draw.choice((0.2, 1.0, 4.0)),
        grain=draw.choice((0.0, 0.0, 0.1, 0.5)),
        mix=_mix(draw),
        palette=draw.choice(PALETTES),
        weights=tuple(draw.choice((1, 1, 3, 10)) for _ in range(workers)),
        quota=draw.choice((5, MACHINES)),
        own_partitions=draw.choice((0.5, 1.0)),
        repairs=draw.choice(REPAIRED),
        restarts=draw.choice(RESTARTED),
        resizes=draw.choice(RESIZED),
        rebuilds=draw.choice(REBUILT),
        tasks=frozenset(tasks),
        observed=observed,
        strike_rate=draw.choice((0.0, 0.01, 0.03)),
        strikes=draw.choice((1, 1, 2, 3)),
        leftover_rate=draw.choice(LEFTOVERS) if "sweep_leftovers" in tasks else 0.0,
        partition_rate=draw.choice((0.0, 0.0, 0.01)),
        distrust_rate=draw.choice((0.0, 0.0, 0.005)),
        forget_rate=draw.choice(FORGETS) if "sweep_leftovers" in tasks else 0.0,
        crowded=crowded,
        settings=_settings(draw),
        billed_from_request=seed % BILLED_FROM_REQUEST == 3,
        settled=draw.random() < SETTLED,
    )


def _settings(draw: random.Random) -> dict[str, Any]:
    poll = draw.choice((10.0, 15.0))
    return {
        "worker_slots": draw.choice((1, 4, 32)),
        "poll_seconds": poll,
        "reap_seconds": 2 * poll,
        "observation_interval": OBSERVATION_SECONDS,
        "observation_expires": 4 * OBSERVATION_SECONDS,
        "validation": frozenset({"release", "repair"}) if draw.random() < VALIDATED else frozenset(),
        "validation_limit": draw.choice((4, 64)),
        "repair_after": draw.choice((0.0, 60.0, 120.0)),
        "repair_host_after": draw.choice((60.0, 240.0)),
        "repair_limit": draw.choice(LIMITS),
        "preemption_notice": draw.choice((30.0, 120.0)),
    }


def _mix(draw: random.Random) -> Mix:
    kinds = sorted(_READS.keys() | _CHANGES.keys())
    kind = draw.choice(("calm", "one", "one", "some", "some", "all"))
    if kind == "calm":
        chosen = []
    elif kind == "one":
        chosen = [draw.choice((*kinds, SiteFault.GHOST, SiteFault.GHOST, SiteFault.DUPLICATE, SiteFault.DUPLICATE))]
    elif kind == "some":
        chosen = draw.sample(kinds, draw.randint(2, 5))
    else:
        chosen = kinds
    factor = 3.0 if kind == "one" else draw.choice((0.5, 1.0, 1.5))
    return Mix(
        reads={fault: _READS[fault] * factor for fault in chosen if fault in _READS},
        changes={fault: _CHANGES[fault] * factor for fault in chosen if fault in _CHANGES},
        database=draw.choice((0.0, 0.0, 0.01, 0.03)),
        hardware=draw.choice(FAILING),
    )

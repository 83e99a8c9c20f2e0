"""What differs between histories: each seed has its own weather, so that no fault can hide another for ever."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.sim.faults import Mix, SiteFault

MACHINES = 8
HOSTS = 5

_PALETTES = ((0.0,), (0.0, 5.0, 20.0), (0.0, 5.0, 20.0, 90.0), (30.0, 60.0))
_RATES = {
    SiteFault.LOST_BEFORE: 0.05,
    SiteFault.LOST_AFTER: 0.08,
    SiteFault.GHOST: 0.05,
    SiteFault.DUPLICATE: 0.05,
    SiteFault.STALE: 0.05,
    SiteFault.ERROR_BEFORE: 0.05,
    SiteFault.ERROR_AFTER: 0.05,
    SiteFault.REFUSED: 0.01,
    SiteFault.BUSY: 0.03,
    SiteFault.SLOW: 0.05,
}

# The periodic tasks of a worker, and in how many histories each runs: an audit sends as many statements as all else.
_TASKS = {
    "sync_inventory": 0.3,
    "delete_expired_clusters": 0.3,
    "sweep_idempotency_keys": 0.1,
    "audit_database": 0.03,
    "audit_sites": 0.1,
}


@dataclass(frozen=True)
class Weather:
    """The parameters of one history. Rates are per choice; durations in seconds of virtual time."""

    choices: int
    workers: int
    clusters: int
    kill_rate: float
    freeze_rate: float
    presence_loss_rate: float
    drain_rate: float
    tick: float
    grain: float
    mix: Mix
    palette: tuple[float, ...]
    weights: tuple[int, ...]
    slots: int
    poll: float
    delete_all: bool
    tasks: frozenset[str]


def weather(draw: random.Random) -> Weather:
    workers = draw.choice((2, 2, 3))
    return Weather(
        choices=draw.choice((300, 500, 900)),
        workers=workers,
        clusters=draw.randint(2, 6),
        kill_rate=draw.choice((0.0, 0.01, 0.05, 0.15)),
        freeze_rate=draw.choice((0.0, 0.01, 0.03)),
        presence_loss_rate=draw.choice((0.0, 0.0, 0.005)),
        drain_rate=draw.choice((0.0, 0.0, 0.005)),
        tick=draw.choice((0.5, 1.0, 3.0)),
        grain=draw.choice((0.0, 0.0, 0.1, 0.5)),
        mix=_mix(draw),
        palette=draw.choice(_PALETTES),
        weights=tuple(draw.choice((1, 1, 3, 10)) for _ in range(workers)),
        slots=draw.choice((1, 4, 32)),
        poll=draw.choice((5.0, 15.0)),
        delete_all=draw.random() < 0.4,
        tasks=frozenset(name for name, probability in _TASKS.items() if draw.random() < probability),
    )


def _mix(draw: random.Random) -> Mix:
    kind = draw.choice(("calm", "one", "some", "some", "all"))
    if kind == "calm":
        return Mix(hardware=draw.choice((0.0, 0.1)))
    chosen = list(_RATES)
    if kind == "one":
        chosen = [draw.choice(chosen)]
    elif kind == "some":
        chosen = draw.sample(chosen, draw.randint(2, 5))
    factor = draw.choice((0.5, 1.0, 2.0)) if kind != "one" else 3.0
    return Mix(
        site={fault: _RATES[fault] * factor for fault in chosen},
        database=draw.choice((0.0, 0.0, 0.01, 0.03)),
        hardware=draw.choice((0.0, 0.03, 0.1)),
    )

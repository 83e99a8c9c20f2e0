"""Kills at random: several clusters at once, created, cancelled and deleted, while one worker after another dies."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from ipucloud.kernel.errors import Problem
from ipucloud.kernel.failpoints import Action, Trap
from ipucloud.operations.store import Accepted
from tests.crash import checks
from tests.crash.lab import Lab

WORKER_POINTS = ("cluster.", "engine.", "presence.", "site.")
LATEST_HIT = 6
LONGEST_LIFE = 0.4
"""Seconds after which a victim is killed wherever it is."""

KILLS = 10
KILLS_AT_LEAST = 8
"""Kills of one history; most have all of them."""

MAX_CONCURRENT = 3
MAX_LIVING = 6
"""A POD8 has two machines, and the site sixteen."""

MAX_CHECKS = 3
"""A work item is parked after five passes without progress; a worker must be able to finish one before that."""


@dataclass
class Tracked:
    """A cluster of the history, and what was requested of it."""

    cluster: UUID
    create: Accepted
    cancelled: bool = False
    suspends: list[Accepted] = field(default_factory=list)
    delete: Accepted | None = None

    @property
    def ends(self) -> frozenset[str]:
        """How its create may end."""
        ends = {"succeeded"}
        if self.cancelled:
            ends.add("cancelled")
        if self.delete is not None:
            ends.add("failed")
        return frozenset(ends)


@dataclass
class History:
    """What became of one seed."""

    seed: int
    kills: int = 0
    died_at: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


async def history(lab: Lab, seed: int, points: Sequence[str]) -> History:
    """One history; the lab has no cluster before and after. The seed decides what is asked for and where it dies."""
    draw = random.Random(seed)  # noqa: S311  # repeatable, not secret
    played = History(seed)
    clusters: list[Tracked] = []
    worker_points = [point for point in points if point.startswith(WORKER_POINTS)]
    while played.kills < KILLS and await _may_go_on(lab):
        await _ask_for_something(lab, draw, clusters)
        played.died_at.append(await _one_life(lab, draw, worker_points))
        played.kills += 1
        await _change_of_mind(lab, draw, clusters)
    async with lab.survivor():
        for tracked in clusters:
            ended = (await lab.finished(tracked.create)).state
            if ended not in tracked.ends:
                played.faults.append(f"a create ended as {ended}, not as {sorted(tracked.ends)}")
            for operation in (*tracked.suspends, tracked.delete):
                if operation is not None:
                    await lab.finished(operation)
    played.faults += await checks.faults(lab, *(tracked.cluster for tracked in clusters))
    await lab.clear()
    played.faults += await checks.faults(lab, *(tracked.cluster for tracked in clusters))
    return played


async def _may_go_on(lab: Lab) -> bool:
    """Whether no work item is close to being parked."""
    attempts = await lab.value("SELECT max(attempt) FROM work")
    return attempts is None or attempts <= MAX_CHECKS


async def _ask_for_something(lab: Lab, draw: random.Random, clusters: list[Tracked]) -> None:
    """Ask for clusters, or for an end of some, until there is something to do."""
    busy = await lab.value("SELECT count(*) FROM operations WHERE finished_at IS NULL")
    for _ in range(draw.randint(1, MAX_CONCURRENT) if busy == 0 else 0):
        living = [tracked for tracked in clusters if tracked.delete is None]
        if len(living) >= MAX_LIVING or (living and draw.random() < 1 / 2):
            await draw.choice((_delete, _suspend_or_resume))(lab, draw.choice(living))
        else:
            creation = await lab.create_fresh()
            clusters.append(Tracked(creation.target_id, creation))


async def _delete(lab: Lab, tracked: Tracked) -> None:
    if await lab.value("SELECT state <> 'deleted' FROM clusters WHERE id = :id", id=tracked.cluster):
        tracked.delete = await lab.delete(tracked.cluster)


async def _suspend_or_resume(lab: Lab, tracked: Tracked) -> None:
    """Suspend a cluster in use, resume a suspended one; others are refused, and so is one that finds no room."""
    state = await lab.value("SELECT state FROM clusters WHERE id = :id", id=tracked.cluster)
    with contextlib.suppress(Problem):
        ask = lab.resume if state == "suspended" else lab.suspend
        tracked.suspends.append(await ask(tracked.cluster))


async def _one_life(lab: Lab, draw: random.Random, points: Sequence[str]) -> str:
    """A worker that dies at a point or at a moment; where it died."""
    traps, life = [], LONGEST_LIFE
    if draw.random() < 2 / 3:
        traps.append(Trap(draw.choice(points), draw.randint(1, LATEST_HIT), Action.KILL))
    else:
        life = draw.uniform(0.02, LONGEST_LIFE)
    victim = await lab.victim(*traps)
    try:
        async with asyncio.timeout(life):
            await victim.end()
    except TimeoutError:
        await victim.kill()
    return victim.points[-1] if victim.points else "start"


async def _change_of_mind(lab: Lab, draw: random.Random, clusters: Sequence[Tracked]) -> None:
    tracked = draw.choice(clusters)
    if tracked.delete is not None:
        return
    match draw.choice(("nothing", "nothing", "nothing", "cancel", "delete", "suspend or resume")):
        case "cancel":
            tracked.cancelled |= await lab.cancel(tracked.create)
        case "delete":
            await _delete(lab, tracked)
        case "suspend or resume":
            await _suspend_or_resume(lab, tracked)

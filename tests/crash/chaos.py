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
from tests.crash import checks
from tests.crash.lab import Lab

WORKER_POINTS = ("cluster.", "engine.", "presence.", "site.")
LATEST_HIT = 6
LONGEST_LIFE = 0.4
"""Seconds after which a victim is killed wherever it is."""

KILLS = 10
KILLS_AT_LEAST = 8
"""Kills of one history; most have all of them."""

MOST_AT_ONCE = 3
MOST_LIVING = 6
"""A POD8 has two machines, and the site sixteen."""

MOST_LOOKS = 3
"""A ticket is parked after five looks without progress; before that somebody has to be let finish."""


@dataclass
class Wish:
    """A cluster somebody wanted, and what has been asked about it since."""

    cluster: UUID
    create: UUID
    cancelled: bool = False
    rests: list[UUID] = field(default_factory=list)
    delete: UUID | None = None

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
    told = History(seed)
    wishes: list[Wish] = []
    mine = [point for point in points if point.startswith(WORKER_POINTS)]
    while told.kills < KILLS and await _may_go_on(lab):
        await _wish(lab, draw, wishes)
        told.died_at.append(await _one_life(lab, draw, mine))
        told.kills += 1
        await _change_of_mind(lab, draw, wishes)
    async with lab.survivor():
        for wish in wishes:
            ended = (await lab.world.finished(wish.create)).state
            if ended not in wish.ends:
                told.faults.append(f"a create ended as {ended}, not as {sorted(wish.ends)}")
            for operation in (*wish.rests, wish.delete):
                if operation is not None:
                    await lab.world.finished(operation)
    told.faults += await checks.faults(lab, *(wish.cluster for wish in wishes))
    await lab.clear()
    told.faults += await checks.faults(lab, *(wish.cluster for wish in wishes))
    return told


async def _may_go_on(lab: Lab) -> bool:
    """Whether no ticket is near to being parked."""
    looks = await lab.world.value("SELECT max(attempt) FROM work")
    return looks is None or looks <= MOST_LOOKS


async def _wish(lab: Lab, draw: random.Random, wishes: list[Wish]) -> None:
    """Ask for clusters, or for an end of some, until there is something to do."""
    busy = await lab.world.value("SELECT count(*) FROM operations WHERE finished_at IS NULL")
    for _ in range(draw.randint(1, MOST_AT_ONCE) if busy == 0 else 0):
        living = [wish for wish in wishes if wish.delete is None]
        if len(living) >= MOST_LIVING or (living and draw.random() < 1 / 2):
            await draw.choice((_delete, _rest_or_come_back))(lab, draw.choice(living))
        else:
            made = await lab.create()
            wishes.append(Wish(made.id, made.operation))


async def _delete(lab: Lab, wish: Wish) -> None:
    if await lab.world.value("SELECT state <> 'deleted' FROM clusters WHERE id = :id", id=wish.cluster):
        wish.delete = await lab.world.delete(wish.cluster)


async def _rest_or_come_back(lab: Lab, wish: Wish) -> None:
    """Suspend a cluster in use, resume a suspended one; others are refused, and so is one that finds no room."""
    state = await lab.world.value("SELECT state FROM clusters WHERE id = :id", id=wish.cluster)
    with contextlib.suppress(Problem):
        ask = lab.world.resume if state == "suspended" else lab.world.suspend
        wish.rests.append(await ask(wish.cluster))


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


async def _change_of_mind(lab: Lab, draw: random.Random, wishes: Sequence[Wish]) -> None:
    wish = draw.choice(wishes)
    if wish.delete is not None:
        return
    match draw.choice(("nothing", "nothing", "nothing", "cancel", "delete", "rest")):
        case "cancel":
            wish.cancelled |= await lab.cancel(wish.create)
        case "delete":
            await _delete(lab, wish)
        case "rest":
            await _rest_or_come_back(lab, wish)

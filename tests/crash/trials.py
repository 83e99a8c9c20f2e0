"""One trial: a worker is killed at a point of its work, another one finishes, and the expected outcome is there."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from ipucloud.kernel.failpoints import Action, Trap
from tests.crash import checks
from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.victims import Victim
from tests.support.waiting import PATIENCE
from tests.support.world.customer import id_of


@dataclass(frozen=True)
class Case:
    """The victim dies at the `hit`-th time that it reaches `point`."""

    kind: Kind
    point: str
    hit: int = 1

    def __str__(self) -> str:
        return f"{self.kind.name}-{self.point}-{self.hit}"

    @property
    def traps(self) -> Sequence[Trap]:
        # A worker that is to be stopped first must not die before: on a busy machine a short lease ends by itself.
        stop = next((trap.point for trap in self.kind.first if trap.action is Action.STOP), None)
        after = None if self.point == self.kind.after else self.kind.after or stop
        return *self.kind.first, Trap(self.point, self.hit, Action.KILL, after)


@dataclass(frozen=True)
class Outcome:
    """`died`: the victim was killed; it was not when it never came to that point. `points`: all it reached."""

    died: bool
    points: tuple[str, ...]
    faults: tuple[str, ...]


async def attempt(lab: Lab, case: Case) -> Outcome:
    """The whole trial. Leaves the lab as it was, but for active clusters that later trials may use."""
    expectation = await case.kind.ask(lab)
    victim = await lab.victim(*case.traps, changes=case.kind.settings)
    try:
        await _live(lab, case.kind, expectation, victim)
    finally:
        died = victim.ended.done() and victim.ended.result() == -signal.SIGKILL
        await victim.kill()
    if case.kind.after is None:
        lab.clear_faults()
    await case.kind.recover(lab, expectation)
    faults = await settled(lab, expectation)
    lab.clear_faults()
    return Outcome(died, tuple(victim.points), tuple(faults))


async def settled(lab: Lab, *expectations: Expectation) -> list[str]:
    """Let another worker finish all of them; what is then not as expected. Living clusters are left to later trials."""
    async with lab.survivor():
        ends = [(await lab.finished(expectation.operation)).state for expectation in expectations]
        await lab.tasks_are_done()
    return [
        fault
        for expectation, ended in zip(expectations, ends, strict=True)
        for fault in await _broken(lab, expectation, ended)
    ]


async def _broken(lab: Lab, expectation: Expectation, ended: str) -> list[str]:
    faults = await checks.faults(lab, expectation.cluster)
    if ended != expectation.ends:
        why = await lab.value(
            "SELECT error ->> 'detail' FROM operations WHERE id = :id", id=id_of(expectation.operation)
        )
        faults.append(f"the operation ended as {ended}, not as {expectation.ends}: {why}")
    state = await lab.value("SELECT state FROM clusters WHERE id = :id", id=expectation.cluster)
    if state != expectation.state:
        faults.append(f"the cluster is {state}, not {expectation.state}")
    if state in {"active", "suspended"}:
        await lab.keep(expectation.cluster, state)
    elif state == "error":
        await lab.remove([expectation.cluster])
    return faults


async def _live(lab: Lab, kind: Kind, expectation: Expectation, victim: Victim) -> None:
    """Return when the victim has died or has nothing more to do."""
    driving = asyncio.create_task(kind.drive(lab, expectation, victim))
    death = asyncio.create_task(victim.end())
    try:
        async with asyncio.timeout(PATIENCE):
            await asyncio.wait({driving, death}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        over = driving.done()
        driving.cancel()
        death.cancel()
        await asyncio.gather(driving, death, return_exceptions=True)
    if over:
        driving.result()

"""Long runs, divided among processes that work side by side on one server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from zlib import crc32

from tests.crash import chaos, matrix, zombies
from tests.crash.lab import Lab
from tests.crash.series import Tally, run
from tests.support.postgres import ROOT_VARIABLE, TestServer

FAILURES_SHOWN = 20
POINT = "point "
"""Begins the notes that count how often a process died at a point."""


class What(StrEnum):
    """`matrix`: every failpoint in every kind of operation. `random`: kills at random. `zombies`: frozen workers."""

    MATRIX = "matrix"
    RANDOM = "random"
    ZOMBIES = "zombies"


@dataclass(frozen=True)
class Order:
    """What to run. `kills` and `seed` are of `random`, `leases` of `zombies`; `only`: trials that have this in their
    name."""

    what: What
    kills: int = 2000
    seed: int = 0
    leases: tuple[int, ...] = (2, 10, 60)
    only: str = ""

    @classmethod
    def of(cls, document: str) -> Order:
        values = json.loads(document)
        return cls(**(values | {"what": What(values["what"]), "leases": tuple(values["leases"])}))


def divided(order: Order, processes: int) -> Tally:
    """Run the order in so many processes, and add up. The run's server must be there."""
    command = [sys.executable, "-m", "tests.crash", "share", json.dumps(asdict(order))]
    shares = [
        subprocess.Popen([*command, str(number), str(processes)], stdout=subprocess.PIPE, text=True)
        for number in range(processes)
    ]
    total = Tally()
    for number, share in enumerate(shares):
        out, _ = share.communicate()
        if share.returncode == 0:
            total.add(Tally.of(out.splitlines()[-1]))
        else:
            total.failures.append(f"share {number} ended with {share.returncode}")
    if order.what is What.MATRIX and not order.only:
        total.failures += [f"no process died at {point}" for point in matrix.names() if not total.notes[POINT + point]]
    return total


def one_process_per_core() -> int:
    return os.cpu_count() or 1


async def share(order: Order, number: int, of: int) -> Tally:
    """The `number`-th part of an order, counted from 0."""
    server = TestServer(Path(os.environ[ROOT_VARIABLE]))

    async def kills(lab: Lab) -> Sequence[matrix.AnyCase]:
        # By their names: whether a point is hit twice is seen by each share for itself, and not always alike.
        cases = [case for case in await matrix.everything(lab) if order.only in str(case)]
        return [case for case in cases if crc32(str(case).encode()) % of == number]

    async def freezes(lab: Lab) -> Sequence[zombies.Case | zombies.Inside]:
        return [case for case in zombies.everything(order.leases) if order.only in str(case)][number::of]

    async def seeds(lab: Lab) -> Sequence[int]:
        histories = -(-order.kills // chaos.KILLS_AT_LEAST)
        return range(order.seed + number, order.seed + histories, of)

    match order.what:
        case What.MATRIX:
            return await run(server, kills, _kill)
        case What.ZOMBIES:
            return await run(server, freezes, _freeze)
        case What.RANDOM:
            return await run(server, seeds, _kill_at_random)


async def _kill(lab: Lab, case: matrix.AnyCase, tally: Tally) -> Sequence[str]:
    outcome = await matrix.run(lab, case)
    tally.kills += outcome.died
    tally.notes[POINT + case.point] += outcome.died
    tally.notes["did not come to its point"] += not outcome.died
    return outcome.faults


async def _freeze(lab: Lab, case: zombies.Case | zombies.Inside, tally: Tally) -> Sequence[str]:
    if isinstance(case, zombies.Inside):
        return await zombies.attempt_inside(lab, case)
    thawed = await zombies.attempt(lab, case)
    tally.notes["stale passes or results dropped"] += bool(thawed.refused)
    tally.notes["built something for nobody, swept away"] += thawed.left_over
    return thawed.faults


async def _kill_at_random(lab: Lab, seed: int, tally: Tally) -> Sequence[str]:
    played = await chaos.history(lab, seed, matrix.names())
    tally.kills += played.kills
    tally.notes.update(POINT + point for point in played.died_at)
    return [f"{fault}; died at {played.died_at}" for fault in played.faults]

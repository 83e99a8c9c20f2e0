"""`python -m tests.crash matrix | random | zombies`: the long runs. Exits 0 when everything came true, else 1."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ipucloud import logs
from ipucloud.config import Settings
from tests.crash import chaos, matrix, zombies
from tests.crash.lab import Lab
from tests.crash.series import Tally, run
from tests.support.postgres import ROOT_VARIABLE, TestServer, running_server

FAILURES_SHOWN = 20


def main() -> int:
    options = _options()
    logs.configure(Settings(log_level="error", log_format="console"))
    if options.share is not None:
        tally = asyncio.run(_share(options))
        print(json.dumps(asdict(tally)))
        return 0
    with running_server():
        tally = _divided(options.processes)
    return _told(options, tally)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description="Kill and freeze real processes.")
    parser.add_argument("run", choices=["matrix", "random", "zombies"])
    parser.add_argument("--kills", type=int, default=2000, help="of `random` (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="first seed of `random` (%(default)s)")
    parser.add_argument("--leases", type=int, nargs="+", default=[2, 10, 60], help="of `zombies` (%(default)s)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="side by side (%(default)s)")
    parser.add_argument("--only", default="", help="trials whose name has this in it")
    parser.add_argument("--share", help=argparse.SUPPRESS)
    return parser.parse_args()


def _divided(processes: int) -> Tally:
    """Run the shares side by side, and add up."""
    command = [sys.executable, "-m", "tests.crash", *sys.argv[1:]]
    shares = [
        subprocess.Popen([*command, "--share", f"{number}/{processes}"], stdout=subprocess.PIPE, text=True)
        for number in range(processes)
    ]
    total = Tally()
    for number, share in enumerate(shares):
        out, _ = share.communicate()
        if share.returncode != 0:
            total.failures.append(f"share {number} ended with {share.returncode}")
            continue
        found = json.loads(out.splitlines()[-1])
        total.add(Tally(**(found | {"notes": Counter(found["notes"])})))
    return total


async def _share(options: argparse.Namespace) -> Tally:
    number, of = (int(part) for part in options.share.split("/"))
    server = TestServer(Path(os.environ[ROOT_VARIABLE]))

    async def kills(lab: Lab) -> Sequence[matrix.AnyCase]:
        return [case for case in await matrix.everything(lab) if options.only in str(case)][number::of]

    async def freezes(lab: Lab) -> Sequence[zombies.Case | zombies.Inside]:
        everything: list[zombies.Case | zombies.Inside] = [*zombies.INSIDE, *zombies.cases(options.leases)]
        return [case for case in everything if options.only in str(case)][number::of]

    async def seeds(lab: Lab) -> Sequence[int]:
        histories = -(-options.kills // chaos.KILLS_AT_LEAST)
        return range(options.seed + number, options.seed + histories, of)

    match options.run:
        case "matrix":
            return await run(server, kills, _kill)
        case "zombies":
            return await run(server, freezes, _freeze)
        case _:
            return await run(server, seeds, _kill_at_random)


async def _kill(lab: Lab, case: matrix.AnyCase, tally: Tally) -> Sequence[str]:
    outcome = await matrix.run(lab, case)
    tally.kills += outcome.died
    tally.notes[f"point {case.point}"] += outcome.died
    tally.notes["did not come to its point"] += not outcome.died
    return outcome.faults


async def _freeze(lab: Lab, case: zombies.Case | zombies.Inside, tally: Tally) -> Sequence[str]:
    if isinstance(case, zombies.Inside):
        return await zombies.attempt_inside(lab, case)
    thawed = await zombies.attempt(lab, case)
    tally.notes["stale looks or results dropped"] += bool(thawed.refused)
    tally.notes["built something for nobody, swept away"] += thawed.left_over
    return thawed.faults


async def _kill_at_random(lab: Lab, seed: int, tally: Tally) -> Sequence[str]:
    told = await chaos.history(lab, seed, matrix.names())
    tally.kills += told.kills
    return [f"{fault}; died at {told.died_at}" for fault in told.faults]


def _told(options: argparse.Namespace, tally: Tally) -> int:
    points = {note: count for note, count in tally.notes.items() if note.startswith("point ")}
    if options.run == "matrix" and not options.only:
        missed = [point for point in matrix.names() if not points.get(f"point {point}")]
        tally.failures += [f"no process died at {point}" for point in missed]
        print(f"{len(matrix.names()) - len(missed)} of {len(matrix.names())} failpoints")
    for note, count in sorted(tally.notes.items()):
        if note not in points:
            print(f"{count} × {note}")
    pace = (tally.kills or tally.trials) / max(tally.seconds, 0.1)
    print(f"{tally.trials} trials, {tally.kills} kills in {tally.seconds:.0f} s ({pace:.1f}/s)")
    print(f"{len(tally.failures)} failures")
    for failure in tally.failures[:FAILURES_SHOWN]:
        print(failure)
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())

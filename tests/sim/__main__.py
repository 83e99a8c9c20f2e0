"""`./dev sim`: play histories, or one of them with its trace, or hunt planted bugs."""

from __future__ import annotations

import argparse
import sys

from tests.sim.history import play
from tests.sim.mutants.all import MUTANTS
from tests.sim.mutants.hunt import hunt, write_table
from tests.sim.report import report
from tests.sim.runner import one_stage, play_many, save, saved_seeds, tally
from tests.support.postgres import running_server


def main() -> int:
    options = _parser().parse_args()
    with running_server():
        if options.trace:
            return _trace(options.first, options.mutant)
        if options.hunt:
            return _hunt(options)
        seeds = saved_seeds() if options.saved else range(options.first, options.first + options.seeds)
        verdicts = play_many(
            seeds, processes=options.processes, mutant=options.mutant, until_failure=bool(options.mutant)
        )
        counted = tally(verdicts, progress=sys.stderr, digests=sys.stdout if options.digests else None)
    print(counted.summary())
    if options.coverage:
        print(report(counted.coverage))
    if options.mutant is None:
        for verdict in counted.failed:
            save(verdict)
            print(f"./dev sim --first {verdict.seed} --trace   # {verdict.failures[0]}")
    return bool(counted.failed)


def _trace(seed: int, mutant: str | None) -> int:
    with one_stage(mutant) as stage:
        verdict = play(stage, seed, echo=sys.stdout)
    print(f"{verdict.digest}: {'; '.join(verdict.failures) or 'all is well'}")
    return bool(verdict.failures)


def _hunt(options: argparse.Namespace) -> int:
    names = [options.mutant] if options.mutant else list(MUTANTS)
    kills = hunt(names, seeds=options.seeds, first=options.first, processes=options.processes)
    if options.table:
        write_table(kills)
    survivors = [kill.mutant.name for kill in kills if kill.by is None]
    print(f"survivors: {', '.join(survivors) or 'none'}")
    return bool(survivors)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev sim", description=__doc__)
    parser.add_argument("--seeds", type=int, default=500, help="how many histories (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: %(default)s)")
    parser.add_argument("--saved", action="store_true", help="play the seeds that failed before instead")
    parser.add_argument(
        "--mutant", choices=sorted(MUTANTS), metavar="NAME", help="plant a bug, and stop when it is found"
    )
    parser.add_argument("--coverage", action="store_true", help="tell what the histories came through")
    parser.add_argument("--digests", action="store_true", help="print the hash of every trace")
    parser.add_argument("--hunt", action="store_true", help="plant every bug (or --mutant), one after the other")
    parser.add_argument("--table", action="store_true", help="with --hunt: write tests/sim/mutants/README.md")
    parser.add_argument("-n", "--processes", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("--trace", action="store_true", help="play the first seed and print all that happens")
    return parser


if __name__ == "__main__":
    sys.exit(main())

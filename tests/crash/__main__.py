"""`python -m tests.crash matrix | random | zombies`: a long run, or a part of one to look at again.

Exits 0 when everything came true, else 1.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys

import structlog

from tests.crash.series import Tally
from tests.crash.shares import FAILURES_SHOWN, POINT, Order, What, divided, one_process_per_core, share
from tests.support.postgres import running_server


def main() -> int:
    # Processes that die have much to complain about; what is wrong in the end is in the report of the run.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    match sys.argv[1:]:
        case ["share", document, number, of]:
            print(asyncio.run(share(Order.of(document), int(number), int(of))).document())
            return 0
    options = _options()
    order = Order(options.what, options.kills, options.seed, tuple(options.leases), options.only)
    with running_server():
        return _report(divided(order, options.processes))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description="Kill and freeze real processes.")
    parser.add_argument("what", type=What, choices=list(What))
    parser.add_argument("--kills", type=int, default=Order.kills, help="of `random` (%(default)s)")
    parser.add_argument("--seed", type=int, default=Order.seed, help="first seed of `random` (%(default)s)")
    parser.add_argument("--leases", type=int, nargs="+", default=Order.leases, help="of `zombies` (%(default)s)")
    parser.add_argument("--processes", type=int, default=one_process_per_core(), help="side by side (%(default)s)")
    parser.add_argument("--only", default=Order.only, help="trials whose name has this in it")
    return parser.parse_args()


def _report(tally: Tally) -> int:
    points = sum(1 for note in tally.notes if note.startswith(POINT))
    print(f"processes died at {points} points")
    for note, count in sorted(tally.notes.items()):
        if not note.startswith(POINT):
            print(f"{count} × {note}")
    print(f"{tally.trials} trials, {tally.kills} kills in {tally.seconds:.0f} s")
    print(f"{len(tally.failures)} failures")
    for failure in tally.failures[:FAILURES_SHOWN]:
        print(failure)
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m bench [NAME …]`: measure, print, keep the figures in `bench/results/`."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence

from bench import report
from bench.finding import Finding
from bench.peers.placement import install
from bench.scenarios import (
    audit,
    burst,
    close,
    controller,
    correction,
    create,
    draft,
    engine,
    exports,
    killed,
    month,
    observation,
    panel,
    partitions,
    placement,
    reads,
    room,
    slow_clients,
    waiting,
    wake,
)
from bench.stage import Stage, open_stage
from ipucloud.process import logs

SCENARIOS: Mapping[str, Callable[[Stage], list[Finding]]] = {
    "reads": reads.run,
    "slow_clients": slow_clients.run,
    "create": create.run,
    "placement": placement.run,
    "room": room.run,
    "engine": engine.run,
    "wake": wake.run,
    "killed": killed.run,
    "burst": burst.run,
    "waiting": waiting.run,
    "audit": audit.run,
    "observation": observation.run,
    "close": close.run,
    "correction": correction.run,
    "exports": exports.run,
    "month": month.run,
    "draft": draft.run,
    "controller": controller.run,
    "partitions": partitions.run,
    "panel": panel.run,
}
ROUNDS = 7


def main() -> None:
    """Exits 0 whatever the figures say, 1 when a measurement could not be made, 2 on wrong usage."""
    options = _options()
    logs.configure("console", "error")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # by way of every `finally`
    if options.setup:
        install()
        return
    around = report.circumstances()
    names = options.names or list(SCENARIOS)
    with open_stage(options.rounds) as stage:
        findings = _measure(stage, names)
    if options.json:
        print(json.dumps(report.document(around, findings), ensure_ascii=False))
    else:
        report.show(findings)
    if options.keep:
        print(f"kept in {report.keep(around, findings)}", file=sys.stderr)
    sys.exit(0 if len(findings) == len(names) else 1)


def _measure(stage: Stage, names: Sequence[str]) -> dict[str, list[Finding]]:
    """What each scenario found, but for those that broke."""
    findings: dict[str, list[Finding]] = {}
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            findings[name] = SCENARIOS[name](stage)
        except Exception:  # noqa: BLE001  # the others are worth having all the same
            traceback.print_exc()
    return findings


def _options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measure ratios, side by side in one run.")
    parser.add_argument("names", nargs="*", choices=[*SCENARIOS, []], metavar="NAME", help=", ".join(SCENARIOS))
    parser.add_argument("--setup", action="store_true", help="install the peers into .tools/, and measure nothing")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns each side takes (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")
    parser.add_argument("--keep", action="store_true", help="write the figures to bench/results/ too")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    return options


if __name__ == "__main__":
    main()

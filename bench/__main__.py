"""`python -m bench [NAME …]`: measure, print, keep the figures in `bench/README.md`."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence

from bench import against, report
from bench.enrolment import discover
from bench.finding import Finding
from bench.peers.placement import install
from bench.stage import Stage, open_stage
from ipucloud.process import logs
from tests.support.machine import has

SCENARIOS = discover()
ROUNDS = 7
ENDING = (signal.SIGINT, signal.SIGTERM)


def main() -> None:
    """Exits 0 whatever the figures say, 1 when a measurement could not be made, 2 on wrong usage."""
    options = _options()
    logs.configure("console", "error")
    for number in ENDING:
        signal.signal(number, _end)
    if options.setup:
        install()
        return
    if options.against:
        _compare(options)
        return
    info = report.run_info()
    names = options.names or list(SCENARIOS)
    rounds = options.rounds or (1 if options.smallest else ROUNDS)
    with open_stage(rounds, smallest=options.smallest) as stage:
        findings = _measure(stage, names, dict(options.size))
    if options.json:
        print(json.dumps(report.document(info, findings), ensure_ascii=False))
    else:
        report.show(findings)
    if options.keep:
        report.keep(info, findings)
    sys.exit(0 if len(findings) == len(names) else 1)


def _compare(options: argparse.Namespace) -> None:
    sizes = (word for name, number in options.size for word in ("--size", f"{name}={number:g}"))
    rounds = [] if options.rounds is None else ["--rounds", str(options.rounds)]
    try:
        against.compare(options.against, [*options.names, *rounds, *sizes, *["--smallest"] * options.smallest])
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)  # it has said why


def _end(number: int, _frame: object) -> None:
    """Leave by way of every `finally`. Nobody who asks again interrupts those, and they take seconds."""
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def _measure(stage: Stage, names: Sequence[str], sizes: Mapping[str, float]) -> dict[str, list[Finding]]:
    """What each scenario found, but for those that broke."""
    findings: dict[str, list[Finding]] = {}
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        if lacking := [each for each in SCENARIOS[name].needs if not has(each)]:
            print(f"{name} wants {', '.join(lacking)}", file=sys.stderr)
            findings[name] = []
            continue
        try:
            findings[name] = SCENARIOS[name].run(stage, sizes)
        except Exception:  # noqa: BLE001  # the others are worth having all the same
            traceback.print_exc()
    return findings


def _options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measure ratios, side by side in one run.")
    parser.add_argument("names", nargs="*", choices=[*SCENARIOS, []], metavar="NAME", help=", ".join(SCENARIOS))
    parser.add_argument("--setup", action="store_true", help="install the peers into .tools/, and measure nothing")
    parser.add_argument("--smallest", action="store_true", help="only show that all works: the figures mean nothing")
    parser.add_argument("--rounds", type=int, help=f"turns each side takes ({ROUNDS}; 1 with --smallest)")
    sizes = "; ".join(f"{name}: {', '.join(each.sizes)}" for name, each in SCENARIOS.items() if each.sizes)
    parser.add_argument("--size", type=_size, action="append", default=[], metavar="NAME=NUMBER", help=sizes)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")
    parser.add_argument("--keep", action="store_true", help="write the figures into bench/README.md too")
    parser.add_argument("--against", metavar="REV", help="measure this revision as well, in turns, and print ratios")
    options = parser.parse_args(arguments)
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if options.smallest and options.keep:
        parser.error("--smallest measures nothing that is worth keeping")
    if options.against and (options.keep or options.json or options.setup):
        parser.error("--against prints ratios only")
    known = {name for scenario in options.names or SCENARIOS for name in SCENARIOS[scenario].sizes}
    if strange := {name for name, _ in options.size} - known:
        parser.error(f"--size: none of these scenarios has {', '.join(sorted(strange))}")
    return options


def _size(word: str) -> tuple[str, float]:
    name, _, number = word.partition("=")
    return name, float(number)


if __name__ == "__main__":
    main()

"""Playing many histories: in as many processes as wanted, each with a database of its own."""

from __future__ import annotations

import asyncio
import atexit
import gc
import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TextIO

import structlog

from tests.sim.coverage import Coverage
from tests.sim.history import Verdict, play
from tests.sim.mutants.all import MUTANTS
from tests.sim.stage import Stage, open_stage
from tests.support.machine import find_program
from tests.support.postgres import ROOT_VARIABLE, TestServer

HERE = Path(__file__).parent
SAVED = HERE / "seeds.txt"
"""The folders with what a history depends on."""
_AHEAD = 4
"""Histories that wait for each process, so that none stands still."""

_stages: list[Stage] = []
"""The stage of this process, if it plays for another one."""


@dataclass
class Tally:
    """What many histories came to."""

    histories: int = 0
    failed: list[Verdict] = field(default_factory=list)
    statements: int = 0
    choices: int = 0
    kills: int = 0
    freezes: int = 0
    passes: list[int] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    coverage: Coverage = field(default_factory=Counter)
    seconds: float = 0.0

    def add(self, verdict: Verdict) -> None:
        self.histories += 1
        self.statements += verdict.statements
        self.choices += verdict.choices
        self.kills += verdict.kills
        self.freezes += verdict.freezes
        self.passes.append(verdict.passes)
        self.faults.update(verdict.faults)
        self.coverage.update(verdict.coverage)
        if verdict.failures:
            self.failed.append(verdict)

    def summary(self) -> str:
        passes = sorted(self.passes) or [0]
        histories = max(self.histories, 1)
        faults = ", ".join(f"{count} × {name}" for name, count in self.faults.most_common())
        return (
            f"{self.histories} histories, {len(self.failed)} failed; {self.histories / max(self.seconds, 0.001):.1f}/s;"
            f" {self.statements / histories:.0f} statements and {self.choices / histories:.0f} choices each;"
            f" {self.kills} kills, {self.freezes} freezes; passes p50 {passes[len(passes) // 2]},"
            f" p99 {passes[len(passes) * 99 // 100]}, max {passes[-1]}\nfaults: {faults or 'none'}"
        )


@contextmanager
def one_stage(mutant: str | None = None) -> Iterator[Stage]:
    """A stage in this process, on the run's server, with a mutant in force."""
    with ExitStack() as stack:
        stack.callback(structlog.configure, **structlog.get_config())
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50), cache_logger_on_first_use=False)
        scratch = stack.enter_context(TestServer(Path(os.environ[ROOT_VARIABLE])).fresh_database())
        with asyncio.Runner() as runner:
            opened = open_stage(scratch)
            stage = runner.run(opened.__aenter__())
            try:
                if mutant is not None:
                    for weaken in MUTANTS[mutant].schema:
                        stage.control.execute(weaken.encode())
                    stack.enter_context(MUTANTS[mutant].in_force())
                yield stage
            finally:
                runner.run(opened.__aexit__(None, None, None))


def play_many(
    seeds: Sequence[int], *, processes: int, mutant: str | None = None, until_failure: bool = False
) -> Iterator[Verdict]:
    """Verdicts in the order of the seeds. Needs a running server."""
    if processes == 1:
        with one_stage(mutant) as stage:
            for seed in seeds:
                verdict = play(stage, seed)
                yield verdict
                if until_failure and verdict.failures:
                    return
        return
    with ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=_begin, initargs=(mutant,)
    ) as pool:
        remaining = iter(seeds)
        waiting: list[Future[Verdict]] = [pool.submit(_play, seed) for seed in islice(remaining, processes * _AHEAD)]
        while waiting:
            verdict = waiting.pop(0).result()
            yield verdict
            if until_failure and verdict.failures:
                pool.shutdown(cancel_futures=True)
                return
            waiting += [pool.submit(_play, seed) for seed in islice(remaining, 1)]


def tally(verdicts: Iterator[Verdict], *, progress: TextIO | None = None, digests: TextIO | None = None) -> Tally:
    """Count, and print failures at once."""
    counted, began, reported = Tally(), time.monotonic(), time.monotonic()
    for verdict in verdicts:
        counted.add(verdict)
        counted.seconds = time.monotonic() - began
        if digests is not None:
            print(verdict.seed, verdict.digest, file=digests)
        if verdict.failures and progress is not None:
            print(f"seed {verdict.seed}: {verdict.failures[0]}", file=progress, flush=True)
        if progress is not None and time.monotonic() - reported > 30:
            reported = time.monotonic()
            print(f"… {counted.histories} histories, {len(counted.failed)} failed", file=progress, flush=True)
    return counted


def commit() -> str:
    """The commit of the checkout; zeros outside one."""
    git = find_program("git")
    if git is None:
        return "0" * 40
    result = subprocess.run([git, "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False)
    return result.stdout.strip() or "0" * 40


def saved_seeds() -> list[int]:
    """The seeds that failed with the present simulation."""
    lines = SAVED.read_text().splitlines() if SAVED.exists() else []
    return [int(line.split()[0]) for line in lines if line and not line.startswith("#")]


def save(verdict: Verdict) -> None:
    if verdict.seed not in saved_seeds():
        with SAVED.open("a") as file:
            file.write(f"{verdict.seed} {commit()[:12]} {' '.join(verdict.failures[0].split())[:160]}\n")


def _begin(mutant: str | None) -> None:
    """Open this process's stage; it closes when the process ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    _stages.append(stack.enter_context(one_stage(mutant)))
    gc.freeze()
    gc.set_threshold(50_000)


def _play(seed: int) -> Verdict:
    return play(_stages[0], seed)

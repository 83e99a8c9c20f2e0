"""One history: everything that happens to a small cloud under one seed, and the verdict."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from types import SimpleNamespace
from typing import TextIO
from unittest import mock
from uuid import UUID

from ipucloud.clusters import metrics as cluster_metrics
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.kernel import ids
from ipucloud.kernel.errors import Problem
from ipucloud.operations import metrics as operation_metrics
from ipucloud.reconcile.reconciler import LeaseLost, Periodic
from ipucloud.site.ports import Simulation, SiteError, Sites
from ipucloud.worker import main
from ipucloud.worker.tasks import periodic_tasks
from tests.sim import scheduled
from tests.sim.coverage import Coverage, CoverageKind, boundary
from tests.sim.crowd import Crowd
from tests.sim.customers import Customers, ServiceView
from tests.sim.database import Plain, SimulatedDatabase
from tests.sim.direct_partitions import DirectPartitions
from tests.sim.disruptions import Disruptions
from tests.sim.faults import Faults
from tests.sim.loop import VirtualLoop
from tests.sim.losses import Controller, Leftovers
from tests.sim.moments import Moments
from tests.sim.remaining import Remaining
from tests.sim.reserving import INTERVALS, short_reservations
from tests.sim.scheduler import Actor, Scheduler, Trace
from tests.sim.sessions import instant
from tests.sim.site.hardware import Hardware
from tests.sim.site.network import Network
from tests.sim.stage import Stage
from tests.sim.swarm import Weather, weather
from tests.sim.truth import Truth
from tests.sim.validating import Validations
from tests.sim.verdicts import Ending, all_that_is_wrong
from tests.sim.watcher import Watcher
from tests.sim.workers import Surroundings, Worker
from tests.support.catalogues import billed_from_the_request

PASS_SECONDS = 15.0
MAX_PASSES = 75
"""How long everything may take to end when nothing goes wrong any more: not quite nineteen minutes. Most of it is a
request's longest life twice, before machines are freed, the pauses after failures, of a minute at most each, and a
repair that begins meanwhile, after which a history took 57 passes."""
VALIDATING = 2 * MAX_PASSES
"""The same where machines are validated: those whose test failed are tested one by one, each with its quarantine."""
TROUBLED = 20
"""Passes after the last customer in which calls still fail, where machines are validated."""
MAX_OBSERVING = 16
"""Passes until the truth about the hardware must be said: a lease, and several readings with their pauses."""
MAX_REPAIRING = 80
"""Passes that workers have to repair clusters by themselves: until a repair may begin, and for the repair."""
MAX_RESTORING = 48
"""Passes until a forgotten allocation is made again and that was read: two sweeps, an operation, several readings."""
_SETTLING = 1000
"""Steps that customers have to get what they use, where nothing goes wrong before."""
_SERVED = 2
"""Customers who then use it."""
_QUIET_CHOICES = 60
"""So many choices in a row without a step: there is nothing left to do."""


@dataclass
class Verdict:
    """How a history went; `failures` is empty when all is well."""

    seed: int
    digest: str = ""
    events: int = 0
    statements: int = 0
    choices: int = 0
    passes: int = 0
    kills: int = 0
    freezes: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    coverage: Coverage = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def play(stage: Stage, seed: int, echo: TextIO | None = None) -> Verdict:
    """Play one history. A pure function of the seed and the code."""
    loop = VirtualLoop()
    try:
        history = History(stage, seed, loop, Trace(echo))
        stage.clear(history.weather.quota)
        with history.patched():
            return loop.run_until_complete(history.run())
    finally:
        loop.close()


_DEAF = SimpleNamespace(event=SimpleNamespace(listen=lambda *_, **__: None))
"""In place of hooks of SQLAlchemy's connections, which a simulated database has none of: nothing is counted."""
_ENDED = """
SELECT 'OPERATION', concat_ws(' ', kind, state, error ->> 'code') FROM operations
UNION ALL SELECT 'STEP', name || ' ' || state FROM operation_steps
 ORDER BY 1, 2
"""


class History:
    def __init__(self, stage: Stage, seed: int, loop: VirtualLoop, trace: Trace) -> None:
        self._stage = stage
        self._draw = random.Random(seed)  # noqa: S311  # repeatable on purpose
        self.weather: Weather = weather(seed, self._draw)
        self.verdict = Verdict(seed)
        self._trace = trace
        self._scheduler = Scheduler(loop, self._draw, trace)
        self._faults = Faults(self.weather.mix, self._draw, self.verdict.coverage)
        region = stage.inventory.regions[0]
        self.hardware = Hardware(
            [machine.name for pod in region.pods for machine in pod.machines],
            [host.name for host in region.hosts],
            palette=self.weather.palette,
            draw=self._draw,
            faults=self._faults,
        )
        self.settings = stage.settings.model_copy(update=dict(self.weather.settings))
        self._watcher = Watcher(stage.control)
        self._wires = Network(
            self.hardware, self._watcher, faults=self._faults, draw=self._draw, request_life=self.settings.request_life
        )
        self._watcher.observe(self._wires)
        self._moments = Moments(stage.control, self.hardware)
        self._validations = Validations(stage.control, self._wires)
        self._leftovers = Leftovers(stage.control, self.hardware, self._draw)
        self._truth = Truth(stage.control, self.hardware, self._draw)
        self._crowd = Crowd(stage.control, self.settings, exact=not self.weather.grain)
        self._around = Surroundings(
            scheduler=self._scheduler,
            pool=stage.pool,
            control=stage.control,
            wires=self._wires,
            inventory=stage.inventory,
            settings=self.settings,
            faults=self._faults,
            draw=self._draw,
            grain=self.weather.grain,
            committed=self._committed,
        )
        self._controller = Controller(stage.control, self.hardware, self._wires, self._draw)
        self._remaining = Remaining(
            stage.control, self.hardware, self._wires, self._leftovers, self._validations, self._controller
        )
        self._disruptions = Disruptions(
            self.weather,
            self._scheduler,
            self._draw,
            self.verdict.coverage,
            self.settings.lease_seconds,
            self._moments,
            self._truth,
            self._leftovers,
            self._controller,
        )
        self._workers: list[Worker] = []
        self._steps = self._idle = 0

    def _committed(self, actor: Actor, labels: Sequence[str], seconds: float) -> None:
        self._watcher.committed(actor, labels, seconds)
        if self.weather.crowded:
            self._crowd.committed(labels, instant(self._scheduler.now))
        if self.weather.observed:
            self.hardware.advance(self._scheduler.now)
            self._moments.committed(labels, self._scheduler.now)
        if self.settings.validation:
            self.hardware.advance(self._scheduler.now)
            self._validations.committed(labels)

    @contextmanager
    def patched(self) -> Iterator[None]:
        """Identifiers come from the seed, ordered by virtual time like real ones; workers have the seed's tasks."""

        def uuid7() -> UUID:
            milliseconds = 0x19C_0000_0000 + int(self._scheduler.now * 1000)
            return UUID(int=milliseconds << 80 | 7 << 76 | 2 << 62 | self._draw.getrandbits(62))

        def chosen_tasks(sites: Sites, settings: Settings, _: Simulation | None) -> list[Periodic]:
            return [self._counted(task) for task in periodic_tasks(sites, settings) if task.name in self.weather.tasks]

        with (
            mock.patch.object(cluster_metrics, "sa", _DEAF),
            mock.patch.object(operation_metrics, "sa", _DEAF),
            short_reservations(),
            mock.patch.object(ids, "uuid7", uuid7),
            mock.patch.object(main, "periodic_tasks", chosen_tasks),
        ):
            yield

    def _counted(self, task: Periodic) -> Periodic:
        async def run(database: Database) -> None:
            self._saw(CoverageKind.TASK, task.name)
            try:
                await task.run(database)
            except (SiteError, Problem, LeaseLost):
                raise
            except Exception as error:  # the engine would try again, and say so only in its log
                self._scheduler.crashes.append(f"{task.name} failed with {type(error).__name__}: {error}")
                raise

        return replace(task, run=run, interval=INTERVALS.get(task.name, task.interval))

    async def run(self) -> Verdict:
        before = self._stage.pool.statements
        weights = self.weather.weights
        self._workers = [Worker(f"w{number}", self._around, weight) for number, weight in enumerate(weights)]
        for worker in self._workers:
            await worker.start()
        if self.weather.observed:
            self._truth.begin(self._stage.inventory.regions[0].region)
        customer = Actor("customers", self._scheduler, weight=3)
        self._scheduler.join(customer)
        catalogue = self._stage.catalogue
        service = ServiceView(
            self._stage.projects,
            billed_from_the_request(catalogue) if self.weather.billed_from_request else catalogue,
            self.settings,
            self._poke,
            self.weather,
            self._crowd.refused,
        )
        self._direct_partitions = DirectPartitions(self.hardware, forgetful=self.weather.forget_rate > 0)
        self._customers = Customers(
            customer, self._around.database(customer), service, self._direct_partitions, self._draw
        )
        self._customers.start(self.weather.clusters, self.weather.horizon)
        await self._scheduler.loop.stillness()
        await self._warm_up()
        await self._safety()
        await self._liveness()
        await self._judge(self._around.database(customer))
        for worker in self._workers:
            await worker.kill()
        if customer.alive:
            await self._scheduler.kill(customer)
        verdict = self.verdict
        verdict.kills, verdict.freezes = self._disruptions.kills, self._disruptions.freezes
        verdict.statements = self._stage.pool.statements - before
        verdict.faults = self._faults.counts
        for kind, sentence in self._stage.control.execute(_ENDED).fetchall():
            self._saw(CoverageKind[kind], sentence)
            self._trace.add(self._scheduler.now, "in the end", sentence)
        verdict.digest, verdict.events = self._trace.digest, self._trace.events
        return verdict

    async def _judge(self, database: SimulatedDatabase) -> None:
        failures = self.verdict.failures
        failures += self._failures()
        if failures:
            return
        self.hardware.advance(self._scheduler.now)
        ending = Ending(
            control=self._stage.control,
            plain=Plain(database),
            hardware=self.hardware,
            now=instant(self._scheduler.now),
            tolerance=timedelta(seconds=self._watcher.slack),
            own_partitions=self._direct_partitions.by_cluster,
            cancelled=self._customers.cancelled,
            changes=self._wires.changes,
            disruptions=self._disruptions.kills + self._disruptions.freezes + sum(self._faults.counts.values()),
            swept=len(self.hardware.leftovers) + self.hardware.forgets,
            forgets=self.hardware.forgets,
            settings=self.settings,
        )
        failures += [*self._watcher.wrong_images(), *await all_that_is_wrong(ending)]
        if self.settings.validation:
            failures += self._validations.given_away(timedelta(seconds=self._watcher.longest))

    def _failures(self) -> list[str]:
        return [
            *self._watcher.failures,
            *self._moments.failures,
            *self._crowd.failures,
            *self._validations.failures,
            *self._scheduler.crashes,
        ]

    async def _warm_up(self) -> None:
        """In some histories nothing goes wrong until customers use their clusters."""
        while self.weather.settled and self._goes_on(_SETTLING) and self._customers.served < _SERVED:
            await self._choose()
        self._faults.begin()

    async def _safety(self) -> None:
        end = self._steps + self.weather.steps
        while self._goes_on(end):
            await self._choose(self._disruptions)

    def _goes_on(self, end: int) -> bool:
        """Whether there is something to do, until so many steps were taken."""
        unquiet = self._idle < _QUIET_CHOICES or bool(self._customers.actor.tasks)
        return self._steps < end and unquiet and not self._failures()

    async def _choose(self, disruptions: Disruptions | None = None) -> None:
        """Let one of those that can go on do so, or time pass when nobody can."""
        chosen = self._scheduler.choose()
        if chosen is None:
            self._pass_time_until(self._scheduler.next_due())
            return
        self.verdict.choices += 1
        worker = self._worker_of(chosen.actor)
        if worker is not None:
            self._saw(CoverageKind.BOUNDARY, boundary(chosen.what))
        await self._scheduler.resume_parked(chosen)
        self._idle += 1
        if not chosen.background:
            self._steps, self._idle = self._steps + 1, 0
            if disruptions is not None and worker is not None:
                await disruptions.after_a_step(worker)
        await self._succeed()
        self._pass_time(self._draw.uniform(0.0, self.weather.tick))

    def _saw(self, kind: CoverageKind, name: str) -> None:
        self.verdict.coverage[kind, name] += 1

    async def _liveness(self) -> None:
        if self._failures():
            return
        await self._scheduler.kill(self._customers.actor)
        for actor in self._scheduler.actors:
            actor.frozen_until = 0.0
        if self.settings.validation:  # which begins when customers have gone: its calls may fail, too
            await self._pass_while(lambda: self._remaining.operated() or self._validations.unfinished(), TROUBLED)
            if self._failures():
                return
        self._faults.calm()
        self._wires.distrusted_until = 0.0
        self._serve_anew()
        await self._break_once_more()
        self.hardware.repair()
        self._controller.audited()
        await self._observe(self._still_wrong)
        most = VALIDATING if self.settings.validation or self.weather.crowded else MAX_PASSES
        for number in range(1, most + 1):
            if number % 4 == 1:
                self._remaining.requeue(instant(self._scheduler.now))
            await self._pass()
            if self._done() and await self._still_done():
                self.verdict.passes = number
                return
        self.verdict.failures.append(f"something was still under way after {most} passes without faults")

    async def _break_once_more(self) -> None:
        """Hardware in use breaks, and the controller forgets, while calls and workers do not fail any more."""
        repaired = "start_repairs" in self.weather.tasks
        if repaired or self.weather.forget_rate:
            await self._pass_while(self._remaining.operated, MAX_PASSES)  # so that some clusters are in use
        if self.weather.forget_rate:
            self._controller.forget()
        if self.weather.observed:
            for _ in range(self.weather.strikes):
                self._truth.strike_used()
        await self._observe(self._truth.lies)
        if repaired:
            await self._pass_while(self._repairs_go_on, MAX_REPAIRING)
            self.verdict.failures += self._not_begun()

    def _still_wrong(self) -> list[str]:
        """What is false once everything works again."""
        repairs = scheduled.forgotten(self._stage.control)
        return [*self._truth.lies(), *self._truth.stuck(), *self._truth.late_credits(), *repairs]

    async def _pass_while(self, goes_on: Callable[[], bool], most: int) -> None:
        for _ in range(most):
            if not goes_on():
                return
            self._remaining.requeue(instant(self._scheduler.now))
            await self._pass()

    def _repairs_go_on(self) -> bool:
        """Whether workers repair a cluster by themselves, or soon will, or should."""
        return scheduled.under_way(self._stage.control, instant(self._scheduler.now)) or bool(self._not_begun())

    def _not_begun(self) -> list[str]:
        return scheduled.not_begun(self._stage.control, instant(self._scheduler.now))

    async def _observe(self, wrong: Callable[[], list[str]]) -> None:
        """Go on until nothing is wrong about the hardware any more."""
        if not self.weather.observed:
            return
        most = MAX_RESTORING if self.weather.forget_rate else MAX_OBSERVING
        await self._pass_while(lambda: bool(wrong()), most)
        self.verdict.failures += wrong()

    async def _pass(self) -> None:
        end = self._scheduler.now + PASS_SECONDS
        while True:
            chosen = self._scheduler.choose()
            if chosen is None:
                due = self._scheduler.next_due()
                if due is None or due > end:
                    break
                self._pass_time_until(due)
                continue
            await self._scheduler.resume_parked(chosen)
            await self._succeed()
        self._pass_time_until(end)
        if self.weather.crowded:
            self._crowd.passed(instant(self._scheduler.now))

    async def _succeed(self) -> None:
        for worker in self._workers:
            await worker.succeed()

    def _worker_of(self, actor: Actor) -> Worker | None:
        return next((worker for worker in self._workers if worker.actor is actor), None)

    def _done(self) -> bool:
        self.hardware.advance(self._scheduler.now)
        return self._remaining.done()

    async def _still_done(self) -> bool:
        """Whether nothing is under way either once partitions that changed were reconciled.

        That happens within a minute anyway; until then the record may show what a partition was before it reset itself,
        or before it was made again.
        """
        if self._remaining.records_agree():
            return True
        self._remaining.read_partitions(instant(self._scheduler.now))
        await self._pass()
        return self._done() and self._remaining.records_agree()

    def _serve_anew(self) -> None:
        """From now on nothing is in the way of those that wait: their queues are looked at once."""
        self._crowd.calm = instant(self._scheduler.now)
        self._remaining.serve_waiting(instant(self._scheduler.now))

    def _poke(self) -> None:
        """Notifications are sent after a commit, and may get lost."""
        for worker in self._workers:
            if self._draw.random() < 0.5:
                worker.presence.wake()

    def _pass_time(self, seconds: float) -> None:
        self._pass_time_until(round(self._scheduler.now + seconds, 3))

    def _pass_time_until(self, moment: float | None) -> None:
        if moment is None:
            standing = [f"{p.actor.name}: {p.what}" for a in self._scheduler.actors for p in a.parked]
            raise AssertionError(f"nobody can go on: {standing}")
        self._scheduler.loop.now = max(moment, self._scheduler.now)
        for late in self._wires.deliver(self._scheduler.now):
            self._trace.add(self._scheduler.now, "network", f"{late.request.call} {late.request.name} arrives late")

"""The engine: claim work items, reconcile them under a lease, renew leases, and free those of dead workers."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from uuid import UUID

import psycopg
import sqlalchemy as sa
import structlog

from ipucloud.db.engine import Database
from ipucloud.db.schema_check import lacks_table_or_column
from ipucloud.db.statements import Statements
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import UNAVAILABLE, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.reconcile import metrics, statements
from ipucloud.reconcile.clock_steps import make_all_due
from ipucloud.reconcile.outcomes import Go, Outcome, Park, Retry, Wait, ending
from ipucloud.reconcile.platform_work import PlatformWork, ensure
from ipucloud.reconcile.presence import Presence, SessionPresence
from ipucloud.reconcile.reconciler import LeaseLost, Reconciler, WorkItem
from ipucloud.reconcile.wake import PLATFORM
from ipucloud.reconcile.watch import DatabaseWatch

log = structlog.get_logger(__name__)

_DATABASE_ERRORS = (sa.exc.DBAPIError, sa.exc.TimeoutError, psycopg.Error)
_NOT_OUR_SCHEMA = "this version cannot work with the database's schema"
_SCHEMA_PAUSE = 5.0
"""Seconds before an item whose reconciler met a missing table or column is tried again."""
_LAST_PROJECT = UUID(int=2**128 - 1)
SUSPECT = 2
"""Attempts without progress after which a work item may be killing its workers; also in `statements.CLAIM`."""


@dataclass(frozen=True)
class EngineSettings:
    """Durations in seconds. `attempts`: reconcile passes without progress before a work item is parked."""

    slots: int = 32
    lease: float = 30.0
    poll: float = 1.0
    reap: float = 1.0
    attempts: int = 5
    drain: float = 20.0


class Engine:
    """One worker's engine. `run()` returns after `stop()`, once every reconcile pass has ended or was handed back.

    `on_clock_set_back`: statements that correct instants which are in the future after the database's clock was set
    back. `presence`: how the worker holds its leases; by default a session of its own in the same database. `watch`:
    nothing is claimed while it has a fault; without a watch the schema is not checked.
    """

    def __init__(
        self,
        database: Database,
        reconcilers: Sequence[Reconciler[Any, Any]],
        *,
        clock: Clock,
        settings: EngineSettings = EngineSettings(),
        draw: random.Random | None = None,
        platform_work: PlatformWork = MappingProxyType({}),
        on_clock_set_back: Callable[[], Sequence[sa.TextClause]] = tuple,
        presence: Presence | None = None,
        watch: DatabaseWatch | None = None,
    ) -> None:
        self._database = database
        self._watch = watch
        self._reconcilers = {reconciler.kind: reconciler for reconciler in reconcilers}
        self._clock = clock
        self._settings = settings
        self._draw = draw or random.Random()  # noqa: S311  # jitter, not a secret
        self._awake = asyncio.Event()
        self._stopping = asyncio.Event()
        self._running: dict[asyncio.Task[None], WorkItem] = {}
        self._interrupted: set[tuple[str, str]] = set()
        self._presence = presence or SessionPresence(database.url, database.application)
        self._first_project = PLATFORM
        self._platform_work = platform_work
        self._on_clock_set_back = on_clock_set_back
        self._clock_set_back = asyncio.Event()
        if watch is not None:
            watch.subscribe(self._awake.set, clock_set_back=self._clock_set_back.set)

    def stop(self) -> None:
        """Claim nothing more and finish the running passes."""
        self._stopping.set()
        self._awake.set()

    @property
    def healthy(self) -> bool:
        """True while this worker holds its presence and may claim."""
        return self._presence.owner != 0

    @property
    def _may_claim(self) -> bool:
        return not self._stopping.is_set() and (self._watch is None or self._watch.fault is None)

    async def run(self) -> None:
        """Work until `stop()`. Losing the database costs the leases, not the process: it reconnects as a new owner.

        The worker is absent while this version cannot work with the schema, and returns by itself.
        """
        while not self._stopping.is_set():
            if not self._may_claim:
                self._awake.clear()
                await self._sleep_until_woken(self._settings.poll)
                continue
            try:
                await self._presence.open()
                await self._uncount_interrupted()
                if await ensure(self._database, self._platform_work):
                    self._clock_set_back.set()
                await self._work()
            except (*_DATABASE_ERRORS, Problem) as error:
                log.warning("worker_lost_database", error=str(error)[:200])
                self._interrupted |= {(each.kind, each.key) for each in self._running.values() if each.attempt}
                await self._abandon()
                if lacks_table_or_column(error):
                    await self._blames_schema(error)
                await self._pause(self._draw.uniform(0.2, 1.0))
            finally:
                self._presence.owner, owner = 0, self._presence.owner
                await self._close_presence(owner)

    async def _close_presence(self, owner: int) -> None:
        with contextlib.suppress(*_DATABASE_ERRORS):
            await self._presence.close()
        log.info("worker_absent", owner=owner)

    async def _work(self) -> None:
        """Run the four loops until one fails (the others are cancelled) or the engine is stopped and drained."""
        log.info("worker_present", owner=self._presence.owner, kinds=sorted(self._reconcilers))
        helpers = [
            asyncio.create_task(loop, name=name)
            for name, loop in (
                ("listen", self._presence.listen(self._awake.set)),
                ("heartbeat", self._heartbeat()),
                ("reap", self._reap()),
            )
        ]
        claims = asyncio.create_task(self._claim_loop(), name="claim")
        try:
            done, _ = await asyncio.wait([claims, *helpers], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            await self._drain()
        finally:
            for task in (claims, *helpers):
                task.cancel()
            await asyncio.gather(claims, *helpers, return_exceptions=True)

    async def _claim_loop(self) -> None:
        while self._may_claim:
            self._awake.clear()
            free = self._settings.slots - len(self._running)
            claimed = await self._claim(free) if free else 0
            if claimed == 0 or claimed < free:
                await self._sleep_until_woken(self._settings.poll)

    async def _sleep_until_woken(self, seconds: float) -> None:
        sleeper = asyncio.ensure_future(self._clock.sleep(seconds))
        woken = asyncio.ensure_future(self._awake.wait())
        try:
            await asyncio.wait([sleeper, woken], return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeper.cancel()
            woken.cancel()

    async def _pause(self, seconds: float) -> None:
        if not self._stopping.is_set():
            await self._clock.sleep(seconds)

    async def _claim(self, count: int) -> int:
        deadline = self._clock.monotonic() + self._settings.lease
        async with self._database.read() as connection:
            claimed = await statements.CLAIM.all(
                connection,
                {
                    "first_project": self._first_project,
                    "kinds": list(self._reconcilers),
                    "n": count,
                    "suspects": int(all(item.attempt <= SUSPECT for item in self._running.values())),
                    "owner": self._presence.owner,
                    "lease": self._settings.lease,
                },
            )
        work_items = [WorkItem(*each, deadline, self._clock) for each in claimed]
        for item in work_items:
            failpoint("engine.claimed")
            task = asyncio.create_task(self._reconcile(item), name=f"{item.kind}:{item.key}")
            self._running[task] = item
            task.add_done_callback(self._ended)
        metrics.CLAIMED.inc(len(work_items))
        wrapped = not work_items and self._first_project != PLATFORM
        last = max((item.project_id for item in work_items), default=_LAST_PROJECT)
        self._first_project = PLATFORM if last == _LAST_PROJECT else UUID(int=last.int + 1)
        return await self._claim(count) if wrapped else len(work_items)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        self._awake.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("reconcile_failed", task=task.get_name(), exc_info=error)

    async def _reconcile(self, item: WorkItem) -> None:
        with structlog.contextvars.bound_contextvars(kind=item.kind, key=item.key, fence=item.fence):
            try:
                await self._run_passes(item)
            except LeaseLost:
                failpoint("engine.stale_result")
                metrics.STALE.inc()
                log.warning("stale_result_dropped")
            except Problem as error:
                # Whether the last transaction committed is unknown; the next pass reads the actual state.
                failpoint("engine.database_lost")
                log.warning("reconcile_interrupted", error=str(error))
                await self._give_back(
                    item, Retry(error.detail.partition(". ")[0]), counts=error.kind is not UNAVAILABLE
                )

    async def _give_back(self, item: WorkItem, outcome: Retry, *, counts: bool) -> None:
        """Hand the item back. With `counts` False the attempt does not count towards parking."""
        if not counts and item.attempt:
            self._interrupted.add((item.kind, item.key))
            item.attempt -= 1
        if await self._hand_back(item, outcome):
            self._interrupted.discard((item.kind, item.key))

    async def _run_passes(self, item: WorkItem) -> None:
        reconciler = self._reconcilers[item.kind]
        if item.attempt > self._settings.attempts:
            await self._finish_alone(item, Park(f"{item.attempt - 1} reconcile passes without progress"))
            return
        while True:
            try:
                outcome = await self._run_pass(reconciler, item)
            except (LeaseLost, Problem):
                raise
            except Exception as error:  # a bug in a reconciler must not stop the worker
                if await self._blames_schema(error):
                    log.warning("schema_not_ours", error=str(error)[:500])
                    await self._give_back(item, Retry(_NOT_OUR_SCHEMA, after=_SCHEMA_PAUSE), counts=False)
                    return
                log.exception("reconciler_failed")
                failpoint("engine.reconciler_failed")
                outcome = Retry(f"{type(error).__name__}: {error}"[:500])
                await self._finish_alone(item, outcome)
            metrics.OUTCOMES.labels(item.kind, type(outcome).__name__).inc()
            if not isinstance(outcome, Go):
                return
            if self._stopping.is_set():
                await self._hand_back(item, Wait("draining", recheck=0.0))
                return

    async def _blames_schema(self, error: BaseException) -> bool:
        """Whether the schema, rather than the item, caused `error`.

        Any unexpected error triggers a check of the schema, because an older schema also rejects writes by its
        constraints.
        """
        lacks = lacks_table_or_column(error)
        fault = None
        if self._watch is not None:
            with contextlib.suppress(Problem, *_DATABASE_ERRORS):
                fault = await self._watch.check(lacks=lacks)
        return lacks or fault is not None

    async def _run_pass(self, reconciler: Reconciler[Any, Any], item: WorkItem) -> Outcome:
        failpoint("engine.before_load")
        async with self._database.read() as connection:
            inputs = await reconciler.load(connection, item)
            failpoint("engine.loaded")
            if isinstance(inputs, Outcome):
                await self._finish(connection, item, inputs)
                return inputs
        failpoint("engine.before_act")
        result = await reconciler.act(item, inputs)
        failpoint("engine.acted")
        async with self._database.begin() as connection:
            outcome = await reconciler.apply(connection, item, inputs, result)
            failpoint("engine.applied")
            await self._finish(connection, item, outcome)
            failpoint("engine.before_commit")
        failpoint("engine.committed")
        return outcome

    async def _finish(self, connection: Statements, item: WorkItem, outcome: Outcome) -> None:
        """Write the end of a pass under its fence. Raises LeaseLost, which rolls the caller's transaction back."""
        claim = {"kind": item.kind, "key": item.key, "fence": item.fence, "owner": self._presence.owner}
        if isinstance(outcome, Go):
            deadline = self._clock.monotonic() + self._settings.lease
            failpoint("engine.before_extend")
            result = await connection.execute(statements.EXTEND, claim | {"lease": self._settings.lease})
            item.deadline, item.attempt = deadline, 0
        else:
            failpoint("engine.before_finish")
            if isinstance(outcome, Park):
                log.error("parked", reason=outcome.reason)
            result = await connection.execute(statements.FINISH, claim | ending(outcome, item.attempt, self._draw))
        if result.rowcount != 1:
            raise LeaseLost(item.key)

    async def _finish_alone(self, item: WorkItem, outcome: Outcome) -> None:
        async with self._database.read() as connection:
            await self._finish(connection, item, outcome)
            failpoint("engine.finished_alone")

    async def _hand_back(self, item: WorkItem, outcome: Outcome) -> bool:
        """Best effort: a lease that cannot be given back expires. True when it was given back."""
        failpoint("engine.before_hand_back")
        with contextlib.suppress(LeaseLost, Problem, *_DATABASE_ERRORS):
            await self._finish_alone(item, outcome)
            return True
        return False

    async def _uncount_interrupted(self) -> None:
        """Take back the attempts of passes that an outage interrupted and that could not be handed back.

        Otherwise a database that restarts five times while a step waits for its site would park healthy work. If
        another worker has claimed the item since, one of its attempts is not counted: parking comes one pass later.
        """
        async with self._database.read() as connection:
            for kind, key in sorted(self._interrupted):
                await connection.execute(statements.COUNT_ONE_LESS, {"kind": kind, "key": key})
                self._interrupted.discard((kind, key))

    async def _heartbeat(self) -> None:
        while True:
            await self._clock.sleep(self._settings.lease / 3)
            if not (running := list(self._running.values())):
                continue
            deadline = self._clock.monotonic() + self._settings.lease
            failpoint("engine.before_heartbeat")
            async with self._database.read() as connection:
                renewed = await statements.HEARTBEAT.all(
                    connection,
                    {
                        "owner": self._presence.owner,
                        "lease": self._settings.lease,
                        "kinds": [item.kind for item in running],
                        "keys": [item.key for item in running],
                        "fences": [item.fence for item in running],
                    },
                )
                failpoint("engine.heartbeat_sent")
            held = {(each.kind, each.key): each.fence for each in renewed}
            for task, item in list(self._running.items()):
                if held.get((item.kind, item.key)) == item.fence:
                    item.deadline = deadline
                elif self._clock.monotonic() > item.deadline:
                    failpoint("engine.stale_pass")
                    metrics.STALE.inc()
                    log.warning("stale_pass_cancelled", key=item.key, fence=item.fence)
                    task.cancel()

    async def _reap(self) -> None:
        while True:
            await self._clock.sleep(self._settings.reap * self._draw.uniform(0.8, 1.2))
            if self._clock_set_back.is_set():
                await self._make_all_due()
            failpoint("engine.before_reap")
            async with self._database.read() as connection:
                freed = await connection.execute(statements.REAP)
                failpoint("engine.reaped")
            if freed.rowcount:
                metrics.REAPED.inc(freed.rowcount)
                log.warning("leases_freed", count=freed.rowcount)
                self._awake.set()

    async def _make_all_due(self) -> None:
        lease, also = self._settings.lease, self._on_clock_set_back()
        due, shortened = await make_all_due(self._database, self._reconcilers, lease, also)
        self._clock_set_back.clear()
        log.warning("clock_was_set_back", due=due, leases_shortened=shortened)
        self._awake.set()

    async def _drain(self) -> None:
        """Let passes end at their next step; hand back those that do not, without counting their attempts."""
        failpoint("engine.draining")
        if self._running:
            await asyncio.wait(self._running, timeout=self._settings.drain)
        unfinished = list(self._running.values())
        await self._abandon()
        for item in unfinished:
            await self._hand_back(item, Wait("draining", recheck=0.0))

    async def _abandon(self) -> None:
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

"""Entry of a worker process."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
from dataclasses import replace
from functools import partial

import structlog

from ipucloud import parts
from ipucloud.catalogue.current import CurrentCatalogue
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.http.listeners import listener
from ipucloud.http.server import internal_listener
from ipucloud.kernel.clock import Clock, SystemClock
from ipucloud.observation.notified import Notified
from ipucloud.process import logs
from ipucloud.process.signals import ReloadSignal, StopSignals, in_loop, reload_signal, stop_signals
from ipucloud.reconcile.engine import Engine, EngineSettings
from ipucloud.reconcile.presence import Presence
from ipucloud.reconcile.reconciler import PeriodicTasks
from ipucloud.reconcile.watch import DatabaseWatch
from ipucloud.site.connect import SiteClients
from ipucloud.site.ports import Simulation, Sites
from ipucloud.site.tls import PLAINTEXT
from ipucloud.worker import internal
from ipucloud.worker.internal import internal_app
from ipucloud.worker.reconcilers import (
    DISPATCH_KEY,
    MAIL_DISPATCH,
    WEBHOOK_DISPATCH,
    Messages,
    Work,
    counted_anew,
    messages_counted_anew,
)
from ipucloud.worker.tasks import periodic_tasks

log = structlog.get_logger(__name__)

APPLICATION = "ipucloud worker"
"""This process's connections in PostgreSQL's `pg_stat_activity`."""
_POOL_SIZE = 8


def run(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT, then drain; SIGHUP reloads the catalogue.

    Raises ValueError without a database or a site, ListenError, CatalogueError.
    """
    logs.configure(settings.log_format, settings.log_level)
    with stop_signals() as signals, reload_signal() as reload, asyncio.Runner() as runner:
        runner.run(_main(settings, signals, reload))


async def _main(settings: Settings, signals: StopSignals, reload: ReloadSignal) -> None:
    if settings.database_url is None or settings.site_url is None:
        raise ValueError("a worker needs IPUCLOUD_DATABASE_URL and IPUCLOUD_SITE_URL")
    catalogue = CurrentCatalogue(settings.catalogue)
    internal.export(catalogue)
    url, clock = settings.database_url.get_secret_value(), SystemClock()
    database = Database(url, pool_size=_POOL_SIZE, pool_timeout=30.0, application=APPLICATION)
    sites = SiteClients.of(settings)
    watch = DatabaseWatch(database, clock)
    engine, tasks = assemble(
        database, sites, settings, clock, watch=watch, catalogue=catalogue, simulation=sites.simulation
    )
    messages = assemble_webhooks(database, settings, clock, watch=watch)
    gc.collect()
    gc.freeze()
    try:
        async with contextlib.AsyncExitStack() as stack:
            stop = stack.enter_context(in_loop(partial(_stop, engine, messages)))
            stack.enter_context(signals.calling(stop))
            stack.enter_context(reload.calling(stack.enter_context(in_loop(catalogue.reload))))
            if settings.worker_internal_port != 0:
                bound = listener(settings.internal_host, settings.worker_internal_port, settings.internal_listen_fd)
                await stack.enter_async_context(internal_listener(internal_app(engine, watch, catalogue), bound))
            if settings.vipu_plaintext:
                log.warning("vipu_plaintext_allowed", setting=PLAINTEXT)
            log.info("worker_started", tasks=sorted(tasks.tasks), parts=parts.installed())
            beside = (
                asyncio.create_task(watch.run(), name="watch"),
                asyncio.create_task(catalogue.keep(), name="catalogue"),
                asyncio.create_task(Notified(database, sites.events, clock).run(), name="notified"),
            )
            try:
                await asyncio.gather(engine.run(), messages.run())
            finally:
                for task in beside:
                    task.cancel()
                await asyncio.gather(*beside, return_exceptions=True)
    finally:
        await sites.close()
        await database.close()
    log.info("worker_stopped")


def _stop(*engines: Engine) -> None:
    for engine in engines:
        engine.stop()


def assemble_webhooks(
    database: Database,
    settings: Settings,
    clock: Clock,
    *,
    draw: random.Random | None = None,
    watch: DatabaseWatch | None = None,
) -> Engine:
    """The engine that sends webhooks and e-mails, with slots of its own: no endpoint keeps a cluster waiting."""
    draw = draw or random.Random()  # noqa: S311  # jitter, not a secret
    platform_work = {WEBHOOK_DISPATCH: {DISPATCH_KEY: settings.webhook_interval}}
    if settings.smtp_from is not None:
        platform_work[MAIL_DISPATCH] = {DISPATCH_KEY: settings.webhook_interval}
    return Engine(
        database,
        Messages(settings, draw).reconcilers(),
        clock=clock,
        settings=replace(engine_settings(settings), slots=settings.webhook_slots + 1),
        draw=draw,
        platform_work=platform_work,
        on_clock_set_back=messages_counted_anew,
        watch=watch,
    )


def assemble(
    database: Database,
    sites: Sites,
    settings: Settings,
    clock: Clock,
    *,
    draw: random.Random | None = None,
    presence: Presence | None = None,
    watch: DatabaseWatch | None = None,
    catalogue: CurrentCatalogue | None = None,
    simulation: Simulation | None = None,
) -> tuple[Engine, PeriodicTasks]:
    """The engine with all its reconcilers, ready to run. `draw` provides the jitter of its waits.

    Without a `catalogue` it loads one and never reloads it. Raises CatalogueError.
    """
    draw = draw or random.Random()  # noqa: S311  # jitter, not a secret
    tasks = PeriodicTasks(database, periodic_tasks(sites, settings, simulation))
    catalogue = catalogue or CurrentCatalogue(settings.catalogue)
    work = Work(database, sites, settings, clock, catalogue, draw)
    engine = Engine(
        database,
        [*work.reconcilers(), work.observed(), tasks],
        clock=clock,
        settings=engine_settings(settings),
        draw=draw,
        platform_work={tasks.kind: {task.name: task.interval for task in tasks.tasks.values()}},
        on_clock_set_back=counted_anew,
        presence=presence,
        watch=watch,
    )
    return engine, tasks


def engine_settings(settings: Settings) -> EngineSettings:
    return EngineSettings(
        slots=settings.worker_slots,
        lease=settings.lease_seconds,
        poll=settings.poll_seconds,
        reap=settings.reap_seconds,
        drain=settings.drain_seconds,
    )

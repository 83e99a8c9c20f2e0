"""Entry of a worker process."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
from dataclasses import replace
from functools import partial
from typing import Any

import structlog
from prometheus_client import REGISTRY

from ipucloud.billing.exports.exporter import Exporter
from ipucloud.billing.exports.reconciler import ExportReconciler
from ipucloud.catalogue.current import CurrentCatalogue
from ipucloud.clusters.addresses.reconciler import AddressReconciler
from ipucloud.clusters.inputs import Isolation
from ipucloud.clusters.jobs.reconciler import JobReconciler
from ipucloud.clusters.preemption.reconciler import PreemptionFileReconciler
from ipucloud.clusters.programs.reconciler import POLL_SECONDS
from ipucloud.clusters.queries import CLUSTER_NAME
from ipucloud.clusters.reconciler import ClusterReconciler
from ipucloud.clusters.s3_reconciler import S3Reconciler
from ipucloud.clusters.services.reconciler import ServiceReconciler
from ipucloud.clusters.terminals.reconciler import TerminalReconciler
from ipucloud.clusters.volumes.reconciler import VolumeReconciler
from ipucloud.clusters.volumes.snapshots.reconciler import SnapshotReconciler
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.http.listeners import listener
from ipucloud.http.server import internal_listener
from ipucloud.inventory import release, validations
from ipucloud.kernel.clock import Clock, SystemClock
from ipucloud.kernel.sealing import Keys, read_keys
from ipucloud.notifications import deliver as mails
from ipucloud.notifications.deliver import MailSender
from ipucloud.notifications.dispatch import KEY as MAIL_KEY
from ipucloud.notifications.dispatch import MailDispatcher
from ipucloud.notifications.smtp import Smtp
from ipucloud.observation.notified import Notified
from ipucloud.observation.reconciler import ObservationReconciler
from ipucloud.operations.store import POWERED_OFF_NOW, RETRY_NOW
from ipucloud.partitions import record
from ipucloud.partitions.reconciler import PartitionReconciler
from ipucloud.process import logs
from ipucloud.process.reload import ReloadSignal, reload_signal
from ipucloud.process.signals import StopSignals, in_loop, stop_signals
from ipucloud.reconcile.engine import Engine, EngineSettings
from ipucloud.reconcile.presence import Presence
from ipucloud.reconcile.reconciler import PeriodicTasks, Reconciler
from ipucloud.reconcile.watch import DatabaseWatch
from ipucloud.site.connect import SiteClients
from ipucloud.site.ports import Simulation, Sites
from ipucloud.site.tls import PLAINTEXT
from ipucloud.validation.reconciler import ValidationReconciler
from ipucloud.webhooks import deliver as webhooks
from ipucloud.webhooks.deliver import Deliverer
from ipucloud.webhooks.dispatch import KEY, Dispatcher
from ipucloud.webhooks.sender import Sender
from ipucloud.worker.internal import internal_app
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
    REGISTRY.register(catalogue)
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
            log.info("worker_started", tasks=sorted(tasks.tasks))
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
    dispatcher = Dispatcher(settings.webhook_interval)
    sender = Sender(private=settings.webhook_private_addresses)
    reconcilers: list[Reconciler[Any, Any]] = [dispatcher, Deliverer(sender, _keys(settings), draw)]
    platform_work = {dispatcher.kind: {KEY: settings.webhook_interval}}
    if settings.smtp_from is not None:
        mail_dispatcher = MailDispatcher(settings.webhook_interval)
        panel = settings.public_url and settings.public_url.rstrip("/")
        reconcilers += [
            mail_dispatcher,
            MailSender(
                Smtp(settings, settings.smtp_from), _keys(settings), draw, panel=panel, cluster_name=CLUSTER_NAME
            ),
        ]
        platform_work[mail_dispatcher.kind] = {MAIL_KEY: settings.webhook_interval}
    return Engine(
        database,
        reconcilers,
        clock=clock,
        settings=replace(engine_settings(settings), slots=settings.webhook_slots + 1),
        draw=draw,
        platform_work=platform_work,
        on_clock_set_back=(*webhooks.COUNT_ANEW, *mails.COUNT_ANEW),
        watch=watch,
    )


def _keys(settings: Settings) -> Keys | None:
    return None if settings.secrets_key is None else read_keys(settings.secrets_key.get_secret_value())


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
    observation = ObservationReconciler(
        database,
        sites,
        clock=clock,
        interval=settings.observation_interval,
        expires=settings.observation_expires,
        limit=settings.observation_limit,
        power_limit=settings.power_limit,
        validated="repair" in settings.validation,
    )
    engine = Engine(
        database,
        [*reconcilers(database, sites, settings, clock, draw=draw, catalogue=catalogue), observation, tasks],
        clock=clock,
        settings=engine_settings(settings),
        draw=draw,
        platform_work={tasks.kind: {task.name: task.interval for task in tasks.tasks.values()}},
        on_clock_set_back=(
            *release.COUNT_ANEW,
            POWERED_OFF_NOW,
            RETRY_NOW,
            *record.COUNT_ANEW,
            *validations.COUNT_ANEW,
        ),
        presence=presence,
        watch=watch,
    )
    return engine, tasks


def reconcilers(
    database: Database,
    sites: Sites,
    settings: Settings,
    clock: Clock,
    *,
    catalogue: CurrentCatalogue,
    draw: random.Random | None = None,
) -> list[Reconciler[Any, Any]]:
    """Those of everything that operations are about; without the periodic tasks."""
    draw = draw or random.Random()  # noqa: S311  # jitter, not a secret
    clusters = ClusterReconciler(
        sites,
        poll_interval=settings.site_poll_interval,
        request_life=settings.request_life,
        attempts=settings.step_attempts,
        billing_starts_at=settings.billing_starts_at,
        draw=draw,
        isolation=Isolation.usual(settings.isolation_after, settings.isolation_limit),
        power_limit=settings.power_limit,
        validated="release" in settings.validation,
        keys=_keys(settings),
    )
    partitions = PartitionReconciler(
        sites,
        clock=clock,
        quiet_interval=settings.partitions_quiet_interval,
        change_interval=settings.partitions_change_interval,
        request_life=settings.request_life,
        attempts=settings.step_attempts,
        deadline=settings.create_deadline,
        draw=draw,
    )
    exporter = Exporter(
        database,
        provider=settings.provider_name,
        catalogue=catalogue,
        keys=_keys(settings),
        private_too=settings.export_private_endpoints,
        ports=settings.delivery_ports,
    )
    validation = ValidationReconciler(
        sites,
        poll_interval=settings.site_poll_interval,
        request_life=settings.request_life,
        deadline=settings.validation_deadline,
        limit=settings.validation_limit,
    )
    jobs = JobReconciler(sites, poll_interval=min(settings.site_poll_interval, POLL_SECONDS))
    services = ServiceReconciler(sites, poll_interval=min(settings.site_poll_interval, POLL_SECONDS))
    buckets = S3Reconciler(sites, keys=_keys(settings))
    terminals = TerminalReconciler(sites)
    notices = PreemptionFileReconciler(sites)
    volumes, snapshots, addresses = VolumeReconciler(sites), SnapshotReconciler(sites), AddressReconciler(sites)
    exports = ExportReconciler(exporter, draw)
    storage: list[Reconciler[Any, Any]] = [buckets, volumes, snapshots]
    return [clusters, partitions, jobs, services, *storage, addresses, notices, terminals, exports, validation]


def engine_settings(settings: Settings) -> EngineSettings:
    return EngineSettings(
        slots=settings.worker_slots,
        lease=settings.lease_seconds,
        poll=settings.poll_seconds,
        reap=settings.reap_seconds,
        drain=settings.drain_seconds,
    )

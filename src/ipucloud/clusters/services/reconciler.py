"""Keeps the programs of a cluster's services running, beside its jobs."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.jobs.output import text_of
from ipucloud.clusters.services import store
from ipucloud.clusters.services.store import SERVICES, Service
from ipucloud.clusters.states import BILLABLE
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.services import ServiceState
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.failpoints import failpoint
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.site.errors import SiteError, SiteRefused
from ipucloud.site.ports import Hosts, Sites
from ipucloud.wire.site import Job as Seen
from ipucloud.wire.site import JobRequest

log = structlog.get_logger(__name__)

LOOK_SECONDS = 2.0
"""Usually between two looks at a program."""
WAITING_SECONDS = 15.0
"""Between two looks at a cluster that is not in use."""
_OVER = frozenset({ClusterState.ERROR, ClusterState.DELETING, ClusterState.DELETED})
_OFF = "its server was restarted, switched off or lost"
_STOPPED = "stopped by request"


@dataclass(frozen=True, slots=True)
class Current:
    """A service that has not ended; `host` None: its server has none at present. `removed`: nor will it have one."""

    id: UUID
    state: ServiceState
    attempt: int
    sent: bool
    due: bool
    stopping: bool
    log_bytes: int
    command: tuple[str, ...]
    directory: str | None
    environment: dict[str, str]
    port: int
    server: str
    removed: bool
    generation: int
    host: str | None

    @property
    def name(self) -> str:
        """Of this start of the program, at the site."""
        return f"service-{self.id}-{self.attempt}"


@dataclass(frozen=True, slots=True)
class ClusterServices:
    """The services of a cluster that has the `network` of this name."""

    project_id: UUID
    cluster_id: UUID
    state: ClusterState
    network: str
    services: tuple[Current, ...]


@dataclass(frozen=True, slots=True)
class Due:
    """Nothing was requested yet; it can be, once that is recorded."""


@dataclass(frozen=True, slots=True)
class Pausing:
    """It is not yet time for the next start."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The server does not have its program, or was off since."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The cluster does not have its server any more."""


@dataclass(frozen=True, slots=True)
class Silent:
    """The site was not reached, or said nothing that can be relied on."""

    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The site did not start the program."""

    why: str


Result: TypeAlias = Seen | Due | Pausing | Lost | Removed | Silent | Refused


class _Row(NamedTuple):
    leased: bool
    project_id: UUID | None
    cluster_id: UUID | None
    state: ClusterState | None
    network: str | None
    services: list[dict[str, Any]]


_LOAD = Query(
    """
    SELECT w.lease_until > app_now() AS leased, c.project_id, c.id AS cluster_id, c.state,
           c.external_name AS network,
           (SELECT coalesce(json_agg(json_build_object(
                     'id', v.id, 'state', v.state, 'attempt', v.attempt, 'sent', v.sent_at IS NOT NULL,
                     'due', v.next_start_at <= app_now(), 'stopping', v.stop_requested_at IS NOT NULL,
                     'log_bytes', v.log_bytes, 'command', v.command, 'directory', v.directory,
                     'environment', v.environment, 'port', v.port, 'server', s.name,
                     'removed', s.state = 'deleted', 'generation', s.generation, 'host', h.name) ORDER BY v.id), '[]')
              FROM services AS v
              JOIN poplar_servers AS s ON (s.project_id, s.id) = (v.project_id, v.server_id)
              LEFT JOIN allocations AS held
                ON (held.project_id, held.cluster_id, held.ordinal) = (s.project_id, s.cluster_id, s.ordinal)
               AND held.host_id IS NOT NULL AND held.released_at IS NULL
              LEFT JOIN hosts AS h ON h.id = held.host_id
             WHERE v.project_id = c.project_id AND v.cluster_id = c.id AND v.ended_at IS NULL) AS services
      FROM work AS w LEFT JOIN clusters AS c ON c.id = CAST(w.key AS uuid)
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,
    _Row,
)


class ServiceReconciler:
    """Keeps the services of one cluster running. `poll_interval`: seconds between two looks at a program."""

    kind = SERVICES

    def __init__(self, sites: Sites, *, poll_interval: float) -> None:
        self._sites = sites
        self._poll_interval = poll_interval

    async def load(self, connection: Statements, item: WorkItem) -> ClusterServices | Outcome:
        row = await inputs_of(connection, _LOAD, item)
        if not row.services or row.cluster_id is None or row.project_id is None or row.state is None:
            return Done()
        services = tuple(
            Current(
                **each
                | {"id": UUID(each["id"]), "state": ServiceState(each["state"]), "command": tuple(each["command"])}
            )
            for each in row.services
        )
        return ClusterServices(row.project_id, row.cluster_id, ClusterState(row.state), row.network or "", services)

    async def act(self, item: WorkItem, inputs: ClusterServices) -> Sequence[Result]:
        structlog.contextvars.bind_contextvars(project_id=str(inputs.project_id), cluster_id=str(inputs.cluster_id))
        if inputs.state not in BILLABLE:
            return [_meanwhile(inputs, service) for service in inputs.services]
        hosts = self._sites.at(None, item.remaining).hosts
        return await asyncio.gather(*(_look(hosts, inputs, service) for service in inputs.services))

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: ClusterServices, result: Sequence[Result]
    ) -> Outcome:
        mine = {"project_id": inputs.project_id, "cluster_id": inputs.cluster_id}
        live = {service.id: service for service in await store.LOCK.all(connection, mine)}
        if inputs.state in _OVER:
            for each in live.values():
                why = f"its cluster is {inputs.state}"
                await store.end(connection, each, ServiceState.STOPPED, "cluster", why=why)
            return Done()
        more = False
        for current, found in zip(inputs.services, result, strict=True):
            service = live.get(current.id)
            if service is not None:
                more |= await _apply(connection, current, service, found)
        failpoint("services.observed")
        if more:
            return Go()
        if inputs.state in BILLABLE:
            return Wait("services run", recheck=self._poll_interval)
        return Wait(f"the cluster is {inputs.state}", recheck=WAITING_SECONDS)


async def _apply(connection: AsyncConnection, current: Current, service: Service, found: Result) -> bool:
    """Write what was found of a service. True when more can be done now."""
    match found:
        case _ if service.stopping and not service.sent:
            await store.end(connection, service, ServiceState.STOPPED, "request", why=_STOPPED)
        case Due():
            await store.mark_sent(connection, service)
            failpoint("services.sent_recorded")
        case Pausing():
            return False
        case Silent(why=why):
            await store.note_wait(connection, service, why)
            return False
        case Removed():
            await store.end(connection, service, ServiceState.STOPPED, "server", why="its server was removed")
        case Lost() | Refused() if service.stopping:
            await store.end(connection, service, ServiceState.STOPPED, "request", why=_STOPPED)
        case Lost():
            await store.start_again(connection, service, _OFF)
        case Refused(why=why):
            await store.program_ended(connection, service, why, None)
        case Seen():
            return await _seen(connection, current, service, found)
    return True


async def _seen(connection: AsyncConnection, current: Current, service: Service, seen: Seen) -> bool:
    size, text = text_of(base64.b64decode(seen.log), final=seen.ended is not None)
    if size:
        await store.append_log(connection, service, size, text)
    rest = seen.log_size - current.log_bytes - size
    if seen.ended is None or (rest > 0 and size):
        await store.mark_running(connection, service)
        return rest > 0 and size > 0
    if seen.ended in {"exited", "interrupted"}:
        service = await store.mark_running(connection, service)
    if service.stopping or seen.ended == "stopped":
        status = seen.exit_status
        await store.end(connection, service, ServiceState.STOPPED, "request", why=_STOPPED, exit_status=status)
    elif seen.ended == "exited":
        await store.program_ended(connection, service, f"exit status {seen.exit_status}", seen.exit_status)
    elif seen.ended == "not_started":
        await store.program_ended(connection, service, f"could not be started: {seen.detail}", None)
    else:
        await store.start_again(connection, service, _OFF)
    return True


async def _look(hosts: Hosts, cluster: ClusterServices, service: Current) -> Result:
    """Bring a service on, and see what its program does."""
    if service.removed:
        return Removed()
    if service.host is None:
        return Silent("its server has no host at present")
    if not service.sent:
        return Due() if service.due else Pausing()
    starts = service.state is ServiceState.STARTING and not service.stopping
    try:
        return await _ask(hosts, cluster, service, service.host, starts=starts)
    except SiteError as error:
        if starts and isinstance(error, SiteRefused):
            return Refused(str(error))
        log.info("service_not_seen", service=service.name, error=str(error))
        return Silent(f"the site does not show it: {error}")


async def _ask(hosts: Hosts, cluster: ClusterServices, service: Current, host: str, *, starts: bool) -> Seen | Lost:
    at = {"server": service.server, "network": cluster.network}
    if starts:
        request = JobRequest(
            **at,
            generation=service.generation,
            command=list(service.command),
            directory=service.directory,
            environment={"PORT": str(service.port)} | service.environment,
        )
        return await hosts.put_job(host, service.name, request)
    if service.stopping:
        await hosts.stop_job(host, service.name, **at)
    return await hosts.get_job(host, service.name, **at, log_from=service.log_bytes) or Lost()


def _meanwhile(cluster: ClusterServices, service: Current) -> Result:
    """What is known of a service while its cluster is not in use: a server that is off runs nothing."""
    if cluster.state is ClusterState.SUSPENDED and service.sent:
        return Lost()
    return Silent(f"its cluster is {cluster.state}")

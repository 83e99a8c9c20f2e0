"""What is written of a service: its request, its stop, the starts of its program and its end."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import LockedCluster
from ipucloud.clusters.metrics import SERVICES_ENDED, count_labelled
from ipucloud.clusters.servers import UNKNOWN_SERVER, lock_cluster_in_use, server_of
from ipucloud.contract.event_payloads.projects import ServiceEnded, ServiceOf
from ipucloud.contract.event_types.projects import (
    SERVICE_CREATED,
    SERVICE_FAILED,
    SERVICE_RESTARTED,
    SERVICE_STARTED,
    SERVICE_STOPPED,
)
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.services import ServiceCreate, ServiceEndedBy, ServiceState
from ipucloud.db.documents import Fragment, clauses
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import NAME_TAKEN, STATE_CONFLICT, VALIDATION_FAILED, Problem, not_found
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.sealing import Keys
from ipucloud.programs.services.queries import MEANT
from ipucloud.programs.services.states import SERVICE_STATES
from ipucloud.programs.store import OF_IT, Record, key, require_runtime, started_as
from ipucloud.reconcile.wake import wake
from ipucloud.wire.site import JobHealth

SERVICES = "services"
"""Kind of the work items of services; the key is the cluster's id."""
MOST_SERVICES = 20
"""Services of a cluster that have not ended."""
STABLE_SECONDS = 60
"""A program that ran for so long begins a new row of failures."""
LONGEST_PAUSE = 60
"""Seconds before a start. The first pause is one second, and each is twice as long as the one before."""
LONGEST_DETAIL = 1000
"""Characters of what a site says of a check."""
KEPT_PARTS = 1000
"""Parts of a service's output that are kept; one has at most 64 KiB."""

IN_USE_BY_SERVICES = Fragment(
    "EXISTS (SELECT FROM services AS service WHERE service.project_id = c.project_id AND service.cluster_id = c.id"
    " AND service.ended_at IS NULL)"
)
"""Whether a cluster `c` has services that have not ended."""


class Service(NamedTuple):
    """A service under the lock of the transaction that changes it.

    `stable`: its program ran for STABLE_SECONDS. `succeeded`: another release follows when it has ended.
    """

    id: UUID
    project_id: UUID
    cluster_id: UUID
    name: str
    state: ServiceState
    attempt: int
    failures: int
    max_restarts: int
    sent: bool
    due: bool
    stopping: bool
    stable: bool
    unhealthy: bool
    checks_failed: int
    check_detail: str | None
    log_parts: int
    succeeded: bool

    @property
    def ended(self) -> bool:
        return self.state in _EVENTS


_COLUMNS = f"""
id, project_id, cluster_id, name, state, attempt, failures, max_restarts, sent_at IS NOT NULL AS sent,
next_start_at <= app_now() AS due, stop_requested_at IS NOT NULL AS stopping,
coalesce(state = 'running' AND started_at <= app_now() - interval '{STABLE_SECONDS} seconds', false) AS stable,
unhealthy_at IS NOT NULL AS unhealthy, checks_failed, check_detail, log_parts,
successor IS NOT NULL AS succeeded
"""


class _Conflicts(NamedTuple):
    services: int
    named: bool
    port_of: str | None


_CONFLICTS = Query(
    """
    SELECT count(*) AS services, coalesce(bool_or(name = :name), false) AS named,
           min(name) FILTER (WHERE (server_id, port) = (:server_id, :port)
             OR (CAST(successor ->> 'server_id' AS uuid), CAST(successor ->> 'port' AS integer)) = (:server_id, :port))
             AS port_of
      FROM services
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND ended_at IS NULL
       AND id IS DISTINCT FROM CAST(:instead_of AS uuid)
    """,
    _Conflicts,
)
_JSON = ("command", "environment", "health_check")


class _Created(NamedTuple):
    id: UUID
    cluster_id: UUID
    name: str


_INSERT = Query(
    """
    INSERT INTO services (id, project_id, cluster_id, server_id, name, command, directory, environment, image,
                          registry_username, registry_password, port, max_restarts, health_check, created_by)
    VALUES (:id, :project_id, :cluster_id, :server_id, :name, CAST(:command AS jsonb), :directory,
            CAST(:environment AS jsonb), :image, :registry_username, :registry_password, :port, :max_restarts,
            CAST(:health_check AS jsonb), :created_by)
    RETURNING id, cluster_id, name
    """,
    _Created,
)
_FIND = Query(
    f"""
    SELECT {_COLUMNS} FROM services
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND {MEANT}
       FOR NO KEY UPDATE
    """,  # noqa: S608  # our own text
    Service,
)
LOCK = Query(
    f"""
    SELECT {_COLUMNS} FROM services
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND ended_at IS NULL
     ORDER BY id FOR NO KEY UPDATE
    """,  # noqa: S608  # our own text
    Service,
)
"""The services of a cluster that have not ended, locked."""
SERVICE_RECORD = Record("services", "service_logs", "service_id")
_STOP = sa.text(
    clauses("UPDATE services SET stop_requested_at = coalesce(stop_requested_at, app_now()), successor = NULL", OF_IT)
)
_REPLACE = sa.text(
    clauses(
        """
        UPDATE services SET stop_requested_at = coalesce(stop_requested_at, app_now()),
               successor = CAST(:values AS jsonb) || jsonb_build_object(
                 'actor', nullif(current_setting('ipucloud.actor', true), ''),
                 'actor_kind', coalesce(nullif(current_setting('ipucloud.actor_kind', true), ''), 'platform'))
        """,
        OF_IT,
    )
)
_REQUESTED = """
id, project_id, cluster_id, server_id, name, command, directory, environment, image, registry_username,
registry_password, port, max_restarts, health_check, created_by, actor, actor_kind
"""
_SUCCEED = Query(
    f"""
    INSERT INTO services ({_REQUESTED})
    SELECT {", ".join(f"next.{name.strip()}" for name in _REQUESTED.split(","))}
      FROM services AS ended, jsonb_populate_record(NULL::services, ended.successor) AS next
     WHERE ended.project_id = :project_id AND ended.id = :id
    RETURNING id
    """,  # noqa: S608  # our own text
    UUID,
)
_SUCCEEDED = sa.text(clauses("UPDATE services SET successor = NULL", OF_IT))
_STARTED = sa.text(
    clauses(
        """
        UPDATE services SET state = 'running', state_reason = NULL, started_at = app_now(), observed_at = app_now()
        """,
        OF_IT,
    )
)
_TRIM = sa.text("DELETE FROM service_logs WHERE project_id = :project_id AND service_id = :id AND number <= :number")
_AGAIN = sa.text(
    clauses(
        """
        UPDATE services SET state = 'starting', state_reason = :why, attempt = attempt + 1, failures = :failures,
               exit_status = :exit_status, next_start_at = app_now() + make_interval(secs => :pause), sent_at = NULL,
               started_at = NULL, log_bytes = 0, checked_at = NULL, checks_failed = 0, check_detail = NULL,
               unhealthy_at = NULL
        """,
        OF_IT,
    )
)
# Until a first check has passed, the program may still be starting.
_NOTE_HEALTH = Query(
    clauses(
        """
        UPDATE services SET checked_at = :checked_at, checks_failed = :failed, check_detail = :detail,
               unhealthy_at = CASE WHEN :failed >= (health_check ->> 'failures')::int
                                    AND (:passed OR started_at <= app_now() - make_interval(
                                         secs => (health_check ->> 'start_seconds')::int)) THEN app_now() END
        """,
        OF_IT,
        "RETURNING unhealthy_at IS NOT NULL",
    ),
    bool,
)
_END = sa.text(
    clauses(
        """
        UPDATE services SET state = :state, state_reason = :why, ended_by = :ended_by, exit_status = :exit_status,
               failures = :failures, registry_password = NULL, ended_at = app_now(),
               successor = CASE WHEN :succeeded THEN successor END
        """,
        OF_IT,
    )
)
_EVENTS: dict[ServiceState, EventType] = {
    ServiceState.FAILED: SERVICE_FAILED,
    ServiceState.STOPPED: SERVICE_STOPPED,
}


async def create(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, body: ServiceCreate, keys: Keys | None
) -> UUID:
    """Record a program to keep running, with its event and work item.

    Raises `Problem`: not_found; state_conflict when the cluster is not in use, has too many services or another one has
    the port; no_containers; name_taken; validation_failed.
    """
    cluster = await lock_cluster_in_use(connection, actor, cluster_id, "Services are made")
    return await record_new(connection, actor, await prepared(connection, actor, cluster, body, keys))


async def prepared(
    connection: AsyncConnection,
    actor: Actor,
    cluster: LockedCluster,
    body: ServiceCreate,
    keys: Keys | None,
    *,
    instead_of: UUID | None = None,
) -> dict[str, object]:
    """The columns of a new service of a locked cluster. `instead_of`: the one that is to end before.

    Raises `Problem` as `create`.
    """
    require_runtime(cluster, body)
    server = await server_of(connection, actor, cluster.id, body.poplar_server)
    if server is None:
        raise Problem(VALIDATION_FAILED, "The service was not recorded; `errors` says why.", [UNKNOWN_SERVER])
    ids = {"project_id": actor.project_id, "cluster_id": cluster.id}
    of_body = {"name": body.name, "server_id": server.id, "port": body.port, "instead_of": instead_of}
    _require_room(body, server.name, await _CONFLICTS.one(connection, ids | of_body))
    service_id = new_id()
    values = started_as(body, keys, table="services", program=service_id, project=actor.project_id)
    return (
        ids
        | values
        | {
            "id": service_id,
            "server_id": server.id,
            "name": body.name,
            "port": body.port,
            "max_restarts": body.max_restarts,
            "health_check": None if body.health_check is None else body.health_check.model_dump_json(),
            "created_by": actor.token_id,
        }
    )


async def record_new(connection: AsyncConnection, actor: Actor, values: dict[str, object]) -> UUID:
    """Insert a service that was `prepared`, with its event and work item; its id."""
    created = await _INSERT.one(connection, values)
    await record(
        connection,
        SERVICE_CREATED,
        project_id=actor.project_id,
        subject_id=created.id,
        request_id=actor.request_id,
        data=ServiceOf(cluster=created.cluster_id, name=created.name, attempt=1),
    )
    await wake(connection, kind=SERVICES, key=str(created.cluster_id), project_id=actor.project_id)
    return created.id


async def lock_one(connection: AsyncConnection, actor: Actor, cluster_id: UUID, service_id: UUID) -> Service:
    """The service with this id, locked. Raises `Problem` not_found."""
    ids = {"project_id": actor.project_id, "cluster_id": cluster_id, "ref": str(service_id)}
    service = await _FIND.one_or_none(connection, ids)
    if service is None:
        raise not_found()
    return service


async def replace(connection: AsyncConnection, actor: Actor, service: Service, values: dict[str, object]) -> None:
    """Have a service stop, and what was `prepared` follow when it has ended: at once, if it was never started."""
    plain = {name: orjson.Fragment(str(each)) if name in _JSON and each else each for name, each in values.items()}
    await connection.execute(_REPLACE, key(service) | {"values": orjson.dumps(plain).decode()})
    if not service.sent:
        replaced = service._replace(succeeded=True)
        await end(connection, replaced, ServiceState.STOPPED, "request", why="replaced by another release")
    await wake(connection, kind=SERVICES, key=str(service.cluster_id), project_id=actor.project_id)


def _require_room(body: ServiceCreate, server: str, conflicts: _Conflicts) -> None:
    if conflicts.named:
        raise Problem(
            NAME_TAKEN,
            f"The cluster has a service {body.name} that has not ended. Stop it first, or choose another name.",
        )
    if conflicts.port_of is not None:
        raise Problem(
            STATE_CONFLICT,
            f"The service {conflicts.port_of} has port {body.port} of {server}. Choose another port, or stop it first.",
        )
    if conflicts.services >= MOST_SERVICES:
        raise Problem(
            STATE_CONFLICT, f"{conflicts.services} services of the cluster have not ended, as many as may. Stop one."
        )


async def stop(connection: AsyncConnection, actor: Actor, cluster_id: UUID, ref: str) -> UUID:
    """Record that a service is to be stopped; one of which nothing was requested ends here. One that has ended stays.

    Raises `Problem` not_found.
    """
    service = await _FIND.one_or_none(
        connection, {"project_id": actor.project_id, "cluster_id": cluster_id, "ref": ref}
    )
    if service is None:
        raise not_found()
    if service.ended:
        return service.id
    await connection.execute(_STOP, key(service))
    if service.stopping:
        return service.id
    if not service.sent:
        await end(connection, service, ServiceState.STOPPED, "request", why="stopped by request")
    await wake(connection, kind=SERVICES, key=str(cluster_id), project_id=actor.project_id)
    return service.id


async def mark_running(connection: AsyncConnection, service: Service) -> Service:
    """Its program was seen to run; the service as it is then."""
    if service.state is ServiceState.RUNNING:
        await SERVICE_RECORD.mark_seen(connection, service)
        return service
    SERVICE_STATES.require(service.state, ServiceState.RUNNING)
    await connection.execute(_STARTED, key(service))
    data = ServiceOf(cluster=service.cluster_id, name=service.name, attempt=service.attempt)
    await _record(connection, SERVICE_STARTED, service, data)
    return service._replace(state=ServiceState.RUNNING)


async def append_log(connection: AsyncConnection, service: Service, size: int, text: str) -> None:
    """The next `size` bytes of what its program wrote; the oldest part beyond those that are kept goes."""
    await SERVICE_RECORD.append_log(connection, service, size, text)
    await connection.execute(_TRIM, {**key(service), "number": service.log_parts + 1 - KEPT_PARTS})


async def note_health(connection: AsyncConnection, service: Service, health: JobHealth) -> bool:
    """What the last check found. True if that was so often wrong that the program is to be ended, and started again."""
    values = {
        "checked_at": health.checked_at,
        "failed": health.failed,
        "passed": health.passed,
        "detail": health.detail and health.detail[:LONGEST_DETAIL],
    }
    return await _NOTE_HEALTH.one(connection, key(service) | values)


async def start_again(connection: AsyncConnection, service: Service, why: str) -> None:
    """Its server was off or lost: its program is to be started once more, under another name, without a pause."""
    await _again(connection, service, why, failures=service.failures, pause=0, exit_status=None)


async def program_ended(connection: AsyncConnection, service: Service, why: str, exit_status: int | None) -> None:
    """Its program ended or could not be started: it is started again after a pause, unless that was often enough."""
    failures = 1 if service.stable else service.failures + 1
    if failures > service.max_restarts:
        often = f"{why}; started {failures} time{'' if failures == 1 else 's'} in a row"
        gone = service._replace(failures=failures)
        await end(connection, gone, ServiceState.FAILED, "program", why=often, exit_status=exit_status)
        return
    pause = min(2 ** (min(failures, 16) - 1), LONGEST_PAUSE)
    await _again(
        connection,
        service,
        f"{why}; start {service.attempt + 1} follows",
        failures=failures,
        pause=pause,
        exit_status=exit_status,
    )


async def _again(
    connection: AsyncConnection, service: Service, why: str, *, failures: int, pause: int, exit_status: int | None
) -> None:
    SERVICE_STATES.require(service.state, ServiceState.STARTING)
    values = {"why": why, "failures": failures, "pause": pause, "exit_status": exit_status}
    await connection.execute(_AGAIN, key(service) | values)
    data = ServiceEnded(
        cluster=service.cluster_id, name=service.name, attempt=service.attempt, exit_status=exit_status, reason=why
    )
    await _record(connection, SERVICE_RESTARTED, service, data)


async def end(
    connection: AsyncConnection,
    service: Service,
    state: ServiceState,
    ended_by: ServiceEndedBy,
    *,
    why: str,
    exit_status: int | None = None,
) -> None:
    """The service has ended."""
    SERVICE_STATES.require(service.state, state)
    values = {"state": state.value, "ended_by": ended_by, "why": why, "exit_status": exit_status}
    succeeded = service.succeeded and ended_by in {"request", "program"}
    await connection.execute(_END, key(service) | values | {"failures": service.failures, "succeeded": succeeded})
    count_labelled(connection, SERVICES_ENDED, state.value, ended_by)
    data = ServiceEnded(
        cluster=service.cluster_id,
        name=service.name,
        attempt=service.attempt,
        ended_by=ended_by,
        exit_status=exit_status,
        reason=why,
    )
    await _record(connection, _EVENTS[state], service, data)
    if succeeded:
        await _succeed(connection, service)


async def _succeed(connection: AsyncConnection, ended: Service) -> None:
    """The release that was to follow takes the name."""
    service_id = await _SUCCEED.one(connection, key(ended))
    await connection.execute(_SUCCEEDED, key(ended))
    data = ServiceOf(cluster=ended.cluster_id, name=ended.name, attempt=1)
    await record(connection, SERVICE_CREATED, project_id=ended.project_id, subject_id=service_id, data=data)
    await wake(connection, kind=SERVICES, key=str(ended.cluster_id), project_id=ended.project_id)


async def _record(connection: AsyncConnection, kind: EventType, service: Service, data: ServiceOf) -> None:
    await record(connection, kind, project_id=service.project_id, subject_id=service.id, data=data)

"""The path of the API that leads to the program of a service.

It is not in the OpenAPI document: its requests and answers are the program's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from uuid import UUID

import httpcore
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ipucloud.api.auditing import audited
from ipucloud.api.bodies import Incoming, malformed, too_large
from ipucloud.api.names import named, resolve
from ipucloud.api.reads import read
from ipucloud.api.routing import FoundRoute
from ipucloud.api.services import Services, services_of
from ipucloud.api.trace import origin_of, trace_of
from ipucloud.api.v1.services import SERVICE_PATH
from ipucloud.clusters.states import BILLABLE
from ipucloud.contract.services import ServiceState
from ipucloud.extras.service_proxy.forwarding import ChannelStream, ForwardedAnswer, ask, request_fields
from ipucloud.extras.service_proxy.logins import Caller, Place
from ipucloud.extras.service_proxy.running import proxy_of
from ipucloud.identity.access import unauthenticated
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import (
    SERVICE_NOT_RUNNING,
    SERVICE_TIMEOUT,
    SERVICE_UNREACHABLE,
    STATE_CONFLICT,
    UPGRADE_UNSUPPORTED,
    Problem,
    not_found,
)
from ipucloud.programs.services.reach import FIND_REACHED, Reached

OPERATION = "requestService"
"""In the audit log."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
PATH = SERVICE_PATH + "/proxy/{path:path}"
_NOT_ANSWERED = frozenset({SERVICE_UNREACHABLE, SERVICE_TIMEOUT})
_FAILED_STATUS = 500
_SEGMENTS = 9
"""Of the path, before that of the program."""


class ServiceRoute(FoundRoute):
    """As `ApiRoute`, it knows the permission that it requires."""

    permission = Permission.CLUSTER_WRITE


class Forward:
    """ASGI application of the route."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        incoming = Incoming(receive)
        request = Request(scope, incoming.receive)
        path = {name: value for name, value in request.path_params.items() if name != "path"}
        try:
            async with AsyncExitStack() as until_answered:
                until_answered.callback(incoming.close)
                response = await _answer(request, incoming, until_answered)
                await response(scope, incoming.receive, send)
        except Problem as refusal:
            raise named(refusal, path) from None


async def _answer(request: Request, incoming: Incoming, until_answered: AsyncExitStack) -> Response:
    trace = trace_of(request)
    trace.credential()
    if trace.by_cookie:  # a page of the panel could otherwise be made to load what a program serves
        raise unauthenticated()
    async with audited(request, OPERATION, ServiceRoute.permission) as outcome:
        if "\x00" in request.scope["path"]:
            raise not_found()
        await resolve(request)
        service = await read(
            request,
            FIND_REACHED,
            request.path_params["project"],
            cluster_id=request.path_params["cluster"],
            ref=request.path_params["service"],
        )
        response = await _forwarded(request, service, incoming, until_answered)
        outcome.status = response.status_code
        return response


async def _forwarded(
    request: Request, service: Reached, incoming: Incoming, until_answered: AsyncExitStack
) -> Response:
    trace, services = trace_of(request), services_of(request)
    settings = services.settings
    if (
        service.project_id is None
        or service.service_id is None
        or service.name is None
        or service.port is None
        or service.server_id is None
    ):
        raise not_found()
    trace.concerns(cluster_id=request.path_params["cluster"], service_id=service.service_id)
    _require_running(service)
    if "upgrade" in request.headers:
        raise Problem(
            UPGRADE_UNSUPPORTED,
            f"Requests to the service {service.name} are forwarded as HTTP/1.1 without upgrades, so WebSockets do not"
            f" reach it. Use `ipucloud clusters ssh CLUSTER --forward {service.port}`.",
        )
    limit = settings.service_body_limit
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise too_large(limit)
    prefix, target = _split(request.scope)
    project = request.path_params["project"]
    caller = Caller(trace.credential(), project, ServiceRoute.permission, trace.request_id, origin_of(request))
    place = Place(
        request.path_params["cluster"],
        service.server_id,
        service.server or "",
        service.host,
        service.ssh_port,
        service.host_key,
    )
    fields = request_fields(
        request.headers.raw, host=f"127.0.0.1:{service.port}", prefix=prefix, request_id=trace.request_id
    )
    until_answered.enter_context(
        proxy_of(services).logins.one_more(service.service_id, service.name, settings.service_request_limit)
    )
    seconds = settings.service_timeout
    channel = proxy_of(services).logins.channel(place, service.port, caller, seconds)
    method = "HEAD" if trace.bodiless else request.method

    async def answered() -> httpcore.Response:
        stream = ChannelStream(*await until_answered.enter_async_context(channel))
        return await ask(stream, method, target, fields, _body(request, limit), seconds=seconds)

    with _counted(services, service.project_id, service.service_id) as outcome, _problems_of(service, seconds):
        answer = await incoming.unless_hung_up(answered())
        outcome.status = answer.status
    trace.forwarded = True
    return ForwardedAnswer(answer)


@dataclass
class _Outcome:
    status: int | None = None


@contextmanager
def _counted(services: Services, project_id: UUID, service_id: UUID) -> Iterator[_Outcome]:
    """Count the request, unless it ends for a reason that lies with the caller."""
    outcome, begun = _Outcome(), services.clock.monotonic()
    try:
        yield outcome
    except Problem as problem:
        if problem.kind in _NOT_ANSWERED:
            proxy_of(services).counts.add(project_id, service_id, services.clock.monotonic() - begun, failed=True)
        raise
    seconds, failed = services.clock.monotonic() - begun, outcome.status is None or outcome.status >= _FAILED_STATUS
    proxy_of(services).counts.add(project_id, service_id, seconds, failed=failed)


def _require_running(service: Reached) -> None:
    why = f": {service.state_reason}" if service.state_reason else ""
    if service.state in {ServiceState.FAILED, ServiceState.STOPPED}:
        raise Problem(
            STATE_CONFLICT,
            f"The service {service.name} has ended and is {service.state}{why}. Serve it again to reach its program.",
        )
    if service.cluster_state not in BILLABLE:
        raise Problem(
            STATE_CONFLICT,
            f"The cluster of the service {service.name} is {service.cluster_state}. Resume it, or wait until it is"
            " active.",
        )
    if service.server_state != "running":
        raise Problem(
            SERVICE_NOT_RUNNING,
            f"The Poplar server {service.server} of the service {service.name} is {service.server_state}. Try again"
            " once it is running.",
            headers={"Retry-After": "5"},
        )
    if service.state is ServiceState.STARTING:
        raise Problem(
            SERVICE_NOT_RUNNING,
            f"The program of the service {service.name} is to be started{why}. Try again once the service is running.",
            headers={"Retry-After": "2"},
        )


@contextmanager
def _problems_of(service: Reached, seconds: float) -> Iterator[None]:
    """Raises `Problem` for what goes wrong before an answer begins."""
    import asyncssh

    name, where = service.name, f"127.0.0.1:{service.port}"
    try:
        yield
    except asyncssh.ChannelOpenError as error:
        if error.code == asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED:
            raise Problem(
                SERVICE_UNREACHABLE,
                f"The SSH server of the Poplar server {service.server} forwards no TCP connections, so the service"
                f" {name} cannot be reached. Let its sshd_config say `AllowTcpForwarding yes`.",
            ) from error
        raise Problem(
            SERVICE_UNREACHABLE,
            f"Nothing listens on {where} of the Poplar server {service.server} for the service {name}. Let its program"
            " listen on 127.0.0.1 and the port in the variable PORT, and see what it wrote: `ipucloud services logs`.",
        ) from error
    except (TimeoutError, httpcore.TimeoutException) as error:
        raise Problem(
            SERVICE_TIMEOUT,
            f"The program of the service {name} did not answer on {where} within {seconds:g} seconds. Try again, or"
            " see what it wrote: `ipucloud services logs`.",
        ) from error
    except httpcore.LocalProtocolError as error:
        raise malformed("The path or a header field cannot be sent on. Encode them as HTTP/1.1 wants it.") from error
    except ClientDisconnect:
        raise malformed("The body was incomplete.") from None
    except (OSError, asyncssh.Error, httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise Problem(
            SERVICE_UNREACHABLE,
            f"The program of the service {name} took the connection on {where} and gave no answer in HTTP/1.1. See"
            " what it wrote: `ipucloud services logs`.",
        ) from error


def _split(scope: Scope) -> tuple[str, bytes]:
    """The path under which the caller sees the program's root, and what the program is asked for, as it was sent."""
    raw: bytes = scope["raw_path"]
    segments = raw.split(b"/", _SEGMENTS)
    if len(segments) <= _SEGMENTS or segments[_SEGMENTS - 1] != b"proxy":
        raise not_found()
    query: bytes = scope["query_string"]
    prefix = b"/".join(segments[:_SEGMENTS]).decode("latin-1")
    return prefix, b"/" + segments[_SEGMENTS] + (b"?" + query if query else b"")


async def _body(request: Request, limit: int) -> AsyncIterator[bytes]:
    received = 0
    async for part in request.stream():
        received += len(part)
        if received > limit:
            raise too_large(limit)
        if part:
            yield part


routes = [ServiceRoute(PATH, Forward(), methods=list(METHODS), name=OPERATION, include_in_schema=False)]

"""Events as they become visible: a stream of server-sent events, for a project, a billing account or operators.

A stream holds no database connection. The process reads each log once for all its streams (`events.following`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin.events import OPERATORS, PLATFORM
from ipucloud.api.problems import invalid
from ipucloud.api.reads import check_permission, reading, reading_account, reading_platform
from ipucloud.api.routing import Operation, operation, router
from ipucloud.api.services import Services, services_of
from ipucloud.api.shapes import LAST_EVENT_ID, AccountId, ProjectRef
from ipucloud.api.streams import RETRY_MILLISECONDS, EventStream
from ipucloud.api.trace import trace_of
from ipucloud.contract.event_types.projects import MEMBER_REMOVED, PROJECT_DELETED, TOKEN_REVOKED, TOKEN_ROTATED
from ipucloud.contract.events import EventStreamQuery
from ipucloud.events.feed import FeedEvent, Position
from ipucloud.events.following import Follower, Subscription
from ipucloud.events.news import ACCOUNTS, PROJECTS, Opened
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import TOO_MANY_CONNECTIONS, FieldError, Problem

KEEP_ALIVE_SECONDS = 15.0
"""How often a silent stream says something, and how long one goes on after its token was revoked."""
GAP = "gap"
"""Type of the message that says that events may be missing."""

_UNKNOWN = Position(0, -1)
_LEFT = frozenset({TOKEN_REVOKED.name, TOKEN_ROTATED.name, PROJECT_DELETED.name, MEMBER_REMOVED.name})
"""Events after which the caller may have no access any more."""

routes = router()


def _streaming(operation_id: str, summary: str, permission: Permission) -> Operation:
    return operation(
        operation_id,
        summary,
        permission,
        files=("text/event-stream",),
        errors=(TOO_MANY_CONNECTIONS,),
        headers=(LAST_EVENT_ID,),
        description="Server-sent events",
    )


@routes.get(
    "/v1/projects/{project}/events/stream", **_streaming("streamEvents", "Stream events", Permission.PROJECT_READ)
)
async def stream_events(request: Request, project: ProjectRef, query: EventStreamQuery) -> Response:
    """Send the project's events as they become visible, in the order of the log, as server-sent events.

    `id` is the event's id, `event` its type, `data` the event as in the list. Without a position to continue after,
    only new events are sent. A comment is sent every 15 seconds. The stream ends after `wait` seconds, when the process
    is restarted, and within 15 seconds after the token was revoked: open it again after the last id. If the log cannot
    be read on from there, the first message is of the type `gap`: read everything again.
    """
    position = _position(request, query)
    async with reading(request, project) as (connection, scope):
        opened = await PROJECTS.opened(connection, scope.project_id, position)
    return _stream(request, services_of(request).followers.projects, scope.project_id, _begun(position, opened), query)


@routes.get(
    "/v1/billing/accounts/{account:ref}/events/stream",
    **_streaming("streamAccountEvents", "Stream an account's events", Permission.ACCOUNT_READ),
)
async def stream_account_events(request: Request, account: AccountId, query: EventStreamQuery) -> Response:
    """Send what happens to the account's money, as [the stream of a project](#operation/streamEvents) does."""
    position = _position(request, query)
    async with reading_account(request, account) as connection:
        opened = await ACCOUNTS.opened(connection, account, position)
    return _stream(request, services_of(request).followers.accounts, account, _begun(position, opened), query)


@routes.get(
    "/v1/operator/events/stream",
    **_streaming("streamOperatorEvents", "Stream events for operators", Permission.PLATFORM_READ),
)
async def stream_operator_events(request: Request, query: EventStreamQuery) -> Response:
    """Send what happens to the platform, as [the stream of a project](#operation/streamEvents) does."""
    position = _position(request, query)
    async with reading_platform(request) as connection:
        opened = await OPERATORS.opened(connection, PLATFORM, position)
    return _stream(request, services_of(request).followers.operators, PLATFORM, _begun(position, opened), query)


class _Start(NamedTuple):
    position: Position
    gap: bool


def _begun(position: Position | None, opened: Opened) -> _Start:
    gap = position is not None and not opened.known
    return _Start(Position(opened.tail, 0) if position is None or gap else position, gap)


def _stream(request: Request, follower: Follower, reader: UUID, start: _Start, query: EventStreamQuery) -> Response:
    if trace_of(request).bodiless:
        return Response(media_type="text/event-stream")
    services = services_of(request)
    held = ExitStack()
    held.enter_context(services.streams.admitted(reader))
    subscription = held.enter_context(follower.subscribed(reader))
    stream = _Stream(request, services, subscription, start.position, query.wait)
    return EventStream(stream.messages(gap=start.gap), held)


def _position(request: Request, query: EventStreamQuery) -> Position | None:
    """The position to continue after. A browser cannot correct its header: one that is none is an unknown position.

    Raises `Problem` validation_failed for a query.
    """
    header = request.headers.get("last-event-id")
    try:
        if header:
            return Position.parse(header)
        return None if query.after is None else Position.parse(query.after)
    except ValueError:
        if header:
            return _UNKNOWN
        raise invalid([FieldError("?after", "not_an_event", "Send the id of an event.")]) from None


@dataclass
class _Stream:
    request: Request
    services: Services
    subscription: Subscription
    position: Position
    wait: float

    async def messages(self, *, gap: bool) -> AsyncIterator[bytes]:
        """What is sent. The first message has an id, so that a client can continue that has seen no event yet."""
        yield format_sse_event(
            id=str(self.position),
            retry=RETRY_MILLISECONDS,
            event=GAP if gap else None,
            data_str="{}" if gap else None,
        )
        clock = self.services.clock
        now = clock.monotonic()
        until, spoke, judged = now + self.wait, now, now
        try:
            while not self.subscription.over:
                silent = spoke + KEEP_ALIVE_SECONDS
                deadline = min(until, silent) if self.subscription.caught_up else silent
                events = await self.subscription.after(self.position, max(0.0, deadline - now))
                now = clock.monotonic()
                if now - judged >= KEEP_ALIVE_SECONDS or any(event.type in _LEFT for event in events):
                    await self._check_access()
                    judged = now
                if events:
                    yield self._written(events)
                elif now >= until and self.subscription.caught_up:
                    return
                elif now >= silent:
                    yield KEEPALIVE_COMMENT
                else:
                    continue
                spoke = now
        except Problem:
            return  # refused from now on, or the database does not answer: the client learns it when it comes again

    async def _check_access(self) -> None:
        """Raises `Problem` when the stream would not be opened any more."""
        await check_permission(self.request)
        account = self.request.path_params.get("account")
        if account is not None:
            async with reading_account(self.request, account):
                pass

    def _written(self, events: list[FeedEvent]) -> bytes:
        self.position = events[-1].position
        self.services.metrics.streamed.inc(len(events))
        return b"".join(
            format_sse_event(id=str(event.position), event=event.type, data_str=event.document) for event in events
        )

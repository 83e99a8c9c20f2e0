"""Events in the order in which they became visible: of a project, of a billing account, and for operators."""

from __future__ import annotations

from functools import cache
from uuid import UUID

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin.events import LIST_CLOUD_EVENTS as OPERATOR_CLOUD_EVENTS
from ipucloud.admin.events import LIST_EVENTS as OPERATOR_EVENTS
from ipucloud.admin.events import OperatorLists
from ipucloud.api.etag import tagged
from ipucloud.api.paging import open_cursor, page_at
from ipucloud.api.problems import invalid
from ipucloud.api.reads import principal, read, reading_account, reading_platform
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import IF_NONE_MATCH, AccountId, ProjectRef
from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.contract.events import (
    AccountEventList,
    CloudEventPage,
    EventList,
    EventPage,
    EventTypeOut,
    EventTypePage,
    OperatorEventList,
    OperatorEventPage,
)
from ipucloud.events.feed import (
    LIST_ACCOUNT_CLOUD_EVENTS,
    LIST_ACCOUNT_EVENTS,
    LIST_CLOUD_EVENTS,
    LIST_EVENTS,
    AccountLists,
    EventsFound,
    Position,
    list_parameters,
)
from ipucloud.identity.access import authenticated
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import FieldError

_LIST = {order: authenticated(text, EventsFound) for order, text in LIST_EVENTS.items()}
_LIST_CLOUD_EVENTS = {order: authenticated(text, EventsFound) for order, text in LIST_CLOUD_EVENTS.items()}

routes = router()


@routes.get(
    "/v1/billing/accounts/{account:ref}/events",
    **operation("listAccountEvents", "List an account's events", Permission.ACCOUNT_READ, gives=EventPage),
)
async def list_account_events(request: Request, account: AccountId, query: AccountEventList) -> Response:
    """List what happens to the account's money: documents, payments, funds, budgets, overdue invoices.

    With `order=created_at`, a reader that continues after its last event misses none.
    """
    return await _account_page(request, account, query, LIST_ACCOUNT_EVENTS)


@routes.get(
    "/v1/billing/accounts/{account:ref}/cloud-events",
    **operation(
        "listAccountCloudEvents",
        "List an account's events as CloudEvents",
        Permission.ACCOUNT_READ,
        gives=CloudEventPage,
    ),
)
async def list_account_cloud_events(request: Request, account: AccountId, query: AccountEventList) -> Response:
    """List the account's events in the JSON format of CloudEvents 1.0; order and filters are those of its events."""
    return await _account_page(request, account, query, LIST_ACCOUNT_CLOUD_EVENTS)


async def _account_page(
    request: Request,
    account: UUID,
    query: AccountEventList,
    statements: AccountLists,
) -> Response:
    parameters = filters(query, request)
    async with reading_account(request, account) as connection:
        page = await statements[query.order].one(connection, parameters | {"account_id": account})
    return page_at(query, request, page.items, page.next)


@routes.get(
    "/v1/projects/{project}/events",
    **operation("listEvents", "List events", Permission.PROJECT_READ, gives=EventPage, by_cluster=True),
)
async def list_events(request: Request, project: ProjectRef, query: EventList) -> Response:
    """List the project's events. With `order=created_at`, a reader that continues after its last event misses none."""
    row = await read(request, _LIST[query.order], project, **filters(query, request))
    return page_at(query, request, row.items, row.next)


@routes.get(
    "/v1/projects/{project}/cloud-events",
    **operation(
        "listCloudEvents", "List events as CloudEvents", Permission.PROJECT_READ, gives=CloudEventPage, by_cluster=True
    ),
)
async def list_cloud_events(request: Request, project: ProjectRef, query: EventList) -> Response:
    """List the project's events in the JSON format of CloudEvents 1.0; order and filters are those of its events."""
    row = await read(request, _LIST_CLOUD_EVENTS[query.order], project, **filters(query, request))
    return page_at(query, request, row.items, row.next)


@routes.get(
    "/v1/event-types",
    **operation(
        "listEventTypes", "List event types", Permission.CATALOGUE_READ, gives=EventTypePage, headers=(IF_NONE_MATCH,)
    ),
)
async def list_event_types(request: Request) -> Response:
    """List all event types with their meaning, subject and schema of `data`. They are the same for every token."""
    await principal(request)
    return tagged(request, _event_types(), 0)


@cache
def _event_types() -> bytes:
    items = [
        EventTypeOut(
            type=kind.name,
            meaning=kind.meaning,
            subject_types=list(kind.subjects),
            data_schema=kind.payload and kind.payload.model_json_schema(),
        )
        for _, kind in sorted(REGISTRY.items())
        if kind.project
    ]
    return to_json(EventTypePage(items=items, next_cursor=None))


def filters(query: EventList | AccountEventList | OperatorEventList, request: Request) -> dict[str, object]:
    """The statement's parameters for a query. Raises as `behind`."""
    return list_parameters(
        order=query.order,
        limit=query.limit,
        behind=behind(query, request),
        types=query.type,
        subject_id=query.subject,
    )


def behind(query: EventList | AccountEventList | OperatorEventList, request: Request) -> Position | None:
    """The position after which the page starts. Raises `Problem` validation_failed or invalid_cursor."""
    cursor = open_cursor(query, request)
    start = cursor or query.after
    if start is None:
        return None
    try:
        return Position.parse(start)
    except ValueError:
        fault = FieldError("?after", "not_an_event", "Send the id of an event.")
        raise invalid([fault]) from None


@routes.get(
    "/v1/operator/events",
    **operation("listOperatorEvents", "List events for operators", Permission.PLATFORM_READ, gives=OperatorEventPage),
)
async def list_operator_events(request: Request, query: OperatorEventList) -> Response:
    """List what happens to the platform, and to clusters by its operators and workers.

    With `order=created_at`, a reader that continues after its last event misses none.
    """
    return await _operator_page(request, query, OPERATOR_EVENTS)


@routes.get(
    "/v1/operator/cloud-events",
    **operation(
        "listOperatorCloudEvents",
        "List events for operators as CloudEvents",
        Permission.PLATFORM_READ,
        gives=CloudEventPage,
    ),
)
async def list_operator_cloud_events(request: Request, query: OperatorEventList) -> Response:
    """List the same events in the JSON format of CloudEvents 1.0; order and filters are those of the events."""
    return await _operator_page(request, query, OPERATOR_CLOUD_EVENTS)


async def _operator_page(request: Request, query: OperatorEventList, statements: OperatorLists) -> Response:
    parameters = filters(query, request) | {"region": query.region, "project": query.project}
    async with reading_platform(request) as connection:
        page = await statements[query.order].one(connection, parameters)
    return page_at(query, request, page.items, page.next)

"""The project's activity: what happened, in the order in which it became visible."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.paging import Paged, open_cursor, page_at
from ipucloud.api.problems import invalid
from ipucloud.api.reads import read
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import Page, ProjectRef
from ipucloud.clusters.models import EventOut
from ipucloud.db.documents import Order
from ipucloud.events.feed import LIST_EVENTS, Position, list_parameters
from ipucloud.identity.access import authenticated
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import FieldError

_LIST = {order: authenticated(text) for order, text in LIST_EVENTS.items()}

routes = router()


class EventPage(Page[EventOut]):
    pass


class EventList(Paged):
    """Events that fulfil every filter."""

    order: Order = Field(Order.NEWEST_FIRST, description="newest first, or oldest first")
    type: list[str] = Field(default_factory=list, description="any of these types", examples=[["cluster.created"]])
    subject: UUID | None = Field(None, description="about this object, such as a cluster")
    after: str | None = Field(None, description="start behind the event with this id; without `cursor`")


@routes.get(
    "/v1/projects/{project}/events",
    **operation("listEvents", "List events", Permission.PROJECT_READ, gives=EventPage),
)
async def list_events(request: Request, project: ProjectRef, query: Annotated[EventList, Query()]) -> Response:
    """What happened in the project. With `order=created_at` a reader that goes on from its last event misses none."""
    parameters = list_parameters(
        order=query.order,
        limit=query.limit,
        behind=_behind(query, request),
        types=query.type,
        subject_id=query.subject,
    )
    row = await read(request, _LIST[query.order], project, **parameters)
    return page_at(query, request, row["items"], row["next"])


def _behind(query: EventList, request: Request) -> Position | None:
    cursor = open_cursor(query, request)
    start = cursor or query.after
    if start is None:
        return None
    try:
        return Position.parse(start)
    except ValueError:
        fault = FieldError("?after", "not_an_event", "Send the id of an event.")
        raise invalid([fault]) from None

"""The log is read in an order that nobody can be inserted into afterwards."""

from __future__ import annotations

from uuid import UUID

import orjson
import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.clusters import ClusterEntered
from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.contract.events import EventOut
from ipucloud.contract.lists import Order
from ipucloud.db.engine import Database
from ipucloud.events.feed import LIST_EVENTS, EventsFound, FeedEvent, Position, list_parameters, read, tail
from ipucloud.events.log import record
from ipucloud.identity.access import authenticated
from tests.support.factories import Project, make_project
from tests.support.feed import settled
from tests.support.world import authentication

pytestmark = pytest.mark.anyio

SUBJECT = UUID(int=7)
A, B, C, D, E = (f"cluster.{state}" for state in ("active", "suspending", "suspended", "resuming", "deleting"))
LISTS = {order: authenticated(text, EventsFound) for order, text in LIST_EVENTS.items()}


@pytest.fixture
async def project(db: Database) -> Project:
    async with db.begin() as connection:
        return await make_project(connection)


async def write(connection: AsyncConnection, project: Project, kind: str, subject: UUID = SUBJECT) -> None:
    data = ClusterEntered(reason=kind)
    await record(connection, REGISTRY[kind], project_id=project.id, subject_id=subject, request_id="r1", data=data)


async def written(db: Database, project: Project, *kinds: str, subject: UUID = SUBJECT) -> None:
    for kind in kinds:
        async with db.begin() as connection:
            await write(connection, project, kind, subject)
    await settled(db)


async def read_feed(db: Database, project: Project, behind: Position | None = None) -> list[FeedEvent]:
    async with db.read() as connection:
        return await read(connection, project_id=project.id, behind=behind)


async def listed(db: Database, project: Project, order: Order, **query: object) -> tuple[list[EventOut], str | None]:
    parameters = authentication(project) | list_parameters(order=order, **query)  # type: ignore[arg-type]
    async with db.read() as connection:
        row = await LISTS[order].one(connection, parameters)
    return [EventOut.model_validate(event) for event in orjson.loads(row.items)], row.next


async def test_an_event_says_what_happened_to_what_when_and_why(db: Database, project: Project) -> None:
    await written(db, project, "cluster.active")
    (event,) = await read_feed(db, project)
    shown = EventOut.model_validate_json(event.document)
    assert (shown.type, shown.subject_type, shown.subject_id) == ("cluster.active", "cluster", SUBJECT)
    assert (shown.id, shown.request_id, shown.data) == (str(event.position), "r1", {"reason": "cluster.active"})


async def test_a_late_commit_is_never_skipped(db: Database, project: Project) -> None:
    """The slow one has the lower id and becomes visible last: whoever read on by id would never see it."""
    await written(db, project, "cluster.active")
    async with db.begin() as slow:
        await write(slow, project, "cluster.suspending")
        async with db.begin() as quick:
            await write(quick, project, "cluster.suspended")
        before = await read_feed(db, project)
        assert [event.type for event in before] == ["cluster.active"]
    await settled(db)
    after = await read_feed(db, project, behind=before[-1].position)
    assert [event.type for event in after] == ["cluster.suspending", "cluster.suspended"]


async def test_what_is_new_starts_at_the_tail_which_lies_before_whatever_is_still_open(
    db: Database, project: Project
) -> None:
    await written(db, project, "cluster.active")
    async with db.begin() as slow:
        await write(slow, project, "cluster.suspending")
        async with db.read() as connection:
            start = await tail(connection)
    await settled(db)
    assert [event.type for event in await read_feed(db, project, behind=start)] == ["cluster.suspending"]


@pytest.mark.parametrize("order", list(Order))
async def test_pages_put_together_are_the_log(db: Database, project: Project, order: Order) -> None:
    await written(db, project, A, B, C, D, E)
    pages, behind = [], None
    while True:
        events, following = await listed(db, project, order, limit=2, behind=behind)
        pages.append([event.type for event in events])
        if following is None:
            break
        behind = Position.parse(following)
    expected = [[A, B], [C, D], [E]] if order is Order.OLDEST_FIRST else [[E, D], [C, B], [A]]
    assert pages == expected


async def test_filters_by_kind_and_subject(db: Database, project: Project) -> None:
    await written(db, project, A, B)
    await written(db, project, C, subject=UUID(int=8))
    filters: list[tuple[dict[str, object], list[str]]] = [
        ({"types": [A, C]}, [A, C]),
        ({"subject_id": SUBJECT}, [A, B]),
    ]
    for query, expected in filters:
        events, _ = await listed(db, project, Order.OLDEST_FIRST, **query)
        assert [event.type for event in events] == expected


async def test_another_project_s_events_are_not_there(db: Database, project: Project) -> None:
    async with db.begin() as connection:
        other = await make_project(connection)
    await written(db, other, "cluster.active")
    assert await read_feed(db, project) == []
    assert (await listed(db, project, Order.NEWEST_FIRST))[0] == []


@pytest.mark.parametrize("text", ["", "5", "5-", "-5", "a-b", "5-6-7", "\uff15-\uff16", "5-6\n", "9" * 19 + "-1"])
def test_what_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="position"):
        Position.parse(text)


def test_a_position_is_what_it_is_written_as() -> None:
    assert Position.parse(str(Position(812, 45))) == Position(812, 45)

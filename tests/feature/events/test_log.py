"""Only registered events are written, about what they say and with data of their shape."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from ipucloud.contract.event_payloads.clusters import ClusterEntered, OutOfFunds
from ipucloud.contract.event_payloads.projects import TokenReplaced
from ipucloud.contract.event_types.clusters import OPERATION_CREATED
from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.contract.event_types.platform import AUDIT_REPAIRED
from ipucloud.contract.event_types.projects import TOKEN_REVOKED, TOKEN_ROTATED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.db.engine import Database
from ipucloud.events.log import record
from tests.support.factories import make_project

pytestmark = pytest.mark.anyio

SUBJECT = UUID(int=7)


async def written(db: Database, kind: EventType, **arguments: Any) -> list[tuple[str, str, dict[str, object]]]:
    async with db.begin() as connection:
        project = await make_project(connection)
        await record(connection, kind, project_id=project.id, subject_id=SUBJECT, **arguments)
        rows = await connection.execute(sa.text("SELECT type, subject_type, data FROM events"))
        return [(row.type, row.subject_type, row.data) for row in rows]


async def test_the_subject_and_the_data_are_those_of_the_type(db: Database) -> None:
    [(name, subject, data)] = await written(db, TOKEN_ROTATED, data=TokenReplaced(replaced_by=SUBJECT))
    assert (name, subject, data) == ("token.rotated", "token", {"replaced_by": str(SUBJECT)})


async def test_a_type_without_data_has_an_empty_object(db: Database) -> None:
    assert await written(db, TOKEN_REVOKED) == [("token.revoked", "token", {})]


@pytest.mark.parametrize(
    "kind",
    [
        EventType("cluster.actve", "Misspelt.", ("cluster",), ClusterEntered),
        EventType("cluster.active", "Another one of this name.", ("cluster",), ClusterEntered),
    ],
)
async def test_a_type_that_is_not_registered_is_refused(db: Database, kind: EventType) -> None:
    with pytest.raises(ValueError, match="not a registered event type"):
        await written(db, kind, data=ClusterEntered())


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (TOKEN_ROTATED, None),
        (TOKEN_ROTATED, ClusterEntered(reason="rotated")),
        (TOKEN_REVOKED, TokenReplaced(replaced_by=SUBJECT)),
        (REGISTRY["cluster.suspend_forced"], OutOfFunds(reason="funds", account=SUBJECT)),
        (TOKEN_ROTATED, {"replaced_by": str(SUBJECT)}),
    ],
)
async def test_data_of_another_shape_are_refused(db: Database, kind: EventType, data: Any) -> None:
    with pytest.raises(TypeError, match=kind.name):
        await written(db, kind, data=data)


@pytest.mark.parametrize(
    ("kind", "subject"), [(TOKEN_REVOKED, "cluster"), (OPERATION_CREATED, None), (AUDIT_REPAIRED, None)]
)
async def test_a_subject_that_the_type_is_not_about_is_refused(
    db: Database, kind: EventType, subject: str | None
) -> None:
    with pytest.raises(ValueError, match=f"{kind.name} is about"):
        await written(db, kind, subject_type=subject)

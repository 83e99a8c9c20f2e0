"""Only registered events are written, about what they say; the database records the region of their subject."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

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
from tests.support.filled import fill_in
from tests.support.invariants import IN_REGIONS

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


NOWHERE = {
    *("account", "budget", "credit_note", "export", "invitation", "invoice", "member", "project", "ssh_authority"),
    *("ssh_key", "token", "webhook"),
}
IN_DATA = {"quota_request"}


def test_every_subject_has_a_region_or_none() -> None:
    """A new kind of subject of projects is in one of these, and in `partitions/functions.py` if it has a region."""
    subjects = {subject for kind in REGISTRY.values() if kind.project for subject in kind.subjects}
    assert subjects == set(IN_REGIONS) | NOWHERE | IN_DATA


@pytest.mark.parametrize("subject", IN_REGIONS)
async def test_an_event_has_the_region_of_its_subject(db: Database, subject: str) -> None:
    async with db.begin() as connection:
        filled = await fill_in(connection)
        of_project = f"FROM {IN_REGIONS[subject]} WHERE project_id = :project"  # our own names
        ids = (await connection.execute(sa.text(f"SELECT id {of_project}"), {"project": filled.project.id})).scalars()
        for each in ids:
            event = {"subject": subject, "id": each}
            own = await _recorded(connection, event | {"project": filled.project.id})
            other = await _recorded(connection, event | {"project": filled.other_project.id})
            assert (own, other) == ("luxembourg-2", None)
            break
        else:
            pytest.fail(f"no row of {IN_REGIONS[subject]}")


async def test_a_request_for_a_higher_quota_names_its_region(db: Database) -> None:
    async with db.begin() as connection:
        filled = await fill_in(connection)
        event = {"subject": "quota_request", "id": UUID(int=7), "project": filled.project.id}
        assert await _recorded(connection, event, '{"region": "amsterdam-2"}') == "amsterdam-2"
        # What the data of others call a region is not where they are.
        assert await _recorded(connection, event | {"subject": "token"}, '{"region": "amsterdam-2"}') is None


async def _recorded(connection: AsyncConnection, event: dict[str, object], data: str = "{}") -> object:
    written = await connection.execute(
        sa.text(
            "INSERT INTO events (project_id, type, subject_type, subject_id, data)"
            " VALUES (:project, 'a.b', :subject, :id, CAST(:data AS jsonb)) RETURNING region"
        ),
        event | {"data": data},
    )
    return written.scalar_one()

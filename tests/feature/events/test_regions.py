"""The database records the region of an event's subject, whoever writes the event."""

from __future__ import annotations

from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.db.engine import Database
from tests.support.filled import fill_in
from tests.support.invariants import IN_REGIONS

pytestmark = pytest.mark.anyio

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

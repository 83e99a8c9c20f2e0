"""Quotas are taken by the statement that checks them, and never set below what is used."""

from __future__ import annotations

import pytest

from ipucloud.db.engine import Database
from ipucloud.kernel.errors import Problem
from ipucloud.quotas.store import Quota, consume, find, list_quotas, set_limit
from tests.support.factories import LUXEMBOURG, Project, make_project

pytestmark = pytest.mark.anyio

REGION, TYPE = LUXEMBOURG


@pytest.fixture
async def project(db: Database) -> Project:
    async with db.begin() as connection:
        return await make_project(connection, quota={LUXEMBOURG: 8})


async def allocate(db: Database, project: Project, machines: int) -> None:
    async with db.begin() as connection:
        await consume(connection, project_id=project.id, region=REGION, machine_type=TYPE, machines=machines)


async def limited(db: Database, project: Project, machines: int, region: str = REGION) -> Quota:
    async with db.begin() as connection:
        return await set_limit(connection, project_id=project.id, region=region, machine_type=TYPE, machines=machines)


async def used(db: Database, project: Project) -> int:
    async with db.read() as connection:
        return (await find(connection, project_id=project.id, region=REGION, machine_type=TYPE)).used


async def test_a_quota_is_taken_up_to_its_limit(db: Database, project: Project) -> None:
    await allocate(db, project, 5)
    await allocate(db, project, 3)
    with pytest.raises(Problem) as raised:
        await allocate(db, project, 1)
    assert "1 machine;" in raised.value.detail
    assert await used(db, project) == 8


async def test_a_limit_can_be_set_and_moved_but_not_below_what_is_used(db: Database, project: Project) -> None:
    await allocate(db, project, 4)
    assert await limited(db, project, 4) == Quota(REGION, TYPE, limit=4, used=4)
    with pytest.raises(Problem, match="state_conflict"):
        await limited(db, project, 3)
    assert await limited(db, project, 2, region="amsterdam-2") == Quota("amsterdam-2", TYPE, limit=2, used=0)
    async with db.read() as connection:
        assert await list_quotas(connection, project_id=project.id) == [
            Quota("amsterdam-2", TYPE, limit=2, used=0),
            Quota(REGION, TYPE, limit=4, used=4),
        ]

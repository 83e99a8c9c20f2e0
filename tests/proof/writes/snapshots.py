"""Writes of snapshots."""

from __future__ import annotations

from tests.api.support import key
from tests.proof.writes.write import Cases, Setup, Write
from tests.support.factories import Project
from tests.support.snapshots import make_snapshot
from tests.support.volumes import make_volume


def _path(project: Project) -> str:
    return f"/v1/projects/{project.slug}/snapshots"


async def create_snapshot(setup: Setup) -> Write:
    project = await setup.project()
    body = {"name": "before", "volume": str(await make_volume(setup.world, project))}
    return Write("POST", _path(project), project.token.secret, body, body | {"name": "after"}, key())


async def update_snapshot(setup: Setup) -> Write:
    project = await setup.project()
    path = f"{_path(project)}/{await make_snapshot(setup.world, project)}"
    return Write("PATCH", path, project.token.secret, {"tags": {"a": "b"}}, {"tags": {"a": "c"}}, key())


async def delete_snapshot(setup: Setup) -> Write:
    project = await setup.project()
    path = f"{_path(project)}/{await make_snapshot(setup.world, project)}"
    return Write("DELETE", path, project.token.secret)


WRITES: Cases = {
    "createSnapshot": create_snapshot,
    "updateSnapshot": update_snapshot,
    "deleteSnapshot": delete_snapshot,
}

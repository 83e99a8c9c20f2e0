"""Writes of volumes."""

from __future__ import annotations

from uuid import UUID

from tests.api.support import key
from tests.proof.writes.clusters import cluster_in_use
from tests.proof.writes.write import Cases, Setup, Write
from tests.support.factories import Project
from tests.support.volumes import make_volume, volume_json


def _path(project: Project) -> str:
    return f"/v1/projects/{project.slug}/volumes"


async def create_volume(setup: Setup) -> Write:
    project = await setup.project()
    return Write("POST", _path(project), project.token.secret, volume_json(), volume_json("more"), key())


async def update_volume(setup: Setup) -> Write:
    project = await setup.project()
    path = f"{_path(project)}/{await make_volume(setup.world, project)}"
    return Write("PATCH", path, project.token.secret, {"tags": {"a": "b"}}, {"tags": {"a": "c"}}, key())


async def attach_volume(setup: Setup) -> Write:
    project, cluster = await cluster_in_use(setup)
    body = {"cluster": cluster.rpartition("/")[2]}
    path = f"{_path(project)}/{await make_volume(setup.world, project)}:attach"
    return Write("POST", path, project.token.secret, body, body | {"poplar_server": "another"}, key())


async def detach_volume(setup: Setup) -> Write:
    project, cluster = await cluster_in_use(setup)
    volume = await make_volume(setup.world, project, attached_to=UUID(cluster.rpartition("/")[2]))
    return Write("POST", f"{_path(project)}/{volume}:detach", project.token.secret, headers=key())


async def resize_volume(setup: Setup) -> Write:
    project = await setup.project()
    path = f"{_path(project)}/{await make_volume(setup.world, project)}:resize"
    return Write("POST", path, project.token.secret, {"size_gib": 20}, {"size_gib": 30}, key())


async def delete_volume(setup: Setup) -> Write:
    project = await setup.project()
    volume = await make_volume(setup.world, project)
    return Write("DELETE", f"{_path(project)}/{volume}", project.token.secret)


WRITES: Cases = {
    "createVolume": create_volume,
    "updateVolume": update_volume,
    "attachVolume": attach_volume,
    "detachVolume": detach_volume,
    "resizeVolume": resize_volume,
    "deleteVolume": delete_volume,
}

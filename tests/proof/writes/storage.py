"""Writes of volumes, snapshots and addresses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from tests.api.support import key
from tests.proof.writes.clusters import cluster_in_use
from tests.proof.writes.write import At, Cases, Setup, Where, Write, of_project, sent
from tests.support.addresses import address_json, make_address
from tests.support.factories import Project
from tests.support.snapshots import make_snapshot
from tests.support.volumes import make_volume, volume_json

Make = Callable[..., Awaitable[UUID]]


def _one(nouns: str, make: Make) -> Where:
    """One of these, as a worker would leave it."""

    async def thing(setup: Setup) -> At:
        project = await setup.project()
        return At(_path(project, nouns, await make(setup.world, project)), project.token.secret)

    return thing


def _path(project: Project, nouns: str, thing: UUID) -> str:
    return f"/v1/projects/{project.slug}/{nouns}/{thing}"


def _attachable(noun: str, nouns: str, make: Make, body: Callable[..., dict[str, Any]]) -> Cases:
    async def attach(setup: Setup) -> Write:
        project, cluster = await cluster_in_use(setup)
        attachment = {"cluster": cluster.rpartition("/")[2]}
        path = _path(project, nouns, await make(setup.world, project))
        other = attachment | {"poplar_server": "another"}
        return Write("POST", f"{path}:attach", project.token.secret, attachment, other, key())

    async def detach(setup: Setup) -> Write:
        project, cluster = await cluster_in_use(setup)
        thing = await make(setup.world, project, attached_to=UUID(cluster.rpartition("/")[2]))
        return Write("POST", f"{_path(project, nouns, thing)}:detach", project.token.secret, headers=key())

    return {
        f"create{noun}": sent(of_project, "POST", f"/{nouns}", body(), body("more")),
        f"update{noun}": sent(_one(nouns, make), "PATCH", "", {"tags": {"a": "b"}}, {"tags": {"a": "c"}}),
        f"attach{noun}": attach,
        f"detach{noun}": detach,
        f"delete{noun}": sent(_one(nouns, make), "DELETE"),
    }


async def create_snapshot(setup: Setup) -> Write:
    project = await setup.project()
    body = {"name": "before", "volume": str(await make_volume(setup.world, project))}
    path = f"/v1/projects/{project.slug}/snapshots"
    return Write("POST", path, project.token.secret, body, body | {"name": "after"}, key())


SNAPSHOT = _one("snapshots", make_snapshot)
WRITES: Cases = {
    **_attachable("Volume", "volumes", make_volume, volume_json),
    "resizeVolume": sent(_one("volumes", make_volume), "POST", ":resize", {"size_gib": 20}, {"size_gib": 30}),
    **_attachable("Address", "addresses", make_address, address_json),
    "createSnapshot": create_snapshot,
    "updateSnapshot": sent(SNAPSHOT, "PATCH", "", {"tags": {"a": "b"}}, {"tags": {"a": "c"}}),
    "deleteSnapshot": sent(SNAPSHOT, "DELETE"),
}

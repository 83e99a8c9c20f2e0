"""Writes of addresses."""

from __future__ import annotations

from uuid import UUID

from tests.api.support import key
from tests.proof.writes.clusters import cluster_in_use
from tests.proof.writes.write import Cases, Setup, Write
from tests.support.addresses import address_json, make_address
from tests.support.factories import Project


def _path(project: Project) -> str:
    return f"/v1/projects/{project.slug}/addresses"


async def create_address(setup: Setup) -> Write:
    project = await setup.project()
    return Write("POST", _path(project), project.token.secret, address_json(), address_json("more"), key())


async def update_address(setup: Setup) -> Write:
    project = await setup.project()
    path = f"{_path(project)}/{await make_address(setup.world, project)}"
    return Write("PATCH", path, project.token.secret, {"tags": {"a": "b"}}, {"tags": {"a": "c"}}, key())


async def attach_address(setup: Setup) -> Write:
    project, cluster = await cluster_in_use(setup)
    body = {"cluster": cluster.rpartition("/")[2]}
    path = f"{_path(project)}/{await make_address(setup.world, project)}:attach"
    return Write("POST", path, project.token.secret, body, body | {"poplar_server": "another"}, key())


async def detach_address(setup: Setup) -> Write:
    project, cluster = await cluster_in_use(setup)
    address = await make_address(setup.world, project, attached_to=UUID(cluster.rpartition("/")[2]))
    return Write("POST", f"{_path(project)}/{address}:detach", project.token.secret, headers=key())


async def delete_address(setup: Setup) -> Write:
    project = await setup.project()
    address = await make_address(setup.world, project)
    return Write("DELETE", f"{_path(project)}/{address}", project.token.secret)


WRITES: Cases = {
    "createAddress": create_address,
    "updateAddress": update_address,
    "attachAddress": attach_address,
    "detachAddress": detach_address,
    "deleteAddress": delete_address,
}

"""Writes of addresses."""

from __future__ import annotations

from uuid import UUID

from tests.api.support import key
from tests.proof.writes.clusters import cluster_in_use
from tests.proof.writes.office import Cases, Office, Write
from tests.support.addresses import address_json, make_address
from tests.support.factories import Project


def _path(project: Project) -> str:
    return f"/v1/projects/{project.slug}/addresses"


async def create_address(office: Office) -> Write:
    project = await office.project()
    return Write("POST", _path(project), project.token.secret, address_json(), address_json("more"), key())


async def update_address(office: Office) -> Write:
    project = await office.project()
    path = f"{_path(project)}/{await make_address(office.world, project)}"
    return Write("PATCH", path, project.token.secret, {"tags": {"a": "b"}}, {"tags": {"a": "c"}}, key())


async def attach_address(office: Office) -> Write:
    project, cluster = await cluster_in_use(office)
    body = {"cluster": cluster.rpartition("/")[2]}
    path = f"{_path(project)}/{await make_address(office.world, project)}:attach"
    return Write("POST", path, project.token.secret, body, body | {"poplar_server": "another"}, key())


async def detach_address(office: Office) -> Write:
    project, cluster = await cluster_in_use(office)
    made = await make_address(office.world, project, attached_to=UUID(cluster.rpartition("/")[2]))
    return Write("POST", f"{_path(project)}/{made}:detach", project.token.secret, headers=key())


async def delete_address(office: Office) -> Write:
    project = await office.project()
    made = await make_address(office.world, project)
    return Write("DELETE", f"{_path(project)}/{made}", project.token.secret)


WRITES: Cases = {
    "createAddress": create_address,
    "updateAddress": update_address,
    "attachAddress": attach_address,
    "detachAddress": detach_address,
    "deleteAddress": delete_address,
}

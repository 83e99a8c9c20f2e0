"""SSH keys of a project, accepted by its clusters' servers."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import named_list_of
from ipucloud.api.reads import read_one
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import NAMED, ProjectRef
from ipucloud.api.writes import actor, change
from ipucloud.contract.ssh_keys import SshKeyCreate, SshKeyList, SshKeyOut, SshKeyPage
from ipucloud.identity import key_store
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import KEY_EXISTS, NAME_TAKEN, SSH_KEY_REFUSED, not_found

routes = router()

KeyId = Annotated[UUID, Field(description="Name or id of the key.", examples=["laptop"]), NAMED]


@routes.get(
    "/v1/projects/{project}/ssh-keys",
    **operation("listSshKeys", "List SSH keys", Permission.PROJECT_READ, gives=SshKeyPage),
)
async def list_ssh_keys(request: Request, project: ProjectRef, query: SshKeyList) -> Response:
    """List the project's SSH keys that match every filter."""
    return await named_list_of(request, project, key_store.LIST_KEYS, query)


@routes.post(
    "/v1/projects/{project}/ssh-keys",
    **operation(
        "createSshKey",
        "Add an SSH key",
        Permission.KEY_WRITE,
        gives=SshKeyOut,
        status=201,
        description="Added",
        errors=(KEY_EXISTS, NAME_TAKEN, SSH_KEY_REFUSED),
    ),
)
async def create_ssh_key(request: Request, project: ProjectRef, body: SshKeyCreate) -> Response:
    """Add a public key for new clusters. It is validated and normalised; its comment is dropped. A key has one name."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        key_id, document = await key_store.add(
            connection, actor(request, scope), name=body.name, public_key=body.public_key
        )
        location = f"/v1/projects/{scope.project_id}/ssh-keys/{key_id}"
        return Answer(201, document.encode(), {"Location": location}, key_id)

    return await change(request, project, effect)


@routes.get(
    "/v1/projects/{project}/ssh-keys/{key:ref}",
    **operation("getSshKey", "Read an SSH key", Permission.PROJECT_READ, gives=SshKeyOut),
)
async def get_ssh_key(request: Request, project: ProjectRef, key: KeyId) -> Response:
    """Return an SSH key."""
    document, _ = await read_one(request, key_store.GET_KEY, project, key_id=key)
    return Response(document, media_type=JSON)


@routes.delete(
    "/v1/projects/{project}/ssh-keys/{key:ref}",
    **operation("deleteSshKey", "Delete an SSH key", Permission.KEY_WRITE, status=204, description="Deleted"),
)
async def delete_ssh_key(request: Request, project: ProjectRef, key: KeyId) -> Response:
    """Delete an SSH key. Clusters that accept it still do, until their `ssh_keys` are changed."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        if not await key_store.remove(connection, actor(request, scope), key):
            raise not_found()
        return Answer(204)

    return await change(request, project, effect)

"""The project's SSH authority, and the certificates that it signs for people."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.reads import read_one
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import ClusterId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.writes import actor, change
from ipucloud.contract.ssh_keys import SshAuthorityOut, SshCertificateOut, SshCertificateRequest
from ipucloud.identity import ssh_authorities
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import NOT_CONFIGURED, SSH_KEY_REFUSED, STATE_CONFLICT
from ipucloud.kernel.sealing import needed
from ipucloud.policies.authority_rollout import GET_AUTHORITY, GONE, authority_document
from ipucloud.programs.certificates import certify

routes = router()


@routes.get(
    "/v1/projects/{project}/ssh-authority",
    **operation("getSshAuthority", "Read the SSH authority", Permission.PROJECT_READ, gives=SshAuthorityOut),
)
async def get_ssh_authority(request: Request, project: ProjectRef) -> Response:
    """Return what signs the project's SSH certificates. A project has one from its first cluster on; 404 before."""
    document, _ = await read_one(request, GET_AUTHORITY, project, gone=GONE)
    return Response(document, media_type=JSON)


@routes.post(
    "/v1/projects/{project}/ssh-authority:rotate",
    **operation(
        "rotateSshAuthority",
        "Rotate the SSH authority",
        Permission.MEMBER_WRITE,
        gives=SshAuthorityOut,
        errors=(NOT_CONFIGURED,),
    ),
)
async def rotate_ssh_authority(request: Request, project: ProjectRef) -> Response:
    """Replace the project's SSH authority: no certificate of the former one logs in any more.

    Each cluster in use learns of it by an operation (`cluster.update-keys`) within seconds, or when the operation that
    runs on it has ended; until then `pending_clusters` names it. SSH keys and open sessions are not touched.
    """

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        keys = needed(services_of(request).settings.sealing_keys())
        authority = await ssh_authorities.rotate(connection, actor(request, scope), keys)
        document = await authority_document(connection, scope.project_id)
        return Answer(200, document.encode(), subject_id=authority.id)

    return await change(request, project, effect)


@routes.post(
    "/v1/projects/{project}/clusters/{cluster:ref}:sign-ssh-key",
    **operation(
        "signSshKey",
        "Get an SSH certificate",
        Permission.CLUSTER_WRITE,
        gives=SshCertificateOut,
        errors=(NOT_CONFIGURED, SSH_KEY_REFUSED, STATE_CONFLICT),
    ),
)
async def sign_ssh_key(
    request: Request, project: ProjectRef, cluster: ClusterId, body: SshCertificateRequest
) -> Response:
    """Sign a public key of yours, so that its private key logs in to this cluster's servers for a while.

    For people: with a session, a login or a personal token. The certificate permits a terminal and the forwarding of
    ports, no agent forwarding. It is valid for an hour unless you ask for another time, and not longer than your token.
    """
    trace_of(request).concerns(cluster_id=cluster)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        settings = services_of(request).settings
        issued = await certify(connection, actor(request, scope), cluster, body=body, settings=settings)
        return Answer(200, issued.model_dump_json().encode())

    return await change(request, project, effect)

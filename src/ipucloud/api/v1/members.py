"""Members of a project: listing them, changing their role, removing them."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import list_of
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import ProjectRef
from ipucloud.api.trace import origin_of, trace_of
from ipucloud.api.writes import change
from ipucloud.contract.people import MemberList, MemberOut, MemberPage, MemberPatch
from ipucloud.identity import members
from ipucloud.identity.access import Scope
from ipucloud.identity.members import Home
from ipucloud.identity.narrowing import require_role_within
from ipucloud.identity.roles import Permission, Role
from ipucloud.kernel.errors import LAST_OWNER

routes = router()

_ALL = "/v1/projects/{project}/members"
_ONE = f"{_ALL}/{{member:uuid}}"
MemberId = Annotated[UUID, Field(description="Id of the membership.")]


@routes.get(_ALL, **operation("listMembers", "List members", Permission.MEMBER_READ, gives=MemberPage))
async def list_members(request: Request, project: ProjectRef, query: MemberList) -> Response:
    """List the people who are members of the project and match every filter."""
    return await list_of(request, project, members.LIST_MEMBERS, query)


@routes.patch(
    _ONE,
    **operation("updateMember", "Change a member", Permission.MEMBER_WRITE, gives=MemberOut, errors=(LAST_OWNER,)),
)
async def update_member(request: Request, project: ProjectRef, member: MemberId, body: MemberPatch) -> Response:
    """Give a member another role, or limit from where they use the project, at once also in sessions and logins.

    Personal tokens of theirs that may do more than the new role are revoked. A narrowed token gives no role that has
    more than its own scopes.
    """

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        home = home_of(request, scope)
        if body.role is not None:
            require_role_within(scope.rights, Role(body.role))
            await members.set_role(connection, home, member, Role(body.role))
        if body.allowed_sources is not None:
            address = origin_of(request).address
            await members.set_sources(
                connection, home, member, body.allowed_sources, by=scope.token_id, address=address
            )
        document = await members.read_member(connection, home, member)
        return Answer(200, document.encode(), subject_id=member)

    return await change(request, project, effect)


@routes.delete(
    _ONE,
    **operation(
        "removeMember",
        "Remove a member",
        Permission.MEMBER_WRITE,
        status=204,
        description="Removed",
        errors=(LAST_OWNER,),
    ),
)
async def remove_member(request: Request, project: ProjectRef, member: MemberId) -> Response:
    """End a membership: the person's sessions, logins and personal tokens in the project end immediately."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await members.remove(connection, home_of(request, scope), member)
        return Answer(204)

    return await change(request, project, effect)


def home_of(request: Request, scope: Scope) -> Home:
    """The project, and the request that changes something in it."""
    return Home(scope.project_id, None, trace_of(request).request_id)

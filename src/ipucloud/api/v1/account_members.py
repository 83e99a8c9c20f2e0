"""Payers as people: members of billing accounts, invited by administrators."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import list_of_account
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import AccountId
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.invitations import InvitationId, invited, renewed
from ipucloud.api.v1.members import MemberId
from ipucloud.api.writes import change_platform
from ipucloud.billing.accounts.store import account_exists
from ipucloud.contract.people import (
    AccountInvitationCreate,
    AccountMemberList,
    InvitationList,
    InvitationPage,
    MemberPage,
    NewInvitationOut,
)
from ipucloud.identity import invitations, members
from ipucloud.identity.access import Principal
from ipucloud.identity.members import Home
from ipucloud.identity.roles import Permission, Role
from ipucloud.kernel.errors import ALREADY_INVITED, ALREADY_MEMBER, INVITATION_ENDED, not_found

routes = router()

_MEMBERS = "/v1/billing/accounts/{account:ref}/members"
_INVITATIONS = "/v1/billing/accounts/{account:ref}/invitations"


@routes.get(
    _MEMBERS,
    **operation("listAccountMembers", "List payers of an account", Permission.ACCOUNT_READ, gives=MemberPage),
)
async def list_account_members(request: Request, account: AccountId, query: AccountMemberList) -> Response:
    """List the people who are payers of the billing account."""
    return await list_of_account(request, account, members.LIST_ACCOUNT_MEMBERS, query)


@routes.delete(
    f"{_MEMBERS}/{{member:uuid}}",
    **operation(
        "removeAccountMember",
        "Remove a payer of an account",
        Permission.PLATFORM_WRITE,
        status=204,
        description="Removed",
    ),
)
async def remove_account_member(request: Request, account: AccountId, member: MemberId) -> Response:
    """End a payer's membership: their sessions and logins of the account end immediately."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        await members.remove(connection, Home(None, account, trace_of(request).request_id), member)
        return Answer(204)

    return await change_platform(request, effect)


@routes.get(
    _INVITATIONS,
    **operation(
        "listAccountInvitations", "List invitations to an account", Permission.ACCOUNT_READ, gives=InvitationPage
    ),
)
async def list_account_invitations(request: Request, account: AccountId, query: InvitationList) -> Response:
    """List the invitations to the billing account, without their secrets."""
    return await list_of_account(request, account, invitations.LIST_ACCOUNT_INVITATIONS, query)


@routes.post(
    _INVITATIONS,
    **operation(
        "createAccountInvitation",
        "Invite a payer",
        Permission.PLATFORM_WRITE,
        gives=NewInvitationOut,
        status=201,
        description="Created",
        errors=(ALREADY_MEMBER, ALREADY_INVITED),
    ),
)
async def create_account_invitation(request: Request, account: AccountId, body: AccountInvitationCreate) -> Response:
    """Invite a person to read the account's money. Send them the link: only this response has it."""

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        if not await account_exists(connection, account):
            raise not_found()
        home = Home(None, account, trace_of(request).request_id)
        return await invited(request, connection, home, body.email, Role.PAYER, giver=principal.rights)

    return await change_platform(request, effect)


@routes.post(
    f"{_INVITATIONS}/{{invitation:uuid}}:renew",
    **operation(
        "renewAccountInvitation",
        "Renew an invitation to an account",
        Permission.PLATFORM_WRITE,
        gives=NewInvitationOut,
        errors=(INVITATION_ENDED,),
    ),
)
async def renew_account_invitation(request: Request, account: AccountId, invitation: InvitationId) -> Response:
    """Make another link for an open or expired invitation; the former one ends. Only this response has the link."""

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        home = Home(None, account, trace_of(request).request_id)
        return await renewed(request, connection, home, invitation, giver=principal.rights)

    return await change_platform(request, effect)


@routes.delete(
    f"{_INVITATIONS}/{{invitation:uuid}}",
    **operation(
        "revokeAccountInvitation",
        "Revoke an invitation to an account",
        Permission.PLATFORM_WRITE,
        status=204,
        description="Revoked",
    ),
)
async def revoke_account_invitation(request: Request, account: AccountId, invitation: InvitationId) -> Response:
    """End an invitation. Repeating has no effect, and neither has it on one that was accepted."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        await invitations.revoke(connection, Home(None, account, trace_of(request).request_id), invitation)
        return Answer(204)

    return await change_platform(request, effect)

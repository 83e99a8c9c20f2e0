"""Invitations: owners invite people to their project; whoever has the link accepts, with a password.

Where the installation sends e-mail, only the invited person gets the link: whoever accepts by it reads that e-mail.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple
from uuid import UUID

import orjson
from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.attempts import ANYBODY
from ipucloud.api.credentials import require_same_site
from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer, shown_once
from ipucloud.api.links import inviting_of, link_of, mail_again, mail_invitation
from ipucloud.api.paging import list_of
from ipucloud.api.problems import invalid
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import ProjectRef
from ipucloud.api.trace import origin_of, trace_of
from ipucloud.api.v1.members import home_of
from ipucloud.api.writes import change
from ipucloud.contract.people import (
    InvitationAccept,
    InvitationCreate,
    InvitationList,
    InvitationPage,
    InvitationShow,
    InvitedOut,
    NewInvitationOut,
)
from ipucloud.events.log import act_as
from ipucloud.identity import invitations, passwords, people, verification
from ipucloud.identity.access import Scope
from ipucloud.identity.invitations import Invited
from ipucloud.identity.members import Home
from ipucloud.identity.narrowing import require_role_within
from ipucloud.identity.people import User
from ipucloud.identity.roles import Permission, Rights, Role
from ipucloud.identity.tokens import Kind, secret_hash
from ipucloud.identity.verification import Proof
from ipucloud.kernel.errors import (
    ACCOUNT_DEACTIVATED,
    ALREADY_INVITED,
    ALREADY_MEMBER,
    CROSS_SITE_REQUEST,
    INVITATION_ENDED,
    NOT_FOUND,
    UNAUTHENTICATED,
    FieldError,
    Problem,
    not_found,
)

routes = router()

_ALL = "/v1/projects/{project}/invitations"
_ONE = f"{_ALL}/{{invitation:uuid}}"
InvitationId = Annotated[UUID, Field(description="Id of the invitation.")]


@routes.get(_ALL, **operation("listInvitations", "List invitations", Permission.MEMBER_READ, gives=InvitationPage))
async def list_invitations(request: Request, project: ProjectRef, query: InvitationList) -> Response:
    """List the invitations to the project, without their secrets."""
    return await list_of(request, project, invitations.LIST_INVITATIONS, query)


@routes.post(
    _ALL,
    **operation(
        "createInvitation",
        "Invite a person",
        Permission.MEMBER_WRITE,
        gives=NewInvitationOut,
        status=201,
        description="Created",
        errors=(ALREADY_MEMBER, ALREADY_INVITED),
    ),
)
async def create_invitation(request: Request, project: ProjectRef, body: InvitationCreate) -> Response:
    """Invite a person to the project. The service sends them the link, and shows it to nobody.

    Where it sends no e-mail (`emailed` is false), send them the link of this response yourself; a replay has null
    instead. Whoever has the link can then accept, so the account counts as nobody's until its e-mail is verified.

    A narrowed token invites to no role that has more than its own scopes.
    """

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        home = home_of(request, scope)
        return await invited(request, connection, home, body.email, Role(body.role), giver=scope.rights)

    return await change(request, project, effect)


@routes.post(
    f"{_ONE}:renew",
    **operation(
        "renewInvitation",
        "Renew an invitation",
        Permission.MEMBER_WRITE,
        gives=NewInvitationOut,
        errors=(INVITATION_ENDED,),
    ),
)
async def renew_invitation(request: Request, project: ProjectRef, invitation: InvitationId) -> Response:
    """Make another link for an open or expired invitation; the former one ends. It is sent or shown as a first one."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        return await renewed(request, connection, home_of(request, scope), invitation, giver=scope.rights)

    return await change(request, project, effect)


@routes.delete(
    _ONE,
    **operation("revokeInvitation", "Revoke an invitation", Permission.MEMBER_WRITE, status=204, description="Revoked"),
)
async def revoke_invitation(request: Request, project: ProjectRef, invitation: InvitationId) -> Response:
    """End an invitation. Repeating has no effect, and neither has it on one that was accepted."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await invitations.revoke(connection, home_of(request, scope), invitation)
        return Answer(204)

    return await change(request, project, effect)


@routes.post(
    "/v1/invitations:show",
    **operation("showInvitation", "Show an invitation", None, gives=InvitedOut, errors=(NOT_FOUND, INVITATION_ENDED)),
)
async def show_invitation(request: Request, body: InvitationShow) -> Response:
    """Return what the invitation with this secret is to. It is not used up."""
    services_of(request).attempts.take(request, ANYBODY)
    invitation = await _invitation(request, secret_hash(Kind.INVITATION, body.secret))
    return Response(_document(invitation), media_type=JSON)


@routes.post(
    "/v1/invitations:accept",
    **operation(
        "acceptInvitation",
        "Accept an invitation",
        None,
        gives=InvitedOut,
        errors=(
            UNAUTHENTICATED,
            CROSS_SITE_REQUEST,
            ACCOUNT_DEACTIVATED,
            NOT_FOUND,
            ALREADY_MEMBER,
            INVITATION_ENDED,
        ),
    ),
)
async def accept_invitation(request: Request, body: InvitationAccept) -> Response:
    """Become a member. The password is that of the person's account, or the one that the new account will have.

    Then sign in with the e-mail and the password. An invitation is accepted once. With a link that was sent by e-mail
    only, the e-mail is verified: of an account that was not, everything that had access ends, its password too, and
    its memberships become invitations.
    """
    require_same_site(request.scope, browser=False)
    services, hashed = services_of(request), secret_hash(Kind.INVITATION, body.secret)
    services.attempts.take(request, ANYBODY)
    invitation = await _invitation(request, hashed)
    if hashed is None:
        raise not_found()
    joining = await _account(request, invitation, body.password)

    async def work(connection: AsyncConnection) -> Invited:
        user_id = await _owner(request, connection, invitation, joining)
        return await invitations.accept(connection, hashed, user_id, trace_of(request).request_id, origin_of(request))

    accepted = await services.database.transact(work)
    services.notifier.poke()
    return Response(_document(accepted), media_type=JSON)


async def _invitation(request: Request, hashed: bytes | None) -> Invited:
    row = None
    if hashed is not None:
        row = await services_of(request).reader.one(invitations.FIND, {"secret_hash": hashed})
    return invitations.opened(row)


class _Joining(NamedTuple):
    """Who accepts: `user` with their password, or with `password_hash` for an account that is nobody's yet or new."""

    user: User | None
    password_hash: str | None


async def _account(request: Request, invitation: Invited, password: str) -> _Joining:
    """The invited person's account, whose password it is, or the hash of the password that it will have.

    Raises `Problem` 401, account_deactivated, rate_limited, validation_failed.
    """
    services = services_of(request)
    services.attempts.take(request, invitation.email)
    user = await services.reader.one(people.FIND_USER, {"email": invitation.email})
    if user is not None:
        async with services.database.read() as connection:
            if not await people.IS_ACTIVE.one(connection, {"user_id": user.id}):
                raise people.deactivated()
        if user.verified or not invitation.mailed:
            if not await services.passwords.verify(user.password_hash, password):
                raise Problem(UNAUTHENTICATED, "There is an account with this e-mail, and this is not its password.")
            return _Joining(user, None)
    if len(password) < passwords.LEAST:
        raise invalid([FieldError("/password", "too_short", f"Use at least {passwords.LEAST} characters.")])
    if fault := passwords.weakness(password, invitation.email, "/password"):
        raise invalid([fault])
    return _Joining(user, await services.passwords.hash(password))


async def _owner(request: Request, connection: AsyncConnection, invitation: Invited, joining: _Joining) -> UUID:
    """The id of the account that joins. Raises `Problem` 401 if another request has just changed it."""
    user, password_hash = joining
    if user is None:
        user_id = await people.add_user(connection, invitation.email, password_hash, verified=invitation.mailed)
        if user_id is None:  # another invitation of the same person was accepted meanwhile
            raise people.wrong_password()
        return user_id
    if password_hash is None:
        await people.require_password(connection, user)
        return user.id
    await act_as(connection, user.email, origin=origin_of(request))
    again = await verification.verify(
        connection, user.id, Proof.MAILBOX, inviting_of(request), password_hash=password_hash
    )
    if again is None:
        raise people.wrong_password()
    trace_of(request).concerns(verified_user_id=user.id)
    await mail_again(request, connection, again)
    return user.id


async def invited(
    request: Request, connection: AsyncConnection, home: Home, email: str, role: Role, *, giver: Rights
) -> Answer:
    """201 with a new invitation. `giver`: what the caller may do."""
    require_role_within(giver, role)
    rules = inviting_of(request)
    invitation_id, secret = await invitations.invite(
        connection, home, email=email, role=role, seconds=rules.seconds, mailed=rules.mailed
    )
    where = f"/v1/projects/{home.project_id}" if home.account_id is None else _of_account(home.account_id)
    known = orjson.loads(await invitations.read_invitation(connection, invitation_id))
    shown = await _sent(request, connection, home, known, secret)
    return shown_once(201, known, shown, {"Location": f"{where}/invitations"}, invitation_id)


async def renewed(
    request: Request, connection: AsyncConnection, home: Home, invitation: UUID, *, giver: Rights
) -> Answer:
    """200 with the invitation, which has a new link. `giver`: what the caller may do."""
    rules = inviting_of(request)
    secret = await invitations.renew(connection, home, invitation, seconds=rules.seconds, mailed=rules.mailed)
    known = orjson.loads(await invitations.read_invitation(connection, invitation))
    require_role_within(giver, Role(known["role"]))  # whoever has the link may accept
    return shown_once(200, known, await _sent(request, connection, home, known, secret), {}, invitation)


async def _sent(
    request: Request, connection: AsyncConnection, home: Home, known: dict[str, Any], secret: str
) -> dict[str, str | None]:
    """What the caller is shown of the link: all of it, or nothing if it is sent to the invited person."""
    if not known["emailed"]:
        return {"url": link_of(request, secret), "secret": secret}
    await mail_invitation(request, connection, home, UUID(known["id"]), email=known["email"], secret=secret)
    return {"url": None, "secret": None}


def _of_account(account: UUID) -> str:
    return f"/v1/billing/accounts/{account}"


def _document(invitation: Invited) -> bytes:
    return orjson.dumps({name: getattr(invitation, name) for name in InvitedOut.model_fields})

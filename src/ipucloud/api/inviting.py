"""The links of invitations: sent to the invited person and shown to nobody, or shown to whoever invites."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request

from ipucloud.api.own_url import own_url
from ipucloud.api.services import services_of
from ipucloud.api.trace import trace_of
from ipucloud.identity.members import Home
from ipucloud.identity.verification import Again, Inviting
from ipucloud.kernel.sealing import read_keys
from ipucloud.notifications import store


def inviting_of(request: Request) -> Inviting:
    """How people are invited here: by e-mail, if the installation sends any and can keep a secret until then."""
    settings = services_of(request).settings
    mailed = settings.smtp_host is not None and settings.secrets_key is not None
    return Inviting(settings.invitation_seconds, mailed, trace_of(request).request_id)


def link_of(request: Request, secret: str) -> str:
    return f"{own_url(request)}/invitation#secret={secret}"


async def mail_invitation(
    request: Request, connection: AsyncConnection, home: Home, invitation: UUID, *, email: str, secret: str
) -> None:
    """Have an invitation's link sent, where `inviting_of` says so."""
    key = services_of(request).settings.secrets_key
    if key is None:
        raise RuntimeError("links are sent only by installations with a key for secrets")
    mail = store.InvitationMail(invitation, email, link_of(request, secret), home)
    await store.mail_invitation(connection, mail, read_keys(key.get_secret_value()))


async def mail_again(request: Request, connection: AsyncConnection, again: Iterable[Again]) -> None:
    """Have the links sent of invitations in the place of memberships; where they are not, owners renew them."""
    if inviting_of(request).mailed:
        for each in again:
            await mail_invitation(request, connection, each.home, each.id, email=each.email, secret=each.secret)

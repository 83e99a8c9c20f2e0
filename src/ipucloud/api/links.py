"""Links that this service sends and shows: where it is reached, and the links of invitations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import HTTPConnection, Request

from ipucloud.api.bodies import malformed
from ipucloud.api.services import services_of
from ipucloud.api.trace import trace_of
from ipucloud.config import Settings
from ipucloud.identity.members import Home
from ipucloud.identity.verification import Again, Inviting
from ipucloud.kernel.sealing import read_keys
from ipucloud.notifications import store

_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]{1,5})?", re.ASCII)


def own_url(request: HTTPConnection) -> str:
    """The service's address, without a slash at its end: as it is set, else as the caller reached it.

    Whoever sends a request writes its `Host`, and a link is followed by others, with a secret in it: without the
    setting, only hosts count that are known to be this service. Raises `Problem` malformed_request for another one.
    """
    settings = services_of(request).settings
    if settings.public_url is not None:
        return settings.public_url.rstrip("/")
    match = _HOST.fullmatch(request.headers.get("host", "").lower())
    if match is None or (match["address"] or match["name"]) not in _hosts(request, settings):
        raise malformed(
            "The answer would have a link to the Host of this request, which is not known to be this service. The"
            " operator sets its address as IPUCLOUD_PUBLIC_URL, or its names as IPUCLOUD_ALLOWED_HOSTS."
        )
    return str(request.base_url).rstrip("/")


def _hosts(request: HTTPConnection, settings: Settings) -> set[str]:
    """Those that are allowed, and what the process listens on: as it is set, and as this connection shows."""
    listening, *_ = request.scope.get("server") or ("",)
    return {*settings.allowed_hosts, settings.host.lower(), listening.lower()}


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
        for invitation in again:
            await mail_invitation(
                request, connection, invitation.home, invitation.id, email=invitation.email, secret=invitation.secret
            )

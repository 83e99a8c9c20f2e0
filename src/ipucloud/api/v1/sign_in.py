"""Signing people in: their password is verified before a transaction begins, and where they are members in it."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request

from ipucloud.api.services import services_of
from ipucloud.api.trace import trace_of
from ipucloud.identity import people
from ipucloud.identity.people import Membership, User


async def verified(request: Request, email: str, password: str) -> User:
    """The person with this e-mail and password. Raises `Problem` 401, the same for either, and rate_limited."""
    services = services_of(request)
    services.attempts.take(request, email)
    user = await services.reader.one(people.FIND_USER, {"email": email})
    if not await services.passwords.verify(user and user.password_hash, password) or user is None:
        raise people.wrong_password()
    services.attempts.succeeded(request, email)
    return user


async def membership(request: Request, connection: AsyncConnection, user: User, project: str | None) -> Membership:
    """Where the person acts. Raises `Problem` account_deactivated, not_a_member."""
    await people.require_active(connection, user.id)
    found = people.chosen(await people.memberships(connection, user), project)
    trace_of(request).concerns(token_id=found.id, project_id=found.project_id)
    return found

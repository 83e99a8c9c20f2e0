"""Calls for invitations to a project; `account`: to this billing account, for administrators."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, given, nothing, place, segment
from ipucloud.client.models import Invitation, Invited, NewInvitation, Page


def list(
    *, open: bool | None = None, account: Ref | None = None, order: str | None = None, limit: int | None = None
) -> Call[Page[Invitation]]:
    """Invitations; `open`: only those that can be accepted now."""
    query = {"open": open, "order": order, "limit": limit}
    return request.get(place("invitations", account), Page[Invitation], query, scoped=account is None)


def create(email: str, role: str | None = None, *, account: Ref | None = None) -> Call[NewInvitation]:
    """Invite a person. The service sends them the link (`emailed`), or else only this response has it, to pass on.

    `role`: `viewer`, `operator`, `billing` or `owner`; None for a billing account.
    """
    body = given(email=email, role=role)
    return request.post(place("invitations", account), NewInvitation, body, scoped=account is None)


def renew(invitation: Ref, *, account: Ref | None = None) -> Call[NewInvitation]:
    """Make another link, which is sent or returned as by `create`; the former one ends."""
    path = f"{place('invitations', account)}/{segment(invitation)}:renew"
    return request.post(path, NewInvitation, scoped=account is None)


def delete(invitation: Ref, *, account: Ref | None = None) -> Call[None]:
    """Revoke an invitation. It stays in the list."""
    path = f"{place('invitations', account)}/{segment(invitation)}"
    return request.delete(path, nothing, scoped=account is None)


def show(secret: str) -> Call[Invited]:
    """What an invitation is to, by the secret of its link; for anybody."""
    return request.post("invitations:show", Invited, {"secret": secret}, scoped=False)


def accept(secret: str, password: str) -> Call[Invited]:
    """Accept an invitation; the password is that of the person's account, or the one that it will have."""
    return request.post("invitations:accept", Invited, {"secret": secret, "password": password}, scoped=False)

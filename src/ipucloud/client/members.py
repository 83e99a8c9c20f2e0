"""Calls for members of a project; `account`: of this billing account, for administrators."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, nothing, place, segment
from ipucloud.client.models import Member, Page


def list(
    *,
    role: str | None = None,
    email: str | None = None,
    account: Ref | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[Member]]:
    """Members, newest first; `email`: those with this in their e-mail. An account's members all have one role."""
    query = {"role": role, "email": email, "order": order, "limit": limit}
    return request.get(place("members", account), Page[Member], query, scoped=account is None)


def set_role(member: Ref, role: str) -> Call[Member]:
    """Give a member another role: `viewer`, `operator`, `billing` or `owner`; at once."""
    return request.patch(f"members/{segment(member)}", Member, {"role": role})


def delete(member: Ref, *, account: Ref | None = None) -> Call[None]:
    """Remove a member. Their sessions and tokens here end immediately."""
    return request.delete(f"{place('members', account)}/{segment(member)}", nothing, scoped=account is None)

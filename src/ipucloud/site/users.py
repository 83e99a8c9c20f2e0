"""The users of a region's V-IPU controller."""

from __future__ import annotations

from ipucloud.site.ports import Site, VipuAddress


async def users_with_allocation(site: Site, vipu: VipuAddress | None) -> frozenset[str] | None:
    """The users who see the allocation of their own name, as clusters' users do; None: the controller has no users.

    Raises SiteError.
    """
    if vipu is None or not vipu.secure:
        return None
    users = await site.vipu.list_users()
    return frozenset(user.id for user in users if user.everything or user.id in user.allocations)

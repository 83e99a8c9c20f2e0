"""The users of a V-IPU controller."""

from __future__ import annotations

from ipucloud.site.ports import VipuAddress
from ipucloud.site.vipu_ports import Vipu


async def users_with_allocation(vipu: Vipu, address: VipuAddress) -> frozenset[str] | None:
    """The users with a key who see the allocation of their own name, as clusters' users do; None: there are no users.

    Raises SiteError.
    """
    if not address.secure:
        return None
    users = await vipu.list_users()
    return frozenset(user.id for user in users if user.keys and (user.everything or user.id in user.allocations))

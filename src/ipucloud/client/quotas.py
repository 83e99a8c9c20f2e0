"""Calls for quotas."""

from __future__ import annotations

from collections.abc import Mapping

from ipucloud.client import call as request
from ipucloud.client.call import Call
from ipucloud.client.models import Page, Quota


def list(*, region: str | None = None, machine_type: str | None = None, order: str | None = None) -> Call[Page[Quota]]:
    """How many machines the project may hold. `order`: region, machine_type, used or limit; with `-` downwards."""
    return request.get("quotas", Page[Quota], {"region": region, "machine_type": machine_type, "order": order})


def update(limits: Mapping[tuple[str, str], int], *, if_match: str) -> Call[Page[Quota]]:
    """Replace all limits, by region and machine type. `if_match`: the list's entity tag. Needs a platform token."""
    items = [{"region": region, "machine_type": kind, "limit": limit} for (region, kind), limit in limits.items()]
    return Call("PUT", "quotas", Page[Quota], body={"items": items}, headers={"If-Match": if_match})

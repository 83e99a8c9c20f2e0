"""Calls for freezes, in which nothing is removed or switched off."""

from __future__ import annotations

from datetime import datetime

from ipucloud.client.call import Call, Ref, given, segment
from ipucloud.client.models import Freeze, Page
from ipucloud.client.operator import call as request


def list(*, state: str | None = None, region: str | None = None, limit: int | None = None) -> Call[Page[Freeze]]:
    """When removals were frozen, oldest first; `state`: `live`, `expired` or `ended`."""
    return request.get("freezes", Page[Freeze], state=state, region=region, limit=limit)


def create(*, reason: str, expires_at: datetime, region: str | None = None) -> Call[Freeze]:
    """Remove and switch off nothing in a region, or anywhere, until the freeze ends."""
    return request.post("freezes", Freeze, given(region=region, reason=reason, expires_at=expires_at))


def end(freeze: Ref, *, reason: str) -> Call[Freeze]:
    """End a freeze; steps that waited go on by themselves."""
    return request.post(f"freezes/{segment(freeze)}:end", Freeze, {"reason": reason})

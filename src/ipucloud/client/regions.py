"""Calls for regions."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, segment
from ipucloud.client.models import Capacity, Page, Region


def list() -> Call[Page[Region]]:
    return request.get("regions", Page[Region], scoped=False)


def get(region: str) -> Call[Region]:
    """One region, by slug or number."""
    return request.get(f"regions/{segment(region)}", Region, scoped=False)


def capacity(region: str) -> Call[Page[Capacity]]:
    """How many clusters of each flavor could be created in the region now."""
    return request.get(f"regions/{segment(region)}/capacity", Page[Capacity], scoped=False)

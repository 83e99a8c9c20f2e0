"""Calls for regions, flavors, images and prices."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, segment
from ipucloud.client.models import Capacity, Flavor, Image, Page, Price, Region


def regions() -> Call[Page[Region]]:
    return request.get("regions", Page[Region], scoped=False)


def region(region: str) -> Call[Region]:
    """One region, by slug or number."""
    return request.get(f"regions/{segment(region)}", Region, scoped=False)


def capacity(region: str) -> Call[Page[Capacity]]:
    """How many clusters of each flavor could be created in the region now."""
    return request.get(f"regions/{segment(region)}/capacity", Page[Capacity], scoped=False)


def flavors(*, region: str | None = None) -> Call[Page[Flavor]]:
    return request.get("flavors", Page[Flavor], {"region": region}, scoped=False)


def flavor(name: str) -> Call[Flavor]:
    return request.get(f"flavors/{segment(name)}", Flavor, scoped=False)


def images() -> Call[Page[Image]]:
    return request.get("images", Page[Image], scoped=False)


def prices() -> Call[Page[Price]]:
    """Current and future prices."""
    return request.get("prices", Page[Price], scoped=False)

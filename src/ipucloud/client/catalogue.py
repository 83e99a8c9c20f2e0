"""Calls about what can be had: regions, flavors, images, prices."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, segment
from ipucloud.client.models import Capacity, Flavor, Image, Page, Price, Region


def regions() -> Call[Page[Region]]:
    return request.get("regions", Page[Region].model_validate_json)


def region(region: str) -> Call[Region]:
    """One region, by slug or number."""
    return request.get(f"regions/{segment(region)}", Region.model_validate_json)


def capacity(region: str) -> Call[Page[Capacity]]:
    """How many clusters of each flavor could be created in the region now."""
    return request.get(f"regions/{segment(region)}/capacity", Page[Capacity].model_validate_json)


def flavors(*, region: str | None = None) -> Call[Page[Flavor]]:
    return request.get("flavors", Page[Flavor].model_validate_json, {"region": region})


def flavor(name: str) -> Call[Flavor]:
    return request.get(f"flavors/{segment(name)}", Flavor.model_validate_json)


def images() -> Call[Page[Image]]:
    return request.get("images", Page[Image].model_validate_json)


def prices() -> Call[Page[Price]]:
    """Current and future prices."""
    return request.get("prices", Page[Price].model_validate_json)

"""Calls for flavors: the cluster sizes that are sold."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, segment
from ipucloud.client.models import Flavor, Page


def list(*, region: str | None = None) -> Call[Page[Flavor]]:
    return request.get("flavors", Page[Flavor], {"region": region}, scoped=False)


def get(flavor: str) -> Call[Flavor]:
    return request.get(f"flavors/{segment(flavor)}", Flavor, scoped=False)

"""Calls for images of Poplar servers."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call
from ipucloud.client.models import Image, Page


def list(*, region: str | None = None) -> Call[Page[Image]]:
    """All images; `max(images, key=lambda image: image.release)` is the newest."""
    return request.get("images", Page[Image], {"region": region}, scoped=False)

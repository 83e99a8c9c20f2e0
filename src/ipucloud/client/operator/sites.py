"""Calls for what sites show: when they were observed, their controllers, and where they disagree with the database."""

from __future__ import annotations

from ipucloud.client.call import Call
from ipucloud.client.models import Controller, Observation, Page, SiteFinding
from ipucloud.client.operator import call as request


def observations(*, limit: int | None = None) -> Call[Page[Observation]]:
    """When each region was last observed by each source, how many objects answered, and errors."""
    return request.get("observations", Page[Observation], limit=limit)


def controllers(*, limit: int | None = None) -> Call[Page[Controller]]:
    """The V-IPU controllers: where they are, what they run and can do, and whether they answer."""
    return request.get("controllers", Page[Controller], limit=limit)


def findings(
    *, region: str | None = None, rule: str | None = None, limit: int | None = None
) -> Call[Page[SiteFinding]]:
    """Where sites and database disagree, as the last sweep found it, and why it left what it left."""
    return request.get("site-findings", Page[SiteFinding], region=region, rule=rule, limit=limit)

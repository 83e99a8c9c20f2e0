"""What a call of the control plane to a site needs, how it is made, and what it brings about."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from ipucloud.site.calls import Call
from ipucloud.site.ports import Site, Sites
from tests.proof import site_resources as resources
from tests.proof.site_resources import Resource

Transport = Literal["http", "vipu"]
Answer = Any
Prepare = Callable[[Site, Resource], Awaitable[None]]
Observation = Callable[[Site, Resource], Awaitable[bool]]


@dataclass(frozen=True)
class CallCase:
    """`observe` shows whether the object is there; `makes`: what it shows after the call, None for a read.

    `target` is the object by which the site's fault rules know the call. `missing`: what the call ends in when the
    site says that it does not know the object: an answer, or the name of the error.
    """

    name: str
    call: Call
    transport: Transport
    make: Callable[[Sites, Site, Resource], Awaitable[Answer]]
    prepare: Prepare = resources.nothing
    observe: Observation | None = None
    makes: bool | None = None
    missing: str = "refused"
    target: Callable[[Resource], str] = field(default=lambda resource: resource.name)


def no_object(resource: Resource) -> str:
    """The target of a call that names no object."""
    return ""

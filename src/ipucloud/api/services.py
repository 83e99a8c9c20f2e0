"""Services of handlers, built when the application starts and found through the request."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import HTTPConnection

from ipucloud.api.attempts import Attempts
from ipucloud.api.cookies import Devices
from ipucloud.api.metrics import Metrics
from ipucloud.api.streams import Followers, Streams
from ipucloud.catalogue.current import CurrentCatalogue
from ipucloud.catalogue.queries import Catalogue
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.db.outages import RETRY_AFTER
from ipucloud.db.reader import Reader
from ipucloud.db.turns import Turns
from ipucloud.identity.passwords import Passwords
from ipucloud.identity.providers import Providers
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import UNAVAILABLE, Problem
from ipucloud.reconcile.wake import Notifier

DRAWING_SECONDS = 10.0
"""How long a document waits for its turn to be drawn; one takes up to two seconds of a processor."""
_CATALOGUE = "ipucloud.catalogue"


@dataclass(slots=True)
class Terminals:
    """How many terminals of this process are open."""

    open: int = 0


@dataclass(frozen=True, slots=True)
class Services:
    """`reader` runs single statements, `database` transactions; `draining` is set when the process starts to drain.

    `parts`: what optional parts hold while the process runs, by their names.
    `drawing`: the turn to make a PDF, which takes more of the processor and memory than anything else here.
    """

    settings: Settings
    catalogue: CurrentCatalogue
    database: Database
    reader: Reader
    notifier: Notifier
    clock: Clock
    metrics: Metrics
    streams: Streams
    followers: Followers
    passwords: Passwords
    attempts: Attempts
    devices: Devices
    providers: Providers
    parts: dict[str, Any] = field(default_factory=dict)
    terminals: Terminals = field(default_factory=Terminals)
    draining: asyncio.Event = field(default_factory=asyncio.Event)
    drawing: Turns = field(default_factory=lambda: Turns(1, DRAWING_SECONDS, late=late_drawing))


def late_drawing() -> Problem:
    """503: other documents are being made."""
    return Problem(
        UNAVAILABLE, "This server makes other PDF documents. Send the request again shortly.", headers=RETRY_AFTER
    )


def services_of(request: HTTPConnection) -> Services:
    services: Services = request.app.state.services
    return services


def catalogue_of(request: HTTPConnection) -> Catalogue:
    """The catalogue used for the whole request, even if it is reloaded meanwhile."""
    catalogue: Catalogue = request.scope.setdefault(_CATALOGUE, services_of(request).catalogue.catalogue)
    return catalogue

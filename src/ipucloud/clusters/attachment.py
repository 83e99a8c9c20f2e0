"""What a site answers when something of a project is to be attached to a Poplar server, as reconcilers read it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import structlog

from ipucloud.contract.clusters import ClusterState
from ipucloud.site.ports import SiteBusy, SiteError, SiteRefused

log = structlog.get_logger(__name__)

WAITING_SECONDS = 5.0
"""Between two attempts while the site does not answer, or refuses for now."""
ATTACHED_SECONDS = 60.0
"""Between two readings of what is attached: its server may have been moved or rebuilt."""
OVER = frozenset({ClusterState.ERROR, ClusterState.DELETING, ClusterState.DELETED})
"""States of clusters whose servers are, or will be, removed."""


@dataclass(frozen=True, slots=True)
class Gone:
    """The server that has it, or should, is removed."""


@dataclass(frozen=True, slots=True)
class Absent:
    """The site does not have it."""


@dataclass(frozen=True, slots=True)
class Refused:
    why: str


@dataclass(frozen=True, slots=True)
class Quiet:
    """What is not known, or has to wait, why, and when to look again."""

    why: str
    recheck: float = WAITING_SECONDS


class _Revised(Protocol):
    @property
    def revision(self) -> int: ...


class _Attachable(Protocol):
    @property
    def attachment(self) -> _Revised | None: ...


Answer = TypeVar("Answer")
Shown = TypeVar("Shown", bound=_Attachable)
Wanted = TypeVar("Wanted", bound=_Revised)


async def answer_of(request: Awaitable[Answer]) -> Answer | Refused | Quiet:
    """What the site answered to a request."""
    try:
        return await request
    except SiteRefused as error:
        log.info("site_refused", error=str(error))
        return Refused("its site refuses it")
    except SiteError as error:
        log.info("site_unknown", error=str(error))
        return Quiet("its site does not answer, or has to wait")


async def attach(
    request: Callable[[str, Wanted], Awaitable[Shown | None]],
    read: Callable[[str], Awaitable[Shown | None]],
    name: str,
    desired: Wanted,
) -> Shown | None:
    """Request the attachment; what the site shows then. Raises SiteError."""
    try:
        return await request(name, desired)
    except SiteBusy:
        # The server may have had it under this revision, and lost it: then the next one is needed.
        observed = await read(name)
        if observed is None or observed.attachment is None or observed.attachment.revision < desired.revision:
            raise
        return observed

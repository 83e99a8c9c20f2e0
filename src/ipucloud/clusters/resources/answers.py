"""What a site answers when something is to be attached to a Poplar server, as reconcilers read it."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import structlog
from pydantic import BaseModel

from ipucloud.contract.clusters import ClusterState
from ipucloud.site.ports import SiteError, SiteRefused

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


class Attached(Protocol):
    """An attachment on the wire; `server` None: to nobody."""

    @property
    def revision(self) -> int: ...
    @property
    def server(self) -> BaseModel | None: ...
    @classmethod
    def model_validate(cls, obj: Any) -> Self: ...


class Seen(Protocol):
    """One as the site shows it."""

    @property
    def attachment(self) -> Attached | None: ...


Answer = TypeVar("Answer")
Shown_co = TypeVar("Shown_co", bound=Seen, covariant=True)
Spec_contra = TypeVar("Spec_contra", bound=BaseModel, contravariant=True)
Attachment_contra = TypeVar("Attachment_contra", bound=Attached, contravariant=True)


class Port(Protocol[Shown_co, Spec_contra, Attachment_contra]):
    """The port of a noun, as `site.ports` has it."""

    async def get(self, name: str) -> Shown_co | None: ...
    async def put(self, name: str, spec: Spec_contra) -> Shown_co: ...
    async def attach(self, name: str, attachment: Attachment_contra) -> Shown_co | None: ...
    async def delete(self, name: str) -> None: ...


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

"""What one step can come back with from the site."""

from __future__ import annotations

from dataclasses import dataclass

from ipucloud.wire.site import Ssh


@dataclass(frozen=True, slots=True)
class ServerObservation:
    """A Poplar server that answered by SSH with the host key it should have."""

    ordinal: int
    ssh: Ssh


@dataclass(frozen=True, slots=True)
class Achieved:
    """The site shows what the step wanted, by an observation made in this look."""

    servers: tuple[ServerObservation, ...] = ()


@dataclass(frozen=True, slots=True)
class Pending:
    """Asked for and not there yet. `detail` is for the customer; `recheck` seconds, None for the usual interval."""

    detail: str
    recheck: float | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The step could not get further.

    `final`: repeating it changes nothing. `outage`: the site did not answer, which says nothing about the step.
    """

    detail: str
    final: bool = False
    outage: bool = False


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The customer asked to stop; nothing was tried."""


StepResult = Achieved | Pending | Failed | Cancelled

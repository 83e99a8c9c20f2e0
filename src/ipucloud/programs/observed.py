"""What a reconcile pass finds of a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ipucloud.wire.site import Job as Seen

OFF = "its server was restarted, switched off or lost"


@dataclass(frozen=True, slots=True)
class Due:
    """Nothing was requested yet; it can be, once that is recorded."""


@dataclass(frozen=True, slots=True)
class Pausing:
    """It is not yet time for the next start."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The server does not have it, or was off since."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The cluster does not have its server any more."""


@dataclass(frozen=True, slots=True)
class Silent:
    """The site was not reached, or said nothing that can be relied on."""

    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The site refused what it was asked for the program."""

    why: str


Result: TypeAlias = Seen | Due | Pausing | Lost | Removed | Silent | Refused

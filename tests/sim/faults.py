"""What goes wrong, drawn for each call."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from tests.sim.coverage import Coverage, CoverageKind

Fault = TypeVar("Fault", bound=StrEnum)


class SiteFault(StrEnum):
    """What happens to one call to the site."""

    NONE = "ok"
    LOST_BEFORE = "time-out, no effect"
    LOST_AFTER = "time-out after the effect"
    GHOST = "time-out, effect later"
    DUPLICATE = "done, and again later"
    STALE = "an earlier observation"
    ERROR_BEFORE = "5xx, no effect"
    ERROR_AFTER = "5xx after the effect"
    REFUSED = "refused once"
    BUSY = "busy"
    SLOW = "slow"
    UNTRUSTED = "the certificate is not trusted"


class DatabaseFault(StrEnum):
    """What happens to a session."""

    REFUSED = "no connection"
    LOST = "connection lost"
    ANSWER_LOST = "done, answer lost"


class Trouble(StrEnum):
    """What happens to processes and machines."""

    KILLED = "worker killed"
    FROZEN = "worker frozen"
    PRESENCE_LOST = "worker's session lost"
    DRAINED = "worker asked to stop"
    HARDWARE = "hardware fails"
    STRUCK = "hardware fails in use, or is repaired"
    PARTITION_FAILED = "a partition fails by itself"
    DISTRUSTED = "the controller's certificate is not trusted for a while"
    FORGOT = "the controller forgets everything"
    LEFTOVER = "something of a cluster that is gone comes back"


@dataclass(frozen=True)
class Mix:
    """How probable each fault is for a read and for a change, and how often the hardware itself fails."""

    reads: Mapping[SiteFault, float] = field(default_factory=dict)
    changes: Mapping[SiteFault, float] = field(default_factory=dict)
    database: float = 0.0
    hardware: float = 0.0


CALM = Mix()


class Faults:
    """Draws the faults of one history. `begin` and `calm`: from when, and until when, anything goes wrong."""

    def __init__(self, mix: Mix, draw: random.Random, coverage: Coverage) -> None:
        self._mix = CALM
        self._coming = mix
        self._draw = draw
        self._coverage = coverage
        self.counts: dict[str, int] = {}

    def begin(self) -> None:
        self._mix = self._coming

    def calm(self) -> None:
        self._mix = CALM

    def site(self, call: str, *, changes: bool) -> SiteFault:
        """The fate of one call."""
        fate = self._draw.random()
        for fault, probability in (self._mix.changes if changes else self._mix.reads).items():
            fate -= probability
            if fate < 0:
                return self._count(fault, CoverageKind.FAULTY_CALL, call)
        return SiteFault.NONE

    def untrusted(self, call: str) -> None:
        """Count a call to a controller whose certificate is not trusted."""
        self._count(SiteFault.UNTRUSTED, CoverageKind.FAULTY_CALL, call)

    def database(self, where: str, *possible: DatabaseFault) -> DatabaseFault | None:
        """The fate of one step of a session, among those that can happen to it."""
        if self._mix.database and self._draw.random() < self._mix.database:
            return self._count(self._draw.choice(possible), CoverageKind.FAULTY_STATEMENT, where)
        return None

    def hardware(self) -> bool:
        """Whether the hardware fails at what it was just asked to do."""
        fails = bool(self._mix.hardware) and self._draw.random() < self._mix.hardware
        if fails:
            self._coverage[CoverageKind.FAULT, Trouble.HARDWARE] += 1
        return fails

    def _count(self, fault: Fault, kind: CoverageKind, where: str) -> Fault:
        self.counts[fault] = self.counts.get(fault, 0) + 1
        self._coverage[CoverageKind.FAULT, fault] += 1
        self._coverage[kind, f"{where}: {fault}"] += 1
        return fault

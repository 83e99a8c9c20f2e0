"""From the facts of one reading and the live reports to what changes in the reports. Pure.

A fact that is new opens a *suspected* report, without effect. The second reading in a row that shows it confirms it.
Three good readings in a row clear it. A report that comes and goes, so that no two readings in a row show it, is
confirmed when that lasts; one that was confirmed again and again is kept for an hour after the last time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, TypeAlias
from uuid import UUID

from ipucloud.inventory.health.codes import OBSERVED, Code, Kind, Source

GOOD_READINGS = 3
"""Good readings in a row that clear a report."""
FLAPPING = 3
"""Confirmations within `FLAPPING_TIME` after which a report is kept for that time."""
FLAPPING_TIME = timedelta(hours=1)
UNSTEADY_TIME = timedelta(minutes=1)
"""A suspected report that is seen, but never twice in a row, for this time is confirmed."""
SEEN_TIME = timedelta(minutes=1)
"""How old `last_seen_at` of a report may grow before it is written again although nothing changed."""

Asked: TypeAlias = tuple[UUID, Source]
"""An object and a source that answered for it in this reading."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of a reading: a source says that something is wrong with an object."""

    kind: Kind
    object_id: UUID
    source: Source
    code: Code
    detail: str


class LiveReport(NamedTuple):
    """A report that is not cleared.

    `confirmations`: how often this source reported this code of the object within the hour up to `confirmed_at`.
    """

    id: UUID
    kind: Kind
    object_id: UUID
    source: Source
    code: Code
    detail: str
    first_seen_at: datetime
    last_seen_at: datetime
    confirmed_at: datetime | None
    good_readings: int
    expires_at: datetime | None
    confirmations: int


class Action(StrEnum):
    """What happens to a report."""

    SUSPECTED = "suspected"
    SEEN = "seen"
    CONFIRMED = "confirmed"
    GOOD = "good"
    CLEARED = "cleared"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one report; `report_id` is None when it is opened."""

    action: Action
    fact: Fact
    report_id: UUID | None = None


def judge(
    facts: Collection[Fact], asked: Collection[Asked], live: Collection[LiveReport], now: datetime
) -> list[Change]:
    """The changes. Reports of objects whose source did not answer stay as they are, except those that expire."""
    reports = {(each.object_id, each.source, each.code): each for each in live}
    shown = {(each.object_id, each.source, each.code): each for each in facts}
    answered = frozenset(asked)
    changes = [Change(Action.SUSPECTED, fact) for key, fact in shown.items() if key not in reports]
    for key, report in reports.items():
        if report.expires_at is not None and report.expires_at <= now:
            changes.append(_change(report, Action.CLEARED))
        elif report.source in OBSERVED:
            changes += _judge_live(report, shown.get(key), now, answered=(report.object_id, report.source) in answered)
    return changes


def _judge_live(report: LiveReport, fact: Fact | None, now: datetime, *, answered: bool) -> Iterator[Change]:
    if fact is not None:
        if report.confirmed_at is None and (report.good_readings == 0 or now - report.first_seen_at >= UNSTEADY_TIME):
            yield Change(Action.CONFIRMED, fact, report.id)
        elif report.good_readings or fact.detail != report.detail or now - report.last_seen_at >= SEEN_TIME:
            yield Change(Action.SEEN, fact, report.id)
    elif answered:
        if report.good_readings + 1 < GOOD_READINGS:
            yield _change(report, Action.GOOD)
        elif not _kept(report, now):
            yield _change(report, Action.CLEARED)


def _kept(report: LiveReport, now: datetime) -> bool:
    return (
        report.confirmed_at is not None
        and report.confirmations >= FLAPPING
        and now - report.confirmed_at < FLAPPING_TIME
    )


def _change(report: LiveReport, action: Action) -> Change:
    fact = Fact(report.kind, report.object_id, report.source, report.code, report.detail)
    return Change(action, fact, report.id)


def unsettled(changes: Collection[Change]) -> bool:
    """Whether the next reading decides something, and so should come soon."""
    return any(each.action in {Action.SUSPECTED, Action.GOOD} for each in changes)

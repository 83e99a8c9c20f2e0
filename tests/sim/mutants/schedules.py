"""Bugs in schedules, the idle stop and the warning of an expiry."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from ipucloud.clusters import update
from ipucloud.clusters.idle.store import Use
from ipucloud.clusters.schedules import calendar
from ipucloud.clusters.schedules.calendar import Moment
from ipucloud.clusters.schedules.store import Kept
from ipucloud.policies import expiry
from ipucloud.policies import idle as stop
from ipucloud.policies import schedules as follow
from tests.sim.mutants.planting import mutant, replace, rewrite

_SCHEDULES = "tests/feature/clusters/test_schedules.py"
_IDLE = "tests/feature/clusters/test_idle.py"
_OUTAGE = f"{_SCHEDULES} -k after_an_outage"


@mutant("a schedule undoes what a person has done after its moment", directed=_OUTAGE)
def persons_are_overruled(stack: ExitStack) -> None:
    rewrite(stack, follow, "_DECIDED", ("requested_by IS NOT NULL", "false"))


@mutant("after an outage the first moment counts that has passed, not the last", directed=_OUTAGE)
def outage_is_relived(stack: ExitStack) -> None:
    def first(kept: Kept, moment: Moment, now: datetime) -> Moment:
        return moment

    replace(stack, follow, "_last", first)


@mutant("a resume that a schedule began is never tried again", directed=f"{_SCHEDULES} -k resume_that_fails")
def failed_resume_is_forgotten(stack: ExitStack) -> None:
    rewrite(stack, follow, "_BEGUN", ("SELECT state,", "SELECT 'succeeded' AS state,"))


@mutant("a time that the clocks skip is an hour later", directed="tests/unit/clusters/test_schedule_calendar.py")
def skipped_time_is_later(stack: ExitStack) -> None:
    def later(day: date, minutes: int, zone: ZoneInfo) -> datetime:
        return (datetime.combine(day, time(), zone) + timedelta(minutes=minutes)).astimezone(UTC)

    replace(stack, calendar, "local_instant", later)


@mutant("a server whose logins nobody knows is idle", directed=f"{_IDLE} -k site_does_not_show")
def unknown_is_idle(stack: ExitStack) -> None:
    replace(stack, Use, "idle_for", property(lambda self: self.idle_seconds or 36_000.0))
    replace(stack, Use, "__getattribute__", _nobody)


def _nobody(use: Use, name: str) -> object:
    value = tuple.__getattribute__(use, name)
    return 0 if value is None and name in {"sessions", "attached_ipus"} else value


@mutant("an observation proves that nobody uses a cluster however old it is", directed=f"{_IDLE} -k silence")
def silence_is_idle(stack: ExitStack) -> None:
    rewrite(stack, stop, "_DUE", ("app_now() - CAST(:fresh AS interval)", "app_now() - 100 * CAST(:fresh AS interval)"))


@mutant("an expiry is announced by every run", directed="tests/feature/clusters/test_expiry.py -k once")
def warned_again_and_again(stack: ExitStack) -> None:
    for module, name in ((expiry, "_EXPIRING"), (update, "_WARNED")):
        rewrite(stack, module, name, ("AND expiry_warned_at IS NULL", ""))

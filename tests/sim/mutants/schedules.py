"""Bugs in schedules, the idle stop and the warning of an expiry."""

from __future__ import annotations

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
from tests.sim.mutants.planting import Mutant

_SCHEDULES = "tests/feature/clusters/test_schedules.py"
_IDLE = "tests/feature/clusters/test_idle.py"
_OUTAGE = f"{_SCHEDULES} -k after_an_outage"

persons_are_overruled = Mutant("a schedule undoes what a person has done after its moment", _OUTAGE).rewrite(
    follow, "_DECIDED", ("requested_by IS NOT NULL", "false")
)


@Mutant("after an outage the first moment counts that has passed, not the last", _OUTAGE).wraps(follow, "_last")
def outage_is_relived(_honest: object, kept: Kept, moment: Moment, now: datetime) -> Moment:
    return moment


failed_resume_is_forgotten = Mutant(
    "a resume that a schedule began is never tried again", f"{_SCHEDULES} -k resume_that_fails"
).rewrite(follow, "_BEGUN", ("SELECT state,", "SELECT 'succeeded' AS state,"))


@Mutant("a time that the clocks skip is an hour later", "tests/unit/clusters/test_schedule_calendar.py").wraps(
    calendar, "local_instant"
)
def skipped_time_is_later(_honest: object, day: date, minutes: int, zone: ZoneInfo) -> datetime:
    return (datetime.combine(day, time(), zone) + timedelta(minutes=minutes)).astimezone(UTC)


def _nobody(use: Use, name: str) -> object:
    value = tuple.__getattribute__(use, name)
    return 0 if value is None and name in {"sessions", "attached_ipus"} else value


unknown_is_idle = (
    Mutant("a server whose logins nobody knows is idle", f"{_IDLE} -k site_does_not_show")
    .replace(Use, "idle_for", property(lambda self: self.idle_seconds or 36_000.0))
    .replace(Use, "__getattribute__", _nobody)
)

silence_is_idle = Mutant(
    "an observation proves that nobody uses a cluster however old it is", f"{_IDLE} -k silence"
).rewrite(stop, "_DUE", ("app_now() - CAST(:fresh AS interval)", "app_now() - 100 * CAST(:fresh AS interval)"))

warned_again_and_again = (
    Mutant("an expiry is announced by every run", "tests/feature/clusters/test_expiry.py -k once")
    .rewrite(expiry, "_EXPIRING", ("AND expiry_warned_at IS NULL", ""))
    .rewrite(update, "_WARNED", ("AND expiry_warned_at IS NULL", ""))
)

"""When a report is suspected, confirmed, cleared and kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.judge import Action, Fact, LiveReport, judge, unsettled

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
MACHINE, REPORT = UUID(int=1), UUID(int=2)
FAILED = Fact("machine", MACHINE, Source.BMC, Code.BMC_CRITICAL, "Critical")
ASKED = {(MACHINE, Source.BMC)}
SECOND = timedelta(seconds=1)
NEW = LiveReport(
    id=REPORT,
    kind="machine",
    object_id=MACHINE,
    source=Source.BMC,
    code=Code.BMC_CRITICAL,
    detail="Critical",
    first_seen_at=NOW - SECOND,
    last_seen_at=NOW - SECOND,
    confirmed_at=None,
    good_readings=0,
    expires_at=None,
    confirmations=0,
)
CONFIRMED = NEW._replace(confirmed_at=NOW - SECOND, confirmations=1)


def actions(live: LiveReport | None, fact: Fact | None, *, answered: bool = True) -> list[Action]:
    """What one reading changes."""
    changes = judge([] if fact is None else [fact], ASKED if answered else (), [] if live is None else [live], NOW)
    return [change.action for change in changes]


def test_the_second_reading_in_a_row_confirms() -> None:
    assert actions(None, FAILED) == [Action.SUSPECTED]
    assert actions(NEW, FAILED) == [Action.CONFIRMED]
    assert actions(CONFIRMED, FAILED) == []
    assert actions(CONFIRMED._replace(last_seen_at=NOW - timedelta(minutes=2)), FAILED) == [Action.SEEN]


def test_three_good_readings_in_a_row_clear_and_none_changes_nothing() -> None:
    for live in (NEW, CONFIRMED):
        assert actions(live, None) == [Action.GOOD]
        assert actions(live._replace(good_readings=1), None) == [Action.GOOD]
        assert actions(live._replace(good_readings=2), None) == [Action.CLEARED]
    assert actions(CONFIRMED._replace(good_readings=2), FAILED) == [Action.SEEN], "the count begins again"
    assert actions(CONFIRMED._replace(good_readings=2), None, answered=False) == []


def test_a_fault_that_comes_and_goes_is_confirmed_when_that_lasts() -> None:
    unsteady = NEW._replace(good_readings=1)
    assert actions(unsteady, FAILED) == [Action.SEEN]
    assert actions(unsteady._replace(first_seen_at=NOW - timedelta(minutes=1)), FAILED) == [Action.CONFIRMED]


def test_a_report_that_was_confirmed_again_and_again_is_kept_for_an_hour() -> None:
    flapping = CONFIRMED._replace(confirmations=3, good_readings=2)
    assert actions(flapping, None) == []
    assert actions(flapping._replace(confirmed_at=NOW - timedelta(hours=1)), None) == [Action.CLEARED]


def test_what_people_and_operations_report_ends_only_when_it_expires() -> None:
    quarantine = CONFIRMED._replace(source=Source.OPERATOR, code=Code.QUARANTINE)
    assert actions(quarantine._replace(good_readings=2), None) == []
    assert actions(quarantine._replace(expires_at=NOW), None, answered=False) == [Action.CLEARED]


def test_the_next_reading_comes_soon_while_it_decides_something() -> None:
    assert unsettled(judge([FAILED], ASKED, [], NOW))
    assert unsettled(judge([], ASKED, [CONFIRMED], NOW))
    assert not unsettled(judge([FAILED], ASKED, [NEW], NOW))

"""Repair windows: across midnight, and when the clocks change."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from ipucloud.clusters.repairs.needs import begins, last_begin
from ipucloud.contract.repairs import RepairWindow

SOUND = {"days": ["sun"], "starts_at": "02:30", "minutes": 60, "time_zone": "Europe/Luxembourg"}


def window(**changes: object) -> RepairWindow:
    return RepairWindow.model_validate(SOUND | changes)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("changes", "moment", "expected"),
    [
        ({}, "2026-05-05T10:00", "2026-05-10T00:30"),
        ({}, "2026-05-10T00:30", "2026-05-10T00:30"),
        ({}, "2026-05-10T01:29", "2026-05-10T01:29"),  # inside
        ({}, "2026-05-10T01:30", "2026-05-17T00:30"),  # just over
        ({"days": ["mon", "thu"]}, "2026-05-05T10:00", "2026-05-07T00:30"),
        # It belongs to Saturday, and lasts until two hours after midnight.
        ({"days": ["sat"], "starts_at": "23:00", "minutes": 180}, "2026-05-09T23:30", "2026-05-09T23:30"),
        ({"days": ["sat"], "starts_at": "23:00", "minutes": 180}, "2026-05-10T00:00", "2026-05-16T21:00"),
        # West and east of UTC, where it is another day.
        ({"time_zone": "Pacific/Kiritimati"}, "2026-05-05T10:00", "2026-05-09T12:30"),
        ({"time_zone": "Pacific/Honolulu"}, "2026-05-05T10:00", "2026-05-10T12:30"),
        # 02:30 does not exist on 29 March, and is twice on 25 October: an hour later, and the first time.
        ({}, "2026-03-28T12:00", "2026-03-29T01:30"),
        ({}, "2026-10-24T12:00", "2026-10-25T00:30"),
        ({}, "2026-10-25T01:30", "2026-11-01T01:30"),
    ],
)
def test_a_window_opens(changes: dict[str, object], moment: str, expected: str) -> None:
    assert begins(window(**changes), at(moment)) == at(expected)


def test_without_a_window_any_time_is_right() -> None:
    assert begins(None, at("2026-05-05T10:00")) == at("2026-05-05T10:00")
    assert last_begin(None, at("2026-05-05T10:00"), at("2026-05-20T10:00")) == at("2026-05-20T10:00")


@pytest.mark.parametrize(
    ("latest", "expected"),
    [("2026-05-20T10:00", "2026-05-17T00:30"), ("2026-05-17T00:30", "2026-05-17T00:30"), ("2026-05-09T10:00", None)],
)
def test_the_last_window_before_a_time_is_found(latest: str, expected: str | None) -> None:
    assert last_begin(window(), at("2026-05-05T10:00"), at(latest)) == at(expected or latest)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"days": []}, {"days": ["sunday"]}, {"days": ["sun", "sun"]}, {"starts_at": "24:00"}, {"starts_at": "2:30"}),
        *({"minutes": 14}, {"minutes": 1441}, {"minutes": "60"}, {"time_zone": "Europe/Esch"}, {"time_zone": "../UTC"}),
        *({"time_zone": ""}, {"until": "04:00"}),
    ],
)
def test_a_window_that_nobody_can_keep_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        window(**wrong)


def test_days_are_in_the_order_of_the_week() -> None:
    assert window(days=["sun", "mon"]).days == ["mon", "sun"]

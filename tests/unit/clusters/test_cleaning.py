"""When a clean-up goes on without a machine or host."""

from __future__ import annotations

import pytest

from ipucloud.clusters.inputs import Isolation
from ipucloud.clusters.steps.cleaning import Wait

USUAL = Isolation.usual(120.0, 16)


@pytest.mark.parametrize(
    ("checks", "lost"),
    [
        pytest.param("t" * 24, False, id="dead for less than the time"),
        pytest.param("t" * 25, True, id="dead for the time"),
        pytest.param("." * 60 + "t", False, id="one missing answer after a long time"),
        pytest.param("." * 60 + "t" * 24, False, id="dead for less than the time, after a long time"),
        pytest.param("t" * 24 + "." + "t" * 24, False, id="one answer in between"),
        pytest.param("." * 121, False, id="slow"),
        pytest.param("." * 122, True, id="slow for five times as long"),
    ],
)
def test_hardware_is_left_once_it_was_in_trouble_or_not_done_for_long(checks: str, lost: bool) -> None:
    """A check every five seconds: `t` found it in trouble, `.` not done."""
    wait = Wait(0.0)
    for number, check in enumerate(checks):
        wait = wait.after_check(number * 5.0, in_trouble=check == "t")
    assert wait.lost((len(checks) - 1) * 5.0, USUAL) is lost


def test_few_checks_far_apart_say_nothing() -> None:
    wait = Wait(0.0).after_check(0.0, in_trouble=True).after_check(600.0, in_trouble=True)
    assert not wait.lost(600.0, USUAL)
    assert wait.after_check(605.0, in_trouble=True).lost(605.0, USUAL)


def test_a_forced_delete_waits_only_until_the_trouble_is_sure() -> None:
    forced = USUAL.in_region(99, halted=True, forced=True)
    wait = Wait(0.0).after_check(0.0, in_trouble=True).after_check(1.0, in_trouble=True)
    assert not wait.lost(1.0, forced)
    assert wait.after_check(2.0, in_trouble=True).lost(2.0, forced)
    assert forced.budget > 1_000_000


def test_the_budget_of_a_region_shrinks_and_ends_with_its_automation() -> None:
    assert USUAL.in_region(3, halted=False, forced=False).budget == 13
    assert USUAL.in_region(3, halted=True, forced=False).budget == 0

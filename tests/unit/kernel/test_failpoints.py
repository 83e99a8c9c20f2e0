"""Failpoints cost nothing and do nothing until a process is armed, and then act exactly where a trap is set."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ipucloud.kernel.failpoints import Action, Armed, FailpointReached, Trap, arm, failpoint


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    arm(None)


def _nobody(point: str) -> None:
    """Ignores what is reported to it."""


def test_every_point_is_reported_before_a_trap_acts_on_it() -> None:
    failpoint("here")  # in a process that is not armed
    reached: list[str] = []
    arm(Armed([Trap("site.before:get", 2, Action.RAISE)], reached.append))
    failpoint("here")
    failpoint("site.before", "get")
    with pytest.raises(FailpointReached, match=r"site\.before:get"):
        failpoint("site.before", "get")
    assert reached == ["here", "site.before:get", "site.before:get"]


def test_hits_may_count_from_another_point_on() -> None:
    arm(Armed([Trap("here", 1, Action.RAISE, after="there")], _nobody))
    failpoint("here")
    failpoint("there")
    with pytest.raises(FailpointReached):
        failpoint("here")


def test_traps_act_one_after_another() -> None:
    arm(Armed([Trap("here", 1, Action.RAISE), Trap("here", 3, Action.RAISE)], _nobody))
    for raises in (True, False, True, False):
        try:
            failpoint("here")
        except FailpointReached:
            assert raises
        else:
            assert not raises

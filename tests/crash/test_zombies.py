"""Workers that freeze right before a call and thaw too late; with `--full` before every call, for up to 60 leases."""

from __future__ import annotations

import pytest

from ipucloud.site.calls import Call
from tests.crash import zombies
from tests.crash.changing import Suspend
from tests.crash.kinds import Create, Delete
from tests.crash.lab import Lab
from tests.crash.shares import FAILURES_SHOWN, Order, What, divided
from tests.crash.zombies import Case, Meanwhile
from tests.support.postgres import TestServer
from tests.support.selection import Figures

LEASES = 2
CASES = [
    *(Case(Create(), call, Meanwhile.GIVEN_AWAY, LEASES) for call in zombies.MAKING),
    *(Case(Create(), call, Meanwhile.DELETED, LEASES) for call in (Call.PUT_NETWORK, Call.CREATE_ALLOCATION)),
    *(Case(Delete(), call, Meanwhile.GIVEN_AWAY, LEASES) for call in zombies.PHASES[:-1]),
    *(Case(Suspend(), call, Meanwhile.RESUMED, LEASES) for call in (Call.POWER_HOST, Call.RESET_MACHINE)),
    # What is built after its step of the delete is through, and would keep that from ending.
    Case(Create(), Call.CREATE_PARTITION, Meanwhile.DELETED, LEASES, held=Call.REMOVE_ALLOCATION),
    Case(Create(), Call.PUT_NETWORK, Meanwhile.DELETED, LEASES, held=Call.LIST_ALLOCATIONS),
]

PROCESSES = 6
"""Side by side with `--full`: most of the time everybody waits."""


@pytest.mark.sample(3)
@pytest.mark.anyio
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_late_request_leaves_nothing_behind_and_hits_nobody_else(lab: Lab, case: Case) -> None:
    await lab.clear()
    thawed = await zombies.attempt(lab, case)
    assert thawed.refused
    assert thawed.faults == ()


@pytest.mark.full
@pytest.mark.parametrize("leases", [2, 10, 60])
def test_late_requests_of_every_call(postgres: TestServer, leases: int, figures: Figures) -> None:
    tally = divided(Order(What.ZOMBIES, leases=(leases,)), PROCESSES)
    figures(leases=leases, trials=tally.trials, seconds=round(tally.seconds), **tally.notes)
    assert not tally.failures, "\n".join(tally.failures[:FAILURES_SHOWN])
    assert tally.notes["stale passes or results dropped"] > 0

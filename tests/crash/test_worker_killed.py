"""Kill -9 of a worker while the site keeps an answer back, and inside its last transaction: another one finishes."""

from __future__ import annotations

import pytest

from tests.crash.kinds import Create, Delete, Kind
from tests.crash.lab import Lab
from tests.crash.trials import settled
from tests.crash.zombies import MAKING, PHASES

pytestmark = pytest.mark.anyio

# `drop_answer` rules out that the effect never happened; `stall` rules out that it did.
CASES = [(Create(), call) for call in MAKING] + [(Delete(), call) for call in PHASES]


@pytest.mark.sample(3)
@pytest.mark.parametrize("action", ["stall", "drop_answer"])
@pytest.mark.parametrize(("kind", "call"), CASES, ids=lambda value: getattr(value, "name", value))
async def test_a_worker_may_die_while_the_site_keeps_its_answer_back(
    lab: Lab, kind: Kind, call: str, action: str
) -> None:
    expectation = await kind.ask(lab)
    lab.fault(call=call, action=action)
    victim = await lab.victim()
    await lab.hit(call)
    await victim.kill()
    lab.clear_faults()
    assert await settled(lab, expectation) == []


@pytest.mark.parametrize("kind", [Create(), Delete()], ids=lambda kind: kind.name)
async def test_a_worker_may_die_inside_its_last_transaction(lab: Lab, kind: Kind) -> None:
    """Activation and burial write state, billing and machines together: half of it is never seen."""
    expectation = await kind.ask(lab)
    # The last step locks the quota first: holding it keeps the worker inside its transaction.
    async with lab.database.begin() as connection:
        await connection.exec_driver_sql("SELECT used FROM quotas FOR UPDATE")
        victim = await lab.victim()
        await lab.waits_for_a_lock()
        await victim.kill()
    billed = "SELECT count(*) FROM usage_intervals WHERE resource_id = :id AND ended_at IS NULL"
    assert await lab.value(billed, id=expectation.cluster) == 0
    assert await settled(lab, expectation) == []

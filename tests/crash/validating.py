"""The kind of trial in which a worker dies while it validates machines that a cluster has left: another one goes on."""

from __future__ import annotations

from types import MappingProxyType

from tests.crash.kinds import Delete, Expectation
from tests.crash.lab import Lab
from tests.crash.victims import Victim
from tests.support.waiting import until

_ENDED = "SELECT count(*) = 0 FROM hardware_validations WHERE ended_at IS NULL"
_UNTESTED = """
SELECT m.name FROM allocations a JOIN machines m ON m.id = a.machine_id
 WHERE a.cluster_id = :id
   AND NOT (m.allocatable AND EXISTS (SELECT FROM hardware_validations v
             WHERE v.machine_id = m.id AND v.result = 'passed' AND v.ended_at >= a.freed_at))
 ORDER BY m.name
"""


class Validate(Delete):
    """Once the cluster is deleted, its machines are validated, and free."""

    name = "validate"
    settings = MappingProxyType({"validation": frozenset({"release"})})

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await super().drive(lab, expectation, victim)
        await until(lambda: lab.value(_ENDED), "every validation ends")

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.survivor(**self.settings):
            await lab.finished(expectation.operation)
            await until(lambda: lab.value(_ENDED), "every validation ends")
        assert await lab.column(_UNTESTED, id=expectation.cluster) == []

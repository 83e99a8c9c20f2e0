"""The work items of validation: one for each pod, on one worker at a time.

The machines of a pod that wait are validated together. A pass does the next of: begin, test, clear, wait until no
request can take effect any more, verify that nothing is left, end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.metrics import count
from ipucloud.db.statements import Statements
from ipucloud.inventory import validations
from ipucloud.inventory.validations import VALIDATION, Judged
from ipucloud.kernel.ids import new_id, validation_name
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem
from ipucloud.site.ports import Site, SiteError, Sites, SiteUnknown
from ipucloud.validation.inputs import Pod, Validated, load
from ipucloud.validation.metrics import VALIDATED
from ipucloud.validation.site import Tested, Waiting, clear, foreign_allocation, test

log = structlog.get_logger(__name__)


IDLE_POLLS = 3
"""Poll intervals between two passes while machines wait for the end of a fault or of maintenance."""


@dataclass(frozen=True, slots=True)
class Begin:
    """Machines can begin."""

    machines: tuple[Validated, ...]


@dataclass(frozen=True, slots=True)
class Cleared:
    """Nothing of the validation is at the site. `verified`: later than any of its requests can take effect.

    `stuck`: machines that could not be switched off.
    """

    verified: bool
    stuck: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Silent:
    """The site did not answer: that is no machine's fault."""

    error: str


@dataclass(frozen=True, slots=True)
class Resting:
    """Nothing can be done now."""

    why: str
    seconds: float


Result: TypeAlias = Begin | Tested | Cleared | Waiting | Silent | Resting


class ValidationReconciler:
    """Validates the machines of one pod. `deadline`: seconds for a test, and for clearing after it.

    `limit`: machines of a region that are validated at the same time.
    """

    kind = VALIDATION

    def __init__(self, sites: Sites, *, poll_interval: float, request_life: float, deadline: float, limit: int) -> None:
        self._sites = sites
        self._poll_interval = poll_interval
        self._idle = IDLE_POLLS * poll_interval
        self._request_life = request_life
        self._deadline = deadline
        self._limit = limit

    async def load(self, connection: Statements, item: WorkItem) -> Pod | Outcome:
        return await load(connection, item) or Done()

    async def act(self, item: WorkItem, inputs: Pod) -> Result:
        if not inputs.batch:
            return self._begin(inputs)
        try:
            return await self._work(self._sites.at(inputs.vipu, item.remaining), inputs)
        except SiteUnknown as error:
            return Silent(str(error))
        except SiteError as error:
            if inputs.overdue and inputs.batch[0].result is None:
                return Tested({}, f"the site refused: {error}")
            return Waiting(f"the site refused: {error}")

    def _begin(self, pod: Pod) -> Begin | Resting:
        if pod.halted:
            return Resting("automatic actions are halted in the region", self._idle)
        if pod.frozen:
            return Resting("removals are frozen in the region", self._idle)
        if not pod.next:
            return Resting("other reports keep the machines from being validated", self._idle)
        room = self._limit - pod.running
        if room <= 0:
            return Resting(f"{pod.running} machines of the region are being validated", self._poll_interval)
        return Begin(pod.next[:room])

    async def _work(self, site: Site, pod: Pod) -> Result:
        name = _name(pod)
        if pod.batch[0].result is None:
            return await self._test(site, pod, name)
        machines = [each.machine for each in pod.batch]
        if pod.quiet_for is not None and pod.quiet_for < self._request_life:
            remaining = min(self._request_life - pod.quiet_for, self._request_life)
            return Resting("waiting until no earlier request can take effect", remaining)
        waiting = await clear(site, name, machines)
        if waiting is not None and (waiting.requested or not (waiting.for_machines and pod.overdue)):
            return waiting  # a machine that was just asked to switch itself off may be asked again by a late copy
        if waiting is None and (other := await foreign_allocation(site, pod, machines)):
            return Resting(f"the V-IPU controller has the machines in allocation {other}", self._idle)
        return Cleared(pod.quiet_for is not None, () if waiting is None else waiting.for_machines)

    async def _test(self, site: Site, pod: Pod, name: str) -> Result:
        if kept := [each.machine for each in pod.batch if not each.eligible]:
            return Tested({}, f"another report keeps {', '.join(kept)} from being validated")
        outcome = await test(site, pod, name)
        if not isinstance(outcome, Waiting) or not pod.overdue:
            return outcome
        late = f"{outcome.why} did not end within {self._deadline:.0f} seconds"
        return Tested(dict.fromkeys(outcome.for_machines, late), None if outcome.for_machines else late)

    async def apply(self, connection: AsyncConnection, item: WorkItem, inputs: Pod, result: Result) -> Outcome:
        match result:
            case Begin(machines):
                await self._start(connection, machines)
            case Tested():
                await validations.judge(connection, _judged(inputs, result), self._deadline)
            case Cleared(verified=True, stuck=stuck):
                await self._end(connection, inputs, dict.fromkeys(stuck, "it does not switch off"))
            case Cleared():
                await validations.release(connection, _name(inputs), released=True)
                return Wait("cleared", recheck=self._request_life)
            case Waiting(why):
                if inputs.quiet_for is not None:  # something came back, so its quarantine begins again
                    await validations.release(connection, _name(inputs), released=False)
                return Wait(why, recheck=self._poll_interval)
            case Silent(error):
                await validations.postpone(connection, _name(inputs), self._deadline)
                return Wait(error, recheck=self._poll_interval)
            case Resting(why, seconds):
                return Wait(why, recheck=seconds)
        return Go()

    async def _start(self, connection: AsyncConnection, machines: Sequence[Validated]) -> None:
        name = validation_name(new_id())
        ids = [each.machine_id for each in machines]
        await validations.begin(connection, ids, [each.id for each in machines], name, self._deadline)
        log.info("validation_begun", name=name, machines=[each.machine for each in machines])

    async def _end(self, connection: AsyncConnection, pod: Pod, stuck: Mapping[str, str]) -> None:
        ended = [
            Judged(each.id, each.machine_id, each.result or "abandoned", each.findings, alone=each.alone)
            if each.machine not in stuck
            else Judged(each.id, each.machine_id, "failed", stuck[each.machine])
            for each in pod.batch
        ]
        await validations.judge(connection, ended, self._deadline)
        await validations.end(connection, _name(pod), ended)
        for machine, judged in zip(pod.batch, ended, strict=True):
            count(connection, VALIDATED.labels(judged.result))
            log.info("machine_validated", machine=machine.machine, result=judged.result, findings=judged.findings)


def _name(pod: Pod) -> str:
    name = pod.batch[0].name
    if name is None:
        raise ValueError("no machine of the pod is being validated")
    return name


def _judged(pod: Pod, tested: Tested) -> list[Judged]:
    """A test that failed for no known cause condemns a machine that was tested alone; several are tested one by one."""
    unknown = tested.concluded and tested.unexplained is not None
    judgements = []
    for machine in pod.batch:
        if machine.machine in tested.failures:
            judgements.append(Judged(machine.id, machine.machine_id, "failed", tested.failures[machine.machine]))
        elif unknown and len(pod.batch) == 1:
            judgements.append(Judged(machine.id, machine.machine_id, "failed", tested.unexplained))
        elif tested.failures or tested.unexplained is not None:
            why = tested.unexplained or f"tested together with {', '.join(sorted(tested.failures))}"
            judgements.append(Judged(machine.id, machine.machine_id, "abandoned", why, alone=unknown or machine.alone))
        else:
            judgements.append(Judged(machine.id, machine.machine_id, "passed"))
    return judgements

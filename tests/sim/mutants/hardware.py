"""Bugs in what workers do about hardware by themselves: validation, scheduled repairs, sweeps."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from datetime import datetime
from typing import Any
from unittest import mock

from ipucloud.clusters.repairs import needs
from ipucloud.clusters.repairs.needs import Need, Plan
from ipucloud.invariants import comparison
from ipucloud.invariants.comparison import SiteObject
from ipucloud.invariants.records import Records
from ipucloud.inventory import release
from ipucloud.inventory.validations import Judged
from ipucloud.policies import repairs as start
from ipucloud.site.ports import Site
from ipucloud.validation import reconciler as validation
from ipucloud.validation.inputs import Pod
from ipucloud.validation.site import Tested
from ipucloud.worker import sweep
from tests.sim import swarm
from tests.sim.mutants.planting import mutant, replace, rewrite


def _validated(stack: ExitStack) -> None:
    """In every history, so that few are needed."""
    replace(stack, swarm, "VALIDATED", 1.0)


def _repaired(stack: ExitStack) -> None:
    replace(stack, swarm, "OBSERVED", 1.0)
    replace(stack, swarm, "REPAIRS", 1.0)


def _swept(stack: ExitStack) -> None:
    stack.enter_context(mock.patch.dict(swarm.TASKS, sweep_leftovers=1.0))


async def _nothing(*_: object, **__: object) -> None:
    return None


@mutant("machines that a cluster left are offered without having been validated")
def released_unvalidated(stack: ExitStack) -> None:
    _validated(stack)

    async def required(*_: object) -> tuple[()]:
        return ()

    replace(stack, release, "require_unsettled", required)


@mutant("a validation ends as soon as its machines were seen cleared")
def validation_not_quarantined(stack: ExitStack) -> None:
    _validated(stack)
    honest = validation.ValidationReconciler._work

    async def at_once(self: validation.ValidationReconciler, site: Site, pod: Pod) -> validation.Result:
        result = await honest(self, site, pod)
        return dataclasses.replace(result, verified=True) if isinstance(result, validation.Cleared) else result

    replace(stack, validation.ValidationReconciler, "_work", at_once)


@mutant("a machine passes its validation whatever the cluster test found")
def failed_test_passes(stack: ExitStack) -> None:
    _validated(stack)
    replace(stack, swarm, "FAILING", (0.3,))

    def passed(pod: Pod, _tested: Tested) -> list[Judged]:
        return [Judged(each.id, each.machine_id, "passed") for each in pod.batch]

    replace(stack, validation, "_judged", passed)


@mutant("a repair begins as soon as its fault is confirmed")
def repaired_at_once(stack: ExitStack) -> None:
    _repaired(stack)
    honest = needs.plan

    def hasty(need: Need, settings: Any) -> Plan:
        return honest(need, settings.model_copy(update={"repair_after": 0.0, "repair_host_after": 0.0}))

    replace(stack, start, "plan", hasty)


@mutant("a repair does not wait for its customer's window")
def window_ignored(stack: ExitStack) -> None:
    _repaired(stack)

    def now(_window: object, moment: datetime) -> datetime:
        return moment

    replace(stack, needs, "begins", now)


@mutant("repairs begin however many there were within the hour")
def budget_ignored(stack: ExitStack) -> None:
    _repaired(stack)
    replace(stack, swarm, "LIMITS", (1,))
    rewrite(stack, start, "_STARTED", ("SELECT count(*)", "SELECT 0 * count(*)"))


@mutant("a repair that nobody needs any more stays scheduled")
def repair_forgotten(stack: ExitStack) -> None:
    _repaired(stack)
    replace(stack, start, "end", _nothing)


@mutant("a sweep removes the networks of clusters that are being built")
def sweeps_the_living(stack: ExitStack) -> None:
    _swept(stack)
    honest = comparison._knows

    def knows(records: Records, kind: str, leftover: SiteObject) -> bool:
        cluster = records.living.get(leftover.cluster)
        return honest(records, kind, leftover) and (kind != "network" or cluster is None or cluster.state != "creating")

    replace(stack, comparison, "_knows", knows)


@mutant("a sweep removes the allocation of a validation that goes on")
def sweeps_validations(stack: ExitStack) -> None:
    _validated(stack)
    _swept(stack)
    replace(stack, swarm, "PALETTES", ((90.0,),))  # two sweeps during one validation
    honest = comparison._knows

    def knows(records: Records, kind: str, leftover: SiteObject) -> bool:
        return honest(dataclasses.replace(records, validations=frozenset()), kind, leftover)

    replace(stack, comparison, "_knows", knows)


@mutant("a sweep finds what nobody needs, and leaves it")
def never_sweeps(stack: ExitStack) -> None:
    _swept(stack)
    replace(stack, sweep._Sweep, "_remove", _nothing)

"""Bugs in what workers do about hardware by themselves: validation, scheduled repairs, sweeps."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from functools import partial
from typing import Any

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
from tests.sim.mutants.planting import Mutant, answers

_SWEPT: dict[str, object] = {"TASKS": swarm.TASKS | {"sweep_leftovers": 1.0}}
_VALIDATED: dict[str, object] = {"VALIDATED": 1.0}
_sweeping = partial(Mutant, weather=_SWEPT)
_validating = partial(Mutant, weather=_VALIDATED)
_repairing = partial(Mutant, weather={"OBSERVED": 1.0, "REPAIRS": 1.0})

released_unvalidated = _validating("machines that a cluster left are offered without having been validated").replace(
    release, "require_unsettled", answers(())
)


@_validating("a validation ends as soon as its machines were seen cleared").wraps(
    validation.ValidationReconciler, "_work"
)
async def validation_not_quarantined(
    honest: Any, self: validation.ValidationReconciler, site: Site, pod: Pod
) -> validation.Result:
    result: validation.Result = await honest(self, site, pod)
    return dataclasses.replace(result, verified=True) if isinstance(result, validation.Cleared) else result


@Mutant(
    "a machine passes its validation whatever the cluster test found", weather=_VALIDATED | {"FAILING": (0.3,)}
).wraps(validation, "_judged")
def failed_test_passes(_honest: object, pod: Pod, _tested: Tested) -> list[Judged]:
    return [Judged(each.id, each.machine_id, "passed") for each in pod.batch]


@_repairing("a repair begins as soon as its fault is confirmed").wraps(start, "plan")
def repaired_at_once(_honest: object, need: Need, settings: Any) -> Plan:
    return needs.plan(need, settings.model_copy(update={"repair_after": 0.0, "repair_host_after": 0.0}))


@_repairing("a repair does not wait for its customer's window").wraps(needs, "begins")
def window_ignored(_honest: object, _window: object, moment: datetime) -> datetime:
    return moment


budget_ignored = Mutant(
    "repairs begin however many there were within the hour", weather={"OBSERVED": 1.0, "REPAIRS": 1.0, "LIMITS": (1,)}
).rewrite(start, "_STARTED", ("SELECT count(*)", "SELECT 0 * count(*)"))

repair_forgotten = _repairing("a repair that nobody needs any more stays scheduled").replace(
    start, "end", answers(None)
)


@_sweeping("a sweep removes the networks of clusters that are being built").wraps(comparison, "_knows")
def sweeps_the_living(honest: Any, records: Records, kind: str, leftover: SiteObject) -> bool:
    cluster = records.living.get(leftover.cluster)
    return honest(records, kind, leftover) and (kind != "network" or cluster is None or cluster.state != "creating")


_TWO_SWEEPS_DURING_ONE: dict[str, object] = {"PALETTES": ((90.0,),)}


@Mutant(
    "a sweep removes the allocation of a validation that goes on", weather=_VALIDATED | _SWEPT | _TWO_SWEEPS_DURING_ONE
).wraps(comparison, "_knows")
def sweeps_validations(honest: Any, records: Records, kind: str, leftover: SiteObject) -> Any:
    return honest(dataclasses.replace(records, validations=frozenset()), kind, leftover)


never_sweeps = _sweeping("a sweep finds what nobody needs, and leaves it").replace(
    sweep._Sweep, "_remove", answers(None)
)

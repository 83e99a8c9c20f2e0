"""Hardware that fails during an operation, in every way, at every step: what becomes of operation, cluster and bill.

An operation that builds goes on with other hardware, or without a server whose disk its customer may need. One that
changes a cluster in use where it is ends with an error that names the hardware. None waits for ever.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple
from uuid import UUID

import pytest

from ipucloud.clusters.operations.all import CLUSTER_OPERATIONS
from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.kind import ClusterKind
from ipucloud.clusters.operations.rebuild import REBUILD, REBUILD_SERVERS
from ipucloud.clusters.operations.repair import REPAIR
from ipucloud.clusters.operations.replace import REPLACE
from ipucloud.clusters.operations.resize import RESIZE
from ipucloud.clusters.operations.restart import POWER_CYCLE, REBOOT
from ipucloud.clusters.operations.resume import RESUME
from ipucloud.clusters.operations.rotate_key import ROTATE_KEY
from ipucloud.clusters.operations.update_keys import UPDATE_KEYS
from ipucloud.clusters.steps.build import ATTACH_VOLUMES
from ipucloud.inventory.health.codes import Code
from ipucloud.operations.store import Accepted
from tests.support.breakable import held, open_breakable_world
from tests.support.waiting import until
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

SITE = {"machines": 8}
WORLD = partial(open_breakable_world, isolation_after=0.05, site_call_timeout=5.0)

POD8, POD16 = "m2000-pod8", "m2000-pod16"
BEGUN = """
SELECT EXISTS (SELECT FROM operation_steps
                WHERE operation_id = :operation AND name = :step AND started_at IS NOT NULL)
"""
ENDED = "SELECT finished_at IS NOT NULL FROM operations WHERE id = :operation"
HURRY = "UPDATE work SET run_at = app_now() WHERE kind = 'cluster' AND run_at > app_now()"
LATER = """
UPDATE operation_steps SET started_at = started_at - interval '1 hour'
 WHERE operation_id = :operation AND state = 'running' AND app_now() - started_at BETWEEN '1 second' AND '1 hour'
"""
BILLED = """
SELECT quantity, EXISTS (SELECT FROM usage_credits AS credit WHERE credit.interval_id = usage_intervals.id) AS credited
  FROM usage_intervals WHERE resource_id = :cluster AND ended_at IS NULL
"""


class Fault(NamedTuple):
    """`apply` breaks the hardware of this name; `shown`: whether observation sees that, while a cluster uses it."""

    kind: Literal["machine", "host"]
    apply: Callable[[SiteWorld, str], object]
    shown: Callable[[SiteWorld, str], bool] = lambda *_: True


def _post(path: str, body: dict[str, str] | None = None) -> Callable[[SiteWorld, str], object]:
    return lambda world, name: world.http.post(path.format(name=name), json=body).raise_for_status()


def _silence(call: str) -> Callable[[SiteWorld, str], object]:
    return lambda world, name: world.fault(call=call, target=name, action="status", status=503)


def _switch_off(world: SiteWorld, name: str) -> None:
    networks = [
        each["name"] for each in world.http.get("/v1/networks").json()["networks"] if name in each["spec"]["machines"]
    ]
    for network in networks:  # without one it is off, or its cluster has left it
        path = f"/redfish/v1/Systems/{name}/Actions/ComputerSystem.Reset"
        world.http.post(path, json={"ResetType": "ForceOff"}, params={"network": network})


def _is_off(world: SiteWorld, name: str) -> bool:
    """One that was switched off before its cluster uses it is switched on again."""
    state: str = world.http.get(f"/redfish/v1/Systems/{name}").json()["PowerState"]
    return state == "Off"


def _never(*_: object) -> bool:
    return False


FAULTS = {
    "machine failed": Fault("machine", _post("/v1/machines/{name}:fail")),
    "machine off": Fault("machine", _switch_off, _is_off),
    "machine hangs": Fault("machine", _post("/v1/machines/{name}:hang"), _never),
    "link down": Fault("machine", _post("/v1/machines/{name}/links/internal:fail", {"state": "down"})),
    "BMC silent": Fault("machine", _silence("redfish.*"), _never),
    "host failed": Fault("host", _post("/v1/hosts/{name}:fail")),
    "host silent": Fault("host", _silence("hosts.get"), _never),
}


@dataclass(frozen=True)
class Row:
    """A kind of operation, and how a cluster comes to it. `may_fail`: with which faults it may end without success."""

    kind: ClusterKind
    begin: Callable[[SiteWorld], Awaitable[Accepted]]
    may_fail: frozenset[str] = frozenset()

    @property
    def steps(self) -> list[str]:
        """Those that a cluster without V-IPU users and volumes has."""
        names = (step.name for step in self.kind.steps if "V-IPU users" not in step.requires)
        return [name for name in dict.fromkeys(names) if name != ATTACH_VOLUMES]


async def _resize(world: SiteWorld, before: str, after: str) -> Accepted:
    return await world.resize(await world.build(flavor=before), after)


async def _resume(world: SiteWorld) -> Accepted:
    cluster = await world.build(flavor=POD8)
    await world.succeeded(await world.suspend(cluster))
    return await world.resume(cluster)


async def _repair(world: SiteWorld) -> Accepted:
    cluster = await world.build(flavor=POD8)
    [_, broken] = await held(world, "machine")
    world.http.post(f"/v1/machines/{broken}:fail").raise_for_status()
    await world.fail(cluster, Code.BMC_CRITICAL, ordinal=1)
    return await world.replace_hardware(cluster)


OF_SERVERS = frozenset({"host failed", "host silent"})
ROWS = {
    "create": Row(CREATE, lambda world: world.create(flavor=POD8)),
    "resume": Row(RESUME, _resume),
    "repair": Row(REPLACE, _repair),
    "grow": Row(RESIZE, lambda world: _resize(world, "m2000-pod4", POD8)),
    "shrink": Row(RESIZE, lambda world: _resize(world, POD16, POD8)),
    "rebuild": Row(REBUILD, lambda world: _in_use(world, world.rebuild), OF_SERVERS),
    "reboot": Row(REBOOT, lambda world: _in_use(world, world.restart), OF_SERVERS),
    "power cycle": Row(POWER_CYCLE, lambda world: _in_use(world, world.restart, hard=True), OF_SERVERS),
}


async def _in_use(world: SiteWorld, request: Callable[..., Awaitable[Accepted]], **how: Any) -> Accepted:
    return await request(await world.build(flavor=POD8), **how)


QUICK = {
    ("grow", "check_ipus", "link down"),
    ("grow", "power_on_machines", "machine failed"),
    ("resume", "switch_on_poplar_servers", "host failed"),
    ("rebuild", "rebuild_servers", "host silent"),
    ("reboot", "reboot_servers", "host failed"),
}
"""What the default run has of the table."""
TABLE = [
    pytest.param(
        row, step, fault, id=f"{row}-{step}-{fault}", marks=[] if (row, step, fault) in QUICK else [pytest.mark.slow]
    )
    for row, declared in ROWS.items()
    for step in declared.steps
    for fault in FAULTS
]


def test_the_table_has_every_operation_whose_steps_depend_on_hardware() -> None:
    """Others have no step that may fail, have the steps of one in the table, or talk to controller or servers only."""
    fallible = {kind.name for kind in CLUSTER_OPERATIONS if not all(step.endures for step in kind.steps)}
    others = {kind.name for kind in (REBUILD_SERVERS, REPAIR, ROTATE_KEY, UPDATE_KEYS)}
    assert {row.kind.name for row in ROWS.values()} == fallible - others


@pytest.mark.parametrize(("row", "step", "fault"), TABLE)
async def test_an_operation_whose_hardware_fails(world: SiteWorld, row: str, step: str, fault: str) -> None:
    """The hardware fails once the step has begun; what fails after the last look is a fault of a cluster in use."""
    kind, apply, shown = FAULTS[fault]
    async with world.worker():
        requested = await ROWS[row].begin(world)
        await until(lambda: world.value(BEGUN, operation=requested.operation_id, step=step), f"step {step} begins")
        broken = (await held(world, kind))[-1]
        apply(world, broken)
        await until(lambda: _ended(world, requested, broken), "the operation ends")
        operation = await world.finished(requested)
        if operation.state == "failed":
            assert fault in ROWS[row].may_fail, operation.error
            assert broken in operation.error["detail"], operation.error
        else:
            assert operation.state == "succeeded", operation.error
        await _is_in_use(world, requested.target_id, broken if shown(world, broken) else None)


async def _ended(world: SiteWorld, requested: Accepted, broken: str) -> bool:
    """Pauses after failures are over at once, and what waits for hardware that is broken has waited for an hour."""
    await world.execute(HURRY)
    if broken in (*await held(world, "machine"), *await held(world, "host")):
        await world.execute(LATER, operation=requested.operation_id)
    return bool(await world.value(ENDED, operation=requested.operation_id))


async def _is_in_use(world: SiteWorld, cluster: UUID, broken: str | None) -> None:
    """Degraded if it still has what is broken; it is billed as one in use, and nothing is wrong in the records."""

    async def settled() -> bool:
        [live] = await world.rows("SELECT state, machines FROM clusters WHERE id = :id", id=cluster)
        has_it = broken in (*await held(world, "machine"), *await held(world, "host"))
        [billed] = await world.rows(BILLED, cluster=cluster)
        assert billed.quantity == live.machines
        return (live.state, billed.credited) == (("degraded", True) if has_it else ("active", False))

    assert await world.value("SELECT state FROM clusters WHERE id = :id", id=cluster) in ("active", "degraded")
    if broken is not None:
        await until(settled, "the cluster is as its hardware is")
    assert await world.value("SELECT sum(used) FROM quotas") == len(await held(world, "machine"))

"""Cancel and delete at every boundary of every step, in peace and with the site in trouble: one end, and nothing left.

Also while a create takes other machines in place of a failed one. A machine that is drained meanwhile disturbs nobody.

Many clusters go through one worker at a time; each has one thing done to it at one boundary.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import pytest

from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.delete import TEARDOWN
from ipucloud.clusters.operations.replacing import STEP as EXCHANGE
from ipucloud.clusters.steps.build import ATTACH_VOLUMES
from ipucloud.inventory.health.codes import Code
from ipucloud.operations.store import Accepted
from ipucloud.wire.faults import FaultAction
from tests.proof.boundaries import Boundary, Moment, all_right, differs, watched_worker
from tests.proof.operators import clear_reports, drain
from tests.support.selection import Figures
from tests.support.site import SECURE
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

SITE = {"machines": 64, "options": SECURE}
BATCH = 30
CALL_OF_STEP = {
    "attach_network": ("networks.put", "name"),
    "power_on_machines": ("redfish.reset", "machine"),
    "create_allocation": ("admin.CreateAllocation", "name"),
    "create_vipu_user": ("admin.CreateAccessKey", "name"),
    "test_cluster": ("admin.TestCluster", "name"),
    "create_partition": ("vipu.CreatePartition", "name"),
    "deploy_poplar_servers": ("hosts.put_server", "host"),
    "check_ipus": ("hosts.get", "host"),
    "wipe_poplar_servers": ("hosts.delete_server", "host"),
    "remove_partitions": ("admin.RemovePartitions", "name"),
    "remove_vipu_user": ("admin.RemoveUser", "name"),
    "remove_allocation": ("admin.RemoveAllocation", "name"),
    "detach_network": ("networks.delete", "name"),
    "power_off_machines": ("redfish.reset", "machine"),
    "verify_clean": ("hosts.get", "host"),
}
BUILD = tuple(step.name for step in CREATE.steps if step.name != ATTACH_VOLUMES)
CLEAN_UP = tuple(step.name for step in TEARDOWN)

Request = Literal["cancel", "delete", "drain"]
First = Literal["create", "broken create", "cancelled create", "failed create", "delete"]
Trouble = Literal["none", "refused", "lost", "unavailable"]
RULES: dict[Trouble, dict[str, Any]] = {
    "refused": {"action": FaultAction.STATUS, "status": 422, "grpc_status": "INVALID_ARGUMENT", "times": 1},
    "lost": {"action": FaultAction.DROP_ANSWER, "times": 1},
    "unavailable": {"action": FaultAction.STATUS, "status": 503, "grpc_status": "UNAVAILABLE", "times": 2},
}


@dataclass(frozen=True)
class Case:
    """`first` has led there: a create that goes on by itself, takes other machines, or something else."""

    step: str
    moment: Moment
    request: Request
    trouble: Trouble = "none"
    first: First = "create"

    def __str__(self) -> str:
        return f"{self.first}: {self.request} {self.moment} {self.step}, trouble: {self.trouble}"


def all_cases() -> Iterator[Case]:
    requests: tuple[Request, ...] = ("cancel", "delete")
    troubles: tuple[Trouble, ...] = ("none", "refused", "lost", "unavailable")
    for step, moment, request, trouble in itertools.product(BUILD, Moment, requests, troubles):
        yield Case(step, moment, request, trouble)
    for step, moment in itertools.product(BUILD, Moment):
        yield Case(step, moment, "drain")
    for step, moment, request in itertools.product((*CLEAN_UP, EXCHANGE), Moment, requests):
        yield Case(step, moment, request, first="broken create")
    for step, moment in itertools.product(CLEAN_UP, Moment):
        yield Case(step, moment, "delete", first="cancelled create")
        yield Case(step, moment, "cancel", first="failed create")
        yield Case(step, moment, "delete", first="failed create")
        yield Case(step, moment, "delete", first="delete")
        yield Case(step, moment, "delete", "lost", first="delete")


class Trial:
    """One cluster and its case."""

    def __init__(self, world: SiteWorld, case: Case, accepted: Accepted) -> None:
        self.world = world
        self.case = case
        self.accepted = accepted
        self.plans: dict[Boundary, Callable[[], Awaitable[None]]] = {(case.step, case.moment): self._do}
        self.deletion: object = None
        self._rules: list[str] = []

    async def prepare(self) -> None:
        case = self.case
        if case.trouble != "none":
            request = self.plans.get((case.step, Moment.BETWEEN))
            self.plans[case.step, Moment.BETWEEN] = lambda: self._trouble_then(request)
        if case.first == "failed create":
            await self._fault("create_partition", RULES["refused"])
        if case.first == "broken create":
            machine = await self._target("machine")
            self.world.http.post(f"/v1/machines/{machine}:fail").raise_for_status()
        if case.first == "cancelled create":
            self.plans["create_partition", Moment.LOADED] = self._cancel_first

    async def finish(self) -> list[str]:
        """Wait for the end; what is not as it should be."""
        if self.case.first == "delete":
            await self.world.finished(self.accepted.operation_id)
            self.deletion = await self.world.delete(self.accepted.target_id)
        created = await self.world.finished(self.accepted.operation_id)
        deletions = await self._deletions()
        states = [(await self.world.finished(each)).state for each in deletions]
        for rule in self._rules:
            self.world.http.delete("/v1/faults", params={"id": rule})
        return [f"{self.case}: {what}" for what in await self._wrong(created, states)]

    async def _deletions(self) -> Sequence[UUID]:
        return await self.world.column(
            "SELECT id FROM operations WHERE kind = 'cluster.delete' AND cluster_id = :id", id=self.accepted.target_id
        )

    async def _wrong(self, created: Any, deletions: Sequence[str]) -> list[str]:
        cluster = await self.world.one("SELECT * FROM clusters WHERE id = :id", id=self.accepted.target_id)
        billed = await self.world.value(
            "SELECT count(*) FROM usage_intervals WHERE resource_id = :id", id=self.accepted.target_id
        )
        error = (created.error or {}).get("code")
        actual = (created.state, error, cluster.state, tuple(deletions), billed)
        wrong = differs(actual, expected(self.case))
        if self.plans:
            wrong.append(f"never reached {list(self.plans)}")
        held = await self.world.value(
            "SELECT count(*) FROM allocations WHERE freed_at IS NULL AND cluster_id = :id", id=self.accepted.target_id
        )
        if held and cluster.state != "active":
            wrong.append(f"{held} machines and hosts are still held")
        return wrong

    async def _do(self) -> None:
        if self.case.request == "delete":
            again = await self.world.delete(self.accepted.target_id)
            if self.case.first == "delete":
                assert again == self.deletion, "a delete that runs answers with its operation"
        elif self.case.request == "drain":
            await drain(self.world, self.accepted.target_id)
        else:
            await self.world.cancel(self.accepted)

    async def _trouble_then(self, request: Callable[[], Awaitable[None]] | None) -> None:
        await self._fault(self.case.step, RULES[self.case.trouble])
        if request is not None:
            await request()

    async def _cancel_first(self) -> None:
        assert await self.world.cancel(self.accepted)

    async def _fault(self, step: str, rule: dict[str, Any]) -> None:
        call, by = CALL_OF_STEP[step]
        target = await self._target(by)
        self._rules.append(self.world.fault(call=call, target=target, **rule))

    async def _target(self, by: str) -> str:
        if by == "name":
            return f"{await self.world.external_name(self.accepted.target_id)}*"
        table = {"machine": "machines", "host": "hosts"}[by]
        name: str = await self.world.value(
            f"SELECT name FROM {table} t JOIN allocations a ON a.{by}_id = t.id WHERE a.cluster_id = :id",  # noqa: S608
            id=self.accepted.target_id,
        )
        return name


Ending = tuple[str, str | None, str, tuple[str, ...], int]
CANCELLED: Ending = ("cancelled", None, "deleted", (), 0)
PREEMPTED: Ending = ("failed", "preempted", "deleted", ("succeeded",), 0)
REFUSED: Ending = ("failed", "site_refused", "error", (), 0)
IN_USE: Ending = ("succeeded", None, "active", (), 1)
LIVED: Ending = ("succeeded", None, "deleted", ("succeeded",), 1)


def expected(case: Case) -> Ending:
    """The end of the create, its error, of the cluster, of the delete; and usage intervals."""
    if case.first == "delete":
        return LIVED
    if case.first == "cancelled create":
        return PREEMPTED
    cancelled = REFUSED if case.first == "failed create" else CANCELLED
    return {"cancel": cancelled, "delete": PREEMPTED, "drain": IN_USE}[case.request]


async def go_through(world: SiteWorld, cases: Sequence[Case]) -> list[str]:
    """All cases side by side."""
    trials = [Trial(world, case, await world.create(f"c{number}", "m2000-pod4")) for number, case in enumerate(cases)]
    for trial in trials:
        await trial.prepare()
    async with watched_worker(world, {trial.accepted.target_id: trial.plans for trial in trials}):
        wrong = [line for lines in await asyncio.gather(*(trial.finish() for trial in trials)) for line in lines]
        world.clear_faults()
        await world.delete_all()
    await world.assert_nothing_left()
    await clear_reports(world, Code.DRAIN, Code.BUILD_FAILED)
    for machine in await world.column("SELECT name FROM machines"):
        world.http.post(f"/v1/machines/{machine}:repair").raise_for_status()
    return wrong


async def test_every_boundary(world: SiteWorld, full: bool, figures: Figures) -> None:
    cases = list(all_cases())
    last = [case for case in cases if case.step == "check_ipus" and case.trouble == "none"]
    exchanged = [case for case in cases if case.first == "broken create" and case.step == EXCHANGE]
    chosen = cases if full else [*cases[::10], *last, *exchanged]
    wrong: list[str] = []
    for start in range(0, len(chosen), BATCH):
        wrong += await go_through(world, chosen[start : start + BATCH])
    figures(cases=len(chosen), of=len(cases), **Counter(str(case.first) for case in chosen))
    all_right(wrong)

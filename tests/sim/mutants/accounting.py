"""Bugs in the books: machines, quotas, minutes, and transactions that do not hold together."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import ExitStack
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering import intervals
from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.operations import create, kind
from ipucloud.clusters.operations.delete import DELETE
from ipucloud.clusters.operations.kind import ClusterKind
from ipucloud.clusters.operations.suspend import SUSPEND
from ipucloud.inventory import placement, release
from ipucloud.inventory.functions import LOCK_ROOM, POD_MASKS
from ipucloud.operations.kind import Billing, Ending
from ipucloud.operations.store import Accepted
from ipucloud.quotas import store as quotas
from tests.sim.database import SimulatedDatabase
from tests.sim.mutants.planting import declare, mutant, replace, rewrite
from tests.support.world import customer

_LIVE_MACHINE = "DROP INDEX uq_allocations_live_machine"
_LIVE_HOST = "DROP INDEX uq_allocations_live_host"
_QUOTA_CHECK = "ALTER TABLE quotas DROP CONSTRAINT ck_quotas_used"


_ROOM_NOT_LOCKED = re.sub(" FOR NO KEY UPDATE( SKIP LOCKED)?", "", LOCK_ROOM).replace("CREATE", "CREATE OR REPLACE", 1)
_CLEANING_IS_FREE = POD_MASKS.replace("held.freed_at", "held.released_at").replace("CREATE", "CREATE OR REPLACE", 1)


@mutant(
    "two requests choose machines at once, and nothing refuses the second",
    schema=(_LIVE_MACHINE, _LIVE_HOST, _ROOM_NOT_LOCKED),
)
def room_not_locked(stack: ExitStack) -> None:
    rewrite(stack, placement, "_TAKE", ("AND free_mask & :slots = :slots", ""))


@mutant("machines are given away while they are being cleaned", schema=(_LIVE_MACHINE, _LIVE_HOST, _CLEANING_IS_FREE))
def cleaning_is_free(_: ExitStack) -> None:
    """The database alone is wrong."""


@mutant("machines that are freed stay taken in the rows of their pods")
def pods_not_settled(stack: ExitStack) -> None:
    async def skip(_connection: AsyncConnection, pod_ids: Collection[UUID]) -> int:
        return len(pod_ids)

    replace(stack, release, "settle_pods", skip)


@mutant("a delete does not end billing")
def interval_not_closed(stack: ExitStack) -> None:
    declare(stack, DELETE, billing=Billing.UNCHANGED)


@mutant("a suspended cluster is still billed")
def suspended_is_billed(stack: ExitStack) -> None:
    declare(stack, SUSPEND, billing=Billing.UNCHANGED)


@mutant("a cluster that is resumed is billed from its suspension on")
def billed_while_suspended(stack: ExitStack) -> None:
    """As if it had never rested: its new use begins where the last one ended."""
    since = "coalesce((SELECT max(ended_at) FROM usage_intervals WHERE resource_id = c.id), app_now())"
    rewrite(
        stack, intervals, "_OPEN", ("coalesce(CAST(:since AS timestamptz), app_now())", f"coalesce(:since, {since})")
    )


@mutant("billing ends when the clean-up does")
def billed_until_gone(stack: ExitStack) -> None:
    interval_not_closed(stack)
    honest = ClusterKind.after_end

    async def late(self: ClusterKind, connection: AsyncConnection, cluster: ClusterInputs, ending: Ending) -> None:
        await honest(self, connection, cluster, ending)
        if self is DELETE:
            await intervals.close_interval(connection, project_id=cluster.project_id, cluster_id=cluster.id)

    rewrite(stack, intervals, "_CLOSE", ("c.delete_requested_at,\n", "\n"))
    replace(stack, ClusterKind, "after_end", late)


@mutant("billing begins with the request, also for what never became ready")
def billed_from_request(stack: ExitStack) -> None:
    honest = intervals.open_interval

    async def early(connection: AsyncConnection, *, project_id: Any, cluster_id: Any, since: Any = None) -> None:
        await honest(connection, project_id=project_id, cluster_id=cluster_id, since=None)

    async def accept(*args: Any, **kwargs: Any) -> Accepted:
        accepted = await make(*args, **kwargs)
        await early(args[0], project_id=args[1].project_id, cluster_id=accepted.target_id)
        return accepted

    make = create.create
    rewrite(stack, intervals, "_CLOSE", ("e.ready_at IS NULL", "false"))
    replace(stack, customer, "create", accept)


@mutant("a cluster becomes ready and its billing is left to somebody else")
def never_billed(stack: ExitStack) -> None:
    """The cluster becomes ready in one transaction; billing begins in the next, if the worker lives."""

    async def later(connection: AsyncConnection, **_: object) -> None:
        return None

    replace(stack, kind, "open_interval", later)


@mutant("machines return and their quota does not")
def quota_kept(stack: ExitStack) -> None:
    rewrite(stack, quotas, "_GIVE_BACK", ("used - :machines", "used - 0 * :machines"))


@mutant("what was freed before is freed and counted again")
def freed_twice(stack: ExitStack) -> None:
    rewrite(stack, release, "_FREE", ("cluster_id AND freed_at IS NULL", "cluster_id"))


@mutant("a create takes more than the quota has", schema=(_QUOTA_CHECK,))
def quota_not_asked(stack: ExitStack) -> None:
    rewrite(stack, quotas, "_TAKE", ("AND used + :machines <= machine_limit", ""))


@mutant("every statement is committed by itself")
def torn_transactions(stack: ExitStack) -> None:
    """Every statement of a transaction is committed by itself."""
    replace(stack, SimulatedDatabase, "begin", SimulatedDatabase.read)

"""Bugs in the books: machines, quotas, minutes, and transactions that do not hold together."""

from __future__ import annotations

import re
from collections.abc import Collection
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
from tests.sim.mutants.planting import Mutant, answers
from tests.support.world import customer

_HELD_TWICE = ("DROP INDEX uq_allocations_live_machine", "DROP INDEX uq_allocations_live_host")
_ROOM_NOT_LOCKED = re.sub(" FOR NO KEY UPDATE( SKIP LOCKED)?", "", LOCK_ROOM).replace("CREATE", "CREATE OR REPLACE", 1)
_CLEANING_IS_FREE = POD_MASKS.replace("held.freed_at", "held.released_at").replace("CREATE", "CREATE OR REPLACE", 1)

room_not_locked = Mutant(
    "two requests choose machines at once, and nothing refuses the second", schema=(*_HELD_TWICE, _ROOM_NOT_LOCKED)
).rewrite(placement, "_TAKE", ("AND free_mask & :slots = :slots", ""))

cleaning_is_free = Mutant(
    "machines are given away while they are being cleaned", schema=(*_HELD_TWICE, _CLEANING_IS_FREE)
)


@Mutant("machines that are freed stay taken in the rows of their pods").wraps(release, "settle_pods")
async def pods_not_settled(_honest: object, _connection: AsyncConnection, pod_ids: Collection[UUID]) -> int:
    return len(pod_ids)


interval_not_closed = Mutant("a delete does not end billing").declare(DELETE, billing=Billing.UNCHANGED)

suspended_is_billed = Mutant("a suspended cluster is still billed").declare(SUSPEND, billing=Billing.UNCHANGED)

_LAST_USE = "(SELECT max(ended_at) FROM usage_intervals WHERE resource_id = c.id)"
billed_while_suspended = Mutant("a cluster that is resumed is billed from its suspension on").rewrite(
    intervals,
    "_OPEN",
    ("coalesce(CAST(:since AS timestamptz), app_now())", f"coalesce(:since, coalesce({_LAST_USE}, app_now()))"),
)


@Mutant("billing ends when the clean-up does").wraps(ClusterKind, "after_end")
async def billed_until_gone(
    honest: Any, self: ClusterKind, connection: AsyncConnection, cluster: ClusterInputs, ending: Ending
) -> None:
    await honest(self, connection, cluster, ending)
    if self is DELETE:
        await intervals.close_interval(connection, project_id=cluster.project_id, cluster_id=cluster.id)


billed_until_gone.does(interval_not_closed.plant).rewrite(intervals, "_CLOSE", ("life.delete_requested_at,\n", "\n"))


@Mutant("billing begins with the request, also for what never became ready").wraps(customer, "create")
async def billed_from_request(_honest: object, *args: Any, **named: Any) -> Accepted:
    accepted = await create.create(*args, **named)
    await intervals.open_interval(args[0], project_id=args[1].project_id, cluster_id=accepted.target_id)
    return accepted


billed_from_request.rewrite(intervals, "_CLOSE", ("e.ready_at IS NULL", "false"))

never_billed = Mutant("a cluster becomes ready and its billing is left to somebody else").replace(
    kind, "open_interval", answers(None)
)

quota_kept = Mutant("machines return and their quota does not").rewrite(
    quotas, "_GIVE_BACK", ("used - :machines", "used - 0 * :machines")
)

freed_twice = Mutant("what was freed before is freed and counted again").rewrite(
    release, "_FREE", ("cluster_id AND freed_at IS NULL", "cluster_id")
)

quota_not_asked = Mutant(
    "a create takes more than the quota has", schema=("ALTER TABLE quotas DROP CONSTRAINT ck_quotas_used",)
).rewrite(quotas, "_TAKE", ("AND used + :machines <= machine_limit", ""))

torn_transactions = Mutant("every statement is committed by itself").replace(
    SimulatedDatabase, "begin", SimulatedDatabase.read
)

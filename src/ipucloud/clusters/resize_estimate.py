"""What a resize would do: price, time, room, and what becomes of the partitions. Nothing is taken or locked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import NamedTuple
from uuid import UUID

from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.admission import terms_of
from ipucloud.clusters.estimate import prices, would_wait
from ipucloud.clusters.locks import read_own_cluster
from ipucloud.clusters.operations.begin import plan_for
from ipucloud.clusters.operations.resize import RESIZE
from ipucloud.clusters.preemption.plan import minutes_to_room
from ipucloud.clusters.resize_flavors import sizes_for
from ipucloud.clusters.vipu_access import fitting
from ipucloud.clusters.waiting.queue import ahead, awaited
from ipucloud.config import Settings
from ipucloud.contract.estimates import (
    EstimateCapacityOut,
    EstimateQuotaOut,
    ResizedPartitionOut,
    ResizeEstimateOut,
    WhyNotOut,
)
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.placement import read_room
from ipucloud.inventory.resizing import held_machines, stays
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.ids import external_name
from ipucloud.operations.step import expected_seconds
from ipucloud.quotas import store as quotas


class _Partition(NamedTuple):
    name: str
    size: int | None


_PARTITIONS = Query(
    """
    SELECT name, CAST(size AS integer) AS size FROM shown_partitions
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND removed_at IS NULL ORDER BY created_at, id
    """,
    _Partition,
)


async def estimate_resize(
    connection: Statements,
    actor: Actor,
    cluster_id: UUID,
    *,
    flavor: str,
    catalogue: Catalogue,
    settings: Settings,
) -> ResizeEstimateOut:
    """Check the flavor as a resize would, and say what it would do.

    Raises `Problem` as `sizes_for`, and not_found. Insufficient quota or capacity is part of the answer, not an error.
    """
    cluster = await read_own_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    sizes = await sizes_for(connection, cluster, flavor, catalogue=catalogue)
    before = await terms_of(connection, actor, cluster)
    after = await terms_of(connection, actor, cluster._replace(sku=sizes.sku, machines=sizes.machines))
    ids = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    here = await stays(connection, await held_machines(connection, **ids), sizes.machines)
    room = await read_room(connection, cluster.region, sizes.need)
    why_not = None if here else room.why_not(sizes.need)
    place = {"region": cluster.region, "machine_type": cluster.machine_type}
    waited_for = sizes.grows and await awaited(connection, **place, preemptible=cluster.preemptible)
    queue = await ahead(
        connection, **place, machines=sizes.machines, preemptible=cluster.preemptible, cluster_id=cluster.id
    )
    minutes = None
    if why_not is not None and not cluster.preemptible:
        minutes = await minutes_to_room(connection, cluster.region, sizes.need, settings, resized=cluster.id)
    quota = await quotas.find(
        connection, project_id=actor.project_id, region=cluster.region, machine_type=cluster.machine_type
    )
    needed = max(0, sizes.machines - cluster.machines)
    own = external_name(cluster.id, cluster.incarnation)
    return ResizeEstimateOut(
        from_flavor=cluster.flavor,
        to_flavor=sizes.flavor,
        moves=None if why_not is not None else not here,
        price_before=prices(before.per_minute),
        price_after=prices(after.per_minute),
        quota=EstimateQuotaOut(allowed=needed <= quota.remaining, limit=quota.limit, used=quota.used, needed=needed),
        capacity=EstimateCapacityOut(
            available=why_not is None,
            why_not=None if why_not is None else WhyNotOut(**asdict(why_not)),
            preemption_minutes=minutes,
            wait=would_wait(queue, has_room=why_not is None, awaited=waited_for),
        ),
        partitions=list(_resized(await _PARTITIONS.all(connection, ids), own, sizes.ipus)),
        expected_seconds=math.ceil(expected_seconds(plan_for(cluster, RESIZE.steps), cluster.typical_seconds)),
    )


def _resized(partitions: Sequence[_Partition], own: str, ipus: int) -> Iterable[ResizedPartitionOut]:
    """The cluster's own partition gets all IPUs; the others are made again as they are, while they fit."""
    sizes = {each.name: ipus if each.name == own else each.size or 0 for each in partitions}
    fit = fitting(sizes, ipus)
    for partition in partitions:
        size = sizes[partition.name] if partition.name in fit else 0
        yield ResizedPartitionOut(name=partition.name, ipus=partition.size, ipus_after=size or None)

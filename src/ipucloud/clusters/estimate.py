"""The cost and availability of a cluster. Nothing is taken and nothing is locked."""

from __future__ import annotations

import math
from dataclasses import asdict

from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters import s3_access
from ipucloud.clusters.admission import admit
from ipucloud.clusters.flavor_choice import invalid
from ipucloud.clusters.operations.create import plan_for
from ipucloud.clusters.preemption.plan import minutes_to_room
from ipucloud.clusters.volumes import at_create as volumes
from ipucloud.clusters.waiting.queue import Ahead, ahead
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterCreate
from ipucloud.contract.estimates import (
    ClusterPriceOut,
    ClusterWarningOut,
    EstimateCapacityOut,
    EstimateOut,
    EstimateQuotaOut,
    EstimateWaitOut,
    WhyNotOut,
)
from ipucloud.db.statements import Statements
from ipucloud.inventory.placement import Need, read_room
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import FieldError
from ipucloud.kernel.money import Money
from ipucloud.operations.step import expected_seconds
from ipucloud.quotas import store as quotas

MINUTES_PER_HOUR = 60
MINUTES_PER_DAY = 24 * MINUTES_PER_HOUR
MINUTES_PER_MONTH = 730 * MINUTES_PER_HOUR
"""A twelfth of a 365-day year; for estimates only. Bills count minutes."""


def prices(per_minute: Money) -> ClusterPriceOut:
    """What that comes to in longer times."""
    return ClusterPriceOut(
        price_per_minute=per_minute,
        price_per_hour=per_minute * MINUTES_PER_HOUR,
        price_per_day=per_minute * MINUTES_PER_DAY,
        price_per_month=per_minute * MINUTES_PER_MONTH,
    )


def would_wait(queue: Ahead, *, has_room: bool, awaited: bool) -> EstimateWaitOut | None:
    """What a request that waits would wait for now; None: nothing."""
    if has_room and not awaited:
        return None
    first = queue.clusters == 0
    return EstimateWaitOut(place=queue.clusters + 1, expected_at=queue.expected_at if first else None)


async def estimate(
    connection: Statements, actor: Actor, body: ClusterCreate, *, catalogue: Catalogue, settings: Settings
) -> EstimateOut:
    """Check the body as a create would, and return price, quota, capacity and time.

    Raises `Problem` validation_failed. Insufficient quota or capacity is part of the answer, not an error.
    """
    if body.reservation is not None:
        sentence = "A cluster that is created from a reservation costs nothing beside it. Omit this to estimate one."
        raise invalid([FieldError("/reservation", "not_estimated", sentence)])
    admitted = await admit(connection, actor, body, catalogue=catalogue, currency=settings.currency)
    await s3_access.refuse_unknown(connection, body.s3_connections, project_id=actor.project_id)
    await volumes.refuse_unfit(
        connection,
        body.volumes,
        project_id=actor.project_id,
        region=admitted.choice.region.slug,
        servers=admitted.choice.poplar_servers,
    )
    flavor, per_minute = admitted.choice.flavor, admitted.terms.per_minute
    region, need = admitted.choice.region.slug, Need.of(flavor, admitted.choice.poplar_servers)
    quota = await quotas.find(connection, project_id=actor.project_id, region=region, machine_type=flavor.machine_type)
    why_not = (await read_room(connection, region, need)).why_not(need)
    queue = await ahead(connection, region, need.machine_type, need.machines, preemptible=body.preemptible)
    minutes = None
    if why_not is not None and not body.preemptible:
        minutes = await minutes_to_room(connection, region, need, settings)

    return EstimateOut(
        **prices(per_minute).model_dump(),
        billing=admitted.choice.region.billing,
        quota=EstimateQuotaOut(
            allowed=flavor.machines <= quota.remaining, limit=quota.limit, used=quota.used, needed=flavor.machines
        ),
        capacity=EstimateCapacityOut(
            available=why_not is None,
            why_not=None if why_not is None else WhyNotOut(**asdict(why_not)),
            preemption_minutes=minutes,
            wait=would_wait(queue, has_room=why_not is None, awaited=admitted.awaited),
        ),
        expected_seconds=math.ceil(expected_seconds(plan_for(admitted, body), admitted.typical_seconds)),
        warnings=warnings_of(body, settings),
    )


_NO_LOGIN = ClusterWarningOut(
    code="no_login",
    detail="Nobody will be able to log in to this cluster, which is billed: name the project's SSH keys in `ssh_keys`.",
)


def warnings_of(body: ClusterCreate, settings: Settings) -> list[ClusterWarningOut]:
    """What to warn of. Without a key that encrypts secrets there are no SSH certificates: no authority can sign."""
    return [] if body.ssh_keys or body.user_data or settings.secrets_key is not None else [_NO_LOGIN]

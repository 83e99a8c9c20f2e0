"""What a cluster would cost and whether it could be had now. Nothing is taken and nothing is locked."""

from __future__ import annotations

import math
from dataclasses import asdict
from decimal import Decimal

from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.admission import admit
from ipucloud.clusters.models import ClusterCreate, EstimateCapacityOut, EstimateOut, EstimateQuotaOut, WhyNotOut
from ipucloud.clusters.operations.create import plan_for
from ipucloud.config import Settings
from ipucloud.db.statements import Statements
from ipucloud.inventory.placement import Need, look
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.money import Money
from ipucloud.operations.step import expected_seconds
from ipucloud.quotas import store as quotas


async def estimate(
    connection: Statements, actor: Actor, body: ClusterCreate, *, catalogue: Catalogue, settings: Settings
) -> EstimateOut:
    """Check the body as a create would, and answer with price, quota, capacity and time.

    Raises `Problem` validation_failed. Quota and capacity that do not suffice are part of the answer.
    """
    admitted = await admit(connection, actor, body, catalogue=catalogue, currency=settings.currency)
    flavor, rate = admitted.choice.flavor, admitted.terms.rate
    region, need = admitted.choice.region.slug, Need.of(flavor)
    quota = await quotas.find(connection, project_id=actor.project_id, region=region, machine_type=flavor.machine_type)
    why_not = (await look(connection, region, need)).why_not(need)

    def money(amount: Decimal) -> Money:
        return Money.of(amount, settings.currency)

    return EstimateOut(
        price_per_minute=money(rate.per_minute),
        price_per_hour=money(rate.per_hour),
        price_per_day=money(rate.per_day),
        price_per_month=money(rate.per_month),
        quota=EstimateQuotaOut(
            allowed=flavor.machines <= quota.left, limit=quota.limit, used=quota.used, needed=flavor.machines
        ),
        capacity=EstimateCapacityOut(
            available=why_not is None, why_not=None if why_not is None else WhyNotOut(**asdict(why_not))
        ),
        expected_seconds=math.ceil(expected_seconds(plan_for(admitted), admitted.typical_seconds)),
    )

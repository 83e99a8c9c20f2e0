"""An estimate says what a create would meet, and takes nothing."""

from __future__ import annotations

import pytest

from ipucloud.kernel.errors import Problem
from ipucloud.kernel.money import Money
from tests.support.factories import make_project
from tests.support.world import World

pytestmark = pytest.mark.anyio


async def test_an_estimate_names_price_quota_room_and_time(world: World) -> None:
    estimate = await world.estimate(flavor="m2000-pod16")
    assert estimate.price_per_minute == Money.of("0.25", "EUR")
    assert estimate.price_per_hour == Money.of("15", "EUR")
    assert estimate.price_per_day == Money.of("360", "EUR")
    assert estimate.price_per_month == Money.of("10950", "EUR")
    assert estimate.quota.allowed
    assert estimate.capacity.available
    assert estimate.expected_seconds == 900


async def test_nothing_is_taken(world: World) -> None:
    await world.estimate(flavor="m2000-pod64")
    await world.create(flavor="m2000-pod64")


async def test_too_small_a_quota_and_no_room_are_answers_not_errors(world: World) -> None:
    async with world.database.begin() as connection:
        small = await make_project(connection, quota=2)
    await world.create(flavor="m2000-pod32")
    estimate = await world.customer(small).estimate(flavor="m2000-pod64")
    assert (estimate.quota.allowed, estimate.quota.limit, estimate.quota.needed) == (False, 2, 16)
    assert not estimate.capacity.available
    assert estimate.capacity.why_not is not None
    assert estimate.capacity.why_not.numbers["free"] == 8


async def test_a_body_that_could_not_be_created_cannot_be_estimated(world: World) -> None:
    with pytest.raises(Problem, match="validation_failed"):
        await world.estimate(flavor="bow-pod16", region="luxembourg-2")

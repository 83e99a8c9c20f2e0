"""An estimate says what a create would meet, and takes nothing; what it says a minute costs is what is charged."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from ipucloud.billing.bookkeeping import keep_books
from ipucloud.billing.pricing.queries import paid_by
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.money import Money, product
from tests.support.factories import make_project
from tests.support.preemptible import offer_preemptible
from tests.support.world import World

pytestmark = pytest.mark.anyio

_CONTRACT = """
INSERT INTO contract_prices (id, account_id, sku, region, currency, unit_price, valid_from, source)
VALUES (gen_random_uuid(), :account, 'ipu-m2000', 'luxembourg-2', 'EUR', :price, '2025-01-01T00:00:00Z', 'contract')
"""


async def test_an_estimate_names_price_quota_room_and_time(world: World) -> None:
    estimate = await world.estimate(flavor="m2000-pod16")
    assert estimate.price_per_minute == Money.of("0.25", "EUR")
    assert estimate.price_per_hour == Money.of("15", "EUR")
    assert estimate.price_per_day == Money.of("360", "EUR")
    assert estimate.price_per_month == Money.of("10950", "EUR")
    assert (estimate.quota.allowed, estimate.capacity.available, estimate.expected_seconds) == (True, True, 900)
    await world.create(flavor="m2000-pod64")  # nothing was taken


async def test_too_small_a_quota_and_no_room_are_answers_not_errors(world: World) -> None:
    async with world.database.begin() as connection:
        small = await make_project(connection, quota=2)
    await world.create(flavor="m2000-pod32")
    estimate = await world.customer(small).estimate(flavor="m2000-pod64")
    assert (estimate.quota.allowed, estimate.quota.limit, estimate.quota.needed) == (False, 2, 16)
    assert not estimate.capacity.available
    assert estimate.capacity.why_not is not None
    assert estimate.capacity.why_not.numbers["free"] == 8
    with pytest.raises(Problem, match="validation_failed"):  # as a create would be
        await world.estimate(flavor="bow-pod16", region="luxembourg-2")


@pytest.mark.parametrize(
    ("price", "flavor", "seconds", "preemptible"),
    [
        (None, "m2000-pod4", 61, False),
        ("0.0312345678", "m2000-pod16", 7 * 3600 + 1, False),
        ("0", "m2000-pod4", 3600, False),
        (None, "m2000-pod16", 3 * 3600 + 1, True),
    ],
)
async def test_an_estimate_is_the_bill(
    world: World,
    set_clock: Callable[[datetime], None],
    *,
    price: str | None,
    flavor: str,
    seconds: int,
    preemptible: bool,
) -> None:
    async with world.database.begin() as connection:
        await offer_preemptible(connection)
    if price is not None:
        await world.execute(_CONTRACT, account=world.project.id, price=Decimal(price))
    began = datetime.fromisoformat("2026-05-05T10:20:30Z")
    set_clock(began)
    estimate = await world.estimate(flavor=flavor, preemptible=preemptible)
    bert = await world.make_active(flavor=flavor, preemptible=preemptible)
    shown = (await world.cluster(bert))["price_per_minute"]
    assert shown == estimate.price_per_minute.model_dump(mode="json")
    set_clock(began + timedelta(seconds=seconds))
    running = await world.cluster(bert)
    await world.delete(bert)
    await world.finish_delete(bert)
    set_clock(began + timedelta(days=1))
    await keep_books(world.database)
    posted = await world.value("SELECT sum(cost) FROM usage_charges")
    minutes = -(-seconds // 60)
    assert posted == product(estimate.price_per_minute.amount, minutes)
    assert running["billing"]["cost"] == Money.of(posted, "EUR").model_dump(mode="json")
    assert running["billing"]["minutes"] == minutes


async def test_a_project_sees_what_its_account_pays(world: World) -> None:
    await world.execute(_CONTRACT, account=world.project.id, price=Decimal("0.05"))
    async with world.database.read() as connection:
        paid = {each.sku: each for each in await paid_by(connection, world.project.id, world.catalogue)}
    ours = paid["ipu-m2000"]
    assert (ours.unit_price, ours.list_unit_price) == (Money.of("0.05", "EUR"), Money.of("0.0625", "EUR"))
    assert (ours.contract, ours.account_id, ours.source) == (True, world.project.id, "contract")
    assert ours.valid_to is None
    assert [each.contract for sku, each in paid.items() if sku != "ipu-m2000"] == [False] * (len(paid) - 1)

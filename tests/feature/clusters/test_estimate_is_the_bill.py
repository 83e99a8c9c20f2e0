"""What an estimate says a minute costs is what the minutes of such a cluster are charged, contract or not."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from ipucloud.billing.bookkeeping import keep_books
from ipucloud.billing.pricing.queries import paid_by
from ipucloud.kernel.money import Money, product
from tests.support.postgres import Database as Scratch
from tests.support.preemptible import offer_preemptible
from tests.support.world import World
from tests.support.world.clock import start_clock, stop_clock

pytestmark = pytest.mark.anyio

_CONTRACT = """
INSERT INTO contract_prices (id, account_id, sku, region, currency, unit_price, valid_from, source)
VALUES (gen_random_uuid(), :account, 'ipu-m2000', 'luxembourg-2', 'EUR', :price, '2025-01-01T00:00:00Z', 'contract')
"""


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
    world: World, database: Scratch, *, price: str | None, flavor: str, seconds: int, preemptible: bool
) -> None:
    async with world.database.begin() as connection:
        await offer_preemptible(connection)
    if price is not None:
        await world.execute(_CONTRACT, account=world.project.id, price=Decimal(price))
    began = datetime.fromisoformat("2026-05-05T10:20:30Z")
    stop_clock(database.owner_url, began)
    try:
        estimate = await world.estimate(flavor=flavor, preemptible=preemptible)
        accepted = await world.create(flavor=flavor, preemptible=preemptible)
        await world.finish_create(accepted.target_id)
        assert (await world.cluster(accepted.target_id))["price_per_minute"] == estimate.price_per_minute.model_dump(
            mode="json"
        )
        stop_clock(database.owner_url, began + timedelta(seconds=seconds))
        running = await world.cluster(accepted.target_id)
        await world.delete(accepted.target_id)
        await world.finish_delete(accepted.target_id)
        stop_clock(database.owner_url, began + timedelta(days=1))
        await keep_books(world.database)
        [posted] = await world.column("SELECT sum(cost) FROM usage_charges")
    finally:
        start_clock(database.owner_url)
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

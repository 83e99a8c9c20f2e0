"""Any order of requests to the price book leaves every instant with the price that an independent book has for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import psycopg
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.pricing.book import add, install_prices, withdraw
from ipucloud.catalogue.load import load
from ipucloud.contract.prices import BookedPriceOut, PriceAddition
from ipucloud.db.engine import Database
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.money import Money
from tests.support.factories import make_project
from tests.support.postgres import Database as Scratch
from tests.support.prices import book

SKU, REGION, CURRENCY = "ipu-m2000", "luxembourg-2", "EUR"
YEARS = range(2100, 2110)
"""All of the future; a price without an end lasts until its end."""
Prices = dict[int, Decimal]
"""The price of each year; a year without one is not there."""


@dataclass(frozen=True)
class Addition:
    """Of a price for the years from `begins` until `ends`; None: as long as what it replaces."""

    begins: int
    ends: int | None
    contract: bool
    price: Decimal


@dataclass(frozen=True)
class Withdrawal:
    """Of the version at this place of the book, counted round and round."""

    place: int


_YEAR = st.integers(YEARS.start, YEARS.stop - 1)
_ADDITION = st.builds(
    Addition,
    begins=_YEAR,
    ends=st.none() | st.integers(YEARS.start + 1, YEARS.stop - 1),
    contract=st.sampled_from([False, False, True]),
    price=st.integers(1, 10**6).map(lambda n: Decimal(n).scaleb(-6)),
).filter(lambda each: each.ends is None or each.ends > each.begins)
REQUESTS = st.lists(
    st.lists(_ADDITION, min_size=1, max_size=3, unique_by=lambda each: (each.contract, each.begins))
    | st.builds(Withdrawal, st.integers(0, 20)),
    min_size=1,
    max_size=8,
)


def painted(prices: Prices, starts: set[int], new: Addition) -> Prices:
    """The years after `new` was added: its own get its price, up to its end or the next version; no other changes."""
    if new.begins in starts and prices.get(new.begins) == new.price:
        return prices  # it is there already
    later = range(new.begins + 1, YEARS.stop)
    replaces = new.begins in prices and new.begins not in starts
    following = next((year for year in later if year in starts or (replaces and year not in prices)), YEARS.stop)
    ends = new.ends if new.ends is not None else following
    return prices | dict.fromkeys(range(new.begins, ends), new.price)


def shown(versions: Sequence[BookedPriceOut], *, contract: bool) -> tuple[Prices, set[int]]:
    """The years' prices and the versions' first years, as the book has them; no year may have two."""
    prices: Prices = {}
    own = [each for each in versions if each.sku == SKU and (each.account_id is not None) is contract]
    for each in own:
        until = YEARS.stop if each.valid_to is None else each.valid_to.year
        for year in range(each.valid_from.year, until):
            assert year not in prices
            prices[year] = each.unit_price.amount
    return prices, {each.valid_from.year for each in own}


def body(new: Addition, account: UUID) -> PriceAddition:
    return PriceAddition(
        account_id=account if new.contract else None,
        sku=SKU,
        region=REGION,
        unit_price=Money.of(new.price, CURRENCY),
        valid_from=datetime(new.begins, 1, 1, tzinfo=UTC),
        valid_to=None if new.ends is None else datetime(new.ends, 1, 1, tzinfo=UTC),
        source="test",
    )


async def check(connection: AsyncConnection, account: UUID, requests: Sequence[list[Addition] | Withdrawal]) -> None:
    for request in requests:
        before = await book(connection)
        refused = False
        try:
            async with connection.begin_nested():
                if isinstance(request, Withdrawal):
                    if before:
                        await withdraw(connection, before[request.place % len(before)].id)
                else:
                    await add(connection, [body(each, account) for each in request], default=CURRENCY)
        except Problem:
            refused = True
        after = await book(connection)
        assert not refused or after == before
        listed, _ = shown(after, contract=False)
        assert not listed or set(listed) == set(range(min(listed), YEARS.stop)), "a hole"
        contracted, _ = shown(after, contract=True)
        assert set(contracted) <= set(listed), "a contract price that nothing takes the place of"
        assert (await connection.execute(sa.text("SELECT FROM price_holes"))).all() == []
        if not refused and not isinstance(request, Withdrawal):
            for contract in (False, True):
                expected, starts = shown(before, contract=contract)
                for new in sorted(request, key=lambda each: each.begins):
                    if new.contract is contract:
                        expected = painted(expected, starts, new)
                        starts = starts | {new.begins} | ({new.ends} if new.ends in expected else set())
                assert shown(after, contract=contract)[0] == expected


_CENT = Decimal("0.01")


# A contract price without an end ends where the one that it replaces would have ended.
@example(
    requests=[
        [Addition(2100, None, False, _CENT), Addition(2101, None, True, _CENT), Addition(2100, 2102, True, _CENT)]
    ]
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(requests=REQUESTS)
def test_no_order_of_requests_makes_a_hole(database: Scratch, requests: list[list[Addition] | Withdrawal]) -> None:
    async def example() -> None:
        db = Database(database.app_url, pool_size=1)
        try:
            async with db.begin() as connection:
                await check(connection, (await make_project(connection)).id, requests)
                await connection.rollback()
        finally:
            await db.close()

    asyncio.run(example())


@pytest.mark.anyio
async def test_a_catalogue_that_fits_only_in_part_adds_nothing(db: Database, database: Scratch) -> None:
    """Its second price overlaps one that an operator set; its first alone would end with nothing behind it."""
    [price] = [each for each in load().prices if each.sku == SKU]
    middle, late = datetime(2110, 1, 1, tzinfo=UTC), datetime(2120, 1, 1, tzinfo=UTC)
    catalogue = load()
    two = (price.model_copy(update={"valid_to": middle}), price.model_copy(update={"valid_from": middle}))
    with psycopg.connect(database.owner_url) as connection:
        connection.execute(
            "INSERT INTO prices (id, sku, region, currency, unit_price, valid_from, source)"
            " VALUES (gen_random_uuid(), %s, %s, %s, 1, %s, 'mine')",
            (SKU, REGION, CURRENCY, late),
        )
    async with db.begin() as connection:
        assert await install_prices(connection, replace(catalogue, prices=two)) == 0
        assert [each.source for each in await book(connection)] == ["mine"]

"""The price book: what operators set stays, and any order of requests leaves every instant with its price."""

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
from ipucloud.billing.pricing.queries import current_and_future
from ipucloud.catalogue.load import load
from ipucloud.contract.prices import BookedPriceOut, PriceAddition
from ipucloud.db.engine import Database
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.money import Money
from tests.support.factories import make_project, seed_prices
from tests.support.postgres import Database as Scratch
from tests.support.prices import book

pytestmark = pytest.mark.anyio

OWN = {("ipu-m2000", "luxembourg-2"): Decimal("0.05")}


async def installed(db: Database) -> int:
    async with db.begin() as connection:
        return await install_prices(connection, load())


async def listed(db: Database) -> list[tuple[str, Money]]:
    async with db.read() as connection:
        return [(price.sku, price.unit_price) for price in await current_and_future(connection, load())]


async def test_the_shipped_prices_are_installed_once(db: Database) -> None:
    assert await installed(db) == len(load().prices)
    assert await installed(db) == 0
    assert ("ipu-m2000", Money.of("0.0625", "EUR")) in await listed(db)
    async with db.read() as connection:
        assert all("synthetic" in price.source for price in await current_and_future(connection, load()))


async def test_a_price_that_an_operator_set_stays(db: Database) -> None:
    async with db.begin() as connection:
        await seed_prices(connection, OWN, valid_from=datetime(2024, 1, 1, tzinfo=UTC))
    assert await installed(db) == len(load().prices) - 1
    assert ("ipu-m2000", Money.of("0.05", "EUR")) in await listed(db)


async def test_past_prices_are_not_listed_and_future_ones_are(db: Database) -> None:
    async with db.begin() as connection:
        year = {year: datetime(year, 1, 1, tzinfo=UTC) for year in (2020, 2021, 2999)}
        await seed_prices(connection, OWN, valid_from=year[2020], valid_to=year[2021])
        await seed_prices(connection, OWN, valid_from=year[2021], valid_to=year[2999])
        await seed_prices(connection, OWN, valid_from=year[2999])
    async with db.read() as connection:
        assert [price.valid_from.year for price in await current_and_future(connection, load())] == [2021, 2999]


def version(unit_price: str, begins: str, ends: str | None = None, *, account: UUID | None = None) -> PriceAddition:
    return PriceAddition(
        account_id=account,
        sku="ipu-m2000",
        region="luxembourg-2",
        unit_price=Money.of(unit_price, "EUR"),
        valid_from=datetime.fromisoformat(begins),
        valid_to=None if ends is None else datetime.fromisoformat(ends),
        source="test",
    )


Span = tuple[Decimal, int, int | None]


async def spans(db: Database) -> list[Span]:
    """Price, first and last year of every version that begins in the future."""
    async with db.read() as connection:
        return [
            (each.unit_price.amount, each.valid_from.year, each.valid_to.year if each.valid_to else None)
            for each in await book(connection)
            if each.valid_from.year > 2100
        ]


async def id_of(db: Database, unit_price: str) -> UUID:
    async with db.read() as connection:
        [price_id] = [each.id for each in await book(connection) if each.unit_price.amount == Decimal(unit_price)]
    return price_id


@pytest.mark.parametrize("contract", [False, True])
async def test_what_has_not_begun_can_be_withdrawn_and_gives_the_time_back(db: Database, *, contract: bool) -> None:
    """The version before holds again as long as it would have: for ever, or until what was fitted in since begins."""
    async with db.begin() as connection:
        account = (await make_project(connection)).id if contract else None
        if contract:
            await seed_prices(connection, OWN)
        first = version("0.01", "2126-01-01T00:00:00Z", account=account)
        between = version("0.02", "2127-01-01T00:00:00Z", "2128-01-01T00:00:00Z", account=account)
        last = version("0.03", "2130-01-01T00:00:00Z", account=account)
        assert await add(connection, [first, between, last], default="EUR") == (3, 1)
    one, two, three = Decimal("0.01"), Decimal("0.02"), Decimal("0.03")
    assert await spans(db) == [(one, 2126, 2127), (two, 2127, 2128), (one, 2128, 2130), (three, 2130, None)]
    with pytest.raises(Problem, match="Withdraw that one first"):
        async with db.begin() as connection:
            await withdraw(connection, await id_of(db, "0.02"))
    async with db.begin() as connection:
        await withdraw(connection, await id_of(db, "0.03"))
    assert await spans(db) == [(one, 2126, 2127), (two, 2127, 2128), (one, 2128, None)]
    async with db.begin() as connection:
        await withdraw(connection, await id_of(db, "0.02"))
    assert await spans(db) == [(one, 2126, None)]
    async with db.begin() as connection:
        sale = version("0.02", "2127-01-01T00:00:00Z", "2128-01-01T00:00:00Z", account=account)
        assert await add(connection, [sale], default="EUR") == (1, 1)
    async with db.begin() as connection:
        after = version("0.04", "2128-01-01T00:00:00Z", account=account)
        assert await add(connection, [after], default="EUR") == (1, 0)
    assert await spans(db) == [(one, 2126, 2127), (two, 2127, 2128), (Decimal("0.04"), 2128, None)]
    for price in ("0.04", "0.02"):
        async with db.begin() as connection:
            await withdraw(connection, await id_of(db, price))
    assert await spans(db) == [(one, 2126, None)]


async def test_what_has_begun_stays(db: Database) -> None:
    async with db.begin() as connection:
        await seed_prices(connection, OWN)
    with pytest.raises(sa.exc.IntegrityError, match="has begun and stays"):
        async with db.begin() as connection:
            await connection.execute(sa.text("SELECT withdraw_price(id) FROM prices"))
    with pytest.raises(Problem, match="what it was stays"):
        async with db.begin() as connection:
            await withdraw(connection, await id_of(db, "0.05"))
    with pytest.raises(Problem, match="not_found"):
        async with db.begin() as connection:
            await withdraw(connection, UUID(int=7))


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
    ends = None if new.ends is None else f"{new.ends}-01-01T00:00:00Z"
    return version(str(new.price), f"{new.begins}-01-01T00:00:00Z", ends, account=account if new.contract else None)


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

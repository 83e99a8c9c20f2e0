"""The shipped prices are installed once and never touch what an operator set."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pytest
import sqlalchemy as sa

from ipucloud.billing.pricing.book import add, install_prices, withdraw
from ipucloud.billing.pricing.queries import current_and_future
from ipucloud.catalogue.load import load
from ipucloud.contract.prices import PriceAddition
from ipucloud.db.engine import Database
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.money import Money
from tests.support.factories import make_project, seed_prices
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


async def test_two_prices_for_one_moment_are_refused_by_the_database(db: Database) -> None:
    async with db.begin() as connection:
        await seed_prices(connection, OWN)
    with pytest.raises(sa.exc.IntegrityError, match="no_overlap"):
        async with db.begin() as connection:
            await seed_prices(connection, OWN, valid_from=datetime(2025, 1, 1, tzinfo=UTC))


async def test_the_application_can_change_nothing_of_a_price_but_its_end(db: Database) -> None:
    async with db.begin() as connection:
        await seed_prices(connection, OWN)
    for statement in ("UPDATE prices SET unit_price = 0", "DELETE FROM prices"):
        with pytest.raises(sa.exc.ProgrammingError, match="permission denied"):
            async with db.begin() as connection:
                await connection.execute(sa.text(statement))
    with pytest.raises(sa.exc.IntegrityError, match="has begun and stays"):
        async with db.begin() as connection:
            await connection.execute(sa.text("SELECT withdraw_price(id) FROM prices"))


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
    with pytest.raises(Problem, match="what it was stays"):
        async with db.begin() as connection:
            await withdraw(connection, await id_of(db, "0.05"))
    with pytest.raises(Problem, match="not_found"):
        async with db.begin() as connection:
            await withdraw(connection, UUID(int=7))

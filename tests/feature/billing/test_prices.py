"""The shipped prices are installed once and never touch what an operator set."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
import sqlalchemy as sa

from ipucloud.billing.price_store import current_and_future, install_shipped_prices
from ipucloud.catalogue.load import load
from ipucloud.db.engine import Database
from ipucloud.kernel.money import Money
from tests.support.factories import seed_prices

pytestmark = pytest.mark.anyio

OWN = {("ipu-m2000", "luxembourg-2"): Decimal("0.05")}


async def installed(db: Database) -> int:
    async with db.begin() as connection:
        return await install_shipped_prices(connection, load())


async def listed(db: Database) -> list[tuple[str, Money]]:
    async with db.read() as connection:
        return [(price.sku, price.unit_price) for price in await current_and_future(connection)]


async def test_the_shipped_prices_are_installed_once(db: Database) -> None:
    assert await installed(db) == len(load().prices)
    assert await installed(db) == 0
    assert ("ipu-m2000", Money.of("0.0625", "EUR")) in await listed(db)
    async with db.read() as connection:
        assert all("synthetic" in price.source for price in await current_and_future(connection))


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
        assert [price.valid_from.year for price in await current_and_future(connection)] == [2021, 2999]


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

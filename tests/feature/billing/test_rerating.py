"""A past price that is corrected: what is posted is what an independent count with the corrected prices comes to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipucloud.billing.ledger.rerating import correct, corrections, preview
from ipucloud.contract.price_corrections import (
    PriceCorrectionBody,
    PriceCorrectionOrder,
    PriceCorrectionOut,
    PriceCorrectionPreviewOut,
)
from ipucloud.db.engine import Database
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money
from tests.feature.billing.test_killed import figures, finish, killed_at
from tests.feature.billing.test_oracle import anew
from tests.feature.billing.timelines import ONE_DATABASE, SECOND
from tests.feature.billing.world import CURRENCY, REGION, SKU, BillingWorld, at, in_billing_world
from tests.support.postgres import Database as Scratch
from tests.support.postgres import TestServer

Figures = list[list[tuple[object, ...]]]

CHARGES = "SELECT minutes, unit_price, cost FROM usage_charges ORDER BY posted_at, rev"
VERSIONS = "SELECT unit_price, valid_from, valid_to FROM prices WHERE valid_to IS DISTINCT FROM valid_from ORDER BY 2"
MORNING = at("2026-05-05T10:00:00")
HALF_PAST = at("2026-05-05T10:30:00")


def correction_of(
    unit_price: str | Decimal, since: datetime, until: datetime | None, *, account: UUID | None = None
) -> PriceCorrectionBody:
    return PriceCorrectionBody(
        account_id=account,
        sku=SKU,
        region=REGION,
        unit_price=Money.of(Decimal(unit_price), CURRENCY),
        valid_from=since,
        valid_to=until,
        reason="entered late",
    )


async def previewed(database: Database, correction: PriceCorrectionBody) -> PriceCorrectionPreviewOut:
    async with database.begin() as connection:
        return await preview(connection, correction, token_id=new_id(), default=CURRENCY)


async def corrected(
    database: Database, correction: PriceCorrectionBody, shown: str | None = None
) -> PriceCorrectionOut:
    shown = shown or (await previewed(database, correction)).preview
    order = PriceCorrectionOrder(**correction.model_dump(), preview=shown)
    async with database.begin() as connection:
        return await correct(connection, order, token_id=new_id(), default=CURRENCY)


async def an_hour(billing: BillingWorld) -> None:
    """Four machines from 10:00 to 11:00 at 0.0625, posted."""
    await billing.price("0.0625")
    await billing.used(await billing.make_cluster(), MORNING, at("2026-05-05T11:00:00"), quantity=4)
    await billing.keep(at("2026-05-05T11:02:00"))


@pytest.mark.anyio
async def test_an_hour_is_rated_again(billing: BillingWorld) -> None:
    await an_hour(billing)
    before = await billing.digest()
    correction = correction_of("0.05", HALF_PAST, None)
    shown = await previewed(billing.database, correction)
    [effect] = shown.effects
    assert (effect.minutes, effect.before.amount, effect.after.amount) == (30, Decimal("7.5"), Decimal(6))
    assert (shown.difference.amount, effect.settled_by, effect.month) == (Decimal("-1.5"), "open_month", "2026-05")
    await billing.keep()
    assert await billing.digest() == before, "a preview changes nothing"
    other = replace_price(correction, "0.04")
    with pytest.raises(Problem, match="not what was previewed"):
        await corrected(billing.database, other, shown.preview)
    accepted = await corrected(billing.database, correction, shown.preview)
    assert (accepted.hours_left, accepted.finished_at) == (1, None)
    with pytest.raises(Problem, match="not what was previewed"):
        await corrected(billing.database, correction, shown.preview)
    await billing.keep()
    assert await billing.tuples(CHARGES) == [
        (60, Decimal("0.0625"), Decimal(15)),
        (-30, Decimal("0.0625"), Decimal("-7.5")),
        (30, Decimal("0.05"), Decimal(6)),
    ]
    assert await billing.total() == (60, Decimal("13.50"))
    balance = "SELECT debits - credits FROM ledger_accounts WHERE code = 'unbilled'"
    assert await billing.value(balance) == Decimal("13.50")
    async with billing.database.begin() as connection:
        [finished] = await corrections(connection)
    assert finished.finished_at is not None
    events = "SELECT type FROM events WHERE type ~ '^(price_correction|project.charges)' ORDER BY id"
    assert await billing.column(events) == [
        "price_correction.accepted",
        "price_correction.finished",
        "project.charges_corrected",
    ]


def replace_price(correction: PriceCorrectionBody, unit_price: str) -> PriceCorrectionBody:
    return correction.model_copy(update={"unit_price": Money.of(unit_price, CURRENCY)})


@pytest.mark.anyio
async def test_a_sealed_month_stays_and_the_open_one_has_the_difference(billing: BillingWorld) -> None:
    await billing.price("0.0625")
    await billing.used(await billing.make_cluster(), at("2026-04-30T22:00:00"), at("2026-05-01T01:00:00"))
    await billing.keep(at("2026-05-02T00:00:00"))
    before = await billing.rows(APRIL)
    correction = correction_of("0.08", at("2026-04-30T23:30:00"), at("2026-05-01T00:30:00"))
    shown = await previewed(billing.database, correction)
    assert [(each.month, each.difference.amount, each.settled_by) for each in shown.effects] == [
        ("2026-04", Decimal("0.525"), "next_invoice"),
        ("2026-05", Decimal("0.525"), "open_month"),
    ]
    less = await previewed(billing.database, replace_price(correction, "0.06"))
    assert [each.settled_by for each in less.effects] == ["credit_note", "open_month"]
    await corrected(billing.database, correction)
    await billing.keep()
    assert await billing.rows(APRIL) == before
    posted = await billing.rows("SELECT billing_month::text, sum(cost) FROM usage_charges GROUP BY 1 ORDER BY 1")
    assert [tuple(row) for row in posted] == [("2026-04-01", Decimal("7.5")), ("2026-05-01", Decimal("4.8"))]
    assert [tuple(row) for row in (await billing.rows(VERSIONS))][1:] == [
        (Decimal("0.08"), at("2026-04-30T23:30:00"), at("2026-05-01T00:30:00")),
        (Decimal("0.0625"), at("2026-05-01T00:30:00"), None),
    ]


@pytest.mark.anyio
async def test_what_is_no_correction_of_the_past_is_refused(billing: BillingWorld) -> None:
    await an_hour(billing)
    later, nobody = at("2026-06-01T00:00:00"), new_id()
    before = await billing.digest()
    for correction, why in (
        (correction_of("0.05", later, None), "not_in_past"),
        (correction_of("0.05", MORNING, later), "not_in_past"),
        (correction_of("0.05", HALF_PAST, MORNING), "not_in_past"),
        (correction_of("0.05", MORNING + timedelta(microseconds=5), None), "not_whole"),
        (correction_of("0.05", MORNING, None).model_copy(update={"sku": "ipu-none"}), "no_price"),
        (correction_of("0.05", MORNING, None).model_copy(update={"account_id": nobody}), "unknown_account"),
    ):
        with pytest.raises(Problem) as refused:
            await previewed(billing.database, correction)
        assert [each.code for each in refused.value.errors] == [why]
    with psycopg.connect(billing.owner_url) as connection:
        connection.execute("SELECT set_config('ipucloud.correction', gen_random_uuid()::text, true)")
        with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
            connection.execute("UPDATE prices SET valid_to = '2026-05-05T10:00Z'")
    assert await billing.digest() == before


SPAN = 4 * 3600
BASE = at("2026-04-30T22:00:00")
SEALING = at("2026-05-02T00:05:00")


@dataclass(frozen=True)
class Use:
    start: int
    end: int
    quantity: int


@dataclass(frozen=True)
class Change:
    """Another price in [start, end), in seconds; `sealed`: made when April is sealed."""

    start: int
    end: int
    contract: bool
    price: Decimal
    sealed: bool


_PRICE = st.integers(0, 10**6).map(lambda n: Decimal(n).scaleb(-6))
_SPAN = st.tuples(st.integers(0, SPAN), st.integers(0, SPAN)).map(sorted).filter(lambda each: each[0] < each[1])
USES = st.lists(
    st.builds(lambda span, quantity: Use(span[0], span[1], quantity), _SPAN, st.integers(1, 16)), min_size=1, max_size=4
)
CHANGES = st.lists(
    st.builds(
        lambda span, contract, price, sealed: Change(span[0], span[1], contract, price, sealed),
        *(_SPAN, st.booleans(), _PRICE, st.booleans()),
    ),
    min_size=1,
    max_size=4,
).map(lambda drawn: sorted(drawn, key=lambda each: each.sealed))


def counted(uses: Sequence[Use], first: Decimal, second: tuple[int, Decimal], changes: Sequence[Change]) -> Decimal:
    """Minute after minute; the last change that holds decides, a contract's before the list's."""
    cost = Decimal(0)
    for use in uses:
        for start in range(use.start, use.end, 60):
            price = second[1] if start >= second[0] else first
            for change in sorted(changes, key=lambda each: each.contract):
                if change.start <= start < change.end:
                    price = change.price
            cost += use.quantity * price
    return cost


@settings(ONE_DATABASE, max_examples=12)
@given(uses=USES, first=_PRICE, second=st.tuples(st.integers(1, SPAN), _PRICE), changes=CHANGES)
def test_any_corrections_come_to_the_count(
    database: Scratch, uses: list[Use], first: Decimal, second: tuple[int, Decimal], changes: list[Change]
) -> None:
    anew(
        database,
        lambda billing: lived(billing, uses, first, second, changes),
        "TRUNCATE price_corrections CASCADE",
    )


async def lived(
    billing: BillingWorld, uses: list[Use], first: Decimal, second: tuple[int, Decimal], changes: list[Change]
) -> None:
    billing.now(BASE + (SPAN + 3700) * SECOND)
    turn = BASE + second[0] * SECOND
    await billing.price(first, valid_to=turn)
    await billing.price(second[1], turn)
    for use in uses:
        cluster = await billing.make_cluster()
        await billing.used(cluster, BASE + use.start * SECOND, BASE + use.end * SECOND, quantity=use.quantity)
    await billing.keep()
    sealed = None
    for place, change in enumerate(changes, 1):
        if change.sealed and sealed is None:
            await billing.keep(SEALING)
            sealed = await billing.rows(APRIL)
        since, until = BASE + change.start * SECOND, BASE + change.end * SECOND
        correction = correction_of(change.price, since, until, account=billing.project.id if change.contract else None)
        difference = (await previewed(billing.database, correction)).difference.amount
        before = (await billing.total())[1]
        await corrected(billing.database, correction)
        await billing.keep()
        posted = (await billing.total())[1]
        assert posted == before + difference
        assert posted == counted(uses, first, second, changes[:place])
    assert sealed is None or await billing.rows(APRIL) == sealed
    assert await billing.rows("SELECT FROM price_corrections WHERE finished_at IS NULL") == []
    assert await billing.rows("SELECT FROM price_holes") == []
    assert await billing.rows(UNEVEN) == [], "a run of minutes is charged twice or not at all"


APRIL = """
SELECT md5(string_agg(c::text, '' ORDER BY hour, resource_id, rev)) FROM usage_charges c
 WHERE billing_month < '2026-05-01'
"""
UNEVEN = """
SELECT u.id FROM usage_intervals u LEFT JOIN usage_charges c ON c.interval_id = u.id
 GROUP BY u.id HAVING coalesce(sum(c.minutes), 0) <> minutes_between(u.anchor_at, u.started_at, u.ended_at)
"""


POINTS = ("price_correction.versions_cut", "price_correction.hours_noted")
WORKING = ("correct.hour_locked", "correct.charged", "correct.before_commit", "correct.committed")


async def ready(billing: BillingWorld) -> PriceCorrectionBody:
    await an_hour(billing)
    return correction_of("0.05", HALF_PAST, None)


@pytest.fixture(scope="module")
def undisturbed(postgres: TestServer) -> Figures:
    async def work(billing: BillingWorld) -> Figures:
        await corrected(billing.database, await ready(billing))
        return await finish(billing)

    with postgres.fresh_database() as scratch:
        result: Figures = asyncio.run(in_billing_world(scratch, work))
    return result


@pytest.mark.parametrize("point", [*POINTS, *WORKING, "price_correction.before_finish_commit"])
def test_a_correction_that_is_killed_is_made_once_or_not_at_all(
    database: Scratch, undisturbed: Figures, point: str
) -> None:
    """The request leaves nothing, and is repeated; the worker's next turn goes on."""
    asyncio.run(in_billing_world(database, ready))
    before = asyncio.run(in_billing_world(database, figures))

    async def request(db: Database) -> None:
        await corrected(db, correction_of("0.05", HALF_PAST, None))

    if point in POINTS:
        # The preview, which goes first, comes to the first point as well.
        assert killed_at(database, point, 2 if point == POINTS[0] else 1, request)
        assert asyncio.run(in_billing_world(database, figures)) == before
    asyncio.run(in_billing_world(database, lambda billing: request(billing.database)))
    if point not in POINTS:
        assert killed_at(database, point, 1)
    assert asyncio.run(in_billing_world(database, finish)) == undisturbed

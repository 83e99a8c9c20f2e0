"""Re-rating: a price that was wrong in the past is corrected, and what was used is charged by the corrected one.

A correction changes the price book and marks the closed hours of its period, in one transaction; from then on it is a
late change like any other (`close`): a worker posts −old and +new rows, each hour in a transaction of its own. In open
months the invoice is right; for a sealed month the rows are posted to the first open one, whose billing charges more on
the invoice, or credits less by a credit note that names the invoice it corrects.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, NamedTuple
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.pricing.book import one_at_a_time
from ipucloud.billing.pricing.corrections import (
    Period,
    Version,
    correct_book,
    fingerprint,
    note_hours,
    overlapped,
    period_of,
)
from ipucloud.contract.event_payloads.base import AmountOfMoney
from ipucloud.contract.event_payloads.money import ChargesCorrected, PriceCorrectionOf
from ipucloud.contract.event_types.money import PRICE_CORRECTION_ACCEPTED, PRICE_CORRECTION_FINISHED
from ipucloud.contract.event_types.projects import PROJECT_CHARGES_CORRECTED
from ipucloud.contract.price_corrections import (
    CorrectedVersionOut,
    CorrectionEffectOut,
    PriceCorrectionBody,
    PriceCorrectionOrder,
    PriceCorrectionOut,
    PriceCorrectionPreviewOut,
)
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.events.log import record, record_for_operators
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.money import Money, plain, total


class _Cost(NamedTuple):
    """A project's minutes of a month in the period, under the prices that the book has at that moment."""

    account_id: UUID
    account: str
    project_id: UUID
    project: str
    month: date
    sealed: bool
    clusters: int
    minutes: int
    cost: Decimal


# Whole intervals, cut at months and prices: how long the period is does not matter.
_COSTS = Query(
    """
    WITH period AS (
      SELECT CAST(:since AS timestamptz) AS since,
             least(CAST(:until AS timestamptz), date_trunc('second', app_now(), 'UTC')) AS until
    ), used AS (
      SELECT u.project_id, u.resource_id, u.anchor_at, u.quantity - u.credited AS quantity,
             greatest(u.started_at, period.since) AS since, least(u.ended_at, period.until) AS until
        FROM period
        JOIN usage_intervals u ON u.started_at < period.until AND (u.ended_at IS NULL OR u.ended_at > period.since)
       WHERE u.sku = :sku AND u.region = :region AND u.currency = :currency
    ), paid AS MATERIALIZED (
      SELECT user_of.project_id, price.account_id, price.unit_price, price.valid_from, price.valid_to
        FROM (SELECT DISTINCT project_id FROM used) AS user_of
       CROSS JOIN LATERAL prices_paid(user_of.project_id, :sku, :region, :currency) AS price
       WHERE price.account_id = coalesce(CAST(:account_id AS uuid), price.account_id)
    ), months AS (
      SELECT month::date AS month, month AT TIME ZONE 'UTC' AS begins,
             (month + interval '1 month') AT TIME ZONE 'UTC' AS ends
        FROM period, generate_series(date_trunc('month', since AT TIME ZONE 'UTC'), until AT TIME ZONE 'UTC',
                                     interval '1 month') AS month
    )
    SELECT cost.account_id, a.name AS account, cost.project_id, p.slug AS project, cost.month,
           coalesce(b.sealed_at IS NOT NULL, false) AS sealed, cost.clusters, cost.minutes, cost.cost
      FROM (
        SELECT paid.account_id, used.project_id, months.month, count(DISTINCT used.resource_id) AS clusters,
               sum(part.minutes) AS minutes, sum(part.cost) AS cost
          FROM used
          JOIN months ON months.begins < used.until AND months.ends > used.since
          JOIN paid ON paid.project_id = used.project_id AND paid.valid_from < used.until AND paid.valid_to > used.since
         CROSS JOIN LATERAL priced_minutes(used.anchor_at, greatest(used.since, months.begins),
                                           least(used.until, months.ends), paid.valid_from, paid.valid_to,
                                           used.quantity, paid.unit_price) AS part
         WHERE part.minutes > 0
         GROUP BY paid.account_id, used.project_id, months.month) AS cost
      JOIN billing_accounts a ON a.id = cost.account_id
      JOIN projects p ON p.id = cost.project_id
      LEFT JOIN billing_months b ON b.month = cost.month
     ORDER BY a.name, cost.account_id, p.slug, cost.month
    """,
    _Cost,
)


class _Recorded(NamedTuple):
    id: UUID
    account_id: UUID | None
    sku: str
    region: str
    currency: str
    unit_price: Decimal
    valid_from: datetime
    valid_to: datetime | None
    reason: str
    created_at: datetime
    finished_at: datetime | None
    hours_left: int
    effects: str


_LEFT = """
(SELECT count(DISTINCT d.hour) FROM dirty_hours d
  WHERE c.finished_at IS NULL AND d.noted_at <= c.created_at AND d.hour > c.valid_from - interval '1 hour'
    AND d.hour < coalesce(c.valid_to, 'infinity'))
"""
_RECORDED = Query(
    f"""
    SELECT c.id, c.account_id, c.sku, c.region, c.currency, c.unit_price, c.valid_from, c.valid_to, c.reason,
           c.created_at, c.finished_at, {_LEFT} AS hours_left, c.effects::text AS effects
      FROM price_corrections c
     WHERE c.id = coalesce(CAST(:id AS uuid), c.id)
     ORDER BY c.created_at DESC, c.id DESC
    """,  # noqa: S608  # our own text
    _Recorded,
)
_KEEP_EFFECTS = sa.text("UPDATE price_corrections SET effects = CAST(:effects AS jsonb) WHERE id = :id")
_FINISH = Query(
    f"""
    UPDATE price_corrections c SET finished_at = app_now()
     WHERE c.finished_at IS NULL AND {_LEFT} = 0
    RETURNING c.id
    """,  # noqa: S608  # our own text
    UUID,
)
_ACCOUNT = Query("SELECT coalesce(currency, :default) FROM billing_accounts WHERE id = :account_id", str)


async def preview(
    connection: AsyncConnection, body: PriceCorrectionBody, *, token_id: UUID, default: str
) -> PriceCorrectionPreviewOut:
    """What the correction would change: it is done and taken back. `default`: the installation's currency.

    Raises `Problem` validation_failed or state_conflict as the correction would.
    """
    trial = await connection.begin_nested()
    try:
        period, former, _, effects = await _correct(connection, body, token_id=token_id, default=default)
    finally:
        await trial.rollback()
    currency = body.unit_price.currency
    return PriceCorrectionPreviewOut(
        account_id=body.account_id,
        sku=body.sku,
        region=body.region,
        unit_price=body.unit_price,
        valid_from=period.since,
        valid_to=period.until,
        replaces=[
            CorrectedVersionOut(
                id=each.id,
                unit_price=Money.of(each.unit_price, currency),
                valid_from=each.valid_from,
                valid_to=each.valid_to,
            )
            for each in former
        ],
        effects=effects,
        difference=_sum(effects, currency),
        preview=fingerprint(period, body.unit_price.amount, former),
    )


async def correct(
    connection: AsyncConnection, body: PriceCorrectionOrder, *, token_id: UUID, default: str
) -> PriceCorrectionOut:
    """Correct the price book, and have a worker rate the closed hours of the period again.

    Raises `Problem` validation_failed, or state_conflict if the price book has changed since the preview.
    """
    period, former, correction, effects = await _correct(connection, body, token_id=token_id, default=default)
    if fingerprint(period, body.unit_price.amount, former) != body.preview:
        raise Problem(
            STATE_CONFLICT, "This is not what was previewed, or the price book has changed since. Preview it again."
        )
    written = orjson.dumps([each.model_dump(mode="json") for each in effects]).decode()
    await connection.execute(_KEEP_EFFECTS, {"id": correction, "effects": written})
    about = PriceCorrectionOf(correction=correction, sku=body.sku, reason=body.reason)
    await record_for_operators(connection, PRICE_CORRECTION_ACCEPTED, region=body.region, data=about)
    # Last, because no hour is closed while this lock is held.
    await note_hours(connection, period)
    failpoint("price_correction.hours_noted")
    [result] = await corrections(connection, correction)
    return result


async def corrections(connection: Statements, correction: UUID | None = None) -> list[PriceCorrectionOut]:
    """All corrections, or that one; the newest first."""
    return [
        PriceCorrectionOut(
            id=each.id,
            account_id=each.account_id,
            sku=each.sku,
            region=each.region,
            unit_price=Money.of(each.unit_price, each.currency),
            valid_from=each.valid_from,
            valid_to=each.valid_to,
            reason=each.reason,
            created_at=each.created_at,
            finished_at=each.finished_at,
            hours_left=each.hours_left,
            effects=(effects := _read(each.effects)),
            difference=_sum(effects, each.currency),
        )
        for each in await _RECORDED.all(connection, {"id": correction})
    ]


async def finish_corrections(database: Database) -> list[UUID]:
    """Finish corrections whose hours are all rated again, and tell the projects whose charges changed; their ids."""
    async with database.begin() as connection:
        finished = await _FINISH.all(connection)
        for correction_id in finished:
            [correction] = await corrections(connection, correction_id)
            about = PriceCorrectionOf(correction=correction.id, sku=correction.sku, reason=correction.reason)
            await record_for_operators(connection, PRICE_CORRECTION_FINISHED, region=correction.region, data=about)
            await _notify(connection, correction)
        failpoint("price_correction.before_finish_commit")
    return finished


async def _notify(connection: AsyncConnection, correction: PriceCorrectionOut) -> None:
    currency = correction.unit_price.currency
    for project in sorted({each.project_id for each in correction.effects}):
        changed = _sum([each for each in correction.effects if each.project_id == project], currency)
        await record(
            connection,
            PROJECT_CHARGES_CORRECTED,
            project_id=project,
            subject_id=project,
            data=ChargesCorrected(
                sku=correction.sku,
                region=correction.region,
                since=correction.valid_from,
                until=correction.valid_to,
                unit_price=_amount(correction.unit_price),
                difference=_amount(changed),
            ),
        )


async def _correct(
    connection: AsyncConnection, body: PriceCorrectionBody, *, token_id: UUID, default: str
) -> tuple[Period, list[Version], UUID, list[CorrectionEffectOut]]:
    """The period, the versions that lost time to it, the correction's id, and what changes for whom."""
    await _check(connection, body, default)
    await one_at_a_time(connection)
    period = await period_of(connection, body)
    former = await overlapped(connection, period)
    if body.account_id is None and not former:
        raise _refused("/sku", "no_price", "The price book has no list price for that time: add one instead.")
    before = await _COSTS.all(connection, period.values())
    amount = body.unit_price.amount
    correction = await correct_book(connection, period, amount, reason=body.reason, requested_by=token_id)
    after = await _COSTS.all(connection, period.values())
    return period, former, correction, _effects(before, after, body.unit_price.currency)


async def _check(connection: AsyncConnection, body: PriceCorrectionBody, default: str) -> None:
    if body.account_id is None:
        return
    currency = await _ACCOUNT.one_or_none(connection, {"account_id": body.account_id, "default": default})
    if currency is None:
        raise _refused("/account_id", "unknown_account", "There is no such billing account.")
    if currency != body.unit_price.currency:
        raise _refused("/unit_price/currency", "other_currency", f"The account's currency is {currency}.")


def _effects(before: Sequence[_Cost], after: Sequence[_Cost], currency: str) -> list[CorrectionEffectOut]:
    former = {(each.account_id, each.project_id, each.month): each.cost for each in before}
    effects = []
    for row in after:
        cost = former.get((row.account_id, row.project_id, row.month), Decimal(0))
        difference = total([row.cost, -cost])
        if difference:
            effects.append(
                CorrectionEffectOut(
                    account_id=row.account_id,
                    account=row.account,
                    project_id=row.project_id,
                    project=row.project,
                    month=f"{row.month:%Y-%m}",
                    clusters=row.clusters,
                    minutes=row.minutes,
                    before=Money.of(cost, currency),
                    after=Money.of(row.cost, currency),
                    difference=Money.of(difference, currency),
                    settled_by=_settled_by(difference, sealed=row.sealed),
                )
            )
    return effects


def _settled_by(difference: Decimal, *, sealed: bool) -> Literal["open_month", "next_invoice", "credit_note"]:
    if not sealed:
        return "open_month"
    return "next_invoice" if difference > 0 else "credit_note"


def _read(effects: str) -> list[CorrectionEffectOut]:
    return [CorrectionEffectOut.model_validate(each, strict=False) for each in orjson.loads(effects)]


def _sum(effects: Sequence[CorrectionEffectOut], currency: str) -> Money:
    return sum((each.difference for each in effects), start=Money.of(0, currency))


def _amount(money: Money) -> AmountOfMoney:
    return AmountOfMoney(amount=plain(money.amount), currency=money.currency)


def _refused(field: str, code: str, sentence: str) -> Problem:
    fault = FieldError(field, code, sentence)
    return Problem(VALIDATION_FAILED, "Some values are not valid; nothing was corrected.", [fault])

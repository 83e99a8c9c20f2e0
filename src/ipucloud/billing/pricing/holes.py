"""Periods without a price: no change of the price book may make one (`functions.PRICE_HOLES`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.kernel.errors import STATE_CONFLICT, Problem


class Article(NamedTuple):
    """What a list price is for."""

    sku: str
    region: str
    currency: str


class _Hole(NamedTuple):
    begins: datetime
    ends: datetime | None


_HELD = Query(
    """
    SELECT coalesce(range_agg(tstzrange(begins, ends)), tstzmultirange())::text FROM price_holes
     WHERE sku = :sku AND region = :region AND currency = :currency
    """,
    str,
)
_NEW = Query(
    """
    SELECT lower(hole) AS begins, upper(hole) AS ends
      FROM (SELECT coalesce(range_agg(tstzrange(begins, ends)), tstzmultirange()) AS held FROM price_holes
             WHERE sku = :sku AND region = :region AND currency = :currency) AS present
     CROSS JOIN LATERAL unnest(held - CAST(:former AS tstzmultirange)) AS hole
     ORDER BY begins LIMIT 1
    """,
    _Hole,
)


@asynccontextmanager
async def no_new_hole(connection: AsyncConnection, articles: Iterable[Article]) -> AsyncIterator[None]:
    """Compare the articles' prices before and after what is done in this context.

    Raises `Problem` state_conflict if a time is now without a list price that was not before. Holes from before this
    rule remain until somebody fills them.
    """
    former = {each: await _HELD.one(connection, each._asdict()) for each in sorted(set(articles))}
    yield
    for article, held in former.items():
        hole = await _NEW.one_or_none(connection, {**article._asdict(), "former": held})
        if hole is not None:
            raise Problem(STATE_CONFLICT, _sentence(article, hole))


def _sentence(article: Article, hole: _Hole) -> str:
    until = "for ever" if hole.ends is None else f"until {hole.ends:%Y-%m-%dT%H:%M:%SZ}"
    return (
        f"There would be no list price of {article.sku} in {article.region} in {article.currency} from"
        f" {hole.begins:%Y-%m-%dT%H:%M:%SZ} {until}. Add one for that time in the same request, or before."
    )

"""The whole price book, as tests look at it."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.billing.pricing.listing import LIST_BOOK
from ipucloud.contract.prices import BookedPriceOut, PriceBookList, PriceBookPage
from ipucloud.db.documents import filters_of
from ipucloud.db.statements import Statements

_MOST = 100_000


async def book(connection: Statements) -> Sequence[BookedPriceOut]:
    """Every version that ever was or will be in force: list prices first, then account by account."""
    query = PriceBookList()
    everything = {"account_id": None, "after": None, "limit": _MOST}
    page = await LIST_BOOK[query.order].one(connection, filters_of(query) | everything)
    assert page.next is None
    return PriceBookPage.model_validate_json(f'{{"items": {page.items}, "next_cursor": null}}').items

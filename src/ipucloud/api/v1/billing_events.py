"""Events of a billing account, for its payers."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.paging import page_at
from ipucloud.api.reads import reading_account
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import AccountId
from ipucloud.api.v1.events import behind
from ipucloud.contract.events import AccountEventList, EventPage
from ipucloud.events.account_feed import LIST_ACCOUNT_EVENTS
from ipucloud.events.feed import list_parameters
from ipucloud.identity.roles import Permission

routes = router()


@routes.get(
    "/v1/billing/accounts/{account:ref}/events",
    **operation("listAccountEvents", "List an account's events", Permission.ACCOUNT_READ, gives=EventPage),
)
async def list_account_events(
    request: Request, account: AccountId, query: Annotated[AccountEventList, Query()]
) -> Response:
    """List what happens to the account's money: documents, payments, funds, budgets, overdue invoices.

    With `order=created_at`, a reader that continues after its last event misses none.
    """
    parameters = list_parameters(
        order=query.order,
        limit=query.limit,
        behind=behind(query, request),
        types=query.type,
        subject_id=query.subject,
    )
    async with reading_account(request, account) as connection:
        found = await LIST_ACCOUNT_EVENTS[query.order].one(connection, parameters | {"account_id": account})
    return page_at(query, request, found.items, found.next)

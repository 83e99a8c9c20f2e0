"""Events of a billing account, for its payers."""

from __future__ import annotations

from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.paging import page_at
from ipucloud.api.reads import reading_account
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import AccountId
from ipucloud.api.v1.events import filters
from ipucloud.contract.events import AccountEventList, CloudEventPage, EventPage
from ipucloud.events.account_feed import LIST_ACCOUNT_CLOUD_EVENTS, LIST_ACCOUNT_EVENTS, AccountLists
from ipucloud.identity.roles import Permission

routes = router()


@routes.get(
    "/v1/billing/accounts/{account:ref}/events",
    **operation("listAccountEvents", "List an account's events", Permission.ACCOUNT_READ, gives=EventPage),
)
async def list_account_events(request: Request, account: AccountId, query: AccountEventList) -> Response:
    """List what happens to the account's money: documents, payments, funds, budgets, overdue invoices.

    With `order=created_at`, a reader that continues after its last event misses none.
    """
    return await _page(request, account, query, LIST_ACCOUNT_EVENTS)


@routes.get(
    "/v1/billing/accounts/{account:ref}/cloud-events",
    **operation(
        "listAccountCloudEvents",
        "List an account's events as CloudEvents",
        Permission.ACCOUNT_READ,
        gives=CloudEventPage,
    ),
)
async def list_account_cloud_events(request: Request, account: AccountId, query: AccountEventList) -> Response:
    """List the account's events in the JSON format of CloudEvents 1.0; order and filters are those of its events."""
    return await _page(request, account, query, LIST_ACCOUNT_CLOUD_EVENTS)


async def _page(
    request: Request,
    account: UUID,
    query: AccountEventList,
    statements: AccountLists,
) -> Response:
    parameters = filters(query, request)
    async with reading_account(request, account) as connection:
        found = await statements[query.order].one(connection, parameters | {"account_id": account})
    return page_at(query, request, found.items, found.next)

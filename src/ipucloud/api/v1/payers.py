"""The currency of requests about money: that of the account which pays, or the installation's."""

from __future__ import annotations

from uuid import UUID

from starlette.requests import Request

from ipucloud.api.services import services_of
from ipucloud.billing.accounts import store
from ipucloud.db.statements import Statements


async def payer_of(request: Request, connection: Statements, project_id: UUID) -> store.Paying:
    """The account that pays for the project now."""
    return await store.paying(connection, project_id, default=services_of(request).settings.currency)


async def currency_of(request: Request, connection: Statements, account_id: UUID) -> str:
    """The account's currency. Raises `Problem` not_found."""
    return await store.currency_of(connection, account_id, default=services_of(request).settings.currency)

"""Billing accounts, the projects whose hours they pay for, and who reads their events.

The database creates an account with every project, with the same id. A project changes its account at a full hour, so
that no hour has two payers and closing an hour late gives the same result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.money import AccountAssigned
from ipucloud.contract.event_types.projects import PROJECT_ACCOUNT_CHANGED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.lists import Order
from ipucloud.db.documents import DOCUMENT_PAGE, Document, DocumentPage, clauses, page_of, rfc3339
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.events.log import RECORD_FOR_ACCOUNT, record, record_for_account
from ipucloud.identity.access import PRINCIPAL, is_project_id
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem, not_found
from ipucloud.kernel.ids import new_id

_READERS = """
LATERAL (
  SELECT project.id AS project_id, CAST(NULL AS uuid) AS account_id
    FROM projects_paid_by({0}) AS paid
    JOIN projects project ON project.id = paid.project_id AND project.deleted_at IS NULL
   UNION ALL SELECT NULL, {0} WHERE {0} IS NOT NULL) AS reader
"""


def readers_of(account: str) -> str:
    """A table `reader` (project_id, account_id) to join: who gets an event of the account; one of the two is NULL.

    For statements with `events.log.RECORD_FOR_ACCOUNT`.
    """
    return _READERS.format(account)


_NOTIFY = sa.text(
    clauses(
        RECORD_FOR_ACCOUNT,
        """
        SELECT reader.project_id, reader.account_id, :type, 'account', params.account_id, CAST(:data AS jsonb)
          FROM (SELECT CAST(:account_id AS uuid) AS account_id) AS params CROSS JOIN
        """,
        readers_of("params.account_id"),
    )
)


async def record_event(
    connection: AsyncConnection, account_id: UUID, event: EventType, data: BaseModel | None = None
) -> None:
    """Record an event about the account for its payers, and in every project that it pays for."""
    text = "{}" if data is None else data.model_dump_json()
    await connection.execute(_NOTIFY, {"account_id": account_id, "type": event.name, "data": text})


class Paying(NamedTuple):
    """The account that pays for a project now, and its currency."""

    account_id: UUID
    currency: str


class _PricedOtherwise(NamedTuple):
    name: str
    currency: str


_CREATE = sa.text(
    """
    INSERT INTO billing_accounts (id, name, currency, legal_name, address, tax_id, country, tax_exempt, payment_days,
                                  e_invoice)
    VALUES (:id, :name, :currency, :legal_name, :address, :tax_id, :country, :tax_exempt, :payment_days,
            CAST(:e_invoice AS jsonb))
    """
)
_SHOWN = f"""
json_build_object(
  'id', id, 'name', name, 'currency', coalesce(currency, :currency), 'legal_name', legal_name,
  'address', address, 'tax_id', tax_id, 'country', country, 'tax_exempt', tax_exempt,
  'payment_days', payment_days, 'e_invoice', e_invoice, 'created_at', {rfc3339("created_at")}, 'version', version)
"""
_READ = Query(clauses("SELECT", _SHOWN, "::text AS document, version FROM billing_accounts WHERE id = :id"), Document)
VISIBLE_ACCOUNTS = "WHERE EXISTS (SELECT FROM principal WHERE platform OR account = billing_accounts.id)"
"""Which rows a caller may see; for statements with `identity.access.PRINCIPAL`."""
LIST_ACCOUNTS: Mapping[Order, Query[DocumentPage]] = {
    order: Query(
        clauses(
            "WITH",
            PRINCIPAL,
            ", project AS (SELECT home AS project_id FROM principal)",
            page_of("billing_accounts", order, VISIBLE_ACCOUNTS),
            ", documents AS (SELECT place,",
            _SHOWN,
            "AS document FROM page)",
            DOCUMENT_PAGE,
        ),
        DocumentPage,
    )
    for order in Order
}
"""All accounts, or only that of a payer.

Parameters `:token_hash`, `:currency`, which is the installation's, and those of `list_parameters`.
"""
_UPDATE = sa.text(
    """
    UPDATE billing_accounts
       SET name = coalesce(:name, name), legal_name = coalesce(:legal_name, legal_name),
           address = coalesce(:address, address), tax_id = coalesce(:tax_id, tax_id),
           country = coalesce(:country, country), tax_exempt = coalesce(CAST(:tax_exempt AS boolean), tax_exempt),
           payment_days = coalesce(CAST(:payment_days AS integer), payment_days),
           e_invoice = e_invoice || CAST(:e_invoice AS jsonb), version = version + 1
     WHERE id = :id AND (CAST(:if_version AS bigint) IS NULL OR version = :if_version)
    """
)
_FIELDS = ("name", "legal_name", "address", "tax_id", "country", "tax_exempt", "payment_days", "e_invoice")
_EXISTS = Query("SELECT EXISTS (SELECT FROM billing_accounts WHERE id = :id)", bool)
_CALLED = Query(
    "SELECT id FROM billing_accounts WHERE id = CAST(:id AS uuid) OR name = CAST(:name AS text) LIMIT 2", UUID
)
_OF_PROJECT = Query("SELECT account_id FROM payer_of(:project_id, app_now())", UUID)
_CURRENCY = Query("SELECT coalesce(currency, :currency) AS currency FROM billing_accounts WHERE id = :id", str)
_PAYING = Query(
    """
    SELECT a.id AS account_id, coalesce(a.currency, :currency) AS currency
      FROM payer_of(:project_id, app_now()) AS payer JOIN billing_accounts AS a ON a.id = payer.account_id
    """,
    Paying,
)
_SOLD = Query(
    "SELECT EXISTS (SELECT FROM prices WHERE currency = :currency AND (valid_to IS NULL OR valid_to > app_now()))", bool
)
_PRICED_OTHERWISE = Query(
    """
    SELECT name, currency FROM resources
     WHERE project_id = :project_id AND deleted_at IS NULL AND quantity IS NOT NULL AND currency <> :currency
     ORDER BY name LIMIT 1
    """,
    _PricedOtherwise,
)
_LAST_OF_PROJECT = Query(
    "SELECT account_id FROM project_accounts WHERE project_id = :project_id ORDER BY valid_from DESC LIMIT 1", UUID
)
# One to two hours ahead: a transaction that begins before the full hour may end after it.
_ASSIGN = sa.text(
    """
    INSERT INTO project_accounts (project_id, account_id, valid_from)
    SELECT :project_id, :account_id,
           greatest(date_trunc('hour', app_now() + interval '61 minutes', 'UTC'),
                    (SELECT max(valid_from) + interval '1 hour' FROM project_accounts WHERE project_id = :project_id))
    """
)


async def create(
    connection: AsyncConnection,
    *,
    name: str,
    currency: str,
    legal_name: str | None,
    address: str | None,
    tax_id: str | None,
    payment_days: int,
    country: str | None = None,
    tax_exempt: bool = False,
    e_invoice: Mapping[str, object] | None = None,
) -> UUID:
    """Create an account without projects. Raises `Problem` validation_failed if nothing is sold in its currency."""
    if not await _SOLD.one(connection, {"currency": currency}):
        fault = FieldError(
            "/currency",
            "not_sold",
            f"Nothing is sold in {currency}: set list prices in it first (`ipucloud prices create`).",
        )
        raise Problem(VALIDATION_FAILED, "Some values are not valid; no account was made.", [fault])
    account_id = new_id()
    await connection.execute(
        _CREATE,
        {
            "id": account_id,
            "name": name,
            "currency": currency,
            "legal_name": legal_name,
            "address": address,
            "tax_id": tax_id,
            "country": country,
            "tax_exempt": tax_exempt,
            "payment_days": payment_days,
            "e_invoice": json.dumps(e_invoice or {}),
        },
    )
    return account_id


async def account_document(connection: Statements, account_id: UUID, *, currency: str) -> tuple[bytes, int]:
    """The account's JSON and version; `currency` is the installation's. Raises `Problem` not_found."""
    row = await _READ.one_or_none(connection, {"id": account_id, "currency": currency})
    if row is None:
        raise not_found()
    return row.encoded()


async def account_exists(connection: Statements, account_id: UUID) -> bool:
    return await _EXISTS.one(connection, {"id": account_id})


async def accounts_called(connection: Statements, ref: str) -> list[UUID]:
    """The account with this id, or those with this name: at most two, to show that a name is not enough."""
    by_id = is_project_id(ref)
    return await _CALLED.all(connection, {"id": UUID(ref) if by_id else None, "name": None if by_id else ref})


async def update(
    connection: AsyncConnection, account_id: UUID, changes: dict[str, object], *, if_version: int | None
) -> bool:
    """Change the given fields if the account has the version; False if it has not, or does not exist."""
    fields = dict.fromkeys(_FIELDS) | changes
    fields["e_invoice"] = json.dumps(fields["e_invoice"] or {})
    changed = await connection.execute(_UPDATE, fields | {"id": account_id, "if_version": if_version})
    return changed.rowcount == 1


async def account_of(connection: Statements, project_id: UUID) -> UUID:
    """The account that pays for the project now."""
    return await _OF_PROJECT.one(connection, {"project_id": project_id})


async def currency_of(connection: Statements, account_id: UUID, *, default: str) -> str:
    """The account's currency; `default` is the installation's. Raises `Problem` not_found."""
    row = await _CURRENCY.one_or_none(connection, {"id": account_id, "currency": default})
    if row is None:
        raise not_found()
    return row


async def paying(connection: Statements, project_id: UUID, *, default: str) -> Paying:
    """The account that pays for the project now; `default` is the installation's currency."""
    return await _PAYING.one(connection, {"project_id": project_id, "currency": default})


def refuse_other_currency(currency: str, of_account: str, *, field: str = "amount") -> None:
    """Raise `Problem` validation_failed unless the field's amount is given in the account's currency."""
    if currency != of_account:
        fault = FieldError(f"/{field}/currency", "other_currency", f"The account's currency is {of_account}.")
        raise Problem(VALIDATION_FAILED, "Some values are not valid; nothing was changed.", [fault])


async def assign(connection: AsyncConnection, actor: Actor, account_id: UUID, *, default: str) -> None:
    """Let the account pay for the project from the next full hour on, unless it already will.

    The caller holds the project's lock. The account must exist; `default` is the installation's currency. Raises
    `Problem` state_conflict if a cluster of the project is priced in another currency than the account's.
    """
    values = {"project_id": actor.project_id, "account_id": account_id}
    if await _LAST_OF_PROJECT.one(connection, {"project_id": actor.project_id}) == account_id:
        return
    currency = await currency_of(connection, account_id, default=default)
    other = await _PRICED_OTHERWISE.one_or_none(connection, {"project_id": actor.project_id, "currency": currency})
    if other is not None:
        raise Problem(
            STATE_CONFLICT,
            f"The project's cluster {other.name} is priced in {other.currency}, and this account pays in {currency}."
            f" Choose an account in {other.currency}, or delete the project's clusters first.",
        )
    await connection.execute(_ASSIGN, values)
    project_id, data = actor.project_id, AccountAssigned(account_id=account_id)
    await record(
        connection,
        PROJECT_ACCOUNT_CHANGED,
        project_id=project_id,
        subject_id=project_id,
        request_id=actor.request_id,
        data=data,
    )
    await record_for_account(
        connection,
        PROJECT_ACCOUNT_CHANGED,
        account_id=account_id,
        subject_id=project_id,
        request_id=actor.request_id,
        data=data,
    )

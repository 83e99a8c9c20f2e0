"""Reads documents and the current month's draft, with the rules of their visibility.

An invoice may have lines of several projects. It is visible in a project if all its lines are that project's, or if the
project's own account pays it; for platform roles, in every project that has a line on it. A credit note is visible
where its invoice is. What is below zero is a credit note of its own, with the lines that take back.
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple
from uuid import UUID

from ipucloud.billing.invoices.calculation import TaxUnknown, compute
from ipucloud.billing.invoices.document import issued_document, written
from ipucloud.billing.invoices.lines import Bill
from ipucloud.billing.invoices.numbers import TODAY
from ipucloud.billing.invoices.payer import PAYER, Payer
from ipucloud.billing.invoices.payments import NOBODY
from ipucloud.contract.lists import Order
from ipucloud.db.documents import DOCUMENT_PAGE, ONE_DOCUMENT, DocumentPage, clauses, money, page_of, rfc3339
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem

_ALL = """(
  SELECT id, account_id, id AS invoice_id, CASE series WHEN 'CN' THEN 'credit_note' ELSE 'invoice' END AS kind, number,
         CASE series WHEN 'CN' THEN document ->> 'invoice' END AS of_invoice, month, currency,
         CASE series WHEN 'CN' THEN -total ELSE total END AS total, due, due_on, issued_at AS created_at, document
    FROM invoices
  UNION ALL
  SELECT n.id, i.account_id, i.id, 'credit_note', n.number, i.number, i.month, i.currency, n.total, 0, NULL,
         n.issued_at, n.document
    FROM credit_notes n JOIN invoices i ON i.id = n.invoice_id
) AS documents
"""
_SHOWN = f"""
json_build_object(
  'kind', kind, 'number', number, 'invoice', of_invoice, 'month', to_char(month, 'YYYY-MM'),
  'issued_at', {rfc3339("created_at")}, 'due_on', due_on, 'total', {money("total", "currency")},
  'outstanding', {
    money(
        "due - coalesce((SELECT sum(s.amount) FROM invoice_settlements s WHERE s.invoice_id = page.id), 0)",
        "currency",
    )
})
"""  # noqa: S608  # our own text
_LISTED = clauses(", documents AS (SELECT place,", _SHOWN, "AS document FROM page)")
_OF_PROJECT = "(SELECT project_id FROM project)"
_SEEN = f"""
account_id IN (SELECT account_id FROM project_accounts WHERE project_id = {_OF_PROJECT})
AND (account_id = {_OF_PROJECT}
     OR EXISTS (SELECT FROM invoice_lines l WHERE l.invoice_id = documents.invoice_id AND l.project_id = {_OF_PROJECT})
        AND ((SELECT platform FROM principal)
             OR NOT EXISTS (SELECT FROM invoice_lines l
                             WHERE l.invoice_id = documents.invoice_id AND l.project_id <> {_OF_PROJECT})))
"""  # noqa: S608  # our own text

_FILTERS = """
AND (CAST(:kind AS text) IS NULL OR kind = CAST(:kind AS text))
AND (CAST(:month AS text) IS NULL OR to_char(month, 'YYYY-MM') = CAST(:month AS text))
"""

LIST_SEEN = {
    order: clauses(page_of(_ALL, order, f"WHERE {_SEEN} {_FILTERS}"), _LISTED, DOCUMENT_PAGE) for order in Order
}
"""Documents that a project's people may see. For `authenticated`; parameters: those of `list_parameters` for an
`InvoiceList`."""
GET_SEEN = clauses(
    ", documents AS (SELECT document, 1 AS version FROM", _ALL, "WHERE number = :number AND", _SEEN, ")", ONE_DOCUMENT
)
"""One of them, by `:number`. For `authenticated`."""
LIST_OF_ACCOUNT = {
    order: Query(
        clauses(NOBODY, page_of(_ALL, order, f"WHERE account_id = :account_id {_FILTERS}"), _LISTED, DOCUMENT_PAGE),
        DocumentPage,
    )
    for order in Order
}
"""An account's documents; parameters `:account_id` and those of `list_parameters` for an `InvoiceList`."""
_GET = Query(
    clauses(
        "SELECT document::text AS document FROM",
        _ALL,
        "WHERE number = :number AND (CAST(:account_id AS uuid) IS NULL OR account_id = CAST(:account_id AS uuid))",
    ),
    str,
)
_NOTE_ID = Query("SELECT id FROM credit_notes WHERE number = :number", UUID)
_NOTE = Query("SELECT document::text AS document FROM credit_notes WHERE id = :id", str)


class _Drafted(NamedTuple):
    """`month`: that is drafted; `current`: that of today; `issued`: its invoices are."""

    month: date
    current: date
    issued: bool
    currency: str
    payer: Payer


_DRAFTED = Query(
    f"""
    SELECT drafted.month, drafted.current, issued.month IS NOT NULL AS issued,
           coalesce(a.currency, :currency) AS currency, {PAYER}
      FROM (SELECT date_trunc('month', {TODAY})::date AS current,
                   coalesce(CAST(:month AS date), date_trunc('month', {TODAY})::date) AS month) AS drafted
      LEFT JOIN invoiced_months AS issued ON issued.month = drafted.month
     CROSS JOIN LATERAL payer_of(:project_id, least(app_now(), (drafted.month + interval '1 month - 1 second')
                                                                AT TIME ZONE 'UTC')) AS payer
      JOIN billing_accounts AS a ON a.id = payer.account_id
    """,  # noqa: S608  # our own text
    _Drafted,
)
_SHARED = Query(
    "SELECT EXISTS (SELECT FROM project_accounts WHERE account_id = :account_id AND project_id <> :project_id)", bool
)


async def document_of(connection: Statements, number: str, *, account_id: UUID | None = None) -> bytes | None:
    """An invoice or a credit note, as it was issued: of any account, or only of this one."""
    document = await _GET.one_or_none(connection, {"number": number, "account_id": account_id})
    return None if document is None else document.encode()


async def credit_note_id(connection: Statements, number: str) -> UUID:
    """The id of the credit note with this number."""
    return await _NOTE_ID.one(connection, {"number": number})


async def credit_note_document_of(connection: Statements, note_id: UUID) -> bytes:
    """A credit note, as it was issued."""
    return (await _NOTE.one(connection, {"id": note_id})).encode()


async def draft_of(
    connection: Statements, project_id: UUID, currency: str, *, month: date | None = None, everything: bool
) -> bytes | None:
    """The invoice of a month, by default the current one, as it would be now, of the account that pays for the project.

    It is in the account's own currency, or else in this one. None when it may hold another project's lines and the
    caller may not see `everything`. Raises `Problem` state_conflict when the month's invoices are issued, or no tax
    rate is set, and validation_failed for a month that has not begun.
    """
    parameters = {"project_id": project_id, "currency": currency, "month": month}
    drafted = await _DRAFTED.one(connection, parameters)
    payer = drafted.payer
    if drafted.month > drafted.current:
        fault = FieldError("?month", "not_begun", f"The month {drafted.month:%Y-%m} has not begun.")
        raise Problem(VALIDATION_FAILED, "Correct the parameters named in `errors`.", [fault])
    if drafted.issued:
        text = f"The invoices of {drafted.month:%Y-%m} have been issued, so there is no draft."
        raise Problem(STATE_CONFLICT, text)
    owners = {"account_id": payer.id, "project_id": project_id}
    if payer.id != project_id and not everything and await _SHARED.one(connection, owners):
        return None
    try:
        computed = await compute(connection, Bill(payer.id, drafted.currency, drafted.month), payer)
    except TaxUnknown as unknown:
        raise Problem(STATE_CONFLICT, f"There is {unknown}: an operator sets it.") from None
    return written(issued_document(computed, None)).encode()

"""Invoices and credit notes: of a project, and of an account for its payers and for operators."""

from __future__ import annotations

from datetime import date

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.idempotency import Answer, Moves
from ipucloud.api.paging import list_of, list_of_account
from ipucloud.api.reads import principal, read_one, reading
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import AccountId, ProjectRef
from ipucloud.api.v1.billing_invoice_formats import PDF, XML, Number, in_format
from ipucloud.api.writes import change_platform
from ipucloud.billing.invoices.credit_notes import issue_credit_note
from ipucloud.billing.invoices.queries import (
    GET_SEEN,
    LIST_OF_ACCOUNT,
    LIST_SEEN,
    credit_note_document_of,
    credit_note_id,
    document_of,
    draft_of,
)
from ipucloud.contract.invoices import (
    CreditNoteCreate,
    InvoiceDraftRead,
    InvoiceFormat,
    InvoiceList,
    InvoiceOut,
    InvoicePage,
)
from ipucloud.db.documents import DocumentPage, OneDocument
from ipucloud.identity.access import Principal, authenticated
from ipucloud.identity.roles import PLATFORM_ROLES, Permission
from ipucloud.kernel.errors import IDEMPOTENCY_KEY_REQUIRED, NOT_CONFIGURED, STATE_CONFLICT, not_found

routes = router()
_CREDITS = Moves("credit_note_id", credit_note_document_of)

_LIST = {order: authenticated(text, DocumentPage) for order, text in LIST_SEEN.items()}
GET = authenticated(GET_SEEN, OneDocument)


@routes.get(
    "/v1/projects/{project}/billing/invoices",
    **operation("listInvoices", "List invoices and credit notes", Permission.BILLING_READ, gives=InvoicePage),
)
async def list_invoices(request: Request, project: ProjectRef, query: InvoiceList) -> Response:
    """List documents of the accounts that paid for the project.

    A document with lines of other projects is listed only if the project's own account pays it.
    """
    return await list_of(request, project, _LIST, query)


@routes.get(
    "/v1/projects/{project}/billing/invoices/draft",
    **operation(
        "getInvoiceDraft",
        "Read the draft of the next invoice",
        Permission.BILLING_READ,
        gives=InvoiceOut,
        files=(PDF, XML),
        errors=(STATE_CONFLICT, NOT_CONFIGURED),
    ),
)
async def get_invoice_draft(request: Request, project: ProjectRef, query: InvoiceDraftRead) -> Response:
    """Return a month's charges as they would be billed now, up to the last closed hour. Nothing is stored.

    A month that is over has a draft until its invoices are issued.
    """
    async with reading(request, project, of_payer=True) as (connection, scope):
        document = await draft_of(
            connection,
            scope.project_id,
            services_of(request).settings.currency,
            month=None if query.month is None else date.fromisoformat(f"{query.month}-01"),
            everything=scope.role in PLATFORM_ROLES,
        )
    if document is None:
        raise not_found()
    return await in_format(request, query, document)


@routes.get(
    "/v1/projects/{project}/billing/invoices/{number:invoice}",
    **operation(
        "getInvoice",
        "Read an invoice or a credit note",
        Permission.BILLING_READ,
        gives=InvoiceOut,
        files=(PDF, XML),
        errors=(STATE_CONFLICT, NOT_CONFIGURED),
    ),
)
async def get_invoice(request: Request, project: ProjectRef, number: Number, query: InvoiceFormat) -> Response:
    """Return a document as issued. The same release always renders a byte-identical PDF."""
    document, _ = await read_one(request, GET, project, number=number)
    return await in_format(request, query, document)


@routes.get(
    "/v1/billing/accounts/{account:ref}/invoices",
    **operation(
        "listAccountInvoices",
        "List an account's invoices and credit notes",
        Permission.ACCOUNT_READ,
        gives=InvoicePage,
    ),
)
async def list_account_invoices(request: Request, account: AccountId, query: InvoiceList) -> Response:
    """List all documents of the account, including lines of any project."""
    return await list_of_account(request, account, LIST_OF_ACCOUNT, query)


@routes.get(
    "/v1/billing/invoices/{number:invoice}",
    **operation(
        "getAccountInvoice",
        "Read any invoice or credit note",
        Permission.ACCOUNT_READ,
        gives=InvoiceOut,
        files=(PDF, XML),
        errors=(STATE_CONFLICT, NOT_CONFIGURED),
    ),
)
async def get_account_invoice(request: Request, number: Number, query: InvoiceFormat) -> Response:
    """Return a document as issued; to a payer, only those of its account."""
    caller = await principal(request)
    async with services_of(request).database.read() as connection:
        document = await document_of(connection, number, account_id=caller.account)
    if document is None:
        raise not_found()
    return await in_format(request, query, document)


@routes.post(
    "/v1/billing/invoices/{number:invoice}:credit-note",
    **operation(
        "issueCreditNote",
        "Credit an invoice",
        Permission.PLATFORM_WRITE,
        gives=InvoiceOut,
        status=201,
        description="Issued",
        errors=(STATE_CONFLICT, IDEMPOTENCY_KEY_REQUIRED),
    ),
)
async def issue_note(request: Request, number: Number, body: CreditNoteCreate) -> Response:
    """Credit an invoice or a part of it, at the invoice's tax rate. Credit notes never exceed the invoice.

    It reduces the amount due first; the rest is added to the wallet.
    """

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        note_number = await issue_credit_note(connection, number, net=body.net, reason=body.reason)
        note = await credit_note_id(connection, note_number)
        document = await credit_note_document_of(connection, note)
        return Answer(201, document, {"Location": f"/v1/billing/invoices/{note_number}"}, note)

    return await change_platform(request, effect, moves=_CREDITS)

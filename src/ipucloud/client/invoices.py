"""Calls for invoices and credit notes."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, given, segment
from ipucloud.client.models import Invoice, InvoiceRow, Page, ProofKey

DRAFT = "draft"


def list(
    *, kind: str | None = None, month: str | None = None, order: str | None = None, limit: int | None = None
) -> Call[Page[InvoiceRow]]:
    """Invoices and credit notes, newest first; `kind`: `invoice` or `credit_note`; `month`: such as `2026-05`."""
    query = {"kind": kind, "month": month, "order": order, "limit": limit}
    return request.get("billing/invoices", Page[InvoiceRow], query)


def get(number: str = DRAFT, *, month: str | None = None, platform: bool = False) -> Call[Invoice]:
    """An invoice or a credit note; without a number, the draft of an invoice. `platform`: of any account.

    `month`: of a draft, such as `2026-05`; by default the current one.
    """
    return request.get(f"billing/invoices/{segment(number)}", Invoice, {"month": month}, scoped=not platform)


def pdf(number: str = DRAFT, *, month: str | None = None, platform: bool = False) -> Call[bytes]:
    """The document as a PDF file; otherwise as `get`."""
    query = {"format": "pdf", "month": month}
    return request.get(f"billing/invoices/{segment(number)}", bytes, query, scoped=not platform)


def electronic(number: str, form: str, *, platform: bool = False) -> Call[bytes]:
    """The document as electronic invoice: `factur-x` is a PDF, `cii`, `ubl`, `xrechnung` and `peppol` are XML.

    `platform`: of any account.
    """
    return request.get(f"billing/invoices/{segment(number)}", bytes, {"format": form}, scoped=not platform)


def proof(number: str, *, platform: bool = False) -> Call[bytes]:
    """The file that proves an invoice without the service; `ipucloud.client.verify_bill` checks it.

    `platform`: of any account.
    """
    return request.get(f"billing/invoices/{segment(number)}/proof", bytes, scoped=not platform)


def proof_keys() -> Call[Page[ProofKey]]:
    """The public keys under which months are and were signed, newest first."""
    return request.get("billing/proof-keys", Page[ProofKey], scoped=False)


def create_credit_note(number: str, *, reason: str, net: str | None = None) -> Call[Invoice]:
    """Credit an invoice, or `net` of it without tax. Needs a platform token."""
    path = f"billing/invoices/{segment(number)}:credit-note"
    return request.post(path, Invoice, given(net=net, reason=reason), scoped=False)

"""Calls for billing documents: invoices, their issuer, tax rates, and deliveries of cost exports."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, nothing, place, segment, without_none
from ipucloud.client.models import ExportSchedule, Invoice, InvoiceRow, Page, ProofKey, Seller, TaxRate


class invoices:
    """Calls for invoices and credit notes."""

    DRAFT = "draft"

    @staticmethod
    def list(
        *, kind: str | None = None, month: str | None = None, order: str | None = None, limit: int | None = None
    ) -> Call[Page[InvoiceRow]]:
        """Invoices and credit notes, newest first; `kind`: `invoice` or `credit_note`; `month`: such as `2026-05`."""
        query = {"kind": kind, "month": month, "order": order, "limit": limit}
        return request.get("billing/invoices", Page[InvoiceRow], query)

    @staticmethod
    def get(number: str = DRAFT, *, month: str | None = None, platform: bool = False) -> Call[Invoice]:
        """An invoice or a credit note; without a number, the draft of an invoice. `platform`: of any account.

        `month`: of a draft, such as `2026-05`; by default the current one.
        """
        return request.get(f"billing/invoices/{segment(number)}", Invoice, {"month": month}, scoped=not platform)

    @staticmethod
    def pdf(number: str = DRAFT, *, month: str | None = None, platform: bool = False) -> Call[bytes]:
        """The document as a PDF file; otherwise as `get`."""
        query = {"format": "pdf", "month": month}
        return request.get(f"billing/invoices/{segment(number)}", bytes, query, scoped=not platform)

    @staticmethod
    def electronic(number: str, form: str, *, platform: bool = False) -> Call[bytes]:
        """The document as electronic invoice: `factur-x` is a PDF, `cii`, `ubl`, `xrechnung` and `peppol` are XML.

        `platform`: of any account.
        """
        return request.get(f"billing/invoices/{segment(number)}", bytes, {"format": form}, scoped=not platform)

    @staticmethod
    def proof(number: str, *, platform: bool = False) -> Call[bytes]:
        """The file that proves an invoice without the service; `ipucloud.client.verify_bill` checks it.

        `platform`: of any account.
        """
        return request.get(f"billing/invoices/{segment(number)}/proof", bytes, scoped=not platform)

    @staticmethod
    def proof_keys() -> Call[Page[ProofKey]]:
        """The public keys under which months are and were signed, newest first."""
        return request.get("billing/proof-keys", Page[ProofKey], scoped=False)

    @staticmethod
    def create_credit_note(number: str, *, reason: str, net: str | None = None) -> Call[Invoice]:
        """Credit an invoice, or `net` of it without tax. Needs a platform token."""
        path = f"billing/invoices/{segment(number)}:credit-note"
        return request.post(path, Invoice, without_none(net=net, reason=reason), scoped=False)


class seller:
    """Calls for the issuer of invoices; all need a platform token."""

    @staticmethod
    def get() -> Call[Seller]:
        """The issuer as printed on invoices from now on."""
        return request.get("billing/seller", Seller, scoped=False)

    @staticmethod
    def update(
        *,
        legal_name: str | None = None,
        address: str | None = None,
        country: str | None = None,
        tax_id: str | None = None,
        bank: str | None = None,
        e_invoice: Mapping[str, str] | None = None,
        if_match: str | None = None,
    ) -> Call[Seller]:
        """Change the given fields, for invoices from now on."""
        body = without_none(
            legal_name=legal_name, address=address, country=country, tax_id=tax_id, bank=bank, e_invoice=e_invoice
        )
        return request.patch("billing/seller", Seller, body, scoped=False, if_match=if_match)


class tax_rates:
    """Calls for tax rates; all need a platform token."""

    @staticmethod
    def list() -> Call[Page[TaxRate]]:
        """All past, current and future rates, by country."""
        return request.get("billing/tax-rates", Page[TaxRate], scoped=False)

    @staticmethod
    def create(
        country: str, rate: str, *, valid_from: date, source: str, name: str = "VAT", kind: str = "standard"
    ) -> Call[Page[TaxRate]]:
        """Add a rate (0.17 is 17 %), which replaces the one in force from `valid_from` on; answers all rates."""
        body = {
            "country": country,
            "rate": rate,
            "valid_from": valid_from,
            "source": source,
            "name": name,
            "kind": kind,
        }
        return request.post("billing/tax-rates", Page[TaxRate], body, scoped=False)


class export_schedules:
    """Calls for regular exports, of the project or of a billing account."""

    @staticmethod
    def list(
        *, every: str | None = None, dataset: str | None = None, order: str | None = None, account: Ref | None = None
    ) -> Call[Page[ExportSchedule]]:
        """All schedules, oldest first; `every`: only those that deliver each `hour`, `day` or `month`."""
        query = {"every": every, "dataset": dataset, "order": order}
        return request.get(_export_schedules_path(account), Page[ExportSchedule], query, scoped=account is None)

    @staticmethod
    def create(
        connection: Ref,
        *,
        every: str = "day",
        dataset: str | None = None,
        version: str | None = None,
        format: str | None = None,
        provisional: bool | None = None,
        account: Ref | None = None,
    ) -> Call[ExportSchedule]:
        """Deliver a file to a connection, by id, every `hour`, `day` or `month`."""
        body = without_none(
            connection=str(connection),
            every=every,
            dataset=dataset,
            version=version,
            format=format,
            provisional=provisional,
        )
        return request.post(_export_schedules_path(account), ExportSchedule, body, scoped=account is None)

    @staticmethod
    def delete(schedule: Ref, *, account: Ref | None = None) -> Call[None]:
        """Delete a schedule, by name or id."""
        return request.delete(f"{_export_schedules_path(account)}/{segment(schedule)}", nothing, scoped=account is None)


def _export_schedules_path(account: Ref | None) -> str:
    return "billing/export-schedules" if account is None else place("export-schedules", account)

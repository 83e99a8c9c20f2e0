"""Invoices, credit notes and drafts as files: PDF, electronic invoices, or both in one."""

from __future__ import annotations

import asyncio

from starlette.requests import Request

from ipucloud.api.services import services_of
from ipucloud.contract.invoices import InvoiceOut
from ipucloud.extras.e_invoices.e_invoice import MOST_PLACES, PROFILES, missing, undeliverable, write
from ipucloud.kernel.errors import STATE_CONFLICT, Problem
from ipucloud.kernel.money import places_of


async def written(request: Request, document: InvoiceOut, format_name: str) -> tuple[str, bytes]:
    """The file and its kind, `pdf` or `xml`. Raises `Problem` state_conflict if it cannot be in this format."""
    if format_name == "pdf":
        return "pdf", await _drawn(request, document)
    refuse_incomplete(document, format_name)
    xml = await asyncio.to_thread(write, document, PROFILES[format_name])
    return ("pdf", await _drawn(request, document, xml)) if format_name == "factur-x" else ("xml", xml)


async def _drawn(request: Request, document: InvoiceOut, xml: bytes | None = None) -> bytes:
    async with services_of(request).drawing.turn():
        return await asyncio.to_thread(_rendered, document, xml)


def _rendered(document: InvoiceOut, xml: bytes | None = None) -> bytes:
    """The PDF, with the electronic invoice in it if there is one."""
    from ipucloud.extras.e_invoices.pdf import render, render_with

    return render(document) if xml is None else render_with(document, xml)


def refuse_incomplete(document: InvoiceOut, format_name: str) -> None:
    """Raise `Problem` state_conflict for a document that lacks what the format needs."""
    if document.number is None:
        raise Problem(STATE_CONFLICT, "A draft is no invoice: its electronic invoice exists once it is issued.")
    if places_of(document.currency) > MOST_PLACES:
        raise Problem(
            STATE_CONFLICT,
            f"Electronic invoices have at most {MOST_PLACES} decimal places, and {document.currency} has more: use the"
            " PDF of this invoice.",
        )
    lacking = missing(document, PROFILES[format_name])
    if lacking:
        raise Problem(
            STATE_CONFLICT,
            f"{document.number} cannot be written as {format_name}: it was issued without {', '.join(lacking)}. Set"
            " them (`ipucloud seller update`, `ipucloud accounts update`) for invoices from now on; this one never"
            " changes.",
        )
    by_mail = undeliverable(document, PROFILES[format_name])
    if by_mail:
        raise Problem(
            STATE_CONFLICT,
            f"{document.number} cannot be written as {format_name}: Peppol delivers to no e-mail address, and this is"
            f" one in {', '.join(by_mail)}. Use `xrechnung`, or set a Peppol participant, such as 0088:4012345678901,"
            " for invoices from now on.",
        )

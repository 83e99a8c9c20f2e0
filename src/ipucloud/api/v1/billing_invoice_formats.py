"""Responses with invoices, credit notes and drafts: JSON, PDF or electronic invoices."""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import Field
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import tagged
from ipucloud.api.services import services_of
from ipucloud.billing.invoices.e_invoice import MOST_PLACES, PROFILES, missing, undeliverable, write
from ipucloud.contract.invoices import InvoiceFormat, InvoiceOut
from ipucloud.kernel.errors import STATE_CONFLICT, Problem
from ipucloud.kernel.money import places_of

PDF = "application/pdf"
XML = "application/xml"
ONE_VERSION = 1
"""For issued documents, which never change."""
Number = Annotated[str, Field(description="Number of the invoice or credit note.", examples=["INV-2026-000001"])]


class _Number(Convertor[str]):
    """A number in a path ends before the name of an action, as in `INV-2026-000001:credit-note`."""

    regex = "[^/:]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("invoice", _Number())


async def in_format(request: Request, query: InvoiceFormat, document: bytes) -> Response:
    """The document as JSON, PDF or electronic invoice. Raises `Problem` state_conflict if it cannot be the latter."""
    format_name = query.format
    if format_name == "pdf" or (format_name is None and PDF in request.headers.get("accept", "")):
        known = InvoiceOut.model_validate_json(document)
        return _file(known, "pdf", await _drawn(request, known))
    if format_name is None or format_name == "json":
        return tagged(request, document, ONE_VERSION)
    return await _electronic(request, InvoiceOut.model_validate_json(document), format_name)


async def _electronic(request: Request, document: InvoiceOut, format_name: str) -> Response:
    profile = PROFILES[format_name]
    refuse_incomplete(document, format_name)
    xml = await asyncio.to_thread(write, document, profile)
    if format_name != "factur-x":
        return _file(document, "xml", xml)
    return _file(document, "pdf", await _drawn(request, document, xml))


async def _drawn(request: Request, document: InvoiceOut, xml: bytes | None = None) -> bytes:
    async with services_of(request).drawing.turn():
        return await asyncio.to_thread(_rendered, document, xml)


def _rendered(document: InvoiceOut, xml: bytes | None = None) -> bytes:
    """The PDF, with the electronic invoice in it if there is one."""
    from ipucloud.billing.invoices.pdf import render, render_with

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


def _file(document: InvoiceOut, kind: str, content: bytes) -> Response:
    headers = {"Content-Disposition": f'inline; filename="{document.number or "draft"}.{kind}"'}
    return Response(content, 200, headers, PDF if kind == "pdf" else XML)

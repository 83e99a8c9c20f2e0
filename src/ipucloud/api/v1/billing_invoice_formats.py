"""Responses with invoices, credit notes and drafts: JSON, or what the part for electronic invoices makes of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import tagged
from ipucloud.contract.invoices import InvoiceFormat, InvoiceOut
from ipucloud.kernel.errors import NOT_CONFIGURED, Problem
from ipucloud.parts import E_INVOICES

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
    """The document as JSON, PDF or electronic invoice.

    Raises `Problem`: state_conflict if it cannot be the latter, not_configured if nothing here makes these.
    """
    name = query.format or ("pdf" if PDF in request.headers.get("accept", "") else "json")
    if name == "json":
        return tagged(request, document, ONE_VERSION)
    if not E_INVOICES.installed:
        raise Problem(NOT_CONFIGURED, f"{E_INVOICES.absence} Until then, ask for the format json.")
    known = InvoiceOut.model_validate_json(document)
    kind, content = await E_INVOICES.load("formats:written")(request, known, name)
    headers = {"Content-Disposition": f'inline; filename="{known.number or "draft"}.{kind}"'}
    return Response(content, 200, headers, PDF if kind == "pdf" else XML)

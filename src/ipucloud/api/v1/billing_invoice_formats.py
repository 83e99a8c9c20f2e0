"""Responses with invoices, credit notes and drafts: JSON or PDF."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Path
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import tagged
from ipucloud.billing.invoices.pdf import render
from ipucloud.contract.invoices import InvoiceFormat, InvoiceOut

PDF = "application/pdf"
ONE_VERSION = 1
"""For issued documents, which never change."""
Number = Annotated[str, Path(description="Number of the invoice or credit note.", examples=["INV-2026-000001"])]


class _Number(Convertor[str]):
    """A number in a path ends before the name of an action, as in `INV-2026-000001:credit-note`."""

    regex = "[^/:]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("invoice", _Number())


async def in_format(request: Request, query: InvoiceFormat, document: bytes) -> Response:
    """The document as JSON or PDF."""
    if query.format == "pdf" or (query.format is None and PDF in request.headers.get("accept", "")):
        known = InvoiceOut.model_validate_json(document)
        name = known.number or "draft"
        headers = {"Content-Disposition": f'inline; filename="{name}.pdf"'}
        return Response(await asyncio.to_thread(render, known), 200, headers, PDF)
    return tagged(request, document, ONE_VERSION)

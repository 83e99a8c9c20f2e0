"""Factur-X (ZUGFeRD): a PDF/A-3 for people that contains the invoice's XML for programs."""

from __future__ import annotations

from datetime import date

from facturx import generate_xmp_object
from fpdf import FPDF
from lxml import etree

PDF_A = "PDF/A-3B"
FILE_NAME = "factur-x.xml"
_PRODUCER = "ipucloud"


def embed_invoice(sheet: FPDF, xml: bytes, *, author: str, day: date) -> None:
    """Put the XML into a document that complies with `PDF_A`, and say so in its metadata as Factur-X 1.0 wants it."""
    subject = "Factur-X invoice"
    sheet.set_author(author)
    sheet.set_subject(subject)
    sheet.set_creator(_PRODUCER)
    sheet.embed_file(
        bytes=xml,
        basename=FILE_NAME,
        desc="The invoice as XML",
        mime_type="text/xml",
        associated_file_relationship="DATA",
        modification_date=sheet.creation_date,
        compress=True,
    )
    metadata = {
        "pdfa3_flavor": "B",
        "title": sheet.title,
        "author": author,
        "subject": subject,
        "producer": _PRODUCER,
        "creator_tool": _PRODUCER,
        "timestamp": f"{day}T00:00:00+00:00",
        "version": "1.0",
        "documenttype": "INVOICE",
        "xml_filename": FILE_NAME,
        "xmp_level": "EN 16931",
        "urn": "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#",
    }
    sheet.set_xmp_metadata(etree.tostring(generate_xmp_object(metadata), encoding="unicode"))

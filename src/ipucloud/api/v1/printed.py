"""What is printed on invoices is refused when it is entered, if the font lacks its letters."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from ipucloud.api.problems import invalid
from ipucloud.billing.invoices.fonts import can_print
from ipucloud.kernel.errors import FieldError

_WHY = (
    "Invoices are printed in Latin, Greek, Cyrillic, Arabic and Hebrew letters, and in Chinese, Japanese and Korean:"
    " transcribe this."
)


def refuse_unprintable(body: BaseModel, *, but: str | None = None) -> None:
    """Raise `Problem` validation_failed for the fields that cannot be printed; `but` is one that never is."""
    given = body.model_dump(exclude_none=True, exclude={but} if but else None)
    faults = [FieldError(path, "not_printable", _WHY) for path, text in _texts("", given) if not can_print(text)]
    if faults:
        raise invalid(faults)


def _texts(path: str, value: object) -> Iterator[tuple[str, str]]:
    """Every text of a document, with its JSON pointer."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts(f"{path}/{name}", each)

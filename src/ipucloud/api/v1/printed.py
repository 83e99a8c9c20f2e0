"""What is printed on invoices is refused when it is entered, if the font lacks its letters."""

from __future__ import annotations

from pydantic import BaseModel

from ipucloud.api.problems import invalid
from ipucloud.billing.invoices.sheet import can_print
from ipucloud.kernel.errors import FieldError

_WHY = "Invoices are printed in Latin, Greek and Cyrillic letters: transcribe this."


def refuse_unprintable(body: BaseModel, *, but: str | None = None) -> None:
    """Raise `Problem` validation_failed for the fields that cannot be printed; `but` is one that never is."""
    given = body.model_dump(exclude_none=True, exclude={but} if but else None).items()
    faults = [
        FieldError(f"/{name}", "not_printable", _WHY)
        for name, text in given
        if isinstance(text, str) and not can_print(text)
    ]
    if faults:
        raise invalid(faults)

"""What requests about money share: the payer's currency, and what invoices cannot say."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from pydantic import BaseModel
from starlette.requests import Request

from ipucloud.api.problems import invalid
from ipucloud.api.services import services_of
from ipucloud.billing.accounts import store
from ipucloud.billing.invoices.electronic_addresses import SCHEMES
from ipucloud.contract.e_invoices import EInvoiceParty
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import FieldError
from ipucloud.parts import E_INVOICES


async def payer_of(request: Request, connection: Statements, project_id: UUID) -> store.Paying:
    """The account that pays for the project now."""
    return await store.paying(connection, project_id, default=services_of(request).settings.currency)


async def currency_of(request: Request, connection: Statements, account_id: UUID) -> str:
    """The account's currency. Raises `Problem` not_found."""
    return await store.currency_of(connection, account_id, default=services_of(request).settings.currency)


_WHY = (
    "Invoices are printed in Latin, Greek, Cyrillic, Arabic and Hebrew letters, and in Chinese, Japanese and Korean:"
    " transcribe this."
)


def refuse_unprintable(body: BaseModel, *, but: str | None = None) -> None:
    """Raise `Problem` validation_failed for the fields that cannot be printed; `but` is one that never is."""
    fields = body.model_dump(exclude_none=True, exclude={but} if but else None)
    faults = [FieldError(path, "not_printable", _WHY) for path, text in _texts("", fields) if not _can_be_printed(text)]
    if faults:
        raise invalid(faults)


def refuse_unknown_scheme(party: EInvoiceParty | None) -> None:
    """Raise `Problem` validation_failed if an electronic address has a scheme that invoices cannot name."""
    scheme, separator, _ = ((party and party.electronic_address) or "").partition(":")
    if separator and scheme not in SCHEMES:
        why = (
            f"{scheme} is not in the Electronic Address Scheme list: use the scheme of your number, such as 0088 for a"
            " GLN, or EM for an e-mail address."
        )
        raise invalid([FieldError("/e_invoice/electronic_address", "unknown_scheme", why)])


def _can_be_printed(text: str) -> bool:
    """Without the fonts where these are not needed: they have all of ASCII, and nothing is printed without them."""
    if (text.isascii() and text.replace("\n", "").isprintable()) or not E_INVOICES.installed:
        return True
    return bool(E_INVOICES.load("fonts:can_print")(text))


def _texts(path: str, value: object) -> Iterator[tuple[str, str]]:
    """Every text of a document, with its JSON pointer."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(f"{path}/{name}", item)

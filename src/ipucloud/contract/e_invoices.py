"""What electronic invoices (EN 16931) say of the parties beside what is printed. BT-… are the standard's terms."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from ipucloud.contract.fields import Body, Line

_LETTERS = {letter: str(number) for number, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ", start=10)}


def _iban(value: str) -> str:
    """ISO 13616: moved and spelled in digits, the number leaves 1 when divided by 97."""
    if int("".join(_LETTERS.get(each, each) for each in value[4:] + value[:4])) % 97 != 1:
        raise PydanticCustomError("not_an_iban", "The check digits of the IBAN are wrong: compare it with your bank's")
    return value


Iban = Annotated[str, Field(pattern=r"^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$"), AfterValidator(_iban)]


class EInvoiceParty(Body):
    """A party. In a change, omitted members stay unchanged."""

    registration_number: Line | None = Field(
        None, description="Number in the register of companies (BT-30, BT-47).", examples=["B123456"]
    )
    city: Line | None = Field(None, description="City of the address (BT-37, BT-52).", examples=["Luxembourg"])
    postcode: Annotated[str, Field(min_length=1, max_length=20, pattern=r"^[!-~ ]+$")] | None = Field(
        None, description="Post code of the address (BT-38, BT-53).", examples=["L-1234"]
    )
    electronic_address: Annotated[str, Field(pattern=r"^[A-Z0-9]{2,4}:[!-~]{1,120}$")] | None = Field(
        None,
        description="Where it receives e-invoices: scheme of the Electronic Address Scheme list, a colon, and the"
        " address (BT-34, BT-49). `EM` is e-mail, which Peppol does not deliver to.",
        examples=["0088:4012345678901"],
    )


class EInvoiceSeller(EInvoiceParty):
    """The seller, in electronic invoices."""

    contact_name: Line | None = Field(None, description="Person or department to ask (BT-41).", examples=["Billing"])
    contact_phone: Annotated[str, Field(pattern=r"^[0-9+()/. -]{3,40}$")] | None = Field(
        None, description="Telephone number of the contact (BT-42).", examples=["+352 123456"]
    )
    contact_email: Annotated[str, Field(max_length=200, pattern=r"^[^@\s<>]+@[^@\s<>]+$")] | None = Field(
        None, description="E-mail address of the contact (BT-43).", examples=["billing@example.com"]
    )
    iban: Iban | None = Field(None, description="Account to pay to (BT-84).", examples=["LU280019400644750000"])
    bic: Annotated[str, Field(pattern=r"^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$")] | None = Field(
        None, description="BIC of its bank (BT-86).", examples=["BCEELULL"]
    )


class EInvoiceBuyer(EInvoiceParty):
    """The customer, in electronic invoices."""

    buyer_reference: Line | None = Field(
        None,
        description="Reference that the customer routes invoices by, such as a German Leitweg-ID (BT-10).",
        examples=["04011000-12345-34"],
    )
    purchase_order: Line | None = Field(
        None, description="Number of the customer's purchase order (BT-13).", examples=["PO-2026-118"]
    )

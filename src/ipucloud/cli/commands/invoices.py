"""`ipucloud billing invoices`, `invoice`, `balance`, `top-up`, `credits`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.cli.output import writable, write
from ipucloud.cli.session import Session, customer_command, run_for_payers
from ipucloud.cli.values import Amount, fields, per_unit
from ipucloud.client import billing, invoices, verify_bill
from ipucloud.client.errors import UsageError
from ipucloud.client.models import Balance, Money

app = typer.Typer()


class EInvoice(StrEnum):
    """Formats of electronic invoices, as the API spells them."""

    FACTUR_X = "factur-x"
    CII = "cii"
    UBL = "ubl"
    XRECHNUNG = "xrechnung"
    PEPPOL = "peppol"


_LINE_COLUMNS = (
    *("LINE", "PROJECT", "SKU", "REGION", "SINCE", "UNTIL", "CORRECTS"),
    *("MACHINE MINUTES", "CREDITED", "PRICE", "TAX RATE", "AMOUNT"),
)


@customer_command(app, "invoices", "", "--month 2026-05", "--kind credit_note", lists=True)
def list_invoices(
    session: Session,
    *,
    kind: Annotated[str | None, typer.Option(help="invoice or credit_note: only these.")] = None,
    month: Annotated[str | None, typer.Option(help="Only those of this billing month, such as 2026-05.")] = None,
) -> None:
    """List invoices and credit notes, newest first."""
    session.list(
        invoices.list(kind=kind, month=month),
        ("NUMBER", "MONTH", "ISSUED", "DUE", "TOTAL", "OUTSTANDING", "CREDITS INVOICE"),
        lambda each: (
            each.number,
            each.month,
            f"{each.issued_at:%Y-%m-%d}",
            each.due_on,
            each.total,
            each.outstanding,
            each.invoice,
        ),
        drop=("ABOUT", "ISSUED", "DUE"),
    )


@customer_command(app, "invoice", "", "INV-2026-000001 --pdf invoice.pdf", "draft --month 2026-04")
def show_invoice(
    session: Session,
    number: Annotated[str, typer.Argument(help="Number of an invoice or a credit note, or draft.")] = invoices.DRAFT,
    pdf: Annotated[Path | None, typer.Option(callback=writable, help="Write the document to this file as PDF.")] = None,
    month: Annotated[
        str | None, typer.Option(help="Month of a draft, such as 2026-05, until its invoices are issued.")
    ] = None,
) -> None:
    """Show an invoice or a credit note, or the draft of an invoice. Payers name one of their account."""
    if month is not None and number != invoices.DRAFT:
        raise UsageError("--month is for drafts: an invoice has its month.")
    if pdf is not None:
        document = invoices.pdf(number, month=month)
        write(pdf, run_for_payers(session, document, lambda: invoices.pdf(_issued(number), platform=True)))
        session.done("written", pdf)
        return
    call = invoices.get(number, month=month)
    invoice = run_for_payers(session, call, lambda: invoices.get(_issued(number), platform=True))
    if session.as_json:
        session.show(invoice, ())
        return
    session.show_items(
        invoice.lines or (),
        _LINE_COLUMNS,
        lambda line: (
            line.line,
            line.project,
            line.sku,
            line.region,
            line.since or line.usage_month,
            line.until,
            line.corrects,
            line.machine_minutes,
            line.credited_machine_minutes or None,
            per_unit(line.unit_price),
            line.tax_rate,
            line.amount,
        ),
        drop=("LINE", "REGION", "TAX RATE", "UNTIL", "PRICE", "PROJECT", "CREDITED", "SINCE", "CORRECTS"),
    )
    sums = {
        "subtotal": invoice.subtotal,
        "promotional credit": invoice.promo_applied,
        "tax": invoice.tax,
        "total": invoice.total,
        "paid from wallet": invoice.wallet_applied,
        "due when issued": invoice.due,
    }
    facts: list[tuple[str, object]] = [("number", invoice.number or "draft"), ("issued on", invoice.issued_on)]
    if invoice.kind == "credit_note":
        facts += [("corrects", each.number) for each in invoice.corrects or ()]
        facts += [("reason", invoice.reason), ("added to wallet", invoice.to_wallet)]
        facts += [("wallet paid", f"{each.amount} of {each.number}") for each in invoice.settled or ()]
    else:
        facts.append(("due on", invoice.due_on or ""))
    shown = [(name, amount) for name, amount in sums.items() if amount is not None]
    session.show(invoice, [*facts, *shown, *(("note", note) for note in invoice.notes)])


def _issued(number: str) -> str:
    """A number that a token without a project can ask for."""
    if number == invoices.DRAFT:
        raise UsageError("A draft is of a project. Name an invoice; `ipucloud spend` shows the present month.")
    return number


@customer_command(app, "e-invoice", "INV-2026-000001 factur-x invoice.pdf", "CN-2026-000001 ubl note.xml")
def e_invoice(
    session: Session,
    number: Annotated[str, typer.Argument(help="Number of an invoice or a credit note.")],
    form: Annotated[EInvoice, typer.Argument(metavar="FORMAT", help="factur-x, cii, ubl, xrechnung or peppol.")],
    output: Annotated[Path, typer.Argument(callback=writable, help="Where to save the file.")],
) -> None:
    """Save an invoice or a credit note as electronic invoice (EN 16931)."""
    of_account = invoices.electronic(number, form, platform=True)
    write(output, run_for_payers(session, invoices.electronic(number, form), lambda: of_account))
    session.done("written", output)


@customer_command(app, "proof", "INV-2026-000001 may.proof")
def proof(
    session: Session,
    number: Annotated[str, typer.Argument(help="Number of an invoice.")],
    output: Annotated[Path, typer.Argument(callback=writable, help="Where to save the file.")],
) -> None:
    """Save the file that proves an invoice without the service: what was used, at which prices, signed."""
    write(output, run_for_payers(session, invoices.proof(number), lambda: invoices.proof(number, platform=True)))
    session.done("written", output)


@customer_command(app, "proof-keys", lists=True)
def proof_keys(session: Session) -> None:
    """List the public keys under which months are and were signed."""
    session.list(
        invoices.proof_keys(),
        ("PUBLIC KEY", "FIRST MONTH", "LAST MONTH", "CURRENT"),
        lambda key: (key.public_key, key.first_month, key.last_month, key.current),
    )


@customer_command(app, "verify", "may.proof", "may.proof --key PUBLIC-KEY")
def verify(
    session: Session,
    file: Annotated[Path, typer.Argument(help="File of an invoice's proof.")],
    key: Annotated[str | None, typer.Option(help="Public key that must have signed it.")] = None,
) -> None:
    """Prove that an invoice follows from usage and prices, and that nothing was changed. Asks no service."""
    try:
        proven = verify_bill.verify(file.read_bytes(), key)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None
    except verify_bill.NotProven as error:
        raise UsageError(f"Not proven. {error}") from None
    facts = proven._asdict() | {"keys": ", ".join(proven.keys)}
    session.show(facts, list(facts.items()))
    if key is None:
        session.note(
            "Whose key this is, the file cannot say: compare it with `ipucloud billing proof-keys` or a published one."
        )


@customer_command(app, "balance")
def balance(session: Session) -> None:
    """Show the balances of the account that pays for the project."""
    balances = session.run(billing.balance())
    session.show(balances, [("account", balances.account_id), *balances_of(balances.items)])


def balances_of(items: Sequence[Balance]) -> list[tuple[str, object]]:
    """The balances of an account, as facts."""
    names = ("unbilled", "outstanding", "wallet", "credit")
    return [(name, getattr(each, name)) for each in items for name in names]


@customer_command(app, "top-up", "500.00")
def top_up(session: Session, amount: Amount) -> None:
    """Announce a wallet payment. It is credited when the money arrives with the reference shown."""
    money = Money(amount=amount, currency=session.run(billing.account()).currency)
    payment = session.run(billing.top_up(money))
    session.show(payment, fields(payment, "reference", "amount", "state"))


@customer_command(app, "credits", lists=True)
def list_credits(session: Session) -> None:
    """List promotional credits in order of expiry."""
    session.list(
        billing.credits(),
        ("REMAINING", "GRANTED", "EXPIRES", "REASON"),
        lambda each: (each.remaining, each.amount, each.expires_at, each.reason),
        wrap="REASON",
    )

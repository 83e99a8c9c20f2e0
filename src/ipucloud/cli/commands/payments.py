"""`ipucloud payments` and `credits`."""

from __future__ import annotations

from decimal import Decimal
from operator import attrgetter
from typing import Annotated

import typer

from ipucloud.cli.commands.accounts import Account
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import ExpiresAt
from ipucloud.cli.values import Amount, decimal, fields
from ipucloud.client import accounts
from ipucloud.client.errors import UsageError
from ipucloud.client.models import Money, Payment

app = typer.Typer(no_args_is_help=True)

Reference = Annotated[
    str, typer.Option(help="Reference on the bank statement; repeated, it is the same payment, recorded once.")
]


@customer_command(app, "list", "research", "research --state pending")
def list_payments(
    session: Session,
    account: Account,
    *,
    direction: Annotated[str | None, typer.Option(help="in: only payments; out: only refunds.")] = None,
    state: Annotated[str | None, typer.Option(help="Only those in this state: pending, done or failed.")] = None,
) -> None:
    """List an account's payments and refunds, newest first. For payers and operators."""
    session.list(
        accounts.payments(account, direction=direction, state=state),
        ("CREATED", "DIRECTION", "AMOUNT", "STATE", "INVOICE", "REFERENCE", "ID"),
        attrgetter("created_at", "direction", "amount", "state", "invoice", "reference", "id"),
    )


@customer_command(app, "create", "research 1170.00 --reference TX-2026-0815 --invoice INV-2026-000001")
def record(
    session: Session,
    account: Account,
    amount: Amount,
    *,
    reference: Reference,
    invoice: Annotated[str | None, typer.Option(help="Invoice that it pays; default: add to the wallet.")] = None,
) -> None:
    """Record a received payment, in the account's currency. Needs a platform token."""
    paid = Money(amount=amount, currency=session.run(accounts.get(account)).currency)
    _show(session, session.run(accounts.record_payment(account, paid, reference=reference, invoice=invoice)))


@customer_command(app, "fail", 'research 018f6a1e-7c00-7000-8000-000000000070 --reason "card expired"')
def fail(
    session: Session,
    account: Account,
    payment: Annotated[str, typer.Argument(help="Id of the payment.")],
    *,
    reason: Annotated[str, typer.Option(help="Why it will not come.")],
) -> None:
    """Record that an expected payment, such as a top-up, will not come. Needs a platform token."""
    _show(session, session.run(accounts.fail_payment(account, payment, reason=reason)))


@customer_command(app, "refund", "research 50.00 --reference TX-2026-0816")
def refund(session: Session, account: Account, amount: Amount, *, reference: Reference) -> None:
    """Record money paid back from the account's wallet. Needs a platform token."""
    paid = Money(amount=amount, currency=session.run(accounts.get(account)).currency)
    _show(session, session.run(accounts.record_refund(account, paid, reference=reference)))


@customer_command(
    app,
    "reverse",
    "research 018f6a1e-7c00-7000-8000-000000000070 --reference du_1PqR8sKZ2eXw4Yd0",
    "research 018f6a1e-7c00-7000-8000-000000000070 --reference re_3PqR8sKZ2eXw4Yd0 --amount 50.00",
)
def reverse(
    session: Session,
    account: Account,
    payment: Annotated[str, typer.Argument(help="Id of the payment.")],
    *,
    reference: Annotated[str, typer.Option(help="Id of the refund or dispute; repeated, it is reversed once.")],
    amount: Annotated[
        Decimal | None,
        typer.Option(
            parser=decimal,
            metavar="AMOUNT",
            help="What was taken back. Default: what the payment provider has reported.",
        ),
    ] = None,
) -> None:
    """Take a payment that was refunded or disputed out of the wallet again. Needs a platform token."""
    paid = None if amount is None else Money(amount=amount, currency=session.run(accounts.get(account)).currency)
    _show(session, session.run(accounts.reverse_payment(account, payment, reference=reference, amount=paid)))


def _show(session: Session, payment: Payment) -> None:
    names = (
        "id",
        "direction",
        "amount",
        "state",
        "failure",
        "automatic",
        "reference",
        "invoice",
        "reverses",
        "to_wallet",
    )
    session.show(payment, fields(payment, *names, "created_at", "finished_at"))


credits_app = typer.Typer(no_args_is_help=True)


@customer_command(credits_app, "list", "research")
def list_credits(session: Session, account: Account) -> None:
    """List an account's promotional credits in order of expiry. For payers and operators."""
    session.list(
        accounts.credits(account),
        ("REMAINING", "GRANTED", "EXPIRES", "REASON", "ID"),
        lambda each: (each.remaining, each.amount, each.expires_at, each.reason, each.id),
    )


@customer_command(credits_app, "create", 'research 100.00 --reason "welcome" --expires-at 90d')
def grant(
    session: Session,
    account: Account,
    amount: Amount,
    *,
    reason: Annotated[str, typer.Option(help="Why it is granted, as shown to the customer.")],
    expires_at: ExpiresAt = None,
) -> None:
    """Grant promotional credit, in the account's currency. Needs a platform token."""
    if expires_at is None:
        raise UsageError("Give the credit's expiry, such as --expires-at 90d.")
    money = Money(amount=amount, currency=session.run(accounts.get(account)).currency)
    credit = session.run(accounts.grant_credit(account, money, reason=reason, expires_at=expires_at))
    session.show(credit, fields(credit, "id", "amount", "reason", "expires_at"))

"""`ipucloud credits`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.commands.accounts import Account
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import ExpiresAt
from ipucloud.cli.values import Amount, fields
from ipucloud.client import accounts
from ipucloud.client.errors import UsageError
from ipucloud.client.models import Money

app = typer.Typer(no_args_is_help=True)


@customer_command(app, "list", "research")
def list_credits(session: Session, account: Account) -> None:
    """List an account's promotional credits in order of expiry. For payers and operators."""
    session.list(
        accounts.credits(account),
        ("REMAINING", "GRANTED", "EXPIRES", "REASON", "ID"),
        lambda each: (each.remaining, each.amount, each.expires_at, each.reason, each.id),
    )


@customer_command(app, "create", 'research 100.00 --reason "welcome" --expires-at 90d')
def create(
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
    made = session.run(accounts.grant_credit(account, money, reason=reason, expires_at=expires_at))
    session.show(made, fields(made, "id", "amount", "reason", "expires_at"))

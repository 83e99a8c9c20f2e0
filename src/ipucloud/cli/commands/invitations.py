"""`ipucloud invitations`."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated

import typer

from ipucloud.cli.commands.members import OfAccount, show_link
from ipucloud.cli.finding import find, invitation_kind
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import Order, Sorted
from ipucloud.client import invitations

app = typer.Typer(no_args_is_help=True)

_Invitation = Annotated[
    str, typer.Argument(metavar="EMAIL", help="E-mail of the invited person, or id of the invitation.")
]


@customer_command(app, "list", "", "--open")
def list_invitations(
    session: Session,
    *,
    only_open: Annotated[bool, typer.Option("--open", help="Only those that can be accepted now.")] = False,
    account: OfAccount = None,
    order: Sorted = Order.NEWEST_FIRST,
) -> None:
    """List the invitations, without their links."""
    session.list(
        invitations.list(open=only_open or None, account=account, order=order),
        ("EMAIL", "ROLE", "STATE", "EMAILED", "INVITED BY", "CREATED", "EXPIRES", "ID"),
        attrgetter("email", "role", "state", "emailed", "invited_by", "created_at", "expires_at", "id"),
        drop=("ID", "CREATED", "INVITED BY", "EMAILED"),
    )


@customer_command(app, "renew", "ann@example.com")
def renew(session: Session, invitation: _Invitation, *, account: OfAccount = None) -> None:
    """Make another link for an open or expired invitation; the former one ends."""
    target = find(session.client, invitation_kind(account), invitation)
    show_link(session, session.run(invitations.renew(target.id, account=account)))


@customer_command(app, "revoke", "ann@example.com")
def revoke(session: Session, invitation: _Invitation, *, account: OfAccount = None) -> None:
    """Revoke an invitation: its link stops working immediately."""
    target = find(session.client, invitation_kind(account), invitation)
    session.run(invitations.delete(target.id, account=account))
    session.show(target, [("revoked", target.email), ("id", target.id)])

"""`ipucloud members`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.cluster_options import AllowFrom
from ipucloud.cli.completion import names
from ipucloud.cli.finding import ACCOUNT, find, member_kind
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import Order, Sorted
from ipucloud.client import invitations, members
from ipucloud.client.errors import UsageError
from ipucloud.client.models import NewInvitation

app = typer.Typer(no_args_is_help=True)

OfAccount = Annotated[
    str | None,
    typer.Option(
        "--account",
        help="Payers of this billing account, not members of the project; for administrators.",
        autocompletion=names(ACCOUNT),
    ),
]
Email = Annotated[str, typer.Argument(help="E-mail of the person.")]
_Member = Annotated[str, typer.Argument(metavar="EMAIL", help="E-mail of the member, or id of the membership.")]
_ROLES = "viewer, operator, billing or owner"


@customer_command(app, "list", "", "--account research", "--role owner", "--email ann@")
def list_members(
    session: Session,
    *,
    role: Annotated[str | None, typer.Option(help=f"Only members of a project with this role: {_ROLES}.")] = None,
    email: Annotated[str | None, typer.Option(help="Only people with this in their e-mail.")] = None,
    account: OfAccount = None,
    order: Sorted = Order.NEWEST_FIRST,
) -> None:
    """List the people who are members."""
    session.list(
        members.list(role=role, email=email, account=account, order=order),
        ("EMAIL", "ROLE", "VERIFIED", "SINCE", "LAST SEEN", "ID"),
        lambda each: (each.email, each.role, each.verified, each.since, each.last_seen_at, each.id),
        drop=("ID", "SINCE"),
    )


@customer_command(app, "invite", "ann@example.com --role operator", "pay@example.com --account research")
def invite(
    session: Session,
    email: Email,
    *,
    role: Annotated[str | None, typer.Option(help=f"{_ROLES}.", show_default="operator")] = None,
    account: OfAccount = None,
) -> None:
    """Invite a person: they get a link by e-mail; where the service sends none, it is printed, once."""
    if account is not None and role is not None:
        raise UsageError("Members of a billing account have the role payer: omit --role.")
    role = None if account is not None else role or "operator"
    show_link(session, session.run(invitations.create(email, role, account=account)))


@customer_command(app, "set-role", "ann@example.com owner")
def set_role(
    session: Session, member: _Member, role: Annotated[str, typer.Argument(help=f"The new role: {_ROLES}.")]
) -> None:
    """Give a member another role, at once also where they are signed in."""
    target = find(session.client, member_kind(None), member)
    changed = session.run(members.set_role(target.id, role))
    session.show(changed, [("email", changed.email), ("role", changed.role), ("id", changed.id)])


@customer_command(app, "limit", "ann@example.com --allow-from 203.0.113.0/24", "ann@example.com --from-everywhere")
def limit(
    session: Session,
    member: _Member,
    *,
    allow_from: AllowFrom = None,
    from_everywhere: Annotated[bool, typer.Option("--from-everywhere", help="Lift the limit.")] = False,
) -> None:
    """Accept a member's sessions in the panel and logins of the command line from these networks only, at once."""
    if bool(allow_from) == from_everywhere:
        raise UsageError("Give either --allow-from or --from-everywhere.")
    target = find(session.client, member_kind(None), member)
    changed = session.run(members.limit(target.id, allow_from or ()))
    allowed = list(changed.allowed_sources) or "everywhere"
    session.show(changed, [("email", changed.email), ("allowed from", allowed), ("id", changed.id)])


@customer_command(app, "remove", "ann@example.com")
def remove(session: Session, member: _Member, *, account: OfAccount = None) -> None:
    """Remove a member: their sessions and tokens here end immediately, but not service tokens that they created."""
    target = find(session.client, member_kind(account), member)
    session.run(members.delete(target.id, account=account))
    session.show(target, [("removed", target.email), ("id", target.id)])


def show_link(session: Session, invitation: NewInvitation) -> None:
    """The link of an invitation, which is shown only once, or that it was sent to the person."""
    if invitation.emailed:
        link: tuple[str, object] = ("emailed to", invitation.email)
        advice = "The link was sent to the person, and is shown to nobody else."
    else:
        link = ("link", invitation.url)
        advice = "Send the link to the person. It is not shown again."
        if invitation.url is None:
            session.note(f"The link was lost in transit. Make another: ipucloud invitations renew {invitation.email}")
    known = [
        ("email", invitation.email),
        ("role", invitation.role),
        ("expires", invitation.expires_at),
        ("id", invitation.id),
    ]
    session.show(invitation, [link, *known, ("", advice)])

"""`ipucloud tokens`."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import AllowFrom
from ipucloud.cli.completion import names
from ipucloud.cli.finding import ACCOUNT, CLUSTER, TOKEN, only
from ipucloud.cli.running import cost
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import ExpiresAt
from ipucloud.cli.values import Order, Sorted
from ipucloud.client import accounts, tokens
from ipucloud.client.errors import UsageError
from ipucloud.client.models import Money, NewToken, Token

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Name or id of the token.", autocompletion=names(TOKEN))]
MaxCost = Annotated[
    str | None,
    typer.Option(metavar="20EUR", help="What the clusters that it begins may cost together; for the role operator."),
]
Scopes = Annotated[
    list[str] | None,
    typer.Option(
        "--scope",
        metavar="SCOPE",
        help="A scope of the role that it has, such as cluster:read; repeat for more.",
        show_default="all that the role has",
    ),
]
Clusters = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster",
        metavar="CLUSTER",
        help="A cluster that it is limited to, whatever its role; repeat for more.",
        show_default="all of the project",
        autocompletion=names(CLUSTER),
    ),
]
Platform = Annotated[
    bool,
    typer.Option("--platform", help="Those of the platform and of accounts, not the project's; for administrators."),
]


@customer_command(
    app,
    "create",
    "ci --role operator --expires-at 30d",
    "assistant --max-cost 20EUR",
    "desk --platform --role support",
    "finance --account research",
    "status --role viewer --scope cluster:read --scope catalogue:read",
    "nightly --cluster bert",
    "deploy --allow-from 203.0.113.0/24 --allow-from 2001:db8:42::7",
)
def create(
    session: Session,
    name: Annotated[str, typer.Argument(help="Name of the token.")],
    *,
    role: Annotated[
        str | None,
        typer.Option(
            help="viewer, operator, billing or owner; with --platform: admin or support.",
            show_default="operator; with --platform: support",
        ),
    ] = None,
    expires_at: ExpiresAt = None,
    platform: Platform = False,
    service: Annotated[
        bool, typer.Option("--service", help="Nobody's: it stays when you are no longer a member of the project.")
    ] = False,
    max_cost: MaxCost = None,
    scopes: Scopes = None,
    allow_from: AllowFrom = None,
    clusters: Clusters = None,
    account: Annotated[
        str | None,
        typer.Option(
            help="A payer's token, for this billing account; for administrators.", autocompletion=names(ACCOUNT)
        ),
    ] = None,
) -> None:
    """Create a token, with all that its role may do or with less. Its secret is shown only once."""
    scopes, allow_from, clusters = scopes or None, allow_from or None, clusters or None
    if clusters is not None and (platform or account is not None):
        raise UsageError("Only a project's token is limited to clusters: omit --cluster, or --platform and --account.")
    if account is not None:
        if role not in {None, "payer"}:
            raise UsageError("A token with --account has the role payer: omit --role.")
        payer = str(session.run(accounts.get(account)).id)
        call = tokens.create_for_account(name, payer, expires_at=expires_at, scopes=scopes, allowed_sources=allow_from)
        _show_once(session, session.run(call))
        return
    if max_cost is not None and platform:
        raise UsageError("Only a project's token has a cost limit: omit --platform or --max-cost.")
    limit = None
    if max_cost is not None:
        amount, currency = cost(max_cost)
        limit = Money(amount=Decimal(amount), currency=currency)
    role = role or ("support" if platform else "operator")
    call = tokens.create(
        name,
        role,
        expires_at=expires_at,
        platform=platform,
        service=service,
        cost_limit=limit,
        scopes=scopes,
        allowed_sources=allow_from,
        clusters=clusters,
    )
    _show_once(session, session.run(call))


@customer_command(app, "list", "", "--active", "--ended")
def list_tokens(
    session: Session,
    *,
    active: Annotated[
        bool | None,
        typer.Option("--active/--ended", help="Only those that work now, or only revoked and expired ones."),
    ] = None,
    platform: Platform = False,
    order: Sorted = Order.NEWEST_FIRST,
) -> None:
    """List the tokens, without their secrets."""
    session.list(
        tokens.list(active=active, platform=platform, order=order),
        (
            "NAME",
            "ROLE",
            "SCOPES",
            "CLUSTERS",
            "ALLOWED FROM",
            "OWNER",
            "CREATED",
            "EXPIRES",
            "LAST USED",
            "REVOKED",
            "ID",
        ),
        lambda each: (
            each.name,
            each.role,
            ", ".join(each.scopes) if each.narrowed else None,
            _clusters(each),
            ", ".join(each.allowed_sources) or None,
            each.owner,
            each.created_at,
            each.expires_at,
            each.last_used_at,
            each.revoked_at,
            each.id,
        ),
        drop=("ID", "CREATED", "LAST USED", "REVOKED"),
    )


@customer_command(app, "rotate", "ci --keep 3600")
def rotate(
    session: Session,
    name: Name,
    keep: Annotated[int, typer.Option(min=0, help="Seconds for which the replaced token keeps working.")] = 0,
    expires_at: ExpiresAt = None,
    platform: Platform = False,
) -> None:
    """Replace a token with one that may do the same. The new secret is shown only once."""
    old = _living(session, name, platform=platform)
    call = tokens.rotate(old.id, keep_previous_seconds=keep, expires_at=expires_at, platform=platform)
    _show_once(session, session.run(call))


@customer_command(app, "delete", "ci", alias="revoke")
def delete(session: Session, name: Name, platform: Platform = False) -> None:
    """Delete a token: it stops working immediately."""
    token = _living(session, name, platform=platform)
    session.run(tokens.delete(token.id, platform=platform))
    session.show(token, [("deleted", token.name), ("id", token.id)])


def _living(session: Session, name: str, *, platform: bool) -> Token:
    """The one active token with this name or id. Raises ApiError, UsageError."""
    now = datetime.now(UTC)
    living = [
        each
        for each in session.client.items(tokens.list(platform=platform))
        if each.revoked_at is None and (each.expires_at is None or each.expires_at > now)
    ]
    return only(TOKEN, name, living)


def _clusters(token: Token | NewToken) -> str | None:
    """Those that it is limited to, in words."""
    shown = (f"{each.name} (deleted)" if each.deleted else each.name for each in token.clusters or ())
    return ", ".join(shown) or None


def _show_once(session: Session, token: NewToken) -> None:
    if token.token is None:
        session.note(
            f"The secret was lost in transit. Delete the token and create another: ipucloud tokens delete {token.id}"
        )
    session.show(
        token,
        [
            ("token", token.token),
            ("role", token.role),
            *((("scopes", list(token.scopes)),) if token.narrowed else ()),
            *((("clusters", _clusters(token)),) if token.clusters else ()),
            *((("allowed from", list(token.allowed_sources)),) if token.allowed_sources else ()),
            ("expires", token.expires_at),
            ("cost limit", token.cost_limit),
            ("id", token.id),
            ("", "The token is not shown again."),
        ],
    )

"""`ipucloud tokens`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from ipucloud.cli.session import Session, customer_command
from ipucloud.client import identity
from ipucloud.client.errors import ApiError
from ipucloud.client.models import NewToken, Token

app = typer.Typer(no_args_is_help=True)

Days = Annotated[float | None, typer.Option(min=0.0, help="Days until it expires; never when not given.")]
Name = Annotated[str, typer.Argument(help="Name or id of the token.")]
Platform = Annotated[
    bool, typer.Option("--platform", help="Of the platform instead of the project; for its administrators.")
]


@customer_command(app, "create")
def create(
    session: Session,
    name: Annotated[str, typer.Argument(help="What the token is for.")],
    role: Annotated[
        str | None,
        typer.Option(
            help="viewer, operator, billing or owner; of the platform: admin or support.",
            show_default="operator; of the platform: support",
        ),
    ] = None,
    days: Days = None,
    platform: Platform = False,
) -> None:
    """Make a token. Its secret is shown this once."""
    role = role or ("support" if platform else "operator")
    token = session.run(identity.create_token(name, role, expires_at=_after(days), platform=platform))
    _show_once(session, token)


@customer_command(app, "list")
def list_tokens(session: Session, platform: Platform = False) -> None:
    """List the tokens, without their secrets."""
    session.list(
        identity.tokens(platform=platform),
        ("NAME", "ROLE", "CREATED", "EXPIRES", "LAST USED", "REVOKED", "ID"),
        lambda each: (
            each.name,
            each.role,
            each.created_at,
            each.expires_at,
            each.last_used_at,
            each.revoked_at,
            each.id,
        ),
    )


@customer_command(app, "rotate")
def rotate(
    session: Session,
    name: Name,
    keep: Annotated[int, typer.Option(min=0, help="Seconds in which the replaced token works, too.")] = 0,
    days: Annotated[
        float | None, typer.Option(min=0.0, help="Days until the new one expires; as the replaced one when not given.")
    ] = None,
    platform: Platform = False,
) -> None:
    """Replace a token by one with the same name and role. The new secret is shown this once."""
    old = _living(session, name, platform=platform)
    call = identity.rotate_token(old.id, keep_previous_seconds=keep, expires_at=_after(days), platform=platform)
    _show_once(session, session.run(call))


@customer_command(app, "revoke")
def revoke(session: Session, name: Name, platform: Platform = False) -> None:
    """End a token everywhere, from the next request on."""
    found = _living(session, name, platform=platform)
    session.run(identity.revoke_token(found.id, platform=platform))
    session.show(found, [("revoked", found.name), ("id", found.id)])


def _after(days: float | None) -> datetime | None:
    return None if days is None else datetime.now(UTC) + timedelta(days=days)


def _living(session: Session, name: str, *, platform: bool) -> Token:
    """The one living token of this name or id. Raises ApiError."""
    now = datetime.now(UTC)
    living = [
        each
        for each in session.client.items(identity.tokens(platform=platform))
        if each.revoked_at is None and (each.expires_at is None or each.expires_at > now)
    ]
    found = [each for each in living if name in {each.name, each.id}]
    if len(found) != 1:
        how_many = "no living token" if not found else f"{len(found)} living tokens"
        raise ApiError(404, "not_found", f"There is {how_many} named {name}; an id names exactly one.")
    return found[0]


def _show_once(session: Session, token: NewToken) -> None:
    if token.token is None:
        session.say(
            f"The secret was lost on the way. Revoke the token and make another: ipucloud tokens revoke {token.id}"
        )
    session.show(
        token,
        [
            ("token", token.token),
            ("role", token.role),
            ("expires", token.expires_at),
            ("id", token.id),
            ("", "The token is not shown again."),
        ],
    )

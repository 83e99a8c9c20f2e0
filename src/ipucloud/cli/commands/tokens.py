"""`ipucloud tokens`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from ipucloud.cli.session import Session, customer_command
from ipucloud.client import identity
from ipucloud.client.errors import ApiError

app = typer.Typer(no_args_is_help=True, help="Make, list and revoke tokens.")


@customer_command(app, "create")
def create(
    session: Session,
    name: Annotated[str, typer.Argument(help="What the token is for.")],
    role: Annotated[str, typer.Option(help="viewer, operator, billing or owner.")] = "operator",
    days: Annotated[float | None, typer.Option(min=0.0, help="Days until it expires; never when not given.")] = None,
) -> None:
    """Make a token. Its secret is shown this once."""
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    token = session.run(identity.create_token(name, role, expires_at=expires_at))
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


@customer_command(app, "list")
def list_tokens(session: Session) -> None:
    """List the project's tokens, without their secrets."""
    session.list(
        identity.tokens(),
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


@customer_command(app, "revoke")
def revoke(session: Session, name: Annotated[str, typer.Argument(help="Name or id of the token.")]) -> None:
    """End a token, within a second, everywhere."""
    living = [each for each in session.client.items(identity.tokens()) if each.revoked_at is None]
    found = [each for each in living if name in {each.name, each.id}]
    if len(found) != 1:
        how_many = "no living token" if not found else f"{len(found)} living tokens"
        raise ApiError(404, "not_found", f"There is {how_many} named {name}; an id names exactly one.")
    session.run(identity.revoke_token(found[0].id))
    session.show(found[0], [("revoked", found[0].name), ("id", found[0].id)])

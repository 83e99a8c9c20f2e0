"""`ipucloud whoami`."""

from __future__ import annotations

import typer

import ipucloud.client as sdk
from ipucloud.cli.session import Session, customer_command

app = typer.Typer()


@customer_command(app, "whoami")
def whoami(session: Session) -> None:
    """Show the service, the person, the token, its project, role and scopes."""
    me = session.run(sdk.tokens.whoami())
    account = me.token and me.token.account_id
    without = f"none: a payer's token of account {account}" if account else "none: a platform token"
    project = f"{me.project.slug} ({me.project.id})" if me.project else without
    owner = me.token and me.token.owner
    others = session.run(sdk.me.get()).memberships if owner and not session.as_json else []
    session.show(
        me,
        [
            ("service", session.client.url),
            *([("person", owner)] if owner else []),
            ("token", me.token and f"{me.token.name} ({me.token.display_prefix}…)"),
            ("role", me.role),
            ("project", project),
            ("scopes", list(me.scopes)),
            *([("narrowed", "yes: its role has more scopes")] if me.token and me.token.narrowed else []),
            *(("member of", f"{each.project or each.account_id} ({each.role})") for each in others),
        ],
    )

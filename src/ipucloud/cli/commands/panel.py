"""`ipucloud panel` and `open`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.browsers import opened
from ipucloud.cli.session import Session, customer_command
from ipucloud.client.people import sessions

app = typer.Typer()


@customer_command(app, "panel", "", "--no-browser")
def panel(
    session: Session,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the link, and open nothing.")] = False,
) -> None:
    """Open the control panel in a browser, signed in. Without a browser, print the link.

    The link works once, for ten minutes. Whoever opens it has the rights of your token.
    """
    link = session.run(sessions.sign_in_link())
    if session.as_json or no_browser or link.url is None or not opened(link.url):
        session.show(link, [("url", link.url), ("works once, until", link.expires_at)])


open_app = typer.Typer()


@customer_command(open_app, "open")
def open_reference(session: Session) -> None:
    """Open the API reference in a browser. Without a browser, print its URL."""
    address = f"{session.client.url}/docs"
    if session.as_json or not opened(address):
        session.show({"url": address}, [("url", address)])

"""`ipucloud open`."""

from __future__ import annotations

import typer

from ipucloud.cli.browsers import opened
from ipucloud.cli.session import Session, customer_command

app = typer.Typer()


@customer_command(app, "open")
def open_reference(session: Session) -> None:
    """Open the API reference in a browser. Without a browser, print its URL."""
    address = f"{session.client.url}/docs"
    if session.as_json or not opened(address):
        session.show({"url": address}, [("url", address)])

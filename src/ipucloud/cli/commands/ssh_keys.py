"""`ipucloud ssh-keys`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import SSH_KEY, find
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import Order, Sorted
from ipucloud.client import clusters, ssh_keys
from ipucloud.client.errors import UsageError

app = typer.Typer(no_args_is_help=True)

_PRIVATE = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")


@customer_command(app, "create", "laptop ~/.ssh/id_ed25519.pub", alias="add")
def create(
    session: Session,
    name: Annotated[str, typer.Argument(help="Name of the key.")],
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The public key, such as id_ed25519.pub.")],
) -> None:
    """Add a public key to the project."""
    text = file.read_text()
    if _PRIVATE.search(text):
        raise UsageError(f"{file} is a private key, which must stay secret. Use the public key, {file}.pub.")
    key = session.run(ssh_keys.create(name, text.strip()))
    session.show(key, [("name", key.name), ("fingerprint", key.fingerprint), ("id", key.id)])


@customer_command(app, "list")
def list_keys(session: Session, order: Sorted = Order.NEWEST_FIRST) -> None:
    """List the project's keys."""
    session.list(
        ssh_keys.list(order=order),
        ("NAME", "FINGERPRINT", "ADDED", "ID"),
        lambda each: (each.name, each.fingerprint, each.created_at, each.id),
        drop=("ID", "ADDED"),
    )


@customer_command(app, "delete", "laptop", alias="remove")
def delete(
    session: Session, name: Annotated[str, typer.Argument(help="Name or id of the key.", autocompletion=names(SSH_KEY))]
) -> None:
    """Delete a key from the project. Clusters that accept it still do, and are named."""
    key = find(session.client, SSH_KEY, name)
    accepting = [each.name for each in session.client.items(clusters.list()) if key.name in each.ssh_keys]
    session.run(ssh_keys.delete(key.id))
    if accepting:
        session.note(
            f"These clusters still accept it: {', '.join(accepting)}. To end that, name the keys that remain:"
            f" ipucloud clusters update {accepting[0]} --ssh-key NAME"
        )
    session.show(key, [("deleted", key.name)])

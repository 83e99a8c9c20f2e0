"""`ipucloud ssh-keys`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import CLUSTER, SSH_KEY, find, find_cluster
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import Containing, Named, Order, Sorted, text_of
from ipucloud.client import clusters, ssh_authority, ssh_keys
from ipucloud.client.errors import UsageError
from ipucloud.client.models import SshAuthority

app = typer.Typer(no_args_is_help=True)

_PRIVATE = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")


@customer_command(app, "create", "laptop ~/.ssh/id_ed25519.pub", alias="add")
def create(
    session: Session,
    name: Annotated[str, typer.Argument(help="Name of the key.")],
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The public key, such as id_ed25519.pub.")],
) -> None:
    """Add a public key to the project."""
    key = session.run(ssh_keys.create(name, _public(file)))
    session.show(key, [("name", key.name), ("fingerprint", key.fingerprint), ("id", key.id)])


@customer_command(app, "list", "", "--query desk", "--name laptop")
def list_keys(
    session: Session, *, name: Named = None, query: Containing = None, order: Sorted = Order.NEWEST_FIRST
) -> None:
    """List the project's keys."""
    session.list(
        ssh_keys.list(name=name, q=query, order=order),
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


@customer_command(app, "sign", "bert ~/.ssh/id_ed25519.pub", "bert ~/.ssh/id_ed25519_sk.pub --hours 8")
def sign(
    session: Session,
    cluster: Annotated[str, typer.Argument(help="Name or id of the cluster.", autocompletion=names(CLUSTER))],
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The public key, such as id_ed25519.pub.")],
    *,
    hours: Annotated[int | None, typer.Option(min=1, max=24, help="How long it is valid; usually 1.")] = None,
) -> None:
    """Get an SSH certificate for a key of yours, for one cluster, in a file beside the key, where OpenSSH finds it.

    `ipucloud ssh` needs none of this: it makes a key and gets a certificate by itself.
    """
    target = file.with_name(f"{file.name.removesuffix('.pub')}-cert.pub")
    record = find_cluster(session.client, cluster)
    seconds = None if hours is None else hours * 3600
    issued = session.run(clusters.sign_ssh_key(record.id, _public(file), valid_seconds=seconds))
    target.write_text(f"{issued.certificate}\n")
    session.show(
        issued,
        [("certificate", target), ("for", record.name), ("key id", issued.key_id), ("valid until", issued.valid_until)],
    )


@customer_command(app, "authority")
def authority(session: Session) -> None:
    """Show the project's SSH authority, which signs certificates, and the clusters that do not know it yet."""
    _show(session, session.run(ssh_authority.get()))


@customer_command(app, "rotate-authority")
def rotate_authority(session: Session) -> None:
    """Replace the project's SSH authority, for example after a member left: all certificates end within seconds.

    SSH keys and open sessions are not touched.
    """
    _show(session, session.run(ssh_authority.rotate()))


def _show(session: Session, authority: SshAuthority) -> None:
    pending = ", ".join(authority.pending_clusters) or "none"
    session.show(
        authority,
        [("fingerprint", authority.fingerprint), ("since", authority.created_at), ("not yet known to", pending)],
    )


def _public(file: Path) -> str:
    """Raises UsageError for a private key."""
    text = text_of(file)
    if _PRIVATE.search(text):
        raise UsageError(f"{file} is a private key, which must stay secret. Use the public key, {file}.pub.")
    return text.strip()

"""`ipucloud addresses`."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.cluster_options import AllowFrom, FromEverywhere, Patience, Wait
from ipucloud.cli.completion import names
from ipucloud.cli.finding import ADDRESS, CLUSTER, REGION, find_cluster, id_of
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.settling import For, Noun
from ipucloud.cli.values import fields, key_values
from ipucloud.client import addresses
from ipucloud.client.errors import UsageError
from ipucloud.client.models import Address, AddressState

app = typer.Typer(no_args_is_help=True)

Ref = Annotated[
    str, typer.Argument(metavar="ADDRESS", help="Name or id of the address.", autocompletion=names(ADDRESS))
]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="KEY=VALUE", help="Set this tag; repeatable.")]


@customer_command(app, "create", "frontdoor --region luxembourg-2 --tag team=nlp")
def create(
    session: Session,
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens; starts with a letter.")],
    *,
    region: Annotated[str, typer.Option(help="Region.", autocompletion=names(REGION))],
    tags: Tags = None,
    allow_from: AllowFrom = None,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Reserve an address. It is billed by the minute until it is deleted."""
    call = addresses.create(name, region=region, tags=key_values(tags), allowed_sources=allow_from or ())
    _NOUN.carry_out(session, call, AddressState.AVAILABLE, wait=wait, patience=patience)


@customer_command(app, "list", "", "--state attached")
def list_addresses(
    session: Session,
    state: Annotated[AddressState | None, typer.Option(help="Only those in this state.")] = None,
) -> None:
    """List the project's addresses, newest first."""
    session.list(
        addresses.list(state=() if state is None else (state,)),
        ("NAME", "STATE", "REGION", "IP", "PORT", "CLUSTER", "ID"),
        lambda each: (each.name, each.state, each.region, each.ip, each.port, each.cluster_name, each.id),
        drop=("ID",),
    )


@customer_command(app, "show", "frontdoor")
def show(session: Session, address: Ref) -> None:
    """Show an address, the server that has it, and how to log in through it."""
    _show(session, session.run(addresses.get(_id(session, address))))


@customer_command(app, "update", "frontdoor --tag team=nlp", "frontdoor --allow-from 203.0.113.0/24")
def update(
    session: Session,
    address: Ref,
    *,
    name: Annotated[str | None, typer.Option(help="New name.")] = None,
    tags: Tags = None,
    allow_from: AllowFrom = None,
    from_everywhere: FromEverywhere = False,
) -> None:
    """Change the name of an address, or replace its tags or allowed sources."""
    if allow_from and from_everywhere:
        raise UsageError("Give either --allow-from or --allow-from-everywhere.")
    changes = addresses.update(
        _id(session, address),
        name=name,
        tags=None if tags is None else key_values(tags),
        allowed_sources=() if from_everywhere else allow_from or None,
    )
    _show(session, session.run(changes))


@customer_command(app, "attach", "frontdoor bert", "frontdoor bert --server clu-01-1-p1")
def attach(
    session: Session,
    address: Ref,
    cluster: Annotated[str, typer.Argument(help="Name or id of the cluster.", autocompletion=names(CLUSTER))],
    *,
    server: Annotated[str | None, typer.Option(help="Poplar server; by default the first.")] = None,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Let a Poplar server of a cluster be reached through the address."""
    call = addresses.attach(_id(session, address), find_cluster(session.client, cluster).id, poplar_server=server)
    _NOUN.carry_out(session, call, AddressState.ATTACHED, wait=wait, patience=patience)


@customer_command(app, "detach", "frontdoor")
def detach(session: Session, address: Ref, wait: Wait = True, patience: Patience = None) -> None:
    """Take an address from its server. Logins through it end; the address stays."""
    call = addresses.detach(_id(session, address))
    _NOUN.carry_out(session, call, AddressState.AVAILABLE, wait=wait, patience=patience)


@customer_command(app, "delete", "frontdoor")
def delete(
    session: Session,
    address: Ref,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Give an address back."""
    address_id = _id(session, address)
    if not yes:
        session.confirm(f"Delete address {address}? You will not get the same one again.", "delete it")
    _NOUN.carry_out(session, addresses.delete(address_id), AddressState.DELETED, wait=wait, patience=patience)


@customer_command(app, "wait", "frontdoor", "frontdoor --for attached --timeout 600")
def wait(session: Session, address: Ref, state: For = None, patience: Patience = None) -> None:
    """Wait until an address's state lasts, or until it is in a state; exit status 1 if that cannot be any more."""
    _NOUN.wait(session, address, state, patience)


def _id(session: Session, address: str) -> str:
    return id_of(session.client, ADDRESS, address)


def _show(session: Session, address: Address) -> None:
    first = fields(
        address, "id", "name", "state", "state_reason", "region", "allowed_sources", "ip", "port", "observed_at"
    )
    last = fields(address, "poplar_server", "command", "tags", "sku", "created_at")
    session.show(address, [*first, ("cluster", address.cluster_name), *last])


_NOUN: Noun[Address] = Noun(
    ADDRESS,
    "addresses",
    addresses.get,
    _show,
    AddressState,
    deleted=lambda: addresses.list(state=(AddressState.DELETED,)),
)

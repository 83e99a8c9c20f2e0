"""`ipucloud s3-connections`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ipucloud.cli.completion import Account, its_connections, names
from ipucloud.cli.finding import connection_kind, id_of
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import Containing, Named, Order, Sorted, fields
from ipucloud.client import s3_connections
from ipucloud.client.errors import ApiError, UsageError
from ipucloud.client.models import S3Connection

app = typer.Typer(no_args_is_help=True)

SECRET_VARIABLE = "IPUCLOUD_S3_SECRET"  # a name

Ref = Annotated[str, typer.Argument(help="Name or id of the connection.", autocompletion=names(its_connections))]
Region = Annotated[str | None, typer.Option(help="The bucket's region.")]
Prefix = Annotated[str | None, typer.Option(help="Folder within the bucket.")]


@customer_command(
    app,
    "create",
    "training-data --endpoint https://s3.example.com --bucket data --access-key-id AKIDEXAMPLE --attachable",
)
def create(
    session: Session,
    name: Annotated[str, typer.Argument(help="Name of the connection.")],
    endpoint: Annotated[str, typer.Option(help="URL of the S3 service: https://host.")],
    bucket: Annotated[str, typer.Option(help="The bucket.")],
    access_key_id: Annotated[str, typer.Option(help="The access key's id.")],
    *,
    region: Region = None,
    prefix: Prefix = None,
    attachable: Annotated[bool, typer.Option("--attachable", help="Let clusters have it.")] = False,
    account: Account = None,
) -> None:
    """Store a bucket with an access key, whose secret is read from the environment variable IPUCLOUD_S3_SECRET."""
    _refuse_attachable(attachable, account)
    secret = os.environ.get(SECRET_VARIABLE, "")
    if not secret:
        raise UsageError(f"Set the environment variable {SECRET_VARIABLE} to the access key's secret.")
    record = session.run(
        s3_connections.create(
            name,
            endpoint,
            bucket,
            access_key_id=access_key_id,
            secret=secret,
            region=region,
            prefix=prefix,
            attachable=attachable if account is None else None,
            account=account,
        )
    )
    _show(session, record)


@customer_command(app, "list", "", "--account research", "--query lake")
def list_connections(
    session: Session,
    *,
    name: Named = None,
    query: Containing = None,
    account: Account = None,
    order: Sorted = Order.OLDEST_FIRST,
) -> None:
    """List the S3 connections of the project, or of a billing account."""
    session.list(
        s3_connections.list(name=name, q=query, account=account, order=order),
        ("NAME", "ENDPOINT", "BUCKET", "PREFIX", "ATTACHABLE", "TEST", "ID"),
        lambda each: (each.name, each.endpoint, each.bucket, each.prefix, each.attachable, _tested(each), each.id),
        drop=("ID", "PREFIX", "ENDPOINT"),
    )


@customer_command(app, "show", "training-data")
def show(session: Session, connection: Ref, account: Account = None) -> None:
    """Show an S3 connection."""
    _show(session, session.run(s3_connections.get(_id(session, connection, account), account=account)))


@customer_command(
    app, "update", "training-data --access-key-id AKIDEXAMPLE --new-secret", "training-data --no-attachable"
)
def update(
    session: Session,
    connection: Ref,
    *,
    endpoint: Annotated[str | None, typer.Option(help="New URL of the S3 service.")] = None,
    bucket: Annotated[str | None, typer.Option(help="New bucket.")] = None,
    region: Region = None,
    prefix: Prefix = None,
    access_key_id: Annotated[str | None, typer.Option(help="The new access key's id.")] = None,
    new_secret: Annotated[
        bool, typer.Option("--new-secret", help=f"Take a new secret from the environment variable {SECRET_VARIABLE}.")
    ] = False,
    attachable: Annotated[
        bool | None, typer.Option("--attachable/--no-attachable", help="Whether clusters may have it.")
    ] = None,
    account: Account = None,
) -> None:
    """Change an S3 connection. Servers of clusters that have it get the new values."""
    _refuse_attachable(attachable, account)
    secret = os.environ.get(SECRET_VARIABLE) if new_secret else None
    if new_secret and not secret:
        raise UsageError(f"Set the environment variable {SECRET_VARIABLE} to the new secret.")
    if all(each is None for each in (endpoint, bucket, region, prefix, access_key_id, secret, attachable)):
        raise UsageError("Give at least one change, such as --new-secret.")
    call = s3_connections.update(
        _id(session, connection, account),
        endpoint=endpoint,
        bucket=bucket,
        region=region,
        prefix=prefix,
        access_key_id=access_key_id,
        secret=secret,
        attachable=attachable,
        account=account,
    )
    _show(session, session.run(call))


@customer_command(app, "test", "training-data")
def test(session: Session, connection: Ref, account: Account = None) -> None:  # noqa: PT028  # no test
    """Test an S3 connection: reach its bucket, write an empty object and delete it. Fails with what is wrong."""
    tested = session.run(s3_connections.test(_id(session, connection, account), account=account))
    _show(session, tested)
    if tested.test is not None and tested.test.failed is not None:
        raise ApiError(409, tested.test.failed, tested.test.detail or "The test failed.")


@customer_command(app, "delete", "training-data")
def delete(session: Session, connection: Ref, account: Account = None) -> None:
    """Delete an S3 connection and its secret."""
    connection_id = _id(session, connection, account)
    session.run(s3_connections.delete(connection_id, account=account))
    session.done("deleted", connection_id)


def _id(session: Session, connection: str, account: str | None) -> str:
    return id_of(session.client, connection_kind(account), connection)


def _refuse_attachable(attachable: bool | None, account: str | None) -> None:
    """Raises UsageError."""
    if attachable and account is not None:
        raise UsageError("Clusters have connections of their project only: leave out --attachable.")


def _show(session: Session, connection: S3Connection) -> None:
    session.show(
        connection,
        [
            *fields(connection, "id", "name", "endpoint", "bucket"),
            ("prefix", connection.prefix or None),
            ("attachable", connection.attachable),
            ("test", _tested(connection)),
        ],
    )


def _tested(connection: S3Connection) -> str | None:
    if connection.test is None:
        return None
    return connection.test.detail or "succeeded"

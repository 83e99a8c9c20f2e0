"""Calls for S3 connections: buckets that exports of the project or of a billing account are delivered to.

Clusters are given access to those of their project.
"""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, nothing, place, segment, without_none
from ipucloud.client.models import Page, S3Connection


def list(
    *, name: str | None = None, q: str | None = None, order: str | None = None, account: Ref | None = None
) -> Call[Page[S3Connection]]:
    """All connections; `name`: exactly this one, `q`: those with this in their name."""
    query = {"name": name, "q": q, "order": order}
    return request.get(place("s3-connections", account), Page[S3Connection], query, scoped=account is None)


def get(connection: Ref, *, account: Ref | None = None) -> Call[S3Connection]:
    """One connection, by name or id."""
    return request.get(_path(connection, account), S3Connection, scoped=account is None)


def create(
    name: str,
    endpoint: str,
    bucket: str,
    *,
    access_key_id: str,
    secret: str,
    region: str | None = None,
    prefix: str | None = None,
    attachable: bool | None = None,
    account: Ref | None = None,
) -> Call[S3Connection]:
    """Store a bucket with an access key; its secret is never shown again. `attachable`: clusters may have it."""
    body = without_none(
        name=name,
        endpoint=endpoint,
        bucket=bucket,
        access_key_id=access_key_id,
        secret=secret,
        region=region,
        prefix=prefix,
        attachable=attachable,
    )
    return request.post(place("s3-connections", account), S3Connection, body, scoped=account is None)


def update(
    connection: Ref,
    *,
    endpoint: str | None = None,
    bucket: str | None = None,
    region: str | None = None,
    prefix: str | None = None,
    access_key_id: str | None = None,
    secret: str | None = None,
    attachable: bool | None = None,
    account: Ref | None = None,
) -> Call[S3Connection]:
    """Change the given fields. Servers of clusters that have the connection get the new values."""
    body = without_none(
        endpoint=endpoint,
        bucket=bucket,
        region=region,
        prefix=prefix,
        access_key_id=access_key_id,
        secret=secret,
        attachable=attachable,
    )
    return request.patch(_path(connection, account), S3Connection, body, scoped=account is None)


def test(connection: Ref, *, account: Ref | None = None) -> Call[S3Connection]:  # noqa: PT028  # no test
    """Reach its bucket, write an empty object and delete it; `test` of the connection says what failed."""
    return request.post(f"{_path(connection, account)}:test", S3Connection, scoped=account is None)


def delete(connection: Ref, *, account: Ref | None = None) -> Call[None]:
    return request.delete(_path(connection, account), nothing, scoped=account is None)


def _path(connection: Ref, account: Ref | None) -> str:
    return f"{place('s3-connections', account)}/{segment(connection)}"

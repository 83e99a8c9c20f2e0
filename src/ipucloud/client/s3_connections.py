"""Calls for S3 connections: buckets that exports are delivered to, and that clusters are given access to."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, given, nothing, segment
from ipucloud.client.models import Page, S3Connection


def list() -> Call[Page[S3Connection]]:
    return request.get("s3-connections", Page[S3Connection])


def get(connection: Ref) -> Call[S3Connection]:
    """One connection, by name or id."""
    return request.get(_path(connection), S3Connection)


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
) -> Call[S3Connection]:
    """Store a bucket with an access key; its secret is never shown again. `attachable`: clusters may have it."""
    body = given(
        name=name,
        endpoint=endpoint,
        bucket=bucket,
        access_key_id=access_key_id,
        secret=secret,
        region=region,
        prefix=prefix,
        attachable=attachable,
    )
    return request.post("s3-connections", S3Connection, body)


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
) -> Call[S3Connection]:
    """Change the given fields. Servers of clusters that have the connection get the new values."""
    body = given(
        endpoint=endpoint,
        bucket=bucket,
        region=region,
        prefix=prefix,
        access_key_id=access_key_id,
        secret=secret,
        attachable=attachable,
    )
    return request.patch(_path(connection), S3Connection, body)


def test(connection: Ref) -> Call[S3Connection]:
    """Reach its bucket, write an empty object and delete it; `test` of the connection says what failed."""
    return request.post(f"{_path(connection)}:test", S3Connection)


def delete(connection: Ref) -> Call[None]:
    return request.delete(_path(connection), nothing)


def _path(connection: Ref) -> str:
    return f"s3-connections/{segment(connection)}"

"""Calls for S3 buckets that exports are delivered to."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, given, nothing, segment
from ipucloud.client.models import Page, S3Connection


def list() -> Call[Page[S3Connection]]:
    return request.get("billing/s3-connections", Page[S3Connection])


def get(connection: Ref) -> Call[S3Connection]:
    """One connection, by name or id."""
    return request.get(f"billing/s3-connections/{segment(connection)}", S3Connection)


def create(
    name: str,
    endpoint: str,
    bucket: str,
    *,
    access_key_id: str,
    secret: str,
    region: str | None = None,
    prefix: str | None = None,
) -> Call[S3Connection]:
    """Store a bucket as a destination; its secret is never shown again."""
    body = given(
        name=name,
        endpoint=endpoint,
        bucket=bucket,
        access_key_id=access_key_id,
        secret=secret,
        region=region,
        prefix=prefix,
    )
    return request.post("billing/s3-connections", S3Connection, body)


def delete(connection: Ref) -> Call[None]:
    return request.delete(f"billing/s3-connections/{segment(connection)}", nothing)

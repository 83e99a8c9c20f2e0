"""S3 connections: buckets that exports of a project or of a billing account are delivered to.

Clusters are given access to those of their project.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.exports.process import Target, Try, carried_out
from ipucloud.contract.lists import NamedOrder
from ipucloud.contract.s3_connections import AccountS3ConnectionPatch, S3ConnectionList, S3Failure
from ipucloud.db.documents import OF_NAME, clauses, filters_of, rfc3339, sorting
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.egress.urls import UrlRefused, endpoint_of
from ipucloud.identity.members import Home
from ipucloud.kernel.errors import (
    IN_USE,
    NAME_TAKEN,
    QUOTA_EXCEEDED,
    VALIDATION_FAILED,
    FieldError,
    Problem,
    not_found,
)
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.sealing import Keys, SealingError, needed, place, seal, unseal

MAX_CONNECTIONS = 20
TEST_SECONDS = 60.0
_UNREADABLE = "The stored secret cannot be decrypted. Send it again with PATCH."
_UNANSWERED = "The bucket's service did not answer."

_CONNECTION = f"""
SELECT json_build_object(
         'id', id, 'name', name, 'endpoint', endpoint, 'region', region, 'bucket', bucket, 'prefix', prefix,
         'access_key_id', access_key_id, 'attachable', attachable, 'created_at', {rfc3339("created_at")},
         'test', CASE WHEN tested_at IS NOT NULL THEN json_build_object(
           'at', {rfc3339("tested_at")}, 'failed', test_failed, 'detail', test_detail) END)::text AS document
  FROM s3_connections WHERE (project_id = :project_id OR account_id = :account_id) AND deleted_at IS NULL
"""  # noqa: S608  # our own text
_CONNECTIONS = {order: Query(clauses(_CONNECTION, OF_NAME, "ORDER BY", sorting(order)), str) for order in NamedOrder}
_ONE_CONNECTION = Query(_CONNECTION + " AND id = :id", str)


class _Counts(NamedTuple):
    connections: int
    same_name: int


_COUNTS = Query(
    """
    SELECT count(*) AS connections, count(*) FILTER (WHERE name = CAST(:name AS text)) AS same_name
      FROM s3_connections WHERE (project_id = :project_id OR account_id = :account_id) AND deleted_at IS NULL
    """,
    _Counts,
)
_CONNECT = sa.text(
    """
    INSERT INTO s3_connections (id, project_id, account_id, name, endpoint, region, bucket, prefix, access_key_id,
                                secret, attachable)
    VALUES (:id, :project_id, :account_id, :name, :endpoint, :region, :bucket, :prefix, :access_key_id, :secret,
            :attachable)
    """
)
_USED = Query(
    """
    SELECT EXISTS (SELECT FROM export_schedules
                    WHERE (project_id = :project_id OR account_id = :account_id)
                      AND connection_id = :id AND deleted_at IS NULL)
    """,
    bool,
)
# The secret is deleted immediately; the row stays, for the exports that were delivered to it.
_DISCONNECT = sa.text(
    """
    UPDATE s3_connections SET secret = NULL, deleted_at = app_now()
     WHERE (project_id = :project_id OR account_id = :account_id) AND id = :id AND deleted_at IS NULL
    """
)


class Stored(NamedTuple):
    endpoint: str
    region: str
    bucket: str
    prefix: str
    access_key_id: str
    secret: str
    attachable: bool


_STORED = Query(
    """
    SELECT endpoint, region, bucket, prefix, access_key_id, secret, attachable FROM s3_connections
     WHERE (project_id = :project_id OR account_id = :account_id) AND id = :id AND deleted_at IS NULL
    """,
    Stored,
)
_UPDATE = sa.text(
    """
    UPDATE s3_connections
       SET endpoint = :endpoint, region = :region, bucket = :bucket, prefix = :prefix, access_key_id = :access_key_id,
           secret = :secret, attachable = :attachable, tested_at = NULL, test_failed = NULL, test_detail = NULL
     WHERE (project_id = :project_id OR account_id = :account_id) AND id = :id AND deleted_at IS NULL
    """
)
# What was tested may have been changed meanwhile, and then the result says nothing.
_TESTED = sa.text(
    """
    UPDATE s3_connections SET tested_at = app_now(), test_failed = :failed, test_detail = :detail
     WHERE (project_id = :project_id OR account_id = :account_id) AND id = :id AND deleted_at IS NULL
       AND (endpoint, region, bucket, prefix, access_key_id, secret)
         = (:endpoint, :region, :bucket, :prefix, :access_key_id, :secret)
    """
)


@dataclass(frozen=True, slots=True)
class Rules:
    """What the installation permits: `private_too` any address and port, otherwise `ports` of public addresses."""

    keys: Keys | None = field(repr=False)
    private_too: bool
    ports: frozenset[int]

    def check(self, endpoint: str) -> None:
        """Raises `Problem` validation_failed."""
        try:
            endpoint_of(endpoint, private=self.private_too, ports=self.ports)
        except UrlRefused as error:
            invalid = FieldError("/endpoint", "endpoint", str(error))
            raise Problem(VALIDATION_FAILED, "Some values are not valid.", [invalid]) from None

    def target(self, stored: Stored, connection_id: UUID, home: Home) -> Target:
        """The bucket of a connection, with its secret. Raises SealingError."""
        if self.keys is None:
            raise SealingError("no key")
        place = secret_place(connection_id, home.id)
        values = stored._asdict() | {"secret": unseal(self.keys, stored.secret, place)}
        del values["attachable"]
        return Target(**values, private_too=self.private_too, ports=self.ports)


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where files go, and as whom. `attachable`: clusters may be given access to it."""

    name: str
    endpoint: str
    region: str
    bucket: str
    prefix: str
    access_key_id: str
    secret: str = field(repr=False)
    attachable: bool = False


@dataclass(frozen=True, slots=True)
class Tested:
    """A connection as it was tested, and what failed; None: nothing did."""

    stored: Stored = field(repr=False)
    failed: S3Failure | None
    detail: str | None


async def connect(connection: AsyncConnection, home: Home, bucket: Bucket, rules: Rules) -> bytes:
    """Store a connection, its secret encrypted; its JSON. The caller holds its home's lock. Raises `Problem`."""
    rules.check(bucket.endpoint)
    keys = needed(rules.keys)
    held = await _COUNTS.one(connection, home.parameters | {"name": bucket.name})
    if held.connections >= MAX_CONNECTIONS:
        raise Problem(QUOTA_EXCEEDED, f"A {home.noun} can have at most {MAX_CONNECTIONS} connections.")
    if held.same_name:
        raise Problem(NAME_TAKEN, f"The {home.noun} has a connection of that name.")
    connection_id = new_id()
    values = {name: getattr(bucket, name) for name in Bucket.__slots__}
    values |= home.parameters | {"id": connection_id}
    await connection.execute(
        _CONNECT, values | {"secret": seal(keys, bucket.secret, secret_place(connection_id, home.id))}
    )
    return await connection_document(connection, home, connection_id)


async def connection_document(connection: Statements, home: Home, connection_id: UUID) -> bytes:
    """A connection's JSON, without its secret. Raises `Problem` not_found."""
    document = await _ONE_CONNECTION.one_or_none(connection, home.parameters | {"id": connection_id})
    if document is None:
        raise not_found()
    return document.encode()


async def connection_documents(connection: Statements, home: Home, query: S3ConnectionList) -> Sequence[str]:
    return await _CONNECTIONS[query.order].all(connection, home.parameters | filters_of(query))


async def change_connection(
    connection: AsyncConnection, home: Home, connection_id: UUID, body: AccountS3ConnectionPatch, rules: Rules
) -> bool:
    """Change the given fields; whether servers that have the connection need it anew. The caller holds the project's
    lock. Raises `Problem`: not_found, validation_failed, not_configured."""
    parameters = home.parameters | {"id": connection_id}
    stored = await stored_connection(connection, home, connection_id)
    sent: dict[str, object] = body.model_dump(exclude={"secret"}, exclude_unset=True)
    if body.endpoint is not None:
        rules.check(body.endpoint)
    before: dict[str, object] = stored._asdict()
    values = before | sent
    if body.secret is not None:
        values["secret"] = seal(needed(rules.keys), body.secret, secret_place(connection_id, home.id))
    if values == before:
        return False
    await connection.execute(_UPDATE, parameters | values)
    return any(values[name] != before[name] for name in before if name != "attachable")


async def disconnect(connection: AsyncConnection, home: Home, connection_id: UUID) -> None:
    """Forget a connection's secret and end it. Raises `Problem`: in_use by a schedule, not_found."""
    parameters = home.parameters | {"id": connection_id}
    if await _USED.one(connection, parameters):
        raise Problem(IN_USE, "A schedule delivers to it: delete the schedule first.")
    if (await connection.execute(_DISCONNECT, parameters)).rowcount != 1:
        raise not_found()


async def stored_connection(connection: Statements, home: Home, connection_id: UUID) -> Stored:
    """What `try_out` takes. Raises `Problem` not_found."""
    row = await _STORED.one_or_none(connection, home.parameters | {"id": connection_id})
    if row is None:
        raise not_found()
    return row


async def try_out(home: Home, connection_id: UUID, stored: Stored, rules: Rules) -> Tested:
    """Reach the bucket, list it, write a small object and delete it, in a process of its own."""
    try:
        target = rules.target(stored, connection_id, home)
    except SealingError:
        return Tested(stored, S3Failure.SECRET, _UNREADABLE)
    reply = await carried_out(Try(target=target), TEST_SECONDS)
    if reply.delivered:
        return Tested(stored, None, None)
    return Tested(stored, reply.failed or S3Failure.SERVICE, reply.error or _UNANSWERED)


async def record_test(connection: AsyncConnection, home: Home, connection_id: UUID, tested: Tested) -> bytes:
    """Keep the result; the connection's JSON. Raises `Problem` not_found."""
    values = tested.stored._asdict() | {"failed": tested.failed and tested.failed.value, "detail": tested.detail}
    await connection.execute(_TESTED, home.parameters | {"id": connection_id} | values)
    return await connection_document(connection, home, connection_id)


def secret_place(connection_id: UUID, home_id: UUID) -> str:
    """The row that a bucket's secret is bound to; `home_id` is that of its project or account."""
    return place("s3_connections", connection_id, "secret", home_id)

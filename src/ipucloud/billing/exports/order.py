"""Messages between a worker and a child process: one JSON document per line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ipucloud.billing.exports.selection import Selection
from ipucloud.contract.s3_connections import S3Failure

CHUNK_BYTES = 1 << 20
"""Bytes of a stored chunk of a file."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Target(_Model):
    """An S3 bucket and the credentials for it.

    `private_too`: private addresses and any port may be reached, not only `ports` of public ones.
    """

    endpoint: str
    region: str
    bucket: str
    prefix: str
    access_key_id: str
    secret: str = Field(repr=False)
    private_too: bool
    ports: frozenset[int]


class Build(_Model):
    """Build the file of `subject`, and store it in chunks under `fence`."""

    kind: Literal["build"] = "build"
    database_url: str = Field(repr=False)
    export_id: UUID
    fence: int
    subject: Selection

    @property
    def task(self) -> str:
        """The argument of the child process."""
        return self.subject.format.value


class Deliver(_Model):
    """Upload the file stored under `fence`, then its manifest, to the bucket."""

    kind: Literal["deliver"] = "deliver"
    database_url: str = Field(repr=False)
    export_id: UUID
    fence: int
    name: str
    size: int
    manifest: Mapping[str, JsonValue]
    target: Target

    @property
    def task(self) -> str:
        """The argument of the child process."""
        return "deliver"


class Try(_Model):
    """Reach the bucket, and write and delete an object in it."""

    kind: Literal["try"] = "try"
    target: Target

    @property
    def task(self) -> str:
        """The argument of the child process."""
        return "try"


class Reply(_Model):
    """`progress` in percent, or the result: a `manifest`, `delivered`, or an `error` for customers.

    `failed`: what a `Try` failed at.

    `lacks_schema`: the database lacks a table or column that making the file needs.
    """

    progress: int | None = None
    manifest: Mapping[str, JsonValue] | None = None
    delivered: bool = False
    error: str | None = None
    failed: S3Failure | None = None
    lacks_schema: bool = False

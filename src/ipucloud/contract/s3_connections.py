"""S3 connections of projects and of billing accounts."""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from ipucloud.contract.fields import Answer, Body, no_id, not_null, secret
from ipucloud.contract.lists import Page, WholeNamedList

_PRINTED = r"^[!-~]+$"
NAME = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
_ATTACHABLE = (
    "Whether clusters of the project may be given access to it. Everybody who can log in to their servers can then read"
    " its secret."
)

Endpoint = Annotated[str, Field(max_length=300, pattern=_PRINTED, examples=["https://s3.eu-central-1.amazonaws.com"])]
Region = Annotated[str, Field(max_length=60, pattern=r"^[a-z0-9-]+$")]
BucketName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", examples=["training-data"])]
Prefix = Annotated[str, Field(max_length=200, pattern=r"^([A-Za-z0-9_=-]+/?)*$")]


def _lasting(key: str) -> str:
    """A connection has no session token."""
    if re.fullmatch(r"ASIA[A-Z0-9]{16}", key):
        raise PydanticCustomError(
            "temporary_key",
            "A temporary key works only with a session token, which connections do not have; use a user's key (AKIA…)",
        )
    return key


ConnectionName = Annotated[str, Field(pattern=NAME), AfterValidator(no_id)]
AccessKeyId = Annotated[str, Field(min_length=1, max_length=128, pattern=_PRINTED), AfterValidator(_lasting)]
Secret = Annotated[str, Field(min_length=1, max_length=256, pattern=_PRINTED, json_schema_extra=secret())]


class S3Failure(StrEnum):
    """What a test of a connection failed at."""

    SECRET = "secret"
    NAME = "name"
    ADDRESS = "address"
    CONNECTION = "connection"
    TLS = "tls"
    CREDENTIALS = "credentials"
    BUCKET = "bucket"
    REGION = "region"
    PERMISSION = "permission"
    SERVICE = "service"


class AccountS3ConnectionCreate(Body):
    """A bucket and an access key for it, for exports of a billing account."""

    name: ConnectionName = Field(examples=["data-lake"])
    endpoint: Endpoint
    region: Region = "us-east-1"
    bucket: BucketName
    prefix: Prefix = Field("", description="Folder within the bucket.")
    access_key_id: AccessKeyId
    secret: Secret = Field(description="Stored encrypted and never shown.")


class S3ConnectionCreate(AccountS3ConnectionCreate):
    """A bucket and an access key for it."""

    attachable: bool = Field(False, description=_ATTACHABLE)


class AccountS3ConnectionPatch(Body):
    """What can be changed. Omitted fields stay unchanged."""

    endpoint: Annotated[Endpoint | SkipJsonSchema[None], AfterValidator(not_null)] = None
    region: Annotated[Region | SkipJsonSchema[None], AfterValidator(not_null)] = None
    bucket: Annotated[BucketName | SkipJsonSchema[None], AfterValidator(not_null)] = None
    prefix: Annotated[Prefix | SkipJsonSchema[None], AfterValidator(not_null)] = None
    access_key_id: Annotated[AccessKeyId | SkipJsonSchema[None], AfterValidator(not_null)] = None
    secret: Annotated[Secret | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description="Stored encrypted and never shown."
    )


class S3ConnectionPatch(AccountS3ConnectionPatch):
    """What can be changed. Omitted fields stay unchanged; servers that have the connection get the new values."""

    attachable: Annotated[bool | SkipJsonSchema[None], AfterValidator(not_null)] = Field(None, description=_ATTACHABLE)


class S3TestOut(Answer):
    """The last test of a connection as it is now."""

    at: datetime
    failed: S3Failure | None = Field(
        description="What the test failed at, from the first step on: decrypting the `secret`, resolving the `name` of"
        " the endpoint, its `address`, a `connection` to it, its `tls` certificate, the `credentials`, the `bucket`,"
        " its `region`, a `permission` to list, write or delete, or the `service` otherwise; null: it succeeded.",
        examples=[None],
    )
    detail: str | None = Field(description="That in a sentence; null: it succeeded.", examples=[None])


class S3ConnectionOut(Answer):
    """A bucket. Its secret is never shown."""

    id: UUID
    name: str
    endpoint: str
    region: str
    bucket: str
    prefix: str
    access_key_id: str
    attachable: bool = Field(description=_ATTACHABLE + " False of a billing account's.")
    created_at: datetime
    test: S3TestOut | None = Field(description="Result of its last test; null: not tested since its last change.")


class S3ConnectionPage(Page[S3ConnectionOut]):
    pass


class S3ConnectionList(WholeNamedList):
    """S3 connections that match every filter."""

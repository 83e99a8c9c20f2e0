"""The typed client. Law: it reaches the service only over HTTP.

`clusters`, `operations`, `partitions`, `catalogue`, `identity` and `activity` build requests; `Client` and
`AsyncClient` run them.
"""

from ipucloud.client import activity, catalogue, clusters, identity, models, operations, partitions
from ipucloud.client.aio import AsyncClient
from ipucloud.client.call import Call, Tagged
from ipucloud.client.errors import (
    ApiError,
    ClientError,
    FieldError,
    OperationFailedError,
    UnexpectedAnswerError,
    UnreachableError,
    UsageError,
    WaitTimeoutError,
)
from ipucloud.client.retry import NO_RETRY, Retry
from ipucloud.client.sync import Client

__all__ = [
    "NO_RETRY",
    "ApiError",
    "AsyncClient",
    "Call",
    "Client",
    "ClientError",
    "FieldError",
    "OperationFailedError",
    "Retry",
    "Tagged",
    "UnexpectedAnswerError",
    "UnreachableError",
    "UsageError",
    "WaitTimeoutError",
    "activity",
    "catalogue",
    "clusters",
    "identity",
    "models",
    "operations",
    "partitions",
]

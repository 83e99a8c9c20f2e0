"""The typed client of the API. Law: it reaches the service only over HTTP.

A module for each noun (`clusters`, `ssh_keys`, …) builds calls: `list`, `get`, `create`, `update`, `delete` and its
own verbs. `Client` and `AsyncClient` run them.
"""

from ipucloud.client import (
    accounts,
    billing,
    budgets,
    clusters,
    events,
    export_schedules,
    exports,
    fault_reports,
    flavors,
    images,
    inventory,
    invoices,
    models,
    operations,
    operator,
    partitions,
    prices,
    projects,
    quota_requests,
    quotas,
    regions,
    s3_connections,
    seller,
    ssh_keys,
    tax_rates,
    tokens,
    webhooks,
)
from ipucloud.client.aio import AsyncClient
from ipucloud.client.call import Call, Tagged
from ipucloud.client.clusters import NewCluster
from ipucloud.client.errors import (
    ApiError,
    ClientError,
    EventGapError,
    FieldError,
    OperationFailedError,
    UnexpectedAnswerError,
    UnreachableError,
    UsageError,
    WaitTimeoutError,
)
from ipucloud.client.partitions import NewPartition
from ipucloud.client.retry import NO_RETRY, Retry
from ipucloud.client.sync import Client

__all__ = [
    "NO_RETRY",
    "ApiError",
    "AsyncClient",
    "Call",
    "Client",
    "ClientError",
    "EventGapError",
    "FieldError",
    "NewCluster",
    "NewPartition",
    "OperationFailedError",
    "Retry",
    "Tagged",
    "UnexpectedAnswerError",
    "UnreachableError",
    "UsageError",
    "WaitTimeoutError",
    "accounts",
    "billing",
    "budgets",
    "clusters",
    "events",
    "export_schedules",
    "exports",
    "fault_reports",
    "flavors",
    "images",
    "inventory",
    "invoices",
    "models",
    "operations",
    "operator",
    "partitions",
    "prices",
    "projects",
    "quota_requests",
    "quotas",
    "regions",
    "s3_connections",
    "seller",
    "ssh_keys",
    "tax_rates",
    "tokens",
    "webhooks",
]

"""The typed client of the API. Law: it reaches the service only over HTTP.

A module for each noun (`clusters`, `ssh_keys`, …) builds calls: `list`, `get`, `create`, `update`, `delete` and its
own verbs. `Client` and `AsyncClient` run them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipucloud.client import (
        accounts,
        addresses,
        audit_log,
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
        invitations,
        invoices,
        jobs,
        me,
        members,
        models,
        operations,
        operator,
        partitions,
        prices,
        projects,
        quota_requests,
        quotas,
        recipes,
        regions,
        reservations,
        s3_connections,
        seller,
        services,
        snapshots,
        ssh_authority,
        ssh_keys,
        tax_rates,
        tokens,
        volumes,
        webhooks,
    )
    from ipucloud.client.aio import AsyncClient
    from ipucloud.client.call import Call, Tagged
    from ipucloud.client.clusters import NewCluster, NewClusterVolume
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
    "NewClusterVolume",
    "NewPartition",
    "OperationFailedError",
    "Retry",
    "Tagged",
    "UnexpectedAnswerError",
    "UnreachableError",
    "UsageError",
    "WaitTimeoutError",
    "accounts",
    "addresses",
    "audit_log",
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
    "invitations",
    "invoices",
    "jobs",
    "me",
    "members",
    "models",
    "operations",
    "operator",
    "partitions",
    "prices",
    "projects",
    "quota_requests",
    "quotas",
    "recipes",
    "regions",
    "reservations",
    "s3_connections",
    "seller",
    "services",
    "snapshots",
    "ssh_authority",
    "ssh_keys",
    "tax_rates",
    "tokens",
    "volumes",
    "webhooks",
]

_MODULES = {
    "aio": ("AsyncClient",),
    "call": ("Call", "Tagged"),
    "clusters": ("NewCluster", "NewClusterVolume"),
    "errors": (
        "ApiError",
        "ClientError",
        "EventGapError",
        "FieldError",
        "OperationFailedError",
        "UnexpectedAnswerError",
        "UnreachableError",
        "UsageError",
        "WaitTimeoutError",
    ),
    "partitions": ("NewPartition",),
    "retry": ("NO_RETRY", "Retry"),
    "sync": ("Client",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    """A module, or what is in one, imported when it is first used: a program needs few of the nouns."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = import_module(f"{__name__}.{_MODULE_OF.get(name, name)}")
    value = globals()[name] = getattr(found, name) if name in _MODULE_OF else found
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

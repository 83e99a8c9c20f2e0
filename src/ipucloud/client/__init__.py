"""The typed client of the API. Law: it reaches the service only over HTTP.

A namespace for each noun (`clusters`, `ssh_keys`, …) builds calls: `list`, `get`, `create`, `update`, `delete` and its
own verbs. `Client` and `AsyncClient` run them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipucloud.client import (
        accounts,
        billing,
        budgets,
        clusters,
        exports,
        inventory,
        jobs,
        models,
        operator,
        partitions,
        prices,
        s3_connections,
        services,
        tokens,
        webhooks,
    )
    from ipucloud.client.activity import audit_log, events, fault_reports, operations
    from ipucloud.client.aio import AsyncClient
    from ipucloud.client.call import Call, Tagged
    from ipucloud.client.capacity import quota_requests, quotas, reservations
    from ipucloud.client.catalogue import flavors, images, recipes, regions
    from ipucloud.client.clusters import NewCluster, NewClusterVolume
    from ipucloud.client.errors import (
        ApiError,
        ClientError,
        EventGapError,
        FieldError,
        OperationFailedError,
        StateTimeoutError,
        UnexpectedAnswerError,
        UnreachableError,
        UsageError,
        WaitTimeoutError,
    )
    from ipucloud.client.money import export_schedules, invoices, seller, tax_rates
    from ipucloud.client.partitions import NewPartition
    from ipucloud.client.people import invitations, me, members, projects, ssh_authority, ssh_keys
    from ipucloud.client.retry import NO_RETRY, Retry
    from ipucloud.client.storage import addresses, settled, snapshots, volumes
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
    "StateTimeoutError",
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
    "settled",
    "snapshots",
    "ssh_authority",
    "ssh_keys",
    "tax_rates",
    "tokens",
    "volumes",
    "webhooks",
]

_MODULES = {
    "catalogue": (
        "flavors",
        "images",
        "recipes",
        "regions",
    ),
    "people": (
        "projects",
        "members",
        "invitations",
        "me",
        "ssh_keys",
        "ssh_authority",
    ),
    "activity": (
        "operations",
        "events",
        "audit_log",
        "fault_reports",
    ),
    "capacity": (
        "quotas",
        "quota_requests",
        "reservations",
    ),
    "money": (
        "invoices",
        "seller",
        "tax_rates",
        "export_schedules",
    ),
    "storage": (
        "volumes",
        "snapshots",
        "addresses",
        "settled",
    ),
    "aio": ("AsyncClient",),
    "call": ("Call", "Tagged"),
    "clusters": ("NewCluster", "NewClusterVolume"),
    "errors": (
        "ApiError",
        "ClientError",
        "EventGapError",
        "FieldError",
        "OperationFailedError",
        "StateTimeoutError",
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
    module = import_module(f"{__name__}.{_MODULE_OF.get(name, name)}")
    value = globals()[name] = getattr(module, name) if name in _MODULE_OF else module
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

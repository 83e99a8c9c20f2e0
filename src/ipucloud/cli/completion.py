"""Completion of values in the shell: what the service answers at once, or nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import Annotated, Any, get_args

import typer
from typer.models import ArgumentInfo, OptionInfo

from ipucloud.cli.finding import (
    ACCOUNT,
    Kind,
    budget_kind,
    connection_kind,
    export_kind,
    job_kind,
    partition_kind,
    schedule_kind,
    service_kind,
    webhook_kind,
)
from ipucloud.client.errors import ClientError
from ipucloud.client.profiles import load, stored_profiles
from ipucloud.client.retry import NO_RETRY
from ipucloud.client.sync import Client

TIMEOUT = 1.0
"""Seconds for one answer; who presses TAB does not wait longer."""
READ = 1000
"""Objects whose names are compared with what was typed."""

Complete = Callable[[typer.Context], list[str]]
"""Typer keeps those of the answers that begin as what was typed."""
_KINDS: dict[object, Kind[Any]] = {}
"""What the functions complete, where that does not depend on what was typed before."""


def names(kind: Kind[Any] | Callable[[typer.Context], Kind[Any]]) -> Complete:
    """Completes the names of a kind of object; the kind can depend on what was typed before."""

    def complete(context: typer.Context) -> list[str]:
        params = context.params
        with suppress(ClientError):
            profile = load(os.environ, params.get("profile"))
            url, project = params.get("url") or profile.url, params.get("project") or profile.project
            with Client(url or "", profile.token or "", project=project, retry=NO_RETRY, timeout=TIMEOUT) as client:
                resolved = kind if isinstance(kind, Kind) else kind(context)
                return [resolved.names(each)[0] for each in islice(resolved.read(client), READ)]
        return []

    if isinstance(kind, Kind):
        _KINDS[complete] = kind
    return complete


Account = Annotated[
    str | None,
    typer.Option(
        help="Billing account (name or id) instead of the project; for its payers.", autocompletion=names(ACCOUNT)
    ),
]


def kind_of(annotation: object) -> Kind[Any] | None:
    """The kind of object that values of a parameter with this annotation name."""
    for each in get_args(annotation):
        if isinstance(each, OptionInfo | ArgumentInfo):
            return _KINDS.get(each.autocompletion)
    return None


def its_partitions(context: typer.Context) -> Kind[Any]:
    """The partitions of the cluster that was typed before."""
    return partition_kind(context.params.get("cluster") or context.params.get("name") or "")


def its_jobs(context: typer.Context) -> Kind[Any]:
    """The jobs of the cluster that was typed before."""
    return job_kind(context.params.get("cluster") or "")


def its_services(context: typer.Context) -> Kind[Any]:
    """The services of the cluster that was typed before."""
    return service_kind(context.params.get("cluster") or "")


def its_budgets(context: typer.Context) -> Kind[Any]:
    """The budgets of the billing account that was typed before, or of the project."""
    return budget_kind(context.params.get("account"))


def its_webhooks(context: typer.Context) -> Kind[Any]:
    """The webhooks of the billing account that was typed before, or of the project."""
    return webhook_kind(context.params.get("account"))


def its_connections(context: typer.Context) -> Kind[Any]:
    """The S3 connections of the billing account that was typed before, or of the project."""
    return connection_kind(context.params.get("account"))


def its_schedules(context: typer.Context) -> Kind[Any]:
    """The export schedules of the billing account that was typed before, or of the project."""
    return schedule_kind(context.params.get("account"))


def its_exports(context: typer.Context) -> Kind[Any]:
    """The exports of the billing account that was typed before, or of the project."""
    return export_kind(context.params.get("account"))


def profiles() -> list[str]:
    """The stored profiles."""
    with suppress(ClientError):
        return [*stored_profiles(os.environ)]
    return []

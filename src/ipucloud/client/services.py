"""Calls for services: programs that are kept running on a cluster's Poplar servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, segment, without_none
from ipucloud.client.containers import RegistryLogin
from ipucloud.client.models import Page, Service, ServiceLog, ServiceMetrics


@dataclass(frozen=True)
class HealthCheck:
    """A GET of `path` on the server; absent: the service's defaults. Seconds but for `failures`, a number in a row."""

    path: str
    interval_seconds: int | None = None
    timeout_seconds: int | None = None
    failures: int | None = None
    start_seconds: int | None = None


@dataclass(frozen=True)
class NewService:
    """A program to keep running, which listens on TCP `port` of its server.

    `image`: the container image that it runs in, with a login at its `registry` if it is not public.
    """

    name: str
    command: Sequence[str]
    port: int
    directory: str | None = None
    environment: Mapping[str, str] | None = None
    poplar_server: str | None = None
    max_restarts: int | None = None
    health_check: HealthCheck | None = None
    image: str | None = None
    registry: RegistryLogin | None = None

    def body(self) -> dict[str, object]:
        environment = None if self.environment is None else dict(self.environment)
        check = None if self.health_check is None else without_none(**self.health_check.__dict__)
        login = None if self.registry is None else self.registry.body()
        changed = {
            "command": [*self.command],
            "environment": environment,
            "health_check": check,
            "registry": login,
        }
        return without_none(**self.__dict__ | changed)


@dataclass(frozen=True)
class NewRelease:
    """What changes with the next release of a service; None: as it was requested of the present one."""

    command: Sequence[str] | None = None
    directory: str | None = None
    environment: Mapping[str, str] | None = None
    port: int | None = None
    max_restarts: int | None = None
    health_check: HealthCheck | None = None
    image: str | None = None
    registry: RegistryLogin | None = None

    def body(self) -> dict[str, object]:
        check = None if self.health_check is None else without_none(**self.health_check.__dict__)
        changed = {
            "command": None if self.command is None else [*self.command],
            "environment": None if self.environment is None else dict(self.environment),
            "health_check": check,
            "registry": None if self.registry is None else self.registry.body(),
        }
        return without_none(**self.__dict__ | changed)


def create(cluster: Ref, service: NewService) -> Call[Service]:
    """Keep a program running on a Poplar server of a cluster in use."""
    return request.post(_path(cluster), Service, service.body())


def list(
    cluster: Ref, *, state: Sequence[str] = (), order: str | None = None, limit: int | None = None
) -> Call[Page[Service]]:
    """The cluster's services, newest first."""
    return request.get(_path(cluster), Page[Service], {"state": (*state,) or None, "order": order, "limit": limit})


def get(cluster: Ref, service: str) -> Call[Service]:
    """One service, by name or id."""
    return request.get(_path(cluster, service), Service)


def stop(cluster: Ref, service: str) -> Call[Service]:
    """End a service and its program."""
    return request.post(f"{_path(cluster, service)}:stop", Service)


def deploy(cluster: Ref, service: str, release: NewRelease | None = None) -> Call[Service]:
    """Replace a service's program in one step; without a release, start it anew.

    The answer is the service that ends, with the new one's id as its `successor`, or the new one if nothing ran.
    """
    return request.post(f"{_path(cluster, service)}:deploy", Service, {} if release is None else release.body())


def rollback(cluster: Ref, service: str) -> Call[Service]:
    """Deploy what the release before was requested with. Answers as `deploy`."""
    return request.post(f"{_path(cluster, service)}:rollback", Service)


def log(cluster: Ref, service: str, *, after: int = 0) -> Call[ServiceLog]:
    """What it wrote after the part with this number; repeat with `next` until `complete`."""
    return request.get(f"{_path(cluster, service)}/log", ServiceLog, {"after": after})


def metrics(
    cluster: Ref,
    service: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    step: int | None = None,
) -> Call[ServiceMetrics]:
    """The requests that the API has forwarded to it, by default of the last hour; `step`: seconds of each point."""
    period = {"since": since, "until": until, "step": step}
    return request.get(f"{_path(cluster, service)}/metrics", ServiceMetrics, period)


def _path(cluster: Ref, service: str | None = None) -> str:
    whole = f"clusters/{segment(cluster)}/services"
    return whole if service is None else f"{whole}/{segment(service)}"

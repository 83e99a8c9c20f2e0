"""Calls for jobs: programs that the service runs on a cluster's Poplar servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, segment, without_none
from ipucloud.client.containers import RegistryLogin
from ipucloud.client.models import Job, JobLog, Page


@dataclass(frozen=True)
class NewJob:
    """A program to run. `max_cost` is an amount and a currency, such as `("20.00", "EUR")`.

    `image`: the container image that it runs in, with a login at its `registry` if it is not public.
    """

    command: Sequence[str]
    directory: str | None = None
    environment: Mapping[str, str] | None = None
    poplar_server: str | None = None
    retries: int = 0
    max_minutes: int | None = None
    max_cost: tuple[str, str] | None = None
    image: str | None = None
    registry: RegistryLogin | None = None

    def body(self) -> dict[str, object]:
        cost = None if self.max_cost is None else {"amount": self.max_cost[0], "currency": self.max_cost[1]}
        environment = None if self.environment is None else dict(self.environment)
        login = None if self.registry is None else self.registry.body()
        changed = {"command": [*self.command], "environment": environment, "max_cost": cost, "registry": login}
        return without_none(**self.__dict__ | changed)


def create(cluster: Ref, job: NewJob) -> Call[Job]:
    """Run a program on a Poplar server of a cluster in use."""
    return request.post(_path(cluster), Job, job.body())


def list(
    cluster: Ref, *, state: Sequence[str] = (), order: str | None = None, limit: int | None = None
) -> Call[Page[Job]]:
    """The cluster's jobs, newest first."""
    return request.get(_path(cluster), Page[Job], {"state": (*state,) or None, "order": order, "limit": limit})


def get(cluster: Ref, job: int | str) -> Call[Job]:
    """One job, by number or id."""
    return request.get(_path(cluster, job), Job)


def stop(cluster: Ref, job: int | str) -> Call[Job]:
    """End a job, or keep it from beginning."""
    return request.post(f"{_path(cluster, job)}:stop", Job)


def log(cluster: Ref, job: int | str, *, after: int = 0) -> Call[JobLog]:
    """What it wrote after the part with this number; repeat with `next` until `complete`."""
    return request.get(f"{_path(cluster, job)}/log", JobLog, {"after": after})


def _path(cluster: Ref, job: int | str | None = None) -> str:
    whole = f"clusters/{segment(cluster)}/jobs"
    return whole if job is None else f"{whole}/{segment(str(job))}"

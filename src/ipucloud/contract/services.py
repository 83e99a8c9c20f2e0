"""Services: programs that are kept running on a Poplar server of a cluster."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field
from pydantic.json_schema import SkipJsonSchema

from ipucloud.contract.fields import Answer, Body, ClusterName, not_null, secret
from ipucloud.contract.lists import Listed, Page
from ipucloud.contract.operations import RequestedByOut
from ipucloud.contract.programs import (
    ONLY_NAMES,
    Command,
    Directory,
    Environment,
    Image,
    LogOut,
    LogPart,
    LogQuery,
    ProgramCreate,
    RegistryLogin,
)


class ServiceHealthState(StrEnum):
    """What the checks of a service say: `unknown` before the first one."""

    UNKNOWN = "unknown"
    HEALTHY = "healthy"
    FAILING = "failing"


class ServiceState(StrEnum):
    """State of a service; it never leaves `failed` and `stopped`."""

    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"
    STOPPED = "stopped"


ServiceEndedBy = Literal["program", "request", "server", "cluster"]

_STATE = (
    "`starting`: its program is to be started, at once, after a pause, or once its server runs; `running`: its program"
    " runs; `failed`: its program ended too often in a row and is not started again; `stopped`: it was ended on"
    " request, or with its server or cluster"
)
_ENVIRONMENT = "Variables, beside those that a login has, `PORT` and `IPUCLOUD_JOB`."


Port = Annotated[int, Field(ge=1024, le=65_535)]
Restarts = Annotated[int, Field(ge=0, le=1000)]


class ServiceHealthCheck(Body):
    """How a service's program is checked: by a GET on its server, without the API."""

    path: str = Field(
        description="Path and query of the request. An answer with a status from 200 to 399 passes.",
        pattern=r"^/[!-~]*$",
        max_length=500,
        examples=["/healthz"],
    )
    interval_seconds: Annotated[int, Field(ge=1, le=3600)] = Field(
        10, description="Seconds between two checks.", examples=[10]
    )
    timeout_seconds: Annotated[int, Field(ge=1, le=60)] = Field(
        5, description="Seconds within which the answer has to begin.", examples=[5]
    )
    failures: Annotated[int, Field(ge=1, le=100)] = Field(
        3, description="After so many checks in a row that did not pass, the program is started again.", examples=[3]
    )
    start_seconds: Annotated[int, Field(ge=0, le=86_400)] = Field(
        300,
        description="Time for the program to start, such as to load a model: until a first check has passed, checks"
        " that do not pass count only after so many seconds.",
        examples=[300],
    )


class ServiceCreate(ProgramCreate):
    """A program to keep running on a Poplar server of the cluster, as the server's user."""

    name: ClusterName = Field(
        description="Name, unique among the services of the cluster that have not ended: a DNS label that begins with a"
        " letter.",
        examples=["chat"],
    )
    command: Command = Field(
        description="The program and its arguments; no shell reads them.", examples=[["python3", "app.py"]]
    )
    environment: Environment = Field(
        {},
        description=f"{_ENVIRONMENT} {ONLY_NAMES}",
        examples=[{"MODEL": "bert-large"}],
    )
    port: Port = Field(
        description="TCP port of the server on which the program listens; one service of a server has it.",
        examples=[8000],
    )
    max_restarts: Restarts = Field(
        10,
        description="How often in a row the program is started again after it ended. A program that ran for a minute"
        " begins a new row.",
        examples=[10],
    )
    health_check: ServiceHealthCheck | None = Field(
        None, description="How to find out whether the program works; null: it does as long as it runs."
    )


class ServiceDeploy(Body):
    """The next release of a service. Omitted fields are as they were requested of the present one."""

    command: Annotated[Command | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description="The program and its arguments.", examples=[["python3", "app.py"]]
    )
    directory: Directory | None = Field(None, description="Where it starts.", examples=["app-2"])
    environment: Annotated[Environment | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description=f"All variables. {ONLY_NAMES}", examples=[{"MODEL": "bert-large"}]
    )
    poplar_server: str | None = Field(
        None, description="Name or id of the Poplar server; null: the cluster's first.", examples=["bert-p0"]
    )
    image: Image | None = Field(
        None, description="Container image that it runs in.", examples=["ghcr.io/example/app:2"]
    )
    registry: RegistryLogin | None = Field(
        None, description="Login at the image's registry.", json_schema_extra=secret("password")
    )
    port: Annotated[Port | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description="TCP port of the server on which the program listens.", examples=[8000]
    )
    max_restarts: Annotated[Restarts | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description="How often in a row the program is started again.", examples=[10]
    )
    health_check: ServiceHealthCheck | None = Field(None, description="How its program is checked; null: it is not.")


class ServiceHealthOut(Answer):
    """The checks of a service's program, and what the last one found."""

    path: str = Field(description="Path and query of the request.", examples=["/healthz"])
    interval_seconds: int = Field(description="Seconds between two checks.", examples=[10])
    timeout_seconds: int = Field(description="Seconds within which the answer has to begin.", examples=[5])
    failures: int = Field(
        description="After so many checks in a row that did not pass, the program is started again.", examples=[3]
    )
    start_seconds: int = Field(description="Time for the program to start.", examples=[300])
    state: ServiceHealthState = Field(
        description="`healthy`: the last check of the present start passed; `failing`: it did not; `unknown`: there was"
        " none yet, the program does not run, or its site has not shown it for two minutes.",
        examples=["healthy"],
    )
    failed: int = Field(description="How many checks in a row did not pass.", examples=[0])
    detail: str | None = Field(
        description="What was wrong at the last check; null: nothing.", examples=["GET /healthz: status 503"]
    )
    checked_at: datetime | None = Field(
        description="When the server made the last check; null: there was none yet.", examples=["2026-05-04T10:05:40Z"]
    )


class ServiceOut(Answer):
    """A program that is kept running on a Poplar server."""

    id: UUID = Field(description="Id of the service.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b76"])
    name: str = Field(description="Name of the service.", examples=["chat"])
    cluster: UUID = Field(description="Id of the cluster.")
    poplar_server: str = Field(description="Name of the Poplar server.", examples=["bert-p0"])
    command: list[str] = Field(description="The program and its arguments.", examples=[["python3", "app.py"]])
    directory: str | None = Field(description="Where it starts; null: in the user's home.", examples=["bert"])
    environment: list[str] = Field(
        description="Names of its variables, beside those that a login has; their values are not shown.",
        examples=[["MODEL"]],
    )
    image: str | None = Field(
        description="Container image that it runs in; null: the server's own system.", examples=[None]
    )
    registry_username: str | None = Field(
        description="Who it logs in as at the image's registry; null: nobody.", examples=[None]
    )
    port: int = Field(description="TCP port of the server on which the program listens.", examples=[8000])
    max_restarts: int = Field(
        description="How often in a row the program is started again after it ended.", examples=[10]
    )
    health: ServiceHealthOut | None = Field(description="Its health check; null: it has none.")
    state: ServiceState = Field(description=f"Present state. {_STATE}.", examples=["running"])
    state_reason: str | None = Field(
        description="Why it is in this state, or what it waits for, for people; null: nothing to say.",
        examples=[None],
    )
    ended_by: ServiceEndedBy | None = Field(
        description="What ended it: its `program`, a `request`, the removal of its `server`, or the end of its"
        " `cluster`; null: it has not ended.",
        examples=[None],
    )
    attempt: int = Field(description="Which start of the program this is, from 1 on.", examples=[1])
    failures: int = Field(description="How often in a row the program has ended.", examples=[0])
    exit_status: int | None = Field(
        description="Exit status of the start before, 128 and the number for a signal; null: there was none, or it was"
        " cut off.",
        examples=[None],
    )
    next_start_at: datetime = Field(
        description="When the present start of the program was, or is, due.", examples=["2026-05-04T09:30:00Z"]
    )
    stop_requested_at: datetime | None = Field(
        description="When it was to be stopped; null: it was not.", examples=[None]
    )
    successor: UUID | None = Field(
        description="Id of the release that follows under its name once it has ended; null: none.", examples=[None]
    )
    log_bytes: int = Field(description="Bytes of the present start's output that were read.", examples=[512])
    created_by: UUID = Field(
        description="Id of the token that requested it.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b14"]
    )
    requested_by: RequestedByOut = Field(description="Who that is.")
    created_at: datetime = Field(description="When it was requested.")
    started_at: datetime | None = Field(
        description="When the present start of its program was first seen to run; null: it was not.",
        examples=["2026-05-04T09:30:02Z"],
    )
    ended_at: datetime | None = Field(description="When it ended; null before that.", examples=[None])
    observed_at: datetime | None = Field(
        description="When the site last showed its program; null before that.", examples=["2026-05-04T10:05:41Z"]
    )


class ServicePage(Page[ServiceOut]):
    pass


class ServiceList(Listed):
    """Services of a cluster that match every filter."""

    state: list[ServiceState] = Field(default_factory=list, description="Only those in these states.")


class ServiceLogQuery(LogQuery):
    """Which part of a service's output."""


class ServiceLogPart(LogPart):
    """A part of what a service's program wrote."""

    text: str = Field(
        description="What it wrote to standard output and standard error; what is not UTF-8 is replaced.",
        examples=["listening on port 8000\n"],
    )


class ServiceLogOut(LogOut[ServiceLogPart]):
    """Output of a service, in order."""

    complete: bool = Field(
        description="Whether nothing follows: the service has ended, and this is the end of its output.",
        examples=[False],
    )
    state: ServiceState = Field(description="State of the service.", examples=["running"])


class ServiceMetricsPoint(Answer):
    """The requests that were forwarded to a service in one step."""

    at: datetime = Field(description="Start of the step.", examples=["2026-05-04T13:14:00Z"])
    requests: int = Field(description="Requests that were forwarded.", examples=[120])
    errors: int = Field(description="Those that were answered with a status from 500 on, or not at all.", examples=[1])
    requests_per_second: float = Field(description="`requests`, divided by the seconds of the step.", examples=[2.0])
    mean_seconds: float | None = Field(
        description="Mean time until an answer began, or was given up; null without requests.", examples=[0.041]
    )
    p50_seconds: float | None = Field(description="The time that half of them took at most.", examples=[0.032])
    p95_seconds: float | None = Field(description="The time that 95 % of them took at most.", examples=[0.097])
    p99_seconds: float | None = Field(description="The time that 99 % of them took at most.", examples=[0.21])


class ServiceMetricsOut(Answer):
    """The requests that the API has forwarded to a service in [since, until)."""

    service: UUID = Field(description="Id of the service.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b72"])
    since: datetime = Field(
        description="Start of the period, at the start of a step.", examples=["2026-05-04T12:15:00Z"]
    )
    until: datetime = Field(description="End of the period, exclusive.", examples=["2026-05-04T13:15:00Z"])
    step: int = Field(description="Seconds of a step.", examples=[60])
    points: list[ServiceMetricsPoint] = Field(description="A point for each step, the oldest first.")

"""Jobs: programs that the service runs on a Poplar server of a cluster."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, to_pay
from ipucloud.contract.lists import Listed, Page
from ipucloud.contract.operations import RequestedByOut
from ipucloud.contract.programs import LogOut, LogPart, LogQuery, ProgramCreate
from ipucloud.kernel.money import Money


class JobState(StrEnum):
    """State of a job; it never leaves `succeeded`, `failed` and `stopped`."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"


JobEndedBy = Literal["program", "request", "time_limit", "cost_limit", "server", "cluster", "site"]

_STATE = (
    "`queued`: it waits for its server, or for the jobs before it there; `running`: its program runs; `succeeded`: the"
    " program ended with exit status 0; `failed`: it ended with another, was cut off, or could not be started;"
    " `stopped`: it was ended on request, by a limit, or with its cluster"
)


class JobCreate(ProgramCreate):
    """A program to run on a Poplar server of the cluster, as the server's user."""

    retries: Annotated[int, Field(ge=0, le=10)] = Field(
        0, description="How often it is started again after it failed.", examples=[1]
    )
    max_minutes: Annotated[int, Field(ge=1, le=43_200)] | None = Field(
        None, description="Minutes after its start at which it is stopped; default: never.", examples=[90]
    )
    max_cost: Annotated[Money, to_pay(10**9)] | None = Field(
        None,
        description="Cost of the cluster since the job's start at which it is stopped, in the cluster's currency;"
        " default: none.",
        examples=[{"amount": "20.00", "currency": "EUR"}],
    )


class JobOut(Answer):
    """A program that the service runs on a Poplar server."""

    id: UUID = Field(description="Id of the job.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b71"])
    number: int = Field(description="Number of the job in its cluster, from 1 on.", examples=[1])
    cluster: UUID = Field(description="Id of the cluster.")
    poplar_server: str = Field(description="Name of the Poplar server.", examples=["bert-p0"])
    command: list[str] = Field(
        description="The program and its arguments.", examples=[["python3", "train.py", "--epochs", "3"]]
    )
    directory: str | None = Field(description="Where it starts; null: in the user's home.", examples=["bert"])
    environment: list[str] = Field(
        description="Names of its variables, beside those that a login has; their values are not shown.",
        examples=[["SEED"]],
    )
    image: str | None = Field(
        description="Container image that it runs in; null: the server's own system.", examples=[None]
    )
    registry_username: str | None = Field(
        description="Who it logs in as at the image's registry; null: nobody.", examples=[None]
    )
    state: JobState = Field(description=f"Present state. {_STATE}.", examples=["running"])
    state_reason: str | None = Field(
        description="Why it is in this state, or what it waits for, for people; null: nothing to say.",
        examples=["exit status 3"],
    )
    ended_by: JobEndedBy | None = Field(
        description="What ended it: its `program`, a `request`, its `time_limit` or `cost_limit`, its `server`, which"
        " was restarted, switched off or lost, the end of its `cluster`, or the `site`, which could not start it; null:"
        " it has not ended.",
        examples=["program"],
    )
    exit_status: int | None = Field(
        description="Exit status of the program, 128 and the number for a signal; null: it has not ended, or not by"
        " itself.",
        examples=[0],
    )
    attempt: int = Field(description="Which start of the program this is, from 1 on.", examples=[1])
    retries: int = Field(description="How often it is started again after it failed.", examples=[1])
    max_minutes: int | None = Field(
        description="Minutes after its start at which it is stopped; null: never.", examples=[90]
    )
    max_cost: Money | None = Field(description="Cost of the cluster since its start at which it is stopped.")
    cost: Money | None = Field(
        description="Cost of the cluster from the job's start to its end, or to `observed_at`; null: it has not"
        " started, or a minute has no price."
    )
    log_bytes: int = Field(description="Bytes of its output that were read at the site.", examples=[512])
    stop_requested_at: datetime | None = Field(
        description="When it was to be stopped, by request or by a limit; null: it was not.", examples=[None]
    )
    created_by: UUID = Field(
        description="Id of the token that requested it.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b14"]
    )
    requested_by: RequestedByOut = Field(description="Who that is.")
    created_at: datetime = Field(description="When it was requested.")
    started_at: datetime | None = Field(
        description="When its program was first seen to run; null before that.", examples=["2026-05-04T09:30:02Z"]
    )
    ended_at: datetime | None = Field(
        description="When it was seen to have ended; null before that.", examples=["2026-05-04T10:05:41Z"]
    )
    observed_at: datetime | None = Field(
        description="When the site last showed it; null before that.", examples=["2026-05-04T10:05:41Z"]
    )


class JobPage(Page[JobOut]):
    pass


class JobList(Listed):
    """Jobs of a cluster that match every filter."""

    state: list[JobState] = Field(default_factory=list, description="Only those in these states.")


class JobLogQuery(LogQuery):
    """Which part of a job's output."""


class JobLogPart(LogPart):
    """A part of what a program wrote."""


class JobLogOut(LogOut[JobLogPart]):
    """Output of a job, in order."""

    complete: bool = Field(
        description="Whether nothing follows: the job has ended, and this is the end of its output.", examples=[False]
    )
    state: JobState = Field(description="State of the job.", examples=["running"])

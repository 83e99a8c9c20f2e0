"""Jobs: programs that the service runs on a Poplar server of a cluster."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from ipucloud.contract.fields import Answer, Body, to_pay
from ipucloud.contract.lists import Listed, Page
from ipucloud.contract.operations import RequestedByOut
from ipucloud.kernel.money import Money

MAX_CHARACTERS = 32_768
"""Of a command, and of an environment, together."""
MOST_LOG_ITEMS = 16


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


def _bounded(words: list[str]) -> list[str]:
    if sum(len(word) + 1 for word in words) > MAX_CHARACTERS:
        raise PydanticCustomError(
            "too_long", "The words have more than {most} characters together", {"most": MAX_CHARACTERS}
        )
    if not words[0]:
        raise PydanticCustomError("no_program", "The first word is the program's name or path")
    return words


def bounded_environment(variables: dict[str, str]) -> dict[str, str]:
    if sum(len(name) + len(value) + 2 for name, value in variables.items()) > MAX_CHARACTERS:
        raise PydanticCustomError(
            "too_long", "The variables have more than {most} characters together", {"most": MAX_CHARACTERS}
        )
    return variables


Text = Annotated[str, Field(max_length=MAX_CHARACTERS, pattern=r"^[^\x00]*$")]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,254}$")]
Command = Annotated[list[Text], Field(min_length=1, max_length=256), AfterValidator(_bounded)]


def plain_map(schema: dict[str, object]) -> None:
    """Code generators do not know `patternProperties`."""
    found = schema.pop("patternProperties", None)
    if isinstance(found, dict):
        [(key, value)] = found.items()
        schema |= {"propertyNames": {"pattern": key}, "additionalProperties": value}


class JobCreate(Body):
    """A program to run on a Poplar server of the cluster, as the server's user."""

    command: Command = Field(
        description="The program and its arguments; no shell reads them.",
        examples=[["python3", "train.py", "--epochs", "3"]],
    )
    directory: Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[^\x00]+$")] | None = Field(
        None, description="Where it starts; relative to the user's home. Default: the home.", examples=["bert"]
    )
    environment: Annotated[
        dict[VariableName, Text],
        Field(max_length=100, json_schema_extra=plain_map),
        AfterValidator(bounded_environment),
    ] = Field(
        {},
        description="Variables, beside those that a login has. Whoever reads the project reads them: no secrets.",
        examples=[{"SEED": "7"}],
    )
    poplar_server: str | None = Field(
        None, description="Name or id of the Poplar server; default: the cluster's first.", examples=["bert-p0"]
    )
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
    environment: dict[str, str] = Field(
        description="Variables, beside those that a login has.", examples=[{"SEED": "7"}]
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


class JobLogQuery(BaseModel):
    """Which part of a job's output."""

    after: Annotated[int, Field(ge=0, le=2_000_000_000)] = Field(
        0, description="Only parts after this number; `next` of the previous answer."
    )


class JobLogPart(Answer):
    """A part of what a program wrote."""

    number: int = Field(description="Number of the part, from 1 on.", examples=[1])
    attempt: int = Field(description="Which start of the program wrote it.", examples=[1])
    text: str = Field(
        description="What it wrote to standard output and standard error; what is not UTF-8 is replaced.",
        examples=["epoch 1: loss 0.31\n"],
    )
    read_at: datetime = Field(description="When it was read at the site.", examples=["2026-05-04T09:30:04Z"])


class JobLogOut(Answer):
    """Output of a job, in order."""

    items: list[JobLogPart] = Field(description="Parts after `after`, at most 16.")
    next: int = Field(description="`after` of the request for what follows.", examples=[1])
    complete: bool = Field(
        description="Whether nothing follows: the job has ended, and this is the end of its output.", examples=[False]
    )
    state: JobState = Field(description="State of the job.", examples=["running"])

"""How busy clusters are, as observed, in steps of time."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Instant, Shape

MOST_POINTS = 1500


class MetricsQuery(Shape):
    """A period, and the length of its steps."""

    since: Instant | None = Field(None, description="Start of the period. Default: an hour before `until`.")
    until: Instant | None = Field(None, description="End of the period, exclusive. Default and latest: now.")
    step: Annotated[int, Field(ge=60, le=86_400, multiple_of=60)] | None = Field(
        None,
        description="Seconds of a step, a multiple of 60, such that the period has at most 1,500. Default: the shortest"
        " of a minute, 5 minutes, 15 minutes, an hour, 6 hours and a day with which it has at most 500.",
        examples=[60],
    )


class MetricsPoint(Answer):
    """What was observed in one step; every value is null in a step without an observation."""

    at: datetime = Field(description="Start of the step.", examples=["2026-05-04T13:14:00Z"])
    observed_at: datetime | None = Field(
        description="When the newest of its values were observed; null: nothing was.", examples=["2026-05-04T13:14:55Z"]
    )
    machines: int | None = Field(description="IPU machines of the cluster.", examples=[4])
    machines_answered: int | None = Field(
        description="How many of them showed their values, at least; sums and means are over these.", examples=[4]
    )
    attached_ipus: int | None = Field(description="IPUs that programs held at once, at most.", examples=[16])
    utilisation_percent: float | None = Field(description="How busy its IPUs were, on average.", examples=[86.4])
    power_watts: float | None = Field(description="What its IPUs drew together, on average.", examples=[1905.2])
    temperature_celsius: float | None = Field(description="Of the hottest IPU, at most.", examples=[64.1])
    link_errors: int | None = Field(
        description="Corrected errors of its links, as counted since its machines were switched on.", examples=[0]
    )
    partition_uptime_percent: float | None = Field(
        description="Part of the time in which its partitions were active; null also without a partition.",
        examples=[100.0],
    )
    cpu_percent: float | None = Field(
        description="How busy the processors of its Poplar servers were, on average; null also where the site does not"
        " read it.",
        examples=[12.5],
    )
    memory_used_bytes: int | None = Field(
        description="Memory that programs held on its Poplar servers, at most; null also where the site does not read"
        " it.",
        examples=[1_610_612_736],
    )
    memory_bytes: int | None = Field(
        description="Memory of its Poplar servers; null also where the site does not read it.", examples=[4_294_967_296]
    )


class MetricsOut(Answer):
    """How busy a cluster was in [since, until)."""

    cluster: UUID = Field(description="Id of the cluster.")
    since: datetime = Field(
        description="Start of the period, at the start of a step.", examples=["2026-05-04T12:15:00Z"]
    )
    until: datetime = Field(description="End of the period, exclusive.", examples=["2026-05-04T13:15:00Z"])
    step: int = Field(description="Seconds of a step.", examples=[60])
    points: list[MetricsPoint] = Field(description="A point for each step, the oldest first.")

"""What a cluster, or its resize, would cost, and whether it fits."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import ConfigDict, Field

from ipucloud.contract.fields import Answer
from ipucloud.contract.operations import OperationOut
from ipucloud.kernel.money import Money


class BillingStart(StrEnum):
    """From when a new cluster is billed."""

    ACTIVE = "active"
    REQUESTED = "requested"


class BillingRule(Answer):
    """From when until when a region's clusters are billed, by the minute. A build that fails costs nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)

    starts: BillingStart = Field(
        BillingStart.ACTIVE,
        description="`active`: from when the cluster is ready to work; `requested`: from when it gets its machines, for"
        " at most the announced time until it is ready.",
        examples=["active"],
    )
    ends: Literal["delete_requested"] = Field(
        "delete_requested",
        description="Until its deletion is requested. A suspended cluster is not billed.",
        examples=["delete_requested"],
    )


class WhyNotOut(Answer):
    """Why the cluster does not fit now. Numbers cover the whole region, in machines unless stated otherwise."""

    reason: str = Field(
        description="`capacity`, `health`, `maintenance`, `fragmentation` or `hosts`; others may be added."
    )
    detail: str
    numbers: dict[str, int] = Field(
        description="`largest`: the largest cluster that fits; `missing`: machines that must become free;"
        " `silent`: machines whose V-IPU controller does not answer or is not supported.",
        examples=[
            {
                "wanted": 4,
                "free": 6,
                "cleaning": 0,
                "validating": 0,
                "unhealthy": 1,
                "maintenance": 0,
                "silent": 0,
                "largest": 2,
                "missing": 0,
            }
        ],
    )


class EstimateQuotaOut(Answer):
    """Whether the project's quota allows the cluster, in machines."""

    allowed: bool
    limit: int
    used: int
    needed: int


class EstimateWaitOut(Answer):
    """What a request with `wait_for_capacity` would wait for now."""

    place: int = Field(
        description="Its place in the queue at the latest: projects take turns, so it may be nearer.", examples=[1]
    )
    expected_at: datetime | None = Field(
        description=(
            "When a cluster that is large enough expires next; null: no known expiry tells, or it would not be the"
            " first in the queue."
        ),
        examples=[None],
    )


class EstimateCapacityOut(Answer):
    """Whether the region has room for the cluster now."""

    available: bool
    why_not: WhyNotOut | None
    preemption_minutes: int | None = Field(
        description=(
            "After how many minutes preemptible clusters make room for it, if it waits with `wait_for_capacity`;"
            " null: it has room, or stopping them would not do."
        ),
        examples=[None],
    )
    wait: EstimateWaitOut | None = Field(
        description="What it would wait for with `wait_for_capacity`; null: it would begin at once.", examples=[None]
    )


class ClusterPriceOut(Answer):
    """What a cluster costs while it is in use. A month is 730 hours."""

    price_per_minute: Money
    price_per_hour: Money
    price_per_day: Money
    price_per_month: Money


class ResizedPartitionOut(Answer):
    """What a resize does to one of the cluster's partitions."""

    name: str
    ipus: int | None = Field(description="Its size now; null if it was not observed yet.")
    ipus_after: int | None = Field(
        description="Its size after the resize; null: it does not fit and is not made again."
    )


class ResizeEstimateOut(Answer):
    """What a resize would do, as of now; nothing is reserved."""

    from_flavor: str = Field(description="The flavor that the cluster has.")
    to_flavor: str = Field(description="The flavor that it would have.")
    moves: bool | None = Field(
        description="Whether the cluster would move to other machines; false: it keeps its own; null: there is no room."
    )
    price_before: ClusterPriceOut = Field(description="What it costs now.")
    price_after: ClusterPriceOut = Field(description="What it would cost.")
    quota: EstimateQuotaOut
    capacity: EstimateCapacityOut
    partitions: list[ResizedPartitionOut]
    expected_seconds: int = Field(description="Usual time until the cluster is in use again, in seconds.")


class ClusterWarningOut(Answer):
    """What is allowed, and probably not meant."""

    code: str = Field(
        description="`no_login`: nobody will be able to log in to the servers; others may be added.",
        examples=["no_login"],
    )
    detail: str = Field(
        description="What follows, and what to do, for people.",
        examples=[
            "Nobody will be able to log in to this cluster, which is billed: name the project's SSH keys in `ssh_keys`."
        ],
    )


class ClusterCreationOut(OperationOut):
    """An asynchronous request and its progress; of a create, with what is probably not meant."""

    warnings: list[ClusterWarningOut] = Field(description="What is allowed, and probably not meant.", examples=[[]])


class EstimateOut(ClusterPriceOut):
    """Cost of a cluster, and whether it could be created now. A month is 730 hours; nothing is reserved."""

    billing: BillingRule = Field(description="From when until when it would be billed.")
    quota: EstimateQuotaOut
    capacity: EstimateCapacityOut
    expected_seconds: int = Field(description="Usual time until the cluster is active, in seconds.")
    warnings: list[ClusterWarningOut] = Field(description="What is allowed, and probably not meant.", examples=[[]])

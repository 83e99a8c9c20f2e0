"""The `data` of events that operators read."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.event_payloads.base import Payload


class FreezeOf(Payload):
    """A freeze of removals."""

    reason: str = Field(description="Why it was started, or ended.")
    expires_at: datetime | None = Field(None, description="When it ends by itself; absent or null once it has ended.")


class HardwareOrdered(Payload):
    """What an operator ordered, or a worker did."""

    machines: list[str] = Field(description="Names of the machines.", examples=[["lux2-p001-m01"]])
    hosts: list[str] = Field(description="Names of the hosts.")
    reason: str | None = Field(None, description="Why; absent or null for a return to service by an operator.")
    starts_at: datetime | None = Field(None, description="Of maintenance: when it begins; absent or null: at once.")
    ordered_by: UUID | None = Field(None, description="Id of the operator's token; absent or null for a worker.")


class MassDisappearance(Payload):
    """Hardware that failed at once."""

    failed: int = Field(description="Machines and hosts that are newly failing.")
    objects: int = Field(description="Machines and hosts of the region.")
    limit: int = Field(description="How many may fail at once.")


class InventoryDiffers(Payload):
    """A difference from the expected inventory."""

    code: str = Field(description="Code of the health report.", examples=["wrong_serial"])
    detail: str = Field(description="What was expected and shown.")


class FaultReported(Payload):
    """What a customer reported, and the operator's answer."""

    cluster: UUID = Field(description="Id of the cluster.")
    kind: Literal["machine", "poplar_server"] = Field(description="What is affected.")
    name: str = Field(description="Name of the machine or Poplar server.", examples=["lux2-p001-m01"])
    answer: str | None = Field(None, description="The operator's answer; absent or null before there is one.")


class AuditRepair(Payload):
    """The violated rule and the audit's repair."""

    rule: str = Field(description="The violated rule.")
    action: str = Field(description="The repair.")

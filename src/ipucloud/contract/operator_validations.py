"""What operators see of the validation of machines, and of the cleaning between two clusters."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer
from ipucloud.contract.lists import Page, Paged

ValidationReason = Literal["intake", "release", "repair", "operator"]
ValidationResult = Literal["passed", "failed", "abandoned"]
ValidationState = Literal["waiting", "testing", "clearing", "ended"]
_STATES = "`waiting`, `testing`, `clearing` its traces from the site, or `ended`"
_REASONS = "`intake` of a new machine, `release` by a cluster, `repair` of a fault or maintenance, or `operator`"


class ValidationOut(Answer):
    """The validation of a machine that no cluster holds: a cluster test at its V-IPU controller."""

    id: UUID = Field(description="Id of the validation.")
    machine: str = Field(description="Name of the machine.", examples=["lux2-p001-m07"])
    pod: str = Field(description="Pod of the machine.", examples=["lux2-p001"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    reason: ValidationReason = Field(description=f"Why: {_REASONS}.")
    state: ValidationState = Field(description=f"Present state: {_STATES}.")
    name: str | None = Field(
        description="Name of its allocation at the V-IPU controller, shared by the machines that are tested together;"
        " null while it waits.",
        examples=["val-01jd4nq8v0e3mt9gq2w7xk5cza"],
    )
    requested_at: datetime = Field(description="Since when the machine is kept from clusters for it.")
    started_at: datetime | None = Field(description="When it began; null while it waits.")
    tested_at: datetime | None = Field(description="When its result was found; null before that.")
    ended_at: datetime | None = Field(description="When the machine was observed cleared of it; null before that.")
    result: ValidationResult | None = Field(
        description="`passed`; `failed`; `abandoned`: it could not be carried out, and follows again; null: not known.",
    )
    findings: str | None = Field(description="Why it did not pass; null if it did, or the result is not known.")
    requested_by: str | None = Field(description="Id of the operator's token; null if no operator requested it.")


class ValidationPage(Page[ValidationOut]):
    pass


class ValidationList(Paged):
    """Validations that match every filter, oldest first; ended ones only with `state=ended` or a `result`."""

    region: str | None = Field(None, description="Only machines in this region.", examples=["luxembourg-2"])
    machine: str | None = Field(None, description="Only this machine, by name.", examples=["lux2-p001-m07"])
    state: ValidationState | None = Field(None, description="Only those in this state.")
    result: ValidationResult | None = Field(None, description="Only those with this result.")


class CleaningOut(Answer):
    """What the site showed of a machine or host after a cluster left it, and before another one could get it."""

    kind: Literal["machine", "host"] = Field(description="What was cleaned.")
    name: str = Field(description="Name of the machine or host.", examples=["lux2-p001-m07"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    project: str = Field(description="Slug of the project that had it.")
    cluster: UUID = Field(description="Id of the cluster that had it.")
    external_name: str = Field(
        description="Name at the site under which the cluster had used it.", examples=["01jd4nq8v0e3mt9gq2w7xk5cza-1"]
    )
    held_since: datetime = Field(description="When the cluster got it.")
    released_at: datetime = Field(description="When the customer had left it.")
    observed_at: datetime = Field(description="When it was observed clean.")
    freed_at: datetime | None = Field(description="When its cluster gave it back; null: that follows.")
    observed: dict[str, str] = Field(
        description="What was observed, by subject: `power`, `network`, `vipu_allocation`, `partitions` of a machine;"
        " `server`, `disk`, `network` of a host. `none`: it was not there.",
        examples=[{"power": "Off", "network": "none", "vipu_allocation": "none", "partitions": "none"}],
    )


class CleaningPage(Page[CleaningOut]):
    pass


class CleaningList(Paged):
    """Cleanings that match every filter, oldest first."""

    region: str | None = Field(None, description="Only hardware in this region.", examples=["luxembourg-2"])
    machine: str | None = Field(None, description="Only this machine, by name.", examples=["lux2-p001-m07"])
    host: str | None = Field(None, description="Only this host, by name.", examples=["lux2-h004"])
    cluster: UUID | None = Field(None, description="Only what this cluster had, by id.")

"""The hardware of a cluster: its machines and Poplar servers, and what is wrong with them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer

Health: TypeAlias = Literal["ok", "unknown", "degraded", "failed"]


class FaultOut(Answer):
    """Something wrong with the cluster's hardware, as a health report says."""

    kind: Literal["machine", "poplar_server", "link"] = Field(
        description="What is affected; a fault of a link has the name of a machine that the link belongs to."
    )
    name: str = Field(description="Name of the machine or Poplar server.", examples=["lux2-p001-m01"])
    code: str = Field(description="Stable code of the fault; others may be added.", examples=["bmc_critical"])
    message: str = Field(description="The fault in a sentence.", examples=["The machine has failed."])
    since: datetime = Field(description="When the fault was first seen.", examples=["2026-05-04T13:10:00Z"])
    credited: bool = Field(description="Whether minutes with this fault are credited.")


class SshOut(Answer):
    """How to log in to a Poplar server."""

    host: str
    port: int
    user: str
    command: str = Field(examples=["ssh -p 2201 ubuntu@203.0.113.7"])
    host_key: str
    host_key_fingerprint: str = Field(examples=["SHA256:w2Zc…"])


class SshAccessOut(Answer):
    """From where SSH to a server is let in, as last seen at its site."""

    allowed_sources: list[str] = Field(
        description="The networks; empty: from everywhere.", examples=[["203.0.113.0/24"]]
    )
    current: bool = Field(description="Whether that is what the cluster is to have.")
    observed_at: datetime


class S3AccessOut(Answer):
    """The S3 connections that a server was last seen to have."""

    connections: list[str] = Field(description="Their names.", examples=[["training-data"]])
    mounts: list[str] = Field(
        description="Folders at which some of them are mounted; empty where the server has no FUSE.",
        examples=[["/data/training-data"]],
    )
    current: bool = Field(description="Whether that is what the cluster is to have, with the present secrets.")
    observed_at: datetime


class PoplarServerOut(Answer):
    """A server that drives the IPUs.

    It is `off` while its cluster is suspended, `rebooting` while it restarts, `rebuilding` while it is rebuilt.
    """

    id: UUID
    name: str
    state: Literal["pending", "running", "rebooting", "rebuilding", "off", "deleted"]
    health: Health | None = Field(description="Health of its host, as last observed; null if it has no host.")
    observed_at: datetime | None
    faults: list[FaultOut]
    addresses: list[str]
    ssh: SshOut | None
    ssh_keys: list[str] | None = Field(
        description="Names of the keys that it was last seen to accept; null: not seen yet. Those that it is to accept"
        " are in `ssh_keys` of the cluster.",
        examples=[["laptop"]],
    )
    ssh_keys_since: datetime | None = Field(description="Since when it was seen to accept exactly these keys.")
    ssh_access: SshAccessOut | None = Field(
        description="The allowed sources that its site was last seen to enforce; null: the cluster never had any."
    )
    s3_access: S3AccessOut | None = Field(
        description="The S3 connections that it was last seen to have; null: it never had one."
    )


class MachineOut(Answer):
    """An IPU machine that the cluster holds."""

    name: str
    ordinal: int = Field(description="Position in the cluster, counted from 0.")
    pod: str
    slot: int
    machine_type: str
    ipus: int = Field(description="IPUs of the machine that the cluster can use.")
    health: Health
    observed_at: datetime | None
    faults: list[FaultOut]
    rnic: str = Field(description="Address of its RDMA network card.")

"""Snapshots: copies of volumes and of servers, from which new ones are made."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field
from pydantic.json_schema import SkipJsonSchema

from ipucloud.contract.fields import Answer, Body, ClusterName, Tags, not_null
from ipucloud.contract.lists import Listed, Page


class SnapshotState(StrEnum):
    """State of a snapshot."""

    CREATING = "creating"
    AVAILABLE = "available"
    DELETING = "deleting"
    DELETED = "deleted"
    ERROR = "error"


_STATE = (
    "`creating`: its site copies the volume or the disk, and nothing is billed yet; `available`: it is complete, and"
    " volumes or servers can be made from it; `deleting` and `deleted`: its data goes, or is gone; `error`: its site"
    " did not make it"
)
_ID = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2ba1"
_VOLUME = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b91"


class SnapshotCreate(Body):
    """A snapshot to take: of a volume, or of the disk of a Poplar server."""

    name: ClusterName = Field(
        description="Name, unique among the project's snapshots that are not deleted.", examples=["before-tuning"]
    )
    volume: str | None = Field(
        None,
        min_length=1,
        max_length=63,
        description="Name or id of a volume of the project that is `available` or `attached`; null: it is of a server.",
        examples=["checkpoints"],
    )
    cluster: UUID | None = Field(
        None,
        strict=False,
        description="Id of a cluster in use whose server is copied; null: it is of a volume.",
        examples=[None],
    )
    poplar_server: str | None = Field(
        None, description="Name or id of the Poplar server of `cluster`; by default the first.", examples=[None]
    )
    tags: Tags = Field(default_factory=dict, description="Tags of the snapshot, which reports and exports show.")


class SnapshotPatch(Body):
    """What can be changed of a snapshot. Omitted fields stay unchanged; `tags` replaces all tags."""

    name: Annotated[ClusterName | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description="Name of the snapshot.", examples=["before-tuning"]
    )
    tags: Annotated[Tags | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description="Tags of the snapshot."
    )


class SnapshotOut(Answer):
    """A snapshot. It is billed by the GiB and minute from when it is available until its deletion is accepted."""

    id: UUID = Field(description="Id of the snapshot.", examples=[_ID])
    name: str = Field(description="Name of the snapshot.", examples=["before-tuning"])
    tags: dict[str, str] = Field(description="Tags of the snapshot.", examples=[{"team": "nlp"}])
    region: str = Field(
        description="Slug of the region; volumes or servers are made from it there.", examples=["luxembourg-2"]
    )
    volume: UUID | None = Field(
        description="Id of the volume that it is a copy of; null: it is of a server.", examples=[_VOLUME]
    )
    volume_name: str | None = Field(
        description="Name of that volume, its last one if it is deleted; null: none.", examples=["data"]
    )
    cluster: UUID | None = Field(
        description="Id of the cluster whose server's disk it is a copy of; null: it is of a volume.", examples=[None]
    )
    cluster_name: str | None = Field(description="Name of that cluster; null: none.", examples=[None])
    poplar_server: str | None = Field(description="Name of that server; null: none.", examples=[None])
    image: str | None = Field(
        description="Image of the catalogue that the server had, whose Poplar SDK servers made from it have; null: it"
        " is of a volume.",
        examples=[None],
    )
    size_gib: int | None = Field(
        description="Size of the volume when the snapshot was requested, or of what was on the disk, in whole GiB,"
        " which is what is billed; null: that of a disk is known once it is copied.",
        examples=[100],
    )
    state: SnapshotState = Field(description=f"Present state. {_STATE}.", examples=["available"])
    state_reason: str | None = Field(
        description="Why it is in this state, or what it waits for, for people; null: nothing to report.",
        examples=[None],
    )
    state_entered_at: datetime = Field(description="Since when it is in this state.", examples=["2026-05-04T09:30:00Z"])
    sku: str = Field(description="SKU that its GiB-minutes are billed as.", examples=["snapshot-gib"])
    currency: str = Field(description="Currency in which it is billed.", examples=["EUR"])
    created_by: UUID = Field(
        description="Id of the token that requested it.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b14"]
    )
    created_at: datetime = Field(description="When it was requested.", examples=["2026-05-04T09:29:58Z"])
    deleted_at: datetime | None = Field(description="When its data was gone; null before that.", examples=[None])


class SnapshotPage(Page[SnapshotOut]):
    pass


class SnapshotList(Listed):
    """Snapshots of a project that match every filter; deleted ones only if `state` asks for them."""

    state: list[SnapshotState] = Field(default_factory=list, description="Only those in these states.")

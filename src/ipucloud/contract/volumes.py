"""Volumes: storage of a project that outlives its clusters."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field
from pydantic.json_schema import SkipJsonSchema

from ipucloud.contract.fields import Answer, Body, ClusterName, Slug, Tags, not_null
from ipucloud.contract.lists import Listed, Page

MAX_GIB = 65_536
"""GiB of one volume."""
MOUNT_FOLDER = "/volumes"
MAX_OF_NEW_CLUSTER = 16
"""Volumes that a create can name."""


class VolumeState(StrEnum):
    """State of a volume."""

    CREATING = "creating"
    AVAILABLE = "available"
    ATTACHING = "attaching"
    ATTACHED = "attached"
    DETACHING = "detaching"
    RESIZING = "resizing"
    DELETING = "deleting"
    DELETED = "deleted"
    ERROR = "error"


_STATE = (
    "`creating`: its site makes it, and nothing is billed yet; `available`: it exists and no server has it;"
    " `attaching` and `attached`: a server gets it, or has it at `mount_path`; `detaching`: the server loses it;"
    " `resizing`: it grows; `deleting` and `deleted`: its data goes, or is gone; `error`: its site refused to make it"
)
_ID = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b91"
_CLUSTER = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b11"
_SIZE = "Size in GiB, which is what is billed."
Gib = Annotated[int, Field(ge=1, le=MAX_GIB)]


class VolumeCreate(Body):
    """A volume to make."""

    name: ClusterName = Field(
        description="Name, unique among the project's volumes that are not deleted; servers have it at"
        f" `{MOUNT_FOLDER}/<name>`.",
        examples=["checkpoints"],
    )
    region: Slug = Field(description="Slug of the region; only clusters there can have it.", examples=["luxembourg-2"])
    size_gib: Gib = Field(description=_SIZE, examples=[100])
    snapshot: str | None = Field(
        None,
        min_length=1,
        max_length=63,
        description="Name or id of an `available` snapshot of the project, in this region and not larger than the"
        " volume, with whose files it is made; null: it is made empty.",
        examples=["before-tuning"],
    )
    tags: Tags = Field(default_factory=dict, description="Tags of the volume, which reports and exports show.")


class VolumePatch(Body):
    """What can be changed of a volume. Omitted fields stay unchanged; `tags` replaces all tags."""

    name: Annotated[ClusterName | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description="Name; it cannot be changed while a server has the volume.", examples=["checkpoints"]
    )
    tags: Annotated[Tags | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description="Tags of the volume."
    )


class VolumeAttach(Body):
    """The Poplar server that is to have the volume."""

    cluster: UUID = Field(
        strict=False, description="Id of a cluster in use in the region of the volume.", examples=[_CLUSTER]
    )
    poplar_server: str | None = Field(
        None, description="Name or id of one of its Poplar servers; by default the first.", examples=["bert-p0"]
    )


class ClusterVolume(Body):
    """A volume that a new cluster gets, and the Poplar server that is to have it."""

    volume: str = Field(
        min_length=1,
        max_length=63,
        description="Name or id of an `available` volume of the project, in the region of the cluster.",
        examples=["checkpoints"],
    )
    server: int = Field(
        0, ge=0, description="Number of the Poplar server that has it, counted from 0; by default the first."
    )


class VolumeResize(Body):
    """A larger size."""

    size_gib: Gib = Field(description="New size in GiB, above the present one.", examples=[200])


class VolumeOut(Answer):
    """A volume. It is billed by the GiB and minute from when it is available until its deletion is accepted."""

    id: UUID = Field(description="Id of the volume.", examples=[_ID])
    name: str = Field(description="Name of the volume.", examples=["checkpoints"])
    tags: dict[str, str] = Field(description="Tags of the volume.", examples=[{"team": "nlp"}])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    size_gib: int = Field(description=_SIZE, examples=[100])
    resizing_to_gib: int | None = Field(description="The size it grows to; null: it does not.", examples=[None])
    state: VolumeState = Field(description=f"Present state. {_STATE}.", examples=["attached"])
    state_reason: str | None = Field(
        description="Why it is in this state, or what it waits for, for people; null: nothing to report.",
        examples=[None],
    )
    state_entered_at: datetime = Field(description="Since when it is in this state.", examples=["2026-05-04T09:30:00Z"])
    cluster: UUID | None = Field(
        description="Id of the cluster whose server has it, gets it or loses it; null: none.", examples=[_CLUSTER]
    )
    cluster_name: str | None = Field(description="Name of that cluster; null: none.", examples=["bert"])
    poplar_server: str | None = Field(description="Name of that server; null: none.", examples=["bert-p0"])
    mount_path: str | None = Field(
        description="Folder of the server that has its files; null: no server has or gets it.",
        examples=[f"{MOUNT_FOLDER}/checkpoints"],
    )
    snapshot: UUID | None = Field(
        description="Id of the snapshot that it was made from; null: it was made empty.", examples=[None]
    )
    sku: str = Field(description="SKU that its GiB-minutes are billed as.", examples=["volume-gib"])
    currency: str = Field(description="Currency in which it is billed.", examples=["EUR"])
    created_by: UUID = Field(
        description="Id of the token that requested it.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b14"]
    )
    created_at: datetime = Field(description="When it was requested.", examples=["2026-05-04T09:29:58Z"])
    deleted_at: datetime | None = Field(description="When its data was gone; null before that.", examples=[None])


class VolumePage(Page[VolumeOut]):
    pass


class VolumeList(Listed):
    """Volumes of a project that match every filter; deleted ones only if `state` asks for them."""

    state: list[VolumeState] = Field(default_factory=list, description="Only those in these states.")

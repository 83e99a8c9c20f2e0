"""Addresses: public ones of a project that outlive its clusters."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field
from pydantic.json_schema import SkipJsonSchema

from ipucloud.contract.fields import Answer, Body, ClusterName, Slug, Tags, not_null
from ipucloud.contract.lists import Listed, Page
from ipucloud.contract.sources import Sources


class AddressState(StrEnum):
    """State of an address."""

    CREATING = "creating"
    AVAILABLE = "available"
    ATTACHING = "attaching"
    ATTACHED = "attached"
    DETACHING = "detaching"
    DELETING = "deleting"
    DELETED = "deleted"
    ERROR = "error"


_STATE = (
    "`creating`: its site reserves it, and nothing is billed yet; `available`: it exists and leads to no server;"
    " `attaching` and `attached`: a server gets it, or is reached through it while it runs; `detaching`: the server"
    " loses it; `deleting` and `deleted`: it is given back; `error`: its site refused to reserve it"
)
_SOURCES = (
    "Networks (CIDR) from which connections through it are taken, beside what the cluster's own `allowed_sources`"
    " allow; a single address is one, too. Empty: from everywhere. While it is attached, a change makes it `attaching`"
    " until its site enforces it. Open connections stay open."
)
_ID = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2ba1"
_CLUSTER = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b11"
_IP = "203.0.113.17"


class AddressCreate(Body):
    """An address to reserve."""

    name: ClusterName = Field(
        description="Name, unique among the project's addresses that are not deleted.", examples=["frontdoor"]
    )
    region: Slug = Field(
        description="Slug of the region; only servers of clusters there can have it.", examples=["luxembourg-2"]
    )
    tags: Tags = Field(default_factory=dict, description="Tags of the address, which reports and exports show.")
    allowed_sources: Sources = Field(default_factory=list, description=_SOURCES)


class AddressPatch(Body):
    """What can be changed of an address. Omitted fields stay unchanged; `tags` replaces all tags."""

    name: Annotated[ClusterName | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description="Name of the address.", examples=["frontdoor"]
    )
    tags: Annotated[Tags | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description="Tags of the address."
    )
    allowed_sources: Annotated[Sources | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description=_SOURCES, examples=[["203.0.113.0/24"]]
    )


class AddressAttach(Body):
    """The Poplar server that is to be reached through the address."""

    cluster: UUID = Field(
        strict=False, description="Id of a cluster in use in the region of the address.", examples=[_CLUSTER]
    )
    poplar_server: str | None = Field(
        None, description="Name or id of one of its Poplar servers; by default the first.", examples=["bert-p0"]
    )


class AddressOut(Answer):
    """An address. It is billed by the minute from when it is available until its deletion is accepted."""

    id: UUID = Field(description="Id of the address.", examples=[_ID])
    name: str = Field(description="Name of the address.", examples=["frontdoor"])
    tags: dict[str, str] = Field(description="Tags of the address.", examples=[{"team": "nlp"}])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    allowed_sources: list[str] = Field(description=_SOURCES, examples=[["203.0.113.0/24"]])
    ip: str | None = Field(description="The IP address, which its site chose; null: not observed yet.", examples=[_IP])
    port: int | None = Field(
        description="Port of SSH at this address; null: not observed yet.", ge=1, le=65535, examples=[22]
    )
    observed_at: datetime | None = Field(
        description="When the site first showed this IP address and port; null: not yet.",
        examples=["2026-05-04T09:29:59Z"],
    )
    state: AddressState = Field(description=f"Present state. {_STATE}.", examples=["attached"])
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
    command: str | None = Field(
        description="The command that logs in to that server through the address; null: none has it yet.",
        examples=[f"ssh -p 22 ipuuser@{_IP}"],
    )
    sku: str = Field(description="SKU that its minutes are billed as.", examples=["address"])
    currency: str = Field(description="Currency in which it is billed.", examples=["EUR"])
    created_by: UUID = Field(
        description="Id of the token that requested it.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b14"]
    )
    created_at: datetime = Field(description="When it was requested.", examples=["2026-05-04T09:29:58Z"])
    deleted_at: datetime | None = Field(description="When it was given back; null before that.", examples=[None])


class AddressPage(Page[AddressOut]):
    pass


class AddressList(Listed):
    """Addresses of a project that match every filter; deleted ones only if `state` asks for them."""

    state: list[AddressState] = Field(default_factory=list, description="Only those in these states.")


class ClusterAddressOut(Answer):
    """An address of the project through which a Poplar server of the cluster is reached."""

    id: UUID = Field(description="Id of the address.", examples=[_ID])
    name: str = Field(description="Name of the address.", examples=["frontdoor"])
    state: AddressState = Field(description="State of the address.", examples=["attached"])
    ip: str = Field(description="The IP address.", examples=[_IP])
    port: int = Field(description="Port of SSH at this address.", examples=[22])
    poplar_server: str = Field(description="Name of the server that has it, gets it or loses it.", examples=["bert-p0"])
    command: str | None = Field(
        description="The command that logs in to that server through the address; null: it does not have it yet.",
        examples=[f"ssh -p 22 ipuuser@{_IP}"],
    )

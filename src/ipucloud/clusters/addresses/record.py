"""The noun `address`."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from ipucloud.catalogue.queries import ADDRESS_SKU
from ipucloud.clusters.addresses.tables import ADDRESS_STATES
from ipucloud.clusters.resources.attachable import ATTACHMENT, Attachables
from ipucloud.contract.addresses import AddressState


class Address(NamedTuple):
    id: UUID
    project_id: UUID
    name: str
    tags: dict[str, str]
    region: str
    ip: str | None
    port: int | None
    state: AddressState
    state_reason: str | None
    cluster_id: UUID | None
    server_id: UUID | None
    revision: int


class Addresses(Attachables[Address]):
    """What the site shows is as of the time at which it first showed it."""

    noun, nouns, sku = "address", "addresses", ADDRESS_SKU
    row, states = Address, ADDRESS_STATES
    moved = f"""{ATTACHMENT}, ip = :ip, port = :port,
        observed_at = CASE WHEN (ip, port) IS DISTINCT FROM (:ip, :port) THEN app_now() ELSE observed_at END"""


ADDRESSES = Addresses()

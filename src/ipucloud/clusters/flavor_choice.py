"""What a request for a cluster names: whether region, flavor, image and keys exist and go together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.volumes.snapshots.images import OwnImage, image_faults
from ipucloud.contract.catalogue import AllocatedThrough, Flavor, Region
from ipucloud.contract.clusters import ClusterCreate
from ipucloud.kernel.errors import VALIDATION_FAILED, FieldError, Problem

PREEMPTIBLE = "-preemptible"
"""Ends the SKUs of preemptible clusters."""


def sku_of(flavor: Flavor, *, preemptible: bool) -> str:
    """Of a cluster of this flavor. Without a price, preemptible ones are not offered."""
    return f"{flavor.sku}{PREEMPTIBLE}" if preemptible else flavor.sku


def reserved_sku(flavor: Flavor) -> str:
    """Of a reservation of this flavor. Without a price it is not offered."""
    return f"{flavor.sku}-reserved"


@dataclass(frozen=True, slots=True)
class Choice:
    """A region, flavor and image that go together, and the number of Poplar servers.

    `image`: its name in the catalogue, or with `own_image` the name by which the site knows a snapshot of the project.
    """

    region: Region
    flavor: Flavor
    image: str
    own_image: bool
    poplar_servers: int


def choose(body: ClusterCreate, catalogue: Catalogue, own_image: OwnImage | None) -> Choice:
    """`own_image`: the project's snapshot that `body.image` names, if it names one.

    Raises `Problem` validation_failed with every fault of the request at once.
    """
    region = catalogue.find_region(body.region)
    flavor = catalogue.find_flavor(body.flavor)
    faults = []
    if region is None:
        faults.append(
            FieldError("/region", "unknown_region", "This region does not exist; `GET /v1/regions` lists them.")
        )
    if flavor is None:
        faults.append(
            FieldError("/flavor", "unknown_flavor", "This flavor does not exist; `GET /v1/flavors` lists them.")
        )
    elif region is not None and region.slug not in flavor.regions:
        faults.append(not_in_region(flavor, region))
    faults += image_faults(body.image, None if region is None else region.slug, catalogue, own_image)
    servers = body.poplar_servers
    if flavor is not None and servers is not None:
        faults += _servers_beyond(flavor, servers)
    if flavor is not None and body.preemptible:
        faults += _not_preemptible(flavor, body)
    if faults or region is None or flavor is None:
        raise invalid(faults)
    image = body.image if own_image is None else own_image.external_name
    servers = flavor.poplar_servers if servers is None else servers
    return Choice(region, flavor, image, own_image is not None, servers)


def not_in_region(flavor: Flavor, region: Region) -> FieldError:
    sentence = f"{flavor.name} is not sold in {region.slug}, but in {', '.join(flavor.regions)}."
    return FieldError("/flavor", "not_in_region", sentence)


def _servers_beyond(flavor: Flavor, servers: int) -> Iterable[FieldError]:
    fewest, most = flavor.poplar_servers_min, flavor.poplar_servers_max
    if not fewest <= servers <= most:
        has = "one Poplar server" if most == 1 else f"{fewest} to {most} Poplar servers"
        yield FieldError("/poplar_servers", "not_in_flavor", f"A cluster of flavor {flavor.name} has {has}.")


def _not_preemptible(flavor: Flavor, body: ClusterCreate) -> Iterable[FieldError]:
    if flavor.allocated_through is not AllocatedThrough.V_IPU:
        sentence = (
            "The IPUs of this flavor are in its server, which a suspended cluster keeps: it cannot be preemptible."
        )
        yield FieldError("/preemptible", "not_offered", sentence)
    if body.reservation is not None:
        sentence = "Machines of a reservation are never taken back: omit this, or `reservation`."
        yield FieldError("/preemptible", "reserved", sentence)


def unknown_keys(names: Sequence[str], known: Mapping[str, str]) -> Iterable[FieldError]:
    for index, name in enumerate(names):
        if name not in known:
            yield FieldError(f"/ssh_keys/{index}", "unknown_ssh_key", "The project has no SSH key with this name.")


def invalid(faults: Sequence[FieldError]) -> Problem:
    """400 for a cluster that cannot be created like this."""
    return Problem(VALIDATION_FAILED, "The cluster cannot be created like this.", faults)


def not_sold(body: ClusterCreate, sku: str, currency: str) -> FieldError:
    if body.preemptible:
        sentence = (
            f"Preemptible clusters of {body.flavor} are not offered in {body.region}: the operator has set no price of"
            f" {sku} in {currency}, the currency of the account. Omit this for an ordinary cluster."
        )
        return FieldError("/preemptible", "not_offered", sentence)
    sentence = f"The flavor currently has no price in {currency}, the currency of the account, in this region."
    return FieldError("/flavor", "not_sold", sentence)

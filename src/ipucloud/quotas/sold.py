"""Which quotas there can be: of machine types that a region has, of storage, and of addresses."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ipucloud.catalogue.queries import ADDRESS_SKU, VOLUME_SKU, Catalogue
from ipucloud.kernel.nearest import nearest


class NotSold(NamedTuple):
    """Which of the two names is wrong, and a sentence with the names that there are."""

    field: Literal["region", "machine_type"]
    detail: str


def slug_of(catalogue: Catalogue, region: str) -> str:
    """The slug of a region that may be named otherwise; an unknown one as it is."""
    found = catalogue.find_region(region)
    return region if found is None else found.slug


def not_sold(catalogue: Catalogue, region: str, machine_type: str) -> NotSold | None:
    """Why there can be no quota of the type in the region; None: there can."""
    found = catalogue.find_region(region)
    if found is None:
        known = nearest(region, (each.slug for each in catalogue.regions))
        return NotSold("region", f"There is no region {region}. Regions, nearest first: {known}.")
    if machine_type in {*found.machine_types, VOLUME_SKU, ADDRESS_SKU}:
        return None
    known = nearest(machine_type, found.machine_types)
    sentence = (
        f"The region {found.slug} has no machines of type {machine_type}. Its types, nearest first: {known}. The quota"
        f" of volumes is {VOLUME_SKU}, and of addresses {ADDRESS_SKU}."
    )
    return NotSold("machine_type", sentence)

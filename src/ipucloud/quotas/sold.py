"""Which quotas there can be: of machine types that a region has."""

from __future__ import annotations

from ipucloud.catalogue.queries import Catalogue
from ipucloud.kernel.nearest import nearest


def slug_of(catalogue: Catalogue, region: str) -> str:
    """The slug of a region that may be named otherwise; an unknown one as it is."""
    found = catalogue.find_region(region)
    return region if found is None else found.slug


def not_sold(catalogue: Catalogue, region: str, machine_type: str) -> str | None:
    """Why there are no machines of the type in the region, with the names that there are; None: there are."""
    found = catalogue.find_region(region)
    if found is None:
        known = nearest(region, (each.slug for each in catalogue.regions))
        return f"There is no region {region}. Regions, nearest first: {known}."
    if machine_type in found.machine_types:
        return None
    known = nearest(machine_type, found.machine_types)
    return f"The region {found.slug} has no machines of type {machine_type}. Its types, nearest first: {known}."

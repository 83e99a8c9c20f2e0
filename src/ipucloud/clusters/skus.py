"""What a machine-minute of a flavor, or a GiB-minute of a volume, is billed as."""

from __future__ import annotations

from ipucloud.contract.catalogue import Flavor

PREEMPTIBLE = "-preemptible"
"""Ends the SKUs of preemptible clusters."""
VOLUME_SKU = "volume-gib"
"""Of volumes. Without a price in a region they are not offered there."""


def sku_of(flavor: Flavor, *, preemptible: bool) -> str:
    """Of a cluster of this flavor. Without a price, preemptible ones are not offered."""
    return f"{flavor.sku}{PREEMPTIBLE}" if preemptible else flavor.sku


def reserved_sku(flavor: Flavor) -> str:
    """Of a reservation of this flavor. Without a price it is not offered."""
    return f"{flavor.sku}-reserved"

"""What a machine-minute of a flavor is billed as."""

from __future__ import annotations

from ipucloud.contract.catalogue import Flavor

PREEMPTIBLE = "-preemptible"
"""Ends the SKUs of preemptible clusters."""


def sku_of(flavor: Flavor, *, preemptible: bool) -> str:
    """Of a cluster of this flavor. Without a price, preemptible ones are not offered."""
    return f"{flavor.sku}{PREEMPTIBLE}" if preemptible else flavor.sku


def reserved_sku(flavor: Flavor) -> str:
    """Of a reservation of this flavor. Without a price it is not offered."""
    return f"{flavor.sku}-reserved"

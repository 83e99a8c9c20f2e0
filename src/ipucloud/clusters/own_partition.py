"""The partition that a cluster is created with, what its Poplar servers are told of it, and what fits into it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from ipucloud.kernel.vipu import DOMAIN_IPUS

USUAL_SECONDS, LARGE_SECONDS = 120, 3600
"""How long programs wait for a partition: the vendor's default, and what pods of several IPU-Link domains can need."""


def gcds(ipus: int) -> int:
    """Its graph compile domains: one for each IPU-Link domain."""
    return max(1, ipus // DOMAIN_IPUS)


def ipus_of_server(ipus: int) -> int:
    """How many of a cluster's IPUs each of its servers sees: those of one GCD."""
    return ipus // gcds(ipus)


def environment(ipus: int, server: int) -> dict[str, str]:
    """Which GCD the server with this number works with, and for how long programs wait for the partition."""
    return {
        "IPUOF_VIPU_API_GCD_ID": str(server % gcds(ipus)),
        "IPUOF_VIPU_API_TIMEOUT": str(USUAL_SECONDS if gcds(ipus) == 1 else LARGE_SECONDS),
    }


def fitting(sizes: Mapping[str, int], ipus: int) -> list[str]:
    """The partitions of these sizes in IPUs, by name, that a cluster of `ipus` has room for, the largest first.

    Sizes are powers of two, and partitions are aligned to theirs: made in this order, all find room whose sum fits.
    """
    chosen, left = [], ipus
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        if size <= left:
            chosen.append(name)
            left -= size
    return chosen

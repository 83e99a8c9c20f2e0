"""The partition that a cluster is created with, and what its Poplar servers are told of it. Pure."""

from __future__ import annotations

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

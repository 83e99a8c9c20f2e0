"""Allowed sources: the networks from which clusters, addresses, tokens and sessions are used."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from ipucloud.kernel.networks import read_network

MAX_SOURCES = 32
LONGEST = 64


def network(text: str) -> str:
    """The network as it is shown: CIDR. Raises PydanticCustomError."""
    try:
        return str(read_network(text))
    except ValueError:
        pass
    try:
        meant = ip_network(text, strict=False)
    except ValueError:
        raise PydanticCustomError(
            "not_a_network", "Write a network like 203.0.113.0/24 or 2001:db8::/32, or a single IP address."
        ) from None
    if "%" in text:
        raise PydanticCustomError("not_a_network", "Leave out the zone after %: it is known on one machine only.")
    raise PydanticCustomError(
        "host_bits_set",
        "{text} is an address within a network: write {network} for the network, or {address} for this address only.",
        {"text": text, "network": str(meant), "address": text.partition("/")[0]},
    )


def _each_once(networks: list[str]) -> list[str]:
    return list(dict.fromkeys(networks))


Source = Annotated[str, Field(max_length=LONGEST), AfterValidator(network)]
Sources = Annotated[
    list[Source],
    Field(max_length=MAX_SOURCES, examples=[["203.0.113.0/24", "2001:db8:42::/48"]]),
    AfterValidator(_each_once),
]

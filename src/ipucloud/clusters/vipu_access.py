"""V-IPU of a cluster: the endpoint that its customer calls, the partition that it is created with, access keys.

A cluster's user has the cluster's external name. Its keys are of two kinds: the one in the environment of the Poplar
servers, whose secret is derived from the installation's own key whenever it is needed; and the customer's, whose secret
is created by a request, shown in its answer and not stored. The controller gets digests only, so a call whose answer
was lost can be repeated: no key exists that is unknown to its user.

A customer's key survives a suspension and a resume under another name. The servers get a new one with a resume, even if
the earlier one was revoked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from ipucloud.kernel.errors import STATE_CONFLICT, Problem
from ipucloud.kernel.ids import EXTERNAL_NAME_LIMIT
from ipucloud.kernel.sealing import Keys, derive
from ipucloud.kernel.vipu import DOMAIN_IPUS


def endpoint(cluster: str) -> str:
    """The columns of a `UserEndpoint`, in order; `cluster` is the name of `clusters` in the statement."""
    return f"{cluster}.endpoint_host AS host, {cluster}.endpoint_port AS port"


def no_endpoint() -> Problem:
    """409: there is no allocation, or its endpoint is not known."""
    return Problem(
        STATE_CONFLICT,
        "The cluster has no V-IPU endpoint now: it has one from its creation or resume on, until it is suspended or"
        " deleted. Wait until it is active.",
    )


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
    chosen, free = [], ipus
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        if size <= free:
            chosen.append(name)
            free -= size
    return chosen


SECRET_PREFIX = "vipu_"
"""The prefix of every access key, so that a leaked one can be recognised."""


@dataclass(frozen=True, slots=True)
class ServerKey:
    """The access key of a cluster's Poplar servers."""

    id: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Access:
    """The keys that a cluster's user at a secure controller should have.

    `server` None: this installation has no key to derive one from. `keys`: digests of the customer's, by id.
    """

    user: str
    server: ServerKey | None
    keeps_server_key: bool
    keys: Mapping[str, str]

    @property
    def desired(self) -> Mapping[str, str]:
        """Digests of all keys that the user should have, by id."""
        if self.server is None or not self.keeps_server_key:
            return self.keys
        return {**self.keys, self.server.id: digest_of(self.server.secret)}

    def keeps(self, key_id: str) -> bool:
        """Whether a key at the controller is kept. A server may still use one derived from an older key of ours."""
        return key_id in self.keys or (self.keeps_server_key and key_id.startswith(f"{self.user}-s"))


def access_of(user: str, keys: Keys | None, stored: Mapping[str, Any]) -> Access:
    """`stored`: the customer's `keys`, and whether one of them `ended_server_key`."""
    server = None
    if keys is not None:
        # The id names our key: a new key derives another secret, and the controller keeps both. A cluster resumed a
        # hundred times has a longer name, which leaves less room for that.
        key_id = f"{user}-s{keys.current[:5]}"[:EXTERNAL_NAME_LIMIT]
        server = ServerKey(key_id, SECRET_PREFIX + derive(keys, f"V-IPU access key {key_id}"))
    return Access(user, server, not stored["ended_server_key"], stored["keys"] or {})


def digest_of(secret: str) -> str:
    """SHA-256 as lower-case hexadecimal digits: 256 random bits need no slow hash."""
    return sha256(secret.encode()).hexdigest()

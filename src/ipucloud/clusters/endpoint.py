"""Where a cluster's customer calls its V-IPU controller: the user endpoint of its allocation, while that exists."""

from __future__ import annotations

from ipucloud.kernel.errors import STATE_CONFLICT, Problem


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

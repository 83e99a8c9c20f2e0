"""Names of a step's objects for customers: the cluster's own hosts, machines and network only."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.clusters.inputs import ClusterInputs

LISTED = 4


def listed(kind: str, names: Sequence[str]) -> str:
    """`host a`; `hosts a, b and c`; `hosts a, b, c, d and 12 more`."""
    if len(names) == 1:
        return f"{kind} {names[0]}"
    if len(names) > LISTED:
        return f"{kind}s {', '.join(names[:LISTED])} and {len(names) - LISTED} more"
    return f"{kind}s {', '.join(names[:-1])} and {names[-1]}"


def controller(cluster: ClusterInputs) -> str:
    return f"the V-IPU controller of {cluster.region}"


def network(cluster: ClusterInputs) -> str:
    return f"tenant network {cluster.external_name}"


def site(cluster: ClusterInputs) -> str:
    return f"the site of {cluster.region}"


def hosts(cluster: ClusterInputs) -> str:
    return listed("host", [host.name for host in cluster.hosts]) if cluster.hosts else site(cluster)


def machines(cluster: ClusterInputs) -> str:
    return listed("machine", [machine.name for machine in cluster.machines]) if cluster.machines else site(cluster)

"""What a step deals with, as a customer reads it: names of the cluster's own hosts, machines and network, no others."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.clusters.inputs import ClusterInputs

LISTED = 4

_OF_HOSTS = frozenset(
    {
        "deploy_poplar_servers",
        "switch_on_poplar_servers",
        "switch_off_poplar_servers",
        "wipe_poplar_servers",
        "check_ipus",
    }
)
_OF_MACHINES = frozenset({"power_on_machines", "power_off_machines"})
_OF_THE_NETWORK = frozenset({"attach_network", "detach_network"})


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


def concerned(cluster: ClusterInputs) -> str:
    """Whom the current step asks at the site."""
    step = cluster.operation.step.name
    if step in _OF_HOSTS and cluster.hosts:
        return listed("host", [host.name for host in cluster.hosts])
    if step in _OF_MACHINES and cluster.machines:
        return listed("machine", [machine.name for machine in cluster.machines])
    if step in _OF_THE_NETWORK:
        return network(cluster)
    if cluster.vipu is None:
        return f"the site of {cluster.region}"
    return controller(cluster)

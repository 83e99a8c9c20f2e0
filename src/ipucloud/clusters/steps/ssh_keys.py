"""The step that brings the SSH keys of a cluster to its Poplar servers in use."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ipucloud.clusters.inputs import ClusterInputs, HostInput
from ipucloud.clusters.steps.faulty import silent
from ipucloud.clusters.steps.poplar_servers import has_keys, with_keys
from ipucloud.operations.results import Achieved, Failed, Pending, StepResult
from ipucloud.site.ports import Site


@dataclass(frozen=True, slots=True)
class KeysAnswer(Achieved):
    """The servers of these numbers were seen to accept exactly the cluster's keys."""

    ordinals: tuple[int, ...]


async def exchange_keys(site: Site, cluster: ClusterInputs) -> StepResult:
    """Each request names the revision of the keys; one that arrives late brings no earlier key back."""
    answers = await asyncio.gather(*(_exchanged(site, cluster, host) for host in cluster.hosts), return_exceptions=True)
    unanswered = await silent(site, cluster, "host", zip((host.name for host in cluster.hosts), answers, strict=True))
    if unanswered is not None:
        return unanswered
    for answer in answers:
        if isinstance(answer, StepResult):
            return answer
    return KeysAnswer(tuple(host.ordinal for host in cluster.hosts))


async def _exchanged(site: Site, cluster: ClusterInputs, wanted: HostInput) -> StepResult | None:
    """None when the server has the keys."""
    host = await site.hosts.get(wanted.name)
    if host.server is None or host.server.name != wanted.server_name:
        return Failed(f"Poplar server {wanted.server_name} is no longer on host {wanted.name}", final=True)
    host = await with_keys(site, cluster, wanted, host)
    if host.server is None or not has_keys(host.server, cluster):
        return Pending(f"waiting until the Poplar server on host {wanted.name} has the keys")
    return None

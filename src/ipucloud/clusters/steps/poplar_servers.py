"""The steps for Poplar servers: deployed once, switched off and on with a suspended cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ipucloud.clusters.inputs import ClusterInputs, HostInput
from ipucloud.clusters.steps.cleaning import Cleaned, Progress, clean
from ipucloud.clusters.steps.faulty import faulty, silent
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.operations.results import Achieved, Failed, Pending, StepResult
from ipucloud.site.ports import Site
from ipucloud.wire.site import Host, HostState, ServerSpec, Ssh

_OFF = frozenset({HostState.OFF, HostState.FAILED})


@dataclass(frozen=True, slots=True)
class ServerObservation:
    """A Poplar server that answered by SSH with the expected host key."""

    ordinal: int
    ssh: Ssh


@dataclass(frozen=True, slots=True)
class ServersAnswer(Achieved):
    """Every Poplar server of the cluster was observed."""

    servers: tuple[ServerObservation, ...]


async def deploy_poplar_servers(site: Site, cluster: ClusterInputs) -> StepResult:
    deploying = (_deployed(site, cluster, host) for host in cluster.hosts)
    return await _all(site, cluster, await asyncio.gather(*deploying, return_exceptions=True))


async def _deployed(site: Site, cluster: ClusterInputs, wanted: HostInput) -> ServerObservation | StepResult:
    host = await site.hosts.get(wanted.name)
    if host.server is None and host.state is HostState.CLEAN:
        host = await site.hosts.put_server(wanted.name, _server_spec(cluster, wanted))
    if host.server is not None and host.server.name != wanted.server_name:
        return faulty("host", [wanted.name], "still has the server of an earlier cluster", outage=True)
    return await _answering(site, wanted, host)


async def switch_on_poplar_servers(site: Site, cluster: ClusterInputs) -> StepResult:
    """Boot a suspended cluster's servers in its new network, with the environment of its new name."""
    switching = (_switched_on(site, cluster, host) for host in cluster.hosts)
    return await _all(site, cluster, await asyncio.gather(*switching, return_exceptions=True))


async def _switched_on(site: Site, cluster: ClusterInputs, wanted: HostInput) -> ServerObservation | StepResult:
    host = await site.hosts.get(wanted.name)
    if host.server is None or host.server.name != wanted.server_name:
        sentence = f"Poplar server {wanted.server_name} is no longer on host {wanted.name}, nor is its disk"
        return Failed(sentence, final=True)
    settled = host.server.network == cluster.external_name
    if host.state is HostState.OFF or (not settled and host.state is not HostState.FAILED):
        host = await site.hosts.switch_on(wanted.name, wanted.server_name, cluster.external_name, _environment(cluster))
    return await _answering(site, wanted, host)


async def switch_off_poplar_servers(site: Site, cluster: ClusterInputs) -> StepResult:
    """A host that does not answer is left as it is: it leaves the tenant network, and the cluster keeps it."""
    switched = partial(_switched_off, site, cluster)
    result = await clean(
        site, cluster, cluster.hosts, switched, kind="host", doing="switching off the Poplar server on"
    )
    return Achieved(note=result.note) if isinstance(result, Cleaned) else result


async def _switched_off(site: Site, cluster: ClusterInputs, wanted: HostInput) -> Progress:
    """A failed host is off too. Servers of other clusters do not count."""
    host = await site.hosts.get(wanted.name)
    if host.server is None or host.server.name != wanted.server_name:
        return Progress(done=True)
    if host.state not in _OFF:
        host = await site.hosts.switch_off(wanted.name, wanted.server_name, cluster.external_name)
    return Progress(host.state in _OFF)


async def _all(
    site: Site, cluster: ClusterInputs, results: Sequence[ServerObservation | StepResult | BaseException]
) -> StepResult:
    """Achieved, with all servers, when every one was observed; otherwise the result of the first that was not."""
    unanswered = await silent(site, cluster, "host", zip((host.name for host in cluster.hosts), results, strict=True))
    if unanswered is not None:
        return unanswered
    observed: list[ServerObservation] = []
    for result in results:
        if isinstance(result, StepResult):
            return result
        if isinstance(result, ServerObservation):
            observed.append(result)
    return ServersAnswer(tuple(observed))


async def _answering(site: Site, wanted: HostInput, host: Host) -> ServerObservation | StepResult:
    """The server, once it presents the expected host key by SSH."""
    if host.state is HostState.FAILED:
        return faulty("host", [wanted.name], "failed: its Poplar server did not come up")
    if host.state is not HostState.RUNNING or host.ssh is None:
        return Pending(f"{_progress_of(host)} on host {wanted.name}")
    presented = await site.hosts.ssh_host_key(host.ssh.host, host.ssh.port)
    if presented is None:
        return Pending(f"waiting for the Poplar server on host {wanted.name} to answer by SSH")
    if presented.split()[:2] != host.ssh.host_key.split()[:2]:
        return faulty("host", [wanted.name], "has a Poplar server that presents an unexpected SSH host key")
    return ServerObservation(wanted.ordinal, host.ssh)


def _progress_of(host: Host) -> str:
    return "booting the Poplar server" if host.state is HostState.BOOTING else "writing the image of the Poplar server"


def _server_spec(cluster: ClusterInputs, host: HostInput) -> ServerSpec:
    return ServerSpec(
        name=host.server_name,
        image=cluster.image,
        ssh_authorized_keys=list(cluster.ssh_public_keys),
        user_data=cluster.user_data,
        environment=_environment(cluster),
        network=cluster.external_name,
        ipus=cluster.ipus if cluster.allocated_through is AllocatedThrough.HOST_DEVICES else 0,
    )


def _environment(cluster: ClusterInputs) -> dict[str, str]:
    """The cluster's name, and what Poplar and the vendor's tools need to find its IPUs."""
    named = {"IPUCLOUD_CLUSTER": cluster.name}
    if cluster.allocated_through is AllocatedThrough.HOST_DEVICES:
        line = any(machine.topology == "line" for machine in cluster.machines)
        # Poplar assumes a ladder of cards unless configured otherwise (the vendor's C600 documentation).
        return named | ({"POPLAR_TARGET_OPTIONS": '{"ipuLinkTopology":"line"}'} if line else {})
    if cluster.vipu is None:
        return named
    environment = named | {
        "IPUOF_VIPU_API_HOST": cluster.vipu.host,
        "IPUOF_VIPU_API_PORT": str(cluster.vipu.user_port),
        "IPUOF_VIPU_API_PARTITION_ID": cluster.external_name,
        "VIPU_CLI_API_HOST": cluster.vipu.host,
        "VIPU_CLI_API_PORT": str(cluster.vipu.user_port),
    }
    if cluster.access is not None:
        environment["VIPU_CLI_API_USER_ID"] = cluster.access.user
        if cluster.access.server is not None and cluster.access.keeps_server_key:
            environment["VIPU_CLI_API_ACCESS_KEY"] = cluster.access.server.secret
    return environment

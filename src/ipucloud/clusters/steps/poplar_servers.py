"""The steps for Poplar servers: deployed once, switched off and on with a suspended cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from ipucloud.clusters import vipu_access
from ipucloud.clusters.inputs import ClusterInputs, HostInput
from ipucloud.clusters.step_objects import listed
from ipucloud.clusters.steps.cleaning import Cleaned, Leftover, Progress, clean
from ipucloud.clusters.steps.faulty import faulty, silent
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.operations.results import Achieved, Failed, Pending, StepResult
from ipucloud.site.ports import Site, SiteError
from ipucloud.wire.site import AUTHORITY_FILE, Host, HostState, ServerSpec, Ssh

_OFF = frozenset({HostState.OFF, HostState.FAILED})
_NO_ENDPOINT = Failed("the V-IPU endpoint of the cluster is not recorded, and its Poplar servers need it", final=True)


@dataclass(frozen=True, slots=True)
class ServerObservation:
    """A Poplar server that answered by SSH with the expected host key; `keys`: its `authorized_keys`."""

    ordinal: int
    ssh: Ssh
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServersAnswer(Achieved):
    """Every Poplar server of the cluster was observed, except for the numbers in `failed`, whose hosts do not work."""

    servers: tuple[ServerObservation, ...]
    failed: tuple[int, ...] = ()


async def deploy_poplar_servers(site: Site, cluster: ClusterInputs) -> StepResult:
    if _lacks_endpoint(cluster):
        return _NO_ENDPOINT
    deploying = (_deployed(site, cluster, host) for host in cluster.hosts)
    return await observed(site, cluster, await asyncio.gather(*deploying, return_exceptions=True))


async def _deployed(site: Site, cluster: ClusterInputs, target: HostInput) -> ServerObservation | StepResult:
    host = await site.hosts.get(target.name)
    if host.server is None and host.state is HostState.CLEAN:
        host = await site.hosts.put_server(target.name, server_spec(cluster, target))
    if host.server is not None and host.server.name != target.server_name:
        return faulty("host", [target.name], "still has the server of an earlier cluster", outage=True)
    return await answering(site, target, host)


async def switch_on_poplar_servers(site: Site, cluster: ClusterInputs) -> StepResult:
    """Boot the kept servers in the cluster's new network, with the environment of its new name; build the others.

    Those whose hosts have failed wait for a repair, of which the customer is told before it takes their disks.
    """
    if _lacks_endpoint(cluster):
        return _NO_ENDPOINT
    working = replace(cluster, hosts=tuple(host for host in cluster.hosts if not host.failed))
    switching = ((_deployed if host.unbuilt else _switched_on)(site, cluster, host) for host in working.hosts)
    result = await observed(site, working, await asyncio.gather(*switching, return_exceptions=True))
    if isinstance(result, ServersAnswer) and (failed := [host for host in cluster.hosts if host.failed]):
        names = listed("Poplar server", [host.server_name for host in failed])
        return replace(
            result, failed=tuple(host.ordinal for host in failed), note=f"without {names}: the host has failed"
        )
    return result


async def _switched_on(site: Site, cluster: ClusterInputs, target: HostInput) -> ServerObservation | StepResult:
    host = await site.hosts.get(target.name)
    if host.server is None or host.server.name != target.server_name:
        sentence = f"Poplar server {target.server_name} is no longer on host {target.name}, nor is its disk"
        return Failed(sentence, final=True)
    host = await _with_sources(site, cluster, target, await with_keys(site, cluster, target, host))
    settled = host.server is not None and host.server.network == cluster.external_name
    if host.state is HostState.OFF or (not settled and host.state is not HostState.FAILED):
        host = await site.hosts.switch_on(
            target.name, target.server_name, cluster.external_name, _environment(cluster, target)
        )
    return await answering(site, target, host)


async def with_keys(site: Site, cluster: ClusterInputs, target: HostInput, host: Host) -> Host:
    """The host once its server was told the cluster's keys, which it has from its next start on if it is off."""
    if host.server is None or has_keys(host.server, cluster):
        return host
    return await site.hosts.put_keys(
        target.name,
        target.server_name,
        cluster.external_name,
        cluster.authorized_keys,
        revision=cluster.keys_revision,
    )


async def _with_sources(site: Site, cluster: ClusterInputs, target: HostInput, host: Host) -> Host:
    """The host once its site has the cluster's allowed sources: what is about to start is never open to others."""
    if cluster.sources_revision <= (host.sources.revision if host.sources is not None else 0):
        return host
    return await site.hosts.put_sources(
        target.name,
        target.server_name,
        cluster.external_name,
        cluster.allowed_sources,
        revision=cluster.sources_revision,
    )


def has_keys(server: ServerSpec, cluster: ClusterInputs) -> bool:
    """The revision counts too: as long as an earlier one is there, a late request can still bring other keys."""
    return (server.keys_revision, keys_of(server)) == (cluster.keys_revision, cluster.authorized_keys)


def keys_of(server: ServerSpec) -> tuple[str, ...]:
    return tuple(server.ssh_authorized_keys)


async def switch_off_poplar_servers(site: Site, cluster: ClusterInputs) -> StepResult:
    """A host that does not answer is left as it is: it leaves the tenant network, and the cluster keeps it.

    Hosts that the cluster gives back are wiped instead.
    """
    switched = partial(_switched_off, site, cluster)
    result = await clean(
        site, cluster, cluster.hosts, switched, kind="host", doing="switching off the Poplar server on"
    )
    if not isinstance(result, Cleaned):
        return result
    given_up = {host.name: host.id for host in cluster.hosts if host.unbuilt}
    isolated = tuple(each for each in result.leftovers if each.name in given_up)
    await _isolate(site, cluster, isolated)
    observed = {each: facts for each, facts in result.observed.items() if each in given_up.values()}
    return replace(result, leftovers=isolated, observed=observed)


async def wipe_poplar_servers(site: Site, cluster: ClusterInputs) -> StepResult:
    result = await clean(site, cluster, cluster.hosts, partial(_wiped, site), kind="host", doing="wiping")
    if isinstance(result, Cleaned):
        await _isolate(site, cluster, result.leftovers)
    return result


async def _isolate(site: Site, cluster: ClusterInputs, leftovers: Sequence[Leftover]) -> None:
    names = {each.name for each in leftovers}
    for host in (each for each in cluster.hosts if each.name in names):
        with suppress(SiteError):  # it has failed; `policies/leftovers.py` asks again until it was observed wiped
            await site.hosts.switch_off(host.name, host.server_name, cluster.external_name)


async def _switched_off(site: Site, cluster: ClusterInputs, target: HostInput) -> Progress:
    """A failed host is off too. Servers of other clusters do not count."""
    if target.unbuilt:
        return await _wiped(site, target)
    host = await site.hosts.get(target.name)
    if host.server is None or host.server.name != target.server_name:
        return Progress(done=True)
    if host.state not in _OFF:
        host = await site.hosts.switch_off(target.name, target.server_name, cluster.external_name)
    return Progress(host.state in _OFF)


async def _wiped(site: Site, target: HostInput) -> Progress:
    """Clean only when it has no server."""
    host = await site.hosts.get(target.name)
    ours = host.server is not None and host.server.name == target.server_name
    if ours and host.state is not HostState.WIPING:
        await site.hosts.delete_server(target.name, target.server_name)
        host = await site.hosts.get(target.name)
    failed = f"host {target.name} failed" if host.state is HostState.FAILED else None
    clean = host.server is None and host.state is HostState.CLEAN
    return Progress(clean, failed, observed={"server": "none", "disk": "wiped"} if clean else {})


async def observed(
    site: Site, cluster: ClusterInputs, results: Sequence[ServerObservation | StepResult | BaseException]
) -> StepResult:
    """Achieved, with all servers, when every one was observed; otherwise the result of the first that was not."""
    unanswered = await silent(site, cluster, "host", zip((host.name for host in cluster.hosts), results, strict=True))
    if unanswered is not None:
        return unanswered
    observations: list[ServerObservation] = []
    for result in results:
        if isinstance(result, StepResult):
            return result
        if isinstance(result, ServerObservation):
            observations.append(result)
    return ServersAnswer(tuple(observations))


async def answering(site: Site, target: HostInput, host: Host) -> ServerObservation | StepResult:
    """The server, once it presents the expected host key by SSH."""
    if host.state is HostState.FAILED:
        return faulty("host", [target.name], "failed: its Poplar server did not come up")
    if host.state is not HostState.RUNNING or host.ssh is None:
        return Pending(f"{_progress_of(host)} on host {target.name}")
    presented = await site.hosts.ssh_host_key(host.ssh.host, host.ssh.port)
    if presented is None:
        return Pending(f"waiting for the Poplar server on host {target.name} to answer by SSH")
    if presented.split()[:2] != host.ssh.host_key.split()[:2]:
        return faulty("host", [target.name], "has a Poplar server that presents an unexpected SSH host key")
    return ServerObservation(target.ordinal, host.ssh, () if host.server is None else keys_of(host.server))


def _progress_of(host: Host) -> str:
    return "booting the Poplar server" if host.state is HostState.BOOTING else "writing the image of the Poplar server"


def server_spec(cluster: ClusterInputs, host: HostInput) -> ServerSpec:
    """Raises SealingError when the user data cannot be decrypted."""
    return ServerSpec(
        name=host.server_name,
        image=cluster.image,
        generation=host.generation,
        ssh_authorized_keys=list(cluster.authorized_keys),
        user_data=cluster.user_data.plain,
        environment=_environment(cluster, host),
        network=cluster.external_name,
        keys_revision=cluster.keys_revision,
        allowed_sources=list(cluster.allowed_sources),
        sources_revision=cluster.sources_revision,
        ipus=cluster.ipus if cluster.allocated_through is AllocatedThrough.HOST_DEVICES else 0,
    )


def _lacks_endpoint(cluster: ClusterInputs) -> bool:
    return cluster.vipu is not None and bool(cluster.network_machines) and cluster.endpoint is None


def _environment(cluster: ClusterInputs, host: HostInput) -> dict[str, str]:
    """The cluster's name, and what Poplar and the vendor's tools need to find its IPUs."""
    named = {"IPUCLOUD_CLUSTER": cluster.name}
    if cluster.allocated_through is AllocatedThrough.HOST_DEVICES:
        line = any(machine.topology == "line" for machine in cluster.machines)
        # Poplar assumes a ladder of cards unless configured otherwise (the vendor's C600 documentation).
        return named | ({"POPLAR_TARGET_OPTIONS": '{"ipuLinkTopology":"line"}'} if line else {})
    if cluster.vipu is None or cluster.endpoint is None:
        return named
    host_and_port = {"HOST": cluster.endpoint.host, "PORT": str(cluster.endpoint.port)}
    environment = named | {
        **{f"IPUOF_VIPU_API_{name}": value for name, value in host_and_port.items()},
        "IPUOF_VIPU_API_PARTITION_ID": cluster.external_name,
        **vipu_access.environment(cluster.ipus, host.ordinal),
        **{f"VIPU_CLI_API_{name}": value for name, value in host_and_port.items()},
    }
    if cluster.vipu.authority is None:
        environment["VIPU_CLI_API_PLAINTEXT"] = "true"
    else:
        environment["VIPU_CLI_API_CA_FILE"] = AUTHORITY_FILE
    if cluster.access is not None:
        environment["VIPU_CLI_API_USER_ID"] = cluster.access.user
        if cluster.access.server is not None and cluster.access.keeps_server_key:
            environment["VIPU_CLI_API_ACCESS_KEY"] = cluster.access.server.secret
    return environment


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


async def _exchanged(site: Site, cluster: ClusterInputs, target: HostInput) -> StepResult | None:
    """None when the server has the keys."""
    host = await site.hosts.get(target.name)
    if host.server is None or host.server.name != target.server_name:
        return Failed(f"Poplar server {target.server_name} is no longer on host {target.name}", final=True)
    host = await with_keys(site, cluster, target, host)
    if host.server is None or not has_keys(host.server, cluster):
        return Pending(f"waiting until the Poplar server on host {target.name} has the keys")
    return None

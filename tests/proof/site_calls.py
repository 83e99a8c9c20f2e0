"""Every call of the control plane to a site, as a case: what it needs, how it is made, what it brings about."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from ipucloud.kernel.vipu import PartitionShape
from ipucloud.site.calls import Call
from ipucloud.site.ports import Site, Sites
from ipucloud.wire.addresses import AddressAttachment
from ipucloud.wire.site import JobRequest
from ipucloud.wire.volumes import VolumeAttachment
from tests.proof import site_resources as resources
from tests.proof.site_resources import DIGEST, IPUS_OF_A_MACHINE, REGION, Resource

Transport = Literal["http", "vipu"]
Answer = Any
Prepare = Callable[[Site, Resource], Awaitable[None]]
Observation = Callable[[Site, Resource], Awaitable[bool]]


@dataclass(frozen=True)
class CallCase:
    """`observe` shows whether the object is there; `makes`: what it shows after the call, None for a read.

    `target` is the object by which the site's fault rules know the call. `missing`: what the call ends in when the
    site says that it does not know the object: an answer, or the name of the error.
    """

    name: str
    call: Call
    transport: Transport
    make: Callable[[Sites, Site, Resource], Awaitable[Answer]]
    prepare: Prepare = resources.nothing
    observe: Observation | None = None
    makes: bool | None = None
    missing: str = "refused"
    target: Callable[[Resource], str] = field(default=lambda resource: resource.name)


def _program(resource: Resource) -> JobRequest:
    return JobRequest(server=resource.name, network=resource.name, generation=1, command=["true"])


def _host(resource: Resource) -> str:
    return resource.host


def _machine(resource: Resource) -> str:
    return resource.machine


def _none(resource: Resource) -> str:
    return ""


CASES = (
    CallCase("inventory", Call.GET_INVENTORY, "http", lambda sites, _s, _t: sites.inventory(), target=_none),
    CallCase(
        "networks.get",
        Call.GET_NETWORK,
        "http",
        lambda _, s, t: s.networks.get(t.name),
        resources.network,
        missing="None",
    ),
    CallCase("networks.list", Call.LIST_NETWORKS, "http", lambda _, s, _t: s.networks.list(REGION), target=_none),
    CallCase(
        "networks.put",
        Call.PUT_NETWORK,
        "http",
        lambda _, s, t: s.networks.put(t.name, t.network),
        observe=resources.network_is_there,
        makes=True,
    ),
    CallCase(
        "networks.delete",
        Call.DELETE_NETWORK,
        "http",
        lambda _, s, t: s.networks.delete(t.name),
        resources.network,
        observe=resources.network_is_there,
        makes=False,
        missing="ok",
    ),
    CallCase("hosts.get", Call.GET_HOST, "http", lambda _, s, t: s.hosts.get(t.host), target=_host),
    CallCase("hosts.list", Call.LIST_HOSTS, "http", lambda _, s, _t: s.hosts.list(REGION), target=_none),
    CallCase(
        "hosts.put_server",
        Call.PUT_SERVER,
        "http",
        lambda _, s, t: s.hosts.put_server(t.host, t.server),
        resources.network,
        observe=resources.server_is_there,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.delete_server",
        Call.DELETE_SERVER,
        "http",
        lambda _, s, t: s.hosts.delete_server(t.host, t.name),
        resources.server,
        observe=resources.server_is_there,
        makes=False,
        missing="ok",
        target=_host,
    ),
    CallCase(
        "hosts.switch_on",
        Call.POWER_HOST,
        "http",
        lambda _, s, t: s.hosts.switch_on(t.host, t.name, t.name, {}),
        resources.server_off,
        observe=resources.server_is_on,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.switch_off",
        Call.POWER_HOST,
        "http",
        lambda _, s, t: s.hosts.switch_off(t.host, t.name, t.name),
        resources.server,
        observe=resources.server_is_on,
        makes=False,
        target=_host,
    ),
    CallCase(
        "hosts.restart",
        Call.POWER_HOST,
        "http",
        lambda _, s, t: s.hosts.restart(t.host, t.name, t.name, boot_id=resources.BOOTS[t.host] or "", hard=True),
        resources.server_to_restart,
        observe=resources.has_restarted,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.put_keys",
        Call.PUT_KEYS,
        "http",
        lambda _, s, t: s.hosts.put_keys(t.host, t.name, t.name, [resources.KEY], revision=2),
        resources.server,
        observe=resources.has_keys,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.put_login_key",
        Call.PUT_LOGIN_KEY,
        "http",
        lambda _, s, t: s.hosts.put_login_key(t.host, "terminal-1", resources.login_key(t)),
        resources.server,
        observe=resources.login_key_logs_in,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.put_s3",
        Call.PUT_S3,
        "http",
        lambda _, s, t: s.hosts.put_s3(t.host, t.name, t.name, [resources.BUCKET], revision=1),
        resources.server,
        observe=resources.has_bucket,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.put_preemption",
        Call.PUT_PREEMPTION,
        "http",
        lambda _, s, t: s.hosts.put_preemption(t.host, t.name, t.name, resources.PREEMPT_AT, revision=1),
        resources.server,
        observe=resources.is_told,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.rebuild",
        Call.REBUILD_SERVER,
        "http",
        lambda _, s, t: s.hosts.rebuild(t.host, t.server.model_copy(update={"generation": 2}), disk="wipe"),
        resources.server,
        observe=resources.is_rebuilt,
        makes=True,
        target=_host,
    ),
    CallCase("machines.log", Call.GET_MACHINE_LOG, "http", lambda _, s, t: s.machines.log(t.machine), target=_machine),
    CallCase(
        "hosts.put_job",
        Call.PUT_JOB,
        "http",
        lambda _, s, t: s.hosts.put_job(t.host, "job-1", _program(t)),
        resources.server,
        observe=resources.job_is_known,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.get_job",
        Call.GET_JOB,
        "http",
        lambda _, s, t: s.hosts.get_job(t.host, "job-1", server=t.name, network=t.name, log_from=0),
        resources.server,
        missing="None",
        target=_host,
    ),
    CallCase(
        "hosts.stop_job",
        Call.STOP_JOB,
        "http",
        lambda _, s, t: s.hosts.stop_job(t.host, "job-1", server=t.name, network=t.name),
        resources.server,
        observe=resources.job_is_known,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.console",
        Call.GET_CONSOLE,
        "http",
        lambda _, s, t: s.hosts.console(t.host, t.name, t.name, after=0),
        resources.server,
        missing="None",
        target=_host,
    ),
    CallCase("machines.get", Call.GET_MACHINE, "http", lambda _, s, t: s.machines.get(t.machine), target=_machine),
    CallCase(
        "machines.power_on",
        Call.RESET_MACHINE,
        "http",
        lambda _, s, t: s.machines.power_on(t.machine, t.name),
        resources.machine_off,
        observe=resources.is_on,
        makes=True,
        target=_machine,
    ),
    CallCase(
        "machines.power_off",
        Call.RESET_MACHINE,
        "http",
        lambda _, s, t: s.machines.power_off(t.machine, t.name),
        observe=resources.is_on,
        makes=False,
        target=_machine,
    ),
    CallCase(
        "vipu.partition_status",
        Call.GET_PARTITION_STATUS,
        "vipu",
        lambda _, s, t: s.vipu.partition_status(t.name, t.name),
        resources.partition,
        missing="None",
    ),
    CallCase(
        "vipu.list_partitions",
        Call.LIST_PARTITIONS,
        "vipu",
        lambda _, s, t: s.vipu.list_partitions(t.name),
        resources.partition,
        missing="empty",
    ),
    CallCase(
        "vipu.all_partitions",
        Call.LIST_PARTITIONS,
        "vipu",
        lambda _, s, _t: s.vipu.all_partitions(),
        missing="empty",
        target=_none,
    ),
    CallCase(
        "vipu.partitions_of",
        Call.LIST_PARTITIONS,
        "vipu",
        lambda _, s, t: s.vipu.partitions_of(t.name),
        resources.partition,
        missing="empty",
    ),
    CallCase(
        "vipu.ipuof_config",
        Call.GET_IPUOF_CONFIG,
        "vipu",
        lambda _, s, t: s.vipu.ipuof_config(t.name, t.name, PartitionShape(IPUS_OF_A_MACHINE)),
        resources.partition,
        missing="None",
    ),
    CallCase(
        "vipu.reset_partition",
        Call.RESET_PARTITION,
        "vipu",
        lambda _, s, t: s.vipu.reset_partition(t.name, t.name, relocatable=False),
        resources.partition,
        observe=resources.partition_is_there,
        missing="ok",
    ),
    CallCase(
        "vipu.remove_partition",
        Call.REMOVE_PARTITION,
        "vipu",
        lambda _, s, t: s.vipu.remove_partition(t.name, t.name),
        resources.partition,
        observe=resources.partition_is_there,
        makes=False,
        missing="ok",
    ),
    CallCase(
        "vipu.create_partition",
        Call.CREATE_PARTITION,
        "vipu",
        lambda _, s, t: s.vipu.create_partition(t.partition),
        resources.allocation,
        observe=resources.partition_is_there,
        makes=True,
    ),
    CallCase(
        "vipu.remove_partitions",
        Call.REMOVE_PARTITIONS,
        "vipu",
        lambda _, s, t: s.vipu.remove_partitions(t.name),
        resources.partition,
        observe=resources.partition_is_there,
        makes=False,
        missing="ok",
    ),
    CallCase(
        "vipu.allocation",
        Call.GET_ALLOCATION,
        "vipu",
        lambda _, s, t: s.vipu.allocation(t.name),
        resources.allocation,
        missing="None",
    ),
    CallCase(
        "vipu.list_allocations",
        Call.LIST_ALLOCATIONS,
        "vipu",
        lambda _, s, _t: s.vipu.list_allocations(""),
        missing="empty",
        target=_none,
    ),
    CallCase(
        "vipu.create_allocation",
        Call.CREATE_ALLOCATION,
        "vipu",
        lambda _, s, t: s.vipu.create_allocation(t.allocation),
        observe=resources.allocation_is_there,
        makes=True,
    ),
    CallCase(
        "vipu.remove_allocation",
        Call.REMOVE_ALLOCATION,
        "vipu",
        lambda _, s, t: s.vipu.remove_allocation(t.name),
        resources.allocation,
        observe=resources.allocation_is_there,
        makes=False,
        missing="ok",
    ),
    CallCase(
        "vipu.cluster_test",
        Call.GET_CLUSTER_TEST,
        "vipu",
        lambda _, s, t: s.vipu.cluster_test(t.name),
        resources.cluster_test,
        missing="None",
    ),
    CallCase(
        "vipu.start_cluster_test",
        Call.TEST_CLUSTER,
        "vipu",
        lambda _, s, t: s.vipu.start_cluster_test(t.name, t.name),
        resources.allocation,
        observe=resources.cluster_test_is_there,
        makes=True,
    ),
    CallCase(
        "vipu.links",
        Call.LIST_LINKS,
        "vipu",
        lambda _, s, t: s.vipu.links(t.name),
        resources.allocation,
        missing="empty",
    ),
    CallCase(
        "vipu.impaired_links",
        Call.LIST_LINKS,
        "vipu",
        lambda _, s, _t: s.vipu.impaired_links(),
        missing="empty",
        target=_none,
    ),
    CallCase("vipu.release", Call.GET_VERSION, "vipu", lambda _, s, _t: s.vipu.release(), missing="None", target=_none),
    CallCase("vipu.agents", Call.LIST_AGENTS, "vipu", lambda _, s, _t: s.vipu.agents(), missing="empty", target=_none),
    CallCase(
        "vipu.list_users",
        Call.LIST_USERS,
        "vipu",
        lambda _, s, _t: s.vipu.list_users(),
        missing="empty",
        target=_none,
    ),
    CallCase("vipu.user", Call.GET_USER, "vipu", lambda _, s, t: s.vipu.user(t.name), resources.user, missing="None"),
    CallCase(
        "vipu.create_user",
        Call.CREATE_USER,
        "vipu",
        lambda _, s, t: s.vipu.create_user(t.name),
        observe=resources.user_is_there,
        makes=True,
    ),
    CallCase(
        "vipu.set_user_allocation",
        Call.SET_USER_ALLOCATIONS,
        "vipu",
        lambda _, s, t: s.vipu.set_user_allocation(t.name, t.name),
        resources.user,
        observe=resources.user_sees,
        makes=True,
    ),
    CallCase(
        "vipu.remove_user",
        Call.REMOVE_USER,
        "vipu",
        lambda _, s, t: s.vipu.remove_user(t.name),
        resources.user,
        observe=resources.user_is_there,
        makes=False,
        missing="ok",
    ),
    CallCase(
        "vipu.create_access_key",
        Call.CREATE_ACCESS_KEY,
        "vipu",
        lambda _, s, t: s.vipu.create_access_key(t.name, t.name, DIGEST),
        resources.user,
        observe=resources.key_is_there,
        makes=True,
    ),
    CallCase(
        "vipu.remove_access_key",
        Call.REMOVE_ACCESS_KEY,
        "vipu",
        lambda _, s, t: s.vipu.remove_access_key(t.name, t.name),
        resources.key,
        observe=resources.key_is_there,
        makes=False,
        missing="ok",
    ),
    CallCase(
        "volumes.get",
        Call.GET_VOLUME,
        "http",
        lambda _, s, t: s.volumes.get(t.name),
        resources.volume,
        missing="None",
    ),
    CallCase(
        "volumes.put",
        Call.PUT_VOLUME,
        "http",
        lambda _, s, t: s.volumes.put(t.name, t.volume),
        observe=resources.volume_is_there,
        makes=True,
    ),
    CallCase(
        "volumes.attach",
        Call.ATTACH_VOLUME,
        "http",
        lambda _, s, t: s.volumes.attach(t.name, VolumeAttachment(revision=1)),
        resources.volume,
        observe=resources.volume_has_a_revision,
        makes=True,
        missing="None",
    ),
    CallCase(
        "volumes.delete",
        Call.DELETE_VOLUME,
        "http",
        lambda _, s, t: s.volumes.delete(t.name),
        resources.volume,
        observe=resources.volume_is_there,
        makes=False,
        missing="None",
    ),
    CallCase(
        "snapshots.get",
        Call.GET_SNAPSHOT,
        "http",
        lambda _, s, t: s.snapshots.get(t.name),
        resources.snapshot,
        missing="None",
    ),
    CallCase(
        "snapshots.put",
        Call.PUT_SNAPSHOT,
        "http",
        lambda _, s, t: s.snapshots.put(t.name, t.snapshot),
        resources.volume,
        observe=resources.snapshot_is_there,
        makes=True,
    ),
    CallCase(
        "snapshots.delete",
        Call.DELETE_SNAPSHOT,
        "http",
        lambda _, s, t: s.snapshots.delete(t.name),
        resources.snapshot,
        observe=resources.snapshot_is_there,
        makes=False,
        missing="None",
    ),
    CallCase(
        "addresses.get",
        Call.GET_ADDRESS,
        "http",
        lambda _, s, t: s.addresses.get(t.name),
        resources.address,
        missing="None",
    ),
    CallCase(
        "addresses.put",
        Call.PUT_ADDRESS,
        "http",
        lambda _, s, t: s.addresses.put(t.name, t.address),
        observe=resources.address_is_there,
        makes=True,
    ),
    CallCase(
        "addresses.attach",
        Call.ATTACH_ADDRESS,
        "http",
        lambda _, s, t: s.addresses.attach(t.name, AddressAttachment(revision=1)),
        resources.address,
        observe=resources.address_has_a_revision,
        makes=True,
        missing="None",
    ),
    CallCase(
        "addresses.delete",
        Call.DELETE_ADDRESS,
        "http",
        lambda _, s, t: s.addresses.delete(t.name),
        resources.address,
        observe=resources.address_is_there,
        makes=False,
        missing="None",
    ),
)

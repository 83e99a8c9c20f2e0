"""Every call of the control plane to a site: what it needs, how it is made, and what it brings about."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from ipucloud.kernel.vipu import PartitionShape
from ipucloud.site.calls import Call
from ipucloud.site.ports import Site, Sites
from ipucloud.wire.site import JobRequest
from ipucloud.wire.storage import AddressAttachment, VolumeAttachment
from tests.proof import site_resources as r
from tests.proof.site_resources import REGION, Observation, Prepare, Resource, Thing

Transport = Literal["http", "vipu"]
Target = Callable[[Resource], str]


@dataclass(frozen=True)
class CallCase:
    """`observe` shows whether the object is there; `makes`: what it shows after the call, None for a read.

    `target` is the object by which the site's fault rules know the call. `missing`: what the call ends in when the
    site says that it does not know the object: an answer, or the name of the error.
    """

    name: str
    call: Call
    make: Callable[[Sites, Site, Resource], Awaitable[Any]]
    prepare: Prepare = r.nothing
    observe: Observation | None = None
    makes: bool | None = None
    missing: str = "refused"
    target: Target = field(default=lambda resource: resource.name)

    @property
    def transport(self) -> Transport:
        return "vipu" if self.call.startswith(("vipu.", "admin.")) else "http"


def _nothing(resource: Resource) -> str:
    """The target of a call that names no object."""
    return ""


Make = Callable[[Any, Resource], Awaitable[Any]]


@dataclass(frozen=True)
class _Port:
    """Cases of the methods of one port.

    Most need what `prepare` brings about and are known by this `target`. `missing` is of reads, `gone` of removals.
    """

    name: str
    prepare: Prepare = r.nothing
    target: Target = field(default=lambda resource: resource.name)
    missing: str = "refused"
    gone: str = "refused"

    def reads(self, method: str, call: Call, make: Make, prepare: Prepare | None = None, **more: Any) -> CallCase:
        """A call after which nothing is there, or gone, that was not before."""

        def at_site(_: Sites, site: Site, resource: Resource) -> Awaitable[Any]:
            return make(getattr(site, self.name), resource)

        values: dict[str, Any] = {
            "prepare": prepare or self.prepare,
            "target": self.target,
            "missing": self.missing,
        } | more
        return CallCase(f"{self.name}.{method}", call, at_site, **values)

    def lists(self, method: str, call: Call, make: Make, prepare: Prepare = r.nothing, **more: Any) -> CallCase:
        return self.reads(method, call, make, prepare, missing="empty", **more)

    def makes(
        self,
        method: str,
        call: Call,
        make: Make,
        what: Thing | Observation,
        prepare: Prepare | None = None,
        **more: Any,
    ) -> CallCase:
        observe = what.is_there if isinstance(what, Thing) else what
        values = {"makes": True, "missing": "refused"} | more
        return self.reads(method, call, make, prepare, observe=observe, **values)

    def ends(self, method: str, call: Call, make: Make, what: Thing | Observation, **more: Any) -> CallCase:
        prepare = what.make if isinstance(what, Thing) else None
        return self.makes(method, call, make, what, prepare, **({"makes": False, "missing": self.gone} | more))


def _program(resource: Resource) -> JobRequest:
    return JobRequest(server=resource.name, network=resource.name, generation=1, command=["true"])


def _at(resource: Resource) -> dict[str, str]:
    return {"server": resource.name, "network": resource.name}


_networks = _Port("networks", gone="ok")
_machines = _Port("machines", target=lambda resource: resource.machine)
_hosts = _Port("hosts", r.server, target=lambda resource: resource.host)
_vipu = _Port("vipu", missing="None", gone="ok")
_volumes, _snapshots, _addresses = [
    _Port(name, missing="None", gone="None") for name in ("volumes", "snapshots", "addresses")
]

_OF_REGIONS = (
    CallCase("inventory", Call.GET_INVENTORY, lambda sites, _s, _t: sites.inventory(), target=_nothing),
    _networks.reads("get", Call.GET_NETWORK, lambda s, t: s.get(t.name), r.network, missing="None"),
    _networks.reads("list", Call.LIST_NETWORKS, lambda s, _: s.list(REGION), target=_nothing),
    _networks.makes("put", Call.PUT_NETWORK, lambda s, t: s.put(t.name, t.network), r.NETWORK),
    _networks.ends("delete", Call.DELETE_NETWORK, lambda s, t: s.delete(t.name), r.NETWORK),
    _machines.reads("log", Call.GET_MACHINE_LOG, lambda s, t: s.log(t.machine)),
    _machines.reads("get", Call.GET_MACHINE, lambda s, t: s.get(t.machine)),
    _machines.makes("power_on", Call.RESET_MACHINE, lambda s, t: s.power_on(t.machine, t.name), r.is_on, r.machine_off),
    _machines.ends("power_off", Call.RESET_MACHINE, lambda s, t: s.power_off(t.machine, t.name), r.is_on),
)
_OF_HOSTS = (
    _hosts.reads("get", Call.GET_HOST, lambda s, t: s.get(t.host), r.nothing),
    _hosts.reads("list", Call.LIST_HOSTS, lambda s, _: s.list(REGION), r.nothing, target=_nothing),
    _hosts.makes("put_server", Call.PUT_SERVER, lambda s, t: s.put_server(t.host, t.server), r.SERVER, r.network),
    _hosts.ends(
        "delete_server", Call.DELETE_SERVER, lambda s, t: s.delete_server(t.host, t.name), r.SERVER, missing="ok"
    ),
    _hosts.makes(
        "switch_on", Call.POWER_HOST, lambda s, t: s.switch_on(t.host, t.name, t.name, {}), r.server_is_on, r.server_off
    ),
    _hosts.ends("switch_off", Call.POWER_HOST, lambda s, t: s.switch_off(t.host, t.name, t.name), r.server_is_on),
    _hosts.makes(
        "restart",
        Call.POWER_HOST,
        lambda s, t: s.restart(t.host, t.name, t.name, boot_id=r.BOOTS[t.host] or "", hard=True),
        r.has_restarted,
        r.server_to_restart,
    ),
    _hosts.makes(
        "put_keys", Call.PUT_KEYS, lambda s, t: s.put_keys(t.host, t.name, t.name, [r.KEY], revision=2), r.has_keys
    ),
    _hosts.makes(
        "put_login_key",
        Call.PUT_LOGIN_KEY,
        lambda s, t: s.put_login_key(t.host, "terminal-1", r.login_key(t)),
        r.login_key_logs_in,
    ),
    _hosts.makes(
        "put_sources",
        Call.PUT_SOURCES,
        lambda s, t: s.put_sources(t.host, t.name, t.name, [r.SOURCE], revision=1),
        r.has_source,
    ),
    _hosts.makes(
        "put_s3", Call.PUT_S3, lambda s, t: s.put_s3(t.host, t.name, t.name, [r.BUCKET], revision=1), r.has_bucket
    ),
    _hosts.makes(
        "put_preemption",
        Call.PUT_PREEMPTION,
        lambda s, t: s.put_preemption(t.host, t.name, t.name, r.PREEMPT_AT, revision=1),
        r.is_told,
    ),
    _hosts.makes(
        "rebuild",
        Call.REBUILD_SERVER,
        lambda s, t: s.rebuild(t.host, t.server.model_copy(update={"generation": 2}), disk="wipe"),
        r.is_rebuilt,
    ),
    _hosts.makes("put_job", Call.PUT_JOB, lambda s, t: s.put_job(t.host, "job-1", _program(t)), r.job_is_known),
    _hosts.reads(
        "get_job", Call.GET_JOB, lambda s, t: s.get_job(t.host, "job-1", **_at(t), log_from=0), missing="None"
    ),
    _hosts.makes("stop_job", Call.STOP_JOB, lambda s, t: s.stop_job(t.host, "job-1", **_at(t)), r.job_is_known),
    _hosts.reads("console", Call.GET_CONSOLE, lambda s, t: s.console(t.host, t.name, t.name, after=0), missing="None"),
)
_OF_VIPU = (
    _vipu.reads(
        "partition_status",
        Call.GET_PARTITION_STATUS,
        lambda s, t: s.partition_status(t.name, t.name),
        r.partition,
        missing="None",
    ),
    _vipu.lists("list_partitions", Call.LIST_PARTITIONS, lambda s, t: s.list_partitions(t.name), r.partition),
    _vipu.lists("all_partitions", Call.LIST_PARTITIONS, lambda s, _: s.all_partitions(), target=_nothing),
    _vipu.lists("partitions_of", Call.LIST_PARTITIONS, lambda s, t: s.partitions_of(t.name), r.partition),
    _vipu.reads(
        "ipuof_config",
        Call.GET_IPUOF_CONFIG,
        lambda s, t: s.ipuof_config(t.name, t.name, PartitionShape(r.IPUS_OF_A_MACHINE)),
        r.partition,
    ),
    _vipu.reads(
        "reset_partition",
        Call.RESET_PARTITION,
        lambda s, t: s.reset_partition(t.name, t.name, relocatable=False),
        r.partition,
        missing="ok",
    ),
    _vipu.ends("remove_partition", Call.REMOVE_PARTITION, lambda s, t: s.remove_partition(t.name, t.name), r.PARTITION),
    _vipu.makes(
        "create_partition",
        Call.CREATE_PARTITION,
        lambda s, t: s.create_partition(t.partition),
        r.PARTITION,
        r.allocation,
    ),
    _vipu.ends("remove_partitions", Call.REMOVE_PARTITIONS, lambda s, t: s.remove_partitions(t.name), r.PARTITION),
    _vipu.reads("allocation", Call.GET_ALLOCATION, lambda s, t: s.allocation(t.name), r.allocation),
    _vipu.lists("list_allocations", Call.LIST_ALLOCATIONS, lambda s, _: s.list_allocations(""), target=_nothing),
    _vipu.makes(
        "create_allocation", Call.CREATE_ALLOCATION, lambda s, t: s.create_allocation(t.allocation), r.ALLOCATION
    ),
    _vipu.ends("remove_allocation", Call.REMOVE_ALLOCATION, lambda s, t: s.remove_allocation(t.name), r.ALLOCATION),
    _vipu.reads("cluster_test", Call.GET_CLUSTER_TEST, lambda s, t: s.cluster_test(t.name), r.cluster_test),
    _vipu.makes(
        "start_cluster_test",
        Call.TEST_CLUSTER,
        lambda s, t: s.start_cluster_test(t.name, t.name),
        r.CLUSTER_TEST,
        r.allocation,
    ),
    _vipu.lists("links", Call.LIST_LINKS, lambda s, t: s.links(t.name), r.allocation),
    _vipu.lists("impaired_links", Call.LIST_LINKS, lambda s, _: s.impaired_links(), target=_nothing),
    _vipu.reads("release", Call.GET_VERSION, lambda s, _: s.release(), target=_nothing),
    _vipu.lists("agents", Call.LIST_AGENTS, lambda s, _: s.agents(), target=_nothing),
    _vipu.lists("list_users", Call.LIST_USERS, lambda s, _: s.list_users(), target=_nothing),
    _vipu.reads("user", Call.GET_USER, lambda s, t: s.user(t.name), r.user),
    _vipu.makes("create_user", Call.CREATE_USER, lambda s, t: s.create_user(t.name), r.USER),
    _vipu.makes(
        "set_user_allocation",
        Call.SET_USER_ALLOCATIONS,
        lambda s, t: s.set_user_allocation(t.name, t.name),
        r.user_sees,
        r.user,
    ),
    _vipu.ends("remove_user", Call.REMOVE_USER, lambda s, t: s.remove_user(t.name), r.USER),
    _vipu.makes(
        "create_access_key",
        Call.CREATE_ACCESS_KEY,
        lambda s, t: s.create_access_key(t.name, t.name, r.DIGEST),
        r.ACCESS_KEY,
        r.user,
    ),
    _vipu.ends(
        "remove_access_key", Call.REMOVE_ACCESS_KEY, lambda s, t: s.remove_access_key(t.name, t.name), r.ACCESS_KEY
    ),
)
_OF_STORAGE = (
    _volumes.reads("get", Call.GET_VOLUME, lambda s, t: s.get(t.name), r.volume, missing="None"),
    _volumes.makes("put", Call.PUT_VOLUME, lambda s, t: s.put(t.name, t.volume), r.VOLUME),
    _volumes.makes(
        "attach",
        Call.ATTACH_VOLUME,
        lambda s, t: s.attach(t.name, VolumeAttachment(revision=1)),
        r.volume_is_attached,
        r.volume,
        missing="None",
    ),
    _volumes.ends("delete", Call.DELETE_VOLUME, lambda s, t: s.delete(t.name), r.VOLUME),
    _snapshots.reads("get", Call.GET_SNAPSHOT, lambda s, t: s.get(t.name), r.snapshot),
    _snapshots.makes("put", Call.PUT_SNAPSHOT, lambda s, t: s.put(t.name, t.snapshot), r.SNAPSHOT, r.volume),
    _snapshots.ends("delete", Call.DELETE_SNAPSHOT, lambda s, t: s.delete(t.name), r.SNAPSHOT),
    _addresses.reads("get", Call.GET_ADDRESS, lambda s, t: s.get(t.name), r.address),
    _addresses.makes("put", Call.PUT_ADDRESS, lambda s, t: s.put(t.name, t.address), r.ADDRESS),
    _addresses.makes(
        "attach",
        Call.ATTACH_ADDRESS,
        lambda s, t: s.attach(t.name, AddressAttachment(revision=1)),
        r.address_is_attached,
        r.address,
        missing="None",
    ),
    _addresses.ends("delete", Call.DELETE_ADDRESS, lambda s, t: s.delete(t.name), r.ADDRESS),
)
CASES = (*_OF_REGIONS, *_OF_HOSTS, *_OF_VIPU, *_OF_STORAGE)

"""Every call of the control plane to a site, as a case: what it needs, how it is made, what it brings about."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from ipucloud.kernel.vipu import PartitionShape
from ipucloud.site.calls import Call
from ipucloud.site.ports import Site, Sites
from tests.proof import site_things as things
from tests.proof.site_things import DIGEST, IPUS_OF_A_MACHINE, REGION, Thing

Transport = Literal["http", "user", "admin"]
Answer = Any
Prepare = Callable[[Site, Thing], Awaitable[None]]
Observation = Callable[[Site, Thing], Awaitable[bool]]


@dataclass(frozen=True)
class CallCase:
    """`look` tells whether the object is there; `makes`: what it tells once the call had its effect, None for a read.

    `target` is the object by which the site's fault rules know the call. `missing`: what the call ends in when the
    site says that it does not know the object: an answer, or the name of the error.
    """

    name: str
    call: Call
    transport: Transport
    make: Callable[[Sites, Site, Thing], Awaitable[Answer]]
    prepare: Prepare = things.nothing
    look: Observation | None = None
    makes: bool | None = None
    missing: str = "refused"
    target: Callable[[Thing], str] = field(default=lambda thing: thing.name)


def _host(thing: Thing) -> str:
    return thing.host


def _machine(thing: Thing) -> str:
    return thing.machine


def _none(thing: Thing) -> str:
    return ""


CASES = (
    CallCase("inventory", Call.GET_INVENTORY, "http", lambda sites, _s, _t: sites.inventory(), target=_none),
    CallCase(
        "networks.get", Call.GET_NETWORK, "http", lambda _, s, t: s.networks.get(t.name), things.network, missing="None"
    ),
    CallCase("networks.list", Call.LIST_NETWORKS, "http", lambda _, s, _t: s.networks.list(REGION), target=_none),
    CallCase(
        "networks.put",
        Call.PUT_NETWORK,
        "http",
        lambda _, s, t: s.networks.put(t.name, t.network),
        look=things.network_is_there,
        makes=True,
    ),
    CallCase(
        "networks.delete",
        Call.DELETE_NETWORK,
        "http",
        lambda _, s, t: s.networks.delete(t.name),
        things.network,
        look=things.network_is_there,
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
        things.network,
        look=things.server_is_there,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.delete_server",
        Call.DELETE_SERVER,
        "http",
        lambda _, s, t: s.hosts.delete_server(t.host, t.name),
        things.server,
        look=things.server_is_there,
        makes=False,
        missing="ok",
        target=_host,
    ),
    CallCase(
        "hosts.switch_on",
        Call.POWER_HOST,
        "http",
        lambda _, s, t: s.hosts.switch_on(t.host, t.name, t.name, {}),
        things.server_off,
        look=things.server_is_on,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.switch_off",
        Call.POWER_HOST,
        "http",
        lambda _, s, t: s.hosts.switch_off(t.host, t.name, t.name),
        things.server,
        look=things.server_is_on,
        makes=False,
        target=_host,
    ),
    CallCase("machines.get", Call.GET_MACHINE, "http", lambda _, s, t: s.machines.get(t.machine), target=_machine),
    CallCase(
        "machines.power_on",
        Call.RESET_MACHINE,
        "http",
        lambda _, s, t: s.machines.power_on(t.machine, t.name),
        things.machine_off,
        look=things.is_on,
        makes=True,
        target=_machine,
    ),
    CallCase(
        "machines.power_off",
        Call.RESET_MACHINE,
        "http",
        lambda _, s, t: s.machines.power_off(t.machine, t.name),
        look=things.is_on,
        makes=False,
        target=_machine,
    ),
    CallCase(
        "vipu.partition_status",
        Call.GET_PARTITION_STATUS,
        "user",
        lambda _, s, t: s.vipu.partition_status(t.name),
        things.partition,
        missing="None",
    ),
    CallCase(
        "vipu.list_partitions",
        Call.LIST_PARTITIONS,
        "user",
        lambda _, s, t: s.vipu.list_partitions(t.name),
        things.partition,
        missing="empty",
    ),
    CallCase(
        "vipu.all_partitions",
        Call.LIST_PARTITIONS,
        "user",
        lambda _, s, _t: s.vipu.all_partitions(),
        missing="empty",
        target=_none,
    ),
    CallCase(
        "vipu.partitions_of",
        Call.LIST_PARTITIONS,
        "user",
        lambda _, s, t: s.vipu.partitions_of(t.name),
        things.partition,
        missing="empty",
    ),
    CallCase(
        "vipu.ipuof_config",
        Call.GET_IPUOF_CONFIG,
        "user",
        lambda _, s, t: s.vipu.ipuof_config(t.name, PartitionShape(IPUS_OF_A_MACHINE)),
        things.partition,
        missing="None",
    ),
    CallCase(
        "vipu.reset_partition",
        Call.RESET_PARTITION,
        "user",
        lambda _, s, t: s.vipu.reset_partition(t.name, relocatable=False),
        things.partition,
        look=things.partition_is_there,
        missing="ok",
    ),
    CallCase(
        "vipu.remove_partition",
        Call.REMOVE_PARTITION,
        "user",
        lambda _, s, t: s.vipu.remove_partition(t.name),
        things.partition,
        look=things.partition_is_there,
        makes=False,
        missing="ok",
    ),
    CallCase(
        "vipu.create_partition",
        Call.CREATE_PARTITION,
        "user",
        lambda _, s, t: s.vipu.create_partition(t.partition),
        things.allocation,
        look=things.partition_is_there,
        makes=True,
    ),
    CallCase(
        "vipu.remove_partitions",
        Call.REMOVE_PARTITIONS,
        "admin",
        lambda _, s, t: s.vipu.remove_partitions(t.name),
        things.partition,
        look=things.partition_is_there,
        makes=False,
        missing="ok",
    ),
    CallCase(
        "vipu.allocation",
        Call.GET_ALLOCATION,
        "admin",
        lambda _, s, t: s.vipu.allocation(t.name),
        things.allocation,
        missing="None",
    ),
    CallCase(
        "vipu.list_allocations",
        Call.LIST_ALLOCATIONS,
        "admin",
        lambda _, s, _t: s.vipu.list_allocations(""),
        missing="empty",
        target=_none,
    ),
    CallCase(
        "vipu.create_allocation",
        Call.CREATE_ALLOCATION,
        "admin",
        lambda _, s, t: s.vipu.create_allocation(t.allocation),
        look=things.allocation_is_there,
        makes=True,
    ),
    CallCase(
        "vipu.remove_allocation",
        Call.REMOVE_ALLOCATION,
        "admin",
        lambda _, s, t: s.vipu.remove_allocation(t.name),
        things.allocation,
        look=things.allocation_is_there,
        makes=False,
        missing="ok",
    ),
    CallCase(
        "vipu.cluster_test",
        Call.GET_CLUSTER_TEST,
        "admin",
        lambda _, s, t: s.vipu.cluster_test(t.name),
        things.cluster_test,
        missing="None",
    ),
    CallCase(
        "vipu.start_cluster_test",
        Call.TEST_CLUSTER,
        "admin",
        lambda _, s, t: s.vipu.start_cluster_test(t.name, t.name),
        things.allocation,
        look=things.cluster_test_is_there,
        makes=True,
    ),
    CallCase(
        "vipu.links", Call.LIST_LINKS, "admin", lambda _, s, t: s.vipu.links(t.name), things.allocation, missing="empty"
    ),
    CallCase("vipu.user", Call.GET_USER, "admin", lambda _, s, t: s.vipu.user(t.name), things.user, missing="None"),
    CallCase(
        "vipu.create_user",
        Call.CREATE_USER,
        "admin",
        lambda _, s, t: s.vipu.create_user(t.name),
        look=things.user_is_there,
        makes=True,
    ),
    CallCase(
        "vipu.set_user_allocation",
        Call.SET_USER_ALLOCATIONS,
        "admin",
        lambda _, s, t: s.vipu.set_user_allocation(t.name, t.name),
        things.user,
        look=things.user_sees,
        makes=True,
    ),
    CallCase(
        "vipu.remove_user",
        Call.REMOVE_USER,
        "admin",
        lambda _, s, t: s.vipu.remove_user(t.name),
        things.user,
        look=things.user_is_there,
        makes=False,
        missing="ok",
    ),
    CallCase(
        "vipu.create_access_key",
        Call.CREATE_ACCESS_KEY,
        "admin",
        lambda _, s, t: s.vipu.create_access_key(t.name, t.name, DIGEST),
        things.user,
        look=things.key_is_there,
        makes=True,
    ),
    CallCase(
        "vipu.remove_access_key",
        Call.REMOVE_ACCESS_KEY,
        "admin",
        lambda _, s, t: s.vipu.remove_access_key(t.name, t.name),
        things.key,
        look=things.key_is_there,
        makes=False,
        missing="ok",
    ),
)

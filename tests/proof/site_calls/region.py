"""Calls for a region's inventory, tenant networks and IPU machines."""

from __future__ import annotations

from ipucloud.site.calls import Call
from tests.proof import site_resources as resources
from tests.proof.site_calls.case import CallCase, no_object
from tests.proof.site_resources import REGION, Resource


def _machine(resource: Resource) -> str:
    return resource.machine


CASES = (
    CallCase("inventory", Call.GET_INVENTORY, "http", lambda sites, _s, _t: sites.inventory(), target=no_object),
    CallCase(
        "networks.get",
        Call.GET_NETWORK,
        "http",
        lambda _, s, t: s.networks.get(t.name),
        resources.network,
        missing="None",
    ),
    CallCase("networks.list", Call.LIST_NETWORKS, "http", lambda _, s, _t: s.networks.list(REGION), target=no_object),
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
    CallCase("machines.log", Call.GET_MACHINE_LOG, "http", lambda _, s, t: s.machines.log(t.machine), target=_machine),
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
)

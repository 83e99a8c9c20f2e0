"""Flavors with the properties derived from their machine type and pod."""

from __future__ import annotations

from collections.abc import Iterable

from ipucloud.catalogue.checks import Fault
from ipucloud.contract.catalogue import AllocatedThrough, Flavor, FlavorRow, MachineType, Pod


def complete(
    rows: Iterable[FlavorRow], machine_types: Iterable[MachineType], pods: Iterable[Pod]
) -> tuple[tuple[Flavor, ...], list[Fault]]:
    """The flavors whose rows agree with their machine type and pod, and the faults of the others."""
    types = {machine_type.id: machine_type for machine_type in machine_types}
    sizes = {pod.id: pod for pod in pods}
    flavors, faults = [], []
    for row in rows:
        wrong = _wrong(row, types, sizes)
        if wrong is None:
            flavors.append(_flavor(row, types[row.machine_type], None if row.pod is None else sizes[row.pod]))
        else:
            faults.append(Fault("flavors", row.name, *wrong))
    return tuple(flavors), faults


def _wrong(row: FlavorRow, types: dict[str, MachineType], pods: dict[str, Pod]) -> tuple[str, str] | None:
    """The faulty field and the reason, or None."""
    machine_type = types.get(row.machine_type)
    if machine_type is None:
        return "machine_type", f"there is no {row.machine_type}"
    if row.sku is None and machine_type.sku is None:
        return "machine_type", "it has no SKU for billing"
    if row.pod is None:
        return _wrong_server(row, machine_type)
    if row.pod not in pods:
        return "pod", f"there is no {row.pod}"
    return _wrong_pod(row, machine_type, pods[row.pod])


def _wrong_pod(row: FlavorRow, machine_type: MachineType, pod: Pod) -> tuple[str, str] | None:
    if machine_type.allocated_through is not AllocatedThrough.V_IPU:
        return "pod", "machines that are servers of their own are not joined to pods"
    if row.ipus is not None:
        return "ipus", "a pod has its own"
    if pod.ipus != pod.machines * machine_type.ipus:
        return "pod", "its machines do not have that many IPUs"
    if machine_type.id not in pod.ai_pflops:
        return "pod", "it has no AI compute for the machine type"
    if not pod.host_servers_min <= row.poplar_servers <= pod.host_servers_max:
        return "poplar_servers", f"the pod has {pod.host_servers_min} to {pod.host_servers_max}"
    return None


def _wrong_server(row: FlavorRow, machine_type: MachineType) -> tuple[str, str] | None:
    if machine_type.allocated_through is not AllocatedThrough.HOST_DEVICES:
        return "pod", "machines under V-IPU are sold as pods"
    if row.ipus is None or row.ipus > machine_type.ipus:
        return "ipus", f"the machine type has 1 to {machine_type.ipus}"
    if row.poplar_servers != 1:
        return "poplar_servers", "the machine is the one Poplar server"
    return None


def _flavor(row: FlavorRow, machine_type: MachineType, pod: Pod | None) -> Flavor:
    size = _server(row, machine_type) if pod is None else _pod(machine_type, pod)
    facts = {"sku": row.sku or machine_type.sku, "allocated_through": machine_type.allocated_through}
    return Flavor.model_validate({**dict(row), **facts, **size})


def _pod(machine_type: MachineType, pod: Pod) -> dict[str, float]:
    """The size of a flavor of whole machines, joined by V-IPU."""
    return {
        "ipus": pod.ipus,
        "machines": pod.machines,
        "ai_pflops": pod.ai_pflops[machine_type.id],
        "in_processor_memory_gb": round(pod.machines * machine_type.in_processor_memory_gb, 1),
        "poplar_servers_min": pod.host_servers_min,
        "poplar_servers_max": pod.host_servers_max,
    }


def _server(row: FlavorRow, machine_type: MachineType) -> dict[str, float]:
    """The size of a flavor of one server, of which some or all IPUs are usable."""
    opened = row.ipus or machine_type.ipus
    share = opened / machine_type.ipus
    return {
        "ipus": opened,
        "machines": 1,
        "ai_pflops": round(share * machine_type.ai_pflops, 3),
        "in_processor_memory_gb": round(share * machine_type.in_processor_memory_gb, 1),
        "poplar_servers_min": 1,
        "poplar_servers_max": 1,
    }

"""The device health check: which IPUs of the chosen partition do not work, in the vendor's JSON."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from itertools import count

from ipucloud.laboratory.simulator.ssh.disk_files import ServerFiles
from ipucloud.laboratory.simulator.ssh.fabric import Fabric
from ipucloud.laboratory.simulator.ssh.visible_devices import Choice, chosen, controller_of
from ipucloud.vipu_cli.controller import Controller
from ipucloud.vipu_cli.endpoint import VipuProblem
from ipucloud.vipu_cli.files import gcd_from, kept_files
from ipucloud.wire import vipu_pb2 as pb

SECONDS = 10.0


async def health_report(fabric: Fabric, files: ServerFiles, env: Mapping[str, str]) -> dict[str, object]:
    """Nothing for a healthy partition; else its failing IPUs by machine, or why the check could not run.

    The error is `connection` for an IPU that the server does not reach, `device` for one that is broken.
    """
    try:
        choice = await asyncio.to_thread(chosen, files, env)
        controller = controller_of(fabric, env, SECONDS)
        gcds = await _gcds(controller, files, choice)
        hosts = await _failing(fabric, controller, choice.partition, gcds)
    except VipuProblem as problem:
        return {"error": str(problem)}
    return {"hosts": hosts} if hosts else {}


async def _gcds(controller: Controller, files: ServerFiles, choice: Choice) -> list[pb.PartitionConfig.Gcd]:
    """From the controller, else from the configuration files: a partition that has failed has no other."""
    try:
        return list((await controller.ipuof_config(*choice)).gcd_configs)
    except VipuProblem:
        kept = [gcd_from(files.read(path), path) for path in kept_files(choice.partition, files)]
        gcds = [gcd for gcd in kept if choice.gcd is None or gcd.attributes.get("GCD Id") == str(choice.gcd)]
        if not gcds:
            raise
        return gcds


async def _failing(
    fabric: Fabric, controller: Controller, partition: str, gcds: list[pb.PartitionConfig.Gcd]
) -> dict[str, list[dict[str, str]]]:
    ids, hosts = count(), defaultdict[str, list[dict[str, str]]](list)
    states = await _states(fabric, controller, {device.ip for gcd in gcds for device in gcd.devices})
    for gcd in gcds:
        for device in gcd.devices:
            ipu = {"id": str(next(ids)), "partition": partition, "board ipu index": str(device.ipu_id)}
            state = states.get((device.ip, device.ipu_id), "unreachable")
            if state != "no errors":
                hosts[device.ip].append({"error": "connection" if state == "unreachable" else "device", **ipu})
    return dict(hosts)


async def _states(fabric: Fabric, controller: Controller, addresses: set[str]) -> dict[tuple[str, int], str]:
    """The error states of the IPUs that this server reaches, by address and number."""
    machines = {address: machine for address in addresses if (machine := fabric.machine_at(address)) is not None}
    by_agent = {machine.name: address for address, machine in machines.items()}
    entries = await controller.attributes(sorted(by_agent)) if by_agent else ()
    return {
        (by_agent[entry.agent], ipu): attributes.attributes.get("ipu error state", "unreachable")
        for entry in entries
        for ipu, attributes in entry.ipu_attributes.items()
    }

"""Which IPUs a login sees: those of the partition it has chosen, or the server's own."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Mapping
from typing import NamedTuple

from ipucloud.laboratory.simulator.hardware import Machine, ServerPlan
from ipucloud.laboratory.simulator.ssh.device_attributes import fabric_attributes
from ipucloud.laboratory.simulator.ssh.devices import Attributes, Devices, Partition, of_partition, of_server
from ipucloud.laboratory.simulator.ssh.disk_files import ServerFiles
from ipucloud.laboratory.simulator.ssh.fabric import Fabric
from ipucloud.vipu_cli.controller import Controller
from ipucloud.vipu_cli.endpoint import Endpoint, VipuProblem, endpoint_from, timeout_from
from ipucloud.vipu_cli.files import FOLDER, SUFFIX, gcd_from
from ipucloud.wire import vipu_pb2 as pb

MAX_CONFIG = 1024 * 1024
PARTITION_ID, GCD_ID = "IPUOF_VIPU_API_PARTITION_ID", "IPUOF_VIPU_API_GCD_ID"
LOGIN_SECONDS = 2.0
"""How long a login waits for the controller."""


class Choice(NamedTuple):
    """A partition, and one GCD of it or all."""

    partition: str
    gcd: int | None


async def devices_of(fabric: Fabric, files: ServerFiles, env: Mapping[str, str], opened: int) -> Devices:
    """The devices of a login; `opened` of the server's own IPUs are the customer's. Raises VipuProblem."""
    server = fabric.server
    if server is not None and isinstance(server.region, ServerPlan):
        if not fabric.server_works():
            raise VipuProblem("the IPU cards of this server do not answer")
        return of_server(server, server.region, opened, fabric.load)
    choice = await asyncio.to_thread(chosen, files, env)
    return await _devices(fabric, controller_of(fabric, env), choice)


async def every_partition(fabric: Fabric, files: ServerFiles, env: Mapping[str, str]) -> list[tuple[Devices, bool]]:
    """The devices of every active partition of the tenant, and whether a login has chosen it. Raises VipuProblem."""
    controller = fabric.controller(_endpoint(env))
    try:
        choice = await asyncio.to_thread(chosen, files, env)
    except VipuProblem:
        choice = None
    names = [partition.id for partition in await controller.partitions() if partition.ready_state == pb.PS_ACTIVE]
    return [
        (await _devices(fabric, controller, choice if is_chosen and choice else Choice(name, None)), is_chosen)
        for name in names
        for is_chosen in [choice is not None and name == choice.partition]
    ]


async def _devices(fabric: Fabric, controller: Controller, choice: Choice) -> Devices:
    config = await _config(controller, choice)
    machines = _reach(fabric, choice.partition, config)
    partition = Partition(choice.partition, config, choice.gcd)
    return of_partition(partition, await _attributes(fabric, controller, partition, machines), machines, fabric.load)


async def config_of(
    fabric: Fabric, files: ServerFiles, env: Mapping[str, str], limit: float
) -> tuple[Choice, pb.PartitionConfig]:
    """The partition of a login once every machine of it was reached. Raises VipuProblem."""
    choice = await asyncio.to_thread(chosen, files, env)
    config = await _config(controller_of(fabric, env, limit), choice)
    _reach(fabric, choice.partition, config)
    return choice, config


async def current_environment(fabric: Fabric, env: Mapping[str, str]) -> dict[str, str]:
    """The environment of a login: it names the server's own partition while that exists, else the only one there is.

    It stays as it is when the controller does not say.
    """
    own, gcd = env.get(PARTITION_ID), env.get(GCD_ID, "0")
    if not own or fabric.endpoints is None:
        return dict(env)
    try:
        async with asyncio.timeout(LOGIN_SECONDS):
            partitions = await fabric.controller(_endpoint(env)).partitions()
    except (VipuProblem, TimeoutError):
        return dict(env)
    gcds = {partition.id: partition.spec.num_gcds for partition in partitions}
    if own in gcds:
        return dict(env)
    followed = {name: value for name, value in env.items() if name not in {PARTITION_ID, GCD_ID}}
    if len(gcds) == 1:
        (partition,) = gcds
        followed[PARTITION_ID] = partition
        if GCD_ID in env:
            followed[GCD_ID] = gcd if gcd.isdecimal() and int(gcd) < gcds[partition] else "0"
    return followed


def chosen(files: ServerFiles, env: Mapping[str, str]) -> Choice:
    """By IPUOF_CONFIG_PATH, else by the environment, else by the only partition in `~/.ipuof.conf.d`.

    Raises VipuProblem when none is chosen, or several could be.
    """
    path = env.get("IPUOF_CONFIG_PATH", "")
    if path:
        return _from_file(files, path)
    partition = env.get(PARTITION_ID, "")
    if partition:
        return Choice(partition, _gcd(env))
    choices = [_from_file(files, f"{FOLDER}/{name}") for name in files.names(FOLDER) if name.endswith(SUFFIX)]
    names = sorted({choice.partition for choice in choices})
    if not names:
        raise VipuProblem(f"no partition: {PARTITION_ID} is not set, and {FOLDER} is empty")
    if len(names) > 1:
        raise VipuProblem(
            f"several partitions are configured and none is chosen ({', '.join(names)}): set {PARTITION_ID}"
        )
    gcd = _gcd(env)
    return Choice(names[0], choices[0].gcd if gcd is None and len(choices) == 1 else gcd)


def _gcd(env: Mapping[str, str]) -> int | None:
    text = env.get(GCD_ID, "")
    if text and not text.isdigit():
        raise VipuProblem(f"{GCD_ID} is {text!r}, not a number")
    return int(text) if text else None


def _from_file(files: ServerFiles, path: str) -> Choice:
    name = path.removeprefix(f"{FOLDER}/")
    try:
        content = files.read(path)
    except OSError as error:
        too_long = error.errno == errno.EFBIG
        cause = "is too long for an IPUoF configuration file" if too_long else "cannot be read"
        raise VipuProblem(f"the IPUoF configuration file {name} {cause}") from error
    if len(content) > MAX_CONFIG:
        raise VipuProblem(f"{name} is too long for an IPUoF configuration file")
    gcd = gcd_from(content, name)
    number = gcd.attributes.get("GCD Id", "")
    partition = gcd.attributes.get("Partition Id", "") or name.rpartition("/")[2].removesuffix(SUFFIX)
    several = gcd.attributes.get("Number of GCDs", "1") != "1"
    return Choice(partition, int(number) if several and number.isdigit() else None)


def _endpoint(env: Mapping[str, str]) -> Endpoint:
    user = {"user_id": env.get("VIPU_CLI_API_USER_ID"), "access_key": env.get("VIPU_CLI_API_ACCESS_KEY")}
    return endpoint_from(env, "IPUOF_VIPU_API", user)


def controller_of(fabric: Fabric, env: Mapping[str, str], limit: float = float("inf")) -> Controller:
    """The controller of a login, which waits `limit` seconds at most. Raises VipuProblem."""
    seconds = timeout_from("IPUOF_VIPU_API_TIMEOUT", env.get("IPUOF_VIPU_API_TIMEOUT", ""))
    return fabric.controller(_endpoint(env), min(seconds, limit))


async def _config(controller: Controller, choice: Choice) -> pb.PartitionConfig:
    try:
        return await controller.ipuof_config(*choice)
    except VipuProblem as problem:
        if not problem.missing:
            raise
        address = controller.endpoint.address
        sentence = f"the V-IPU controller at {address} does not know it: {problem}"
        advice = f"`vipu list partitions` shows those that exist: set {PARTITION_ID} to one of them"
        raise VipuProblem(f"{sentence.removesuffix('.')}. {advice}", missing=True) from problem


def _reach(fabric: Fabric, partition: str, config: pb.PartitionConfig) -> dict[str, Machine]:
    """The partition's machines by address. Raises VipuProblem for one that the server does not reach."""
    machines = {}
    for address in dict.fromkeys(device.ip for gcd in config.gcd_configs for device in gcd.devices):
        machine = fabric.machine_at(address)
        if machine is None:
            raise VipuProblem(f"IPU-M {address} of partition {partition!r} is unreachable from this server")
        machines[address] = machine
    return machines


async def _attributes(
    fabric: Fabric, controller: Controller, partition: Partition, machines: Mapping[str, Machine]
) -> list[Attributes]:
    reported = {
        (entry.agent, ipu): dict(attributes.attributes)
        for entry in await controller.attributes(sorted(machine.name for machine in machines.values()))
        for ipu, attributes in entry.ipu_attributes.items()
    }
    return [
        fabric_attributes(
            reported.get((machine.name, device.ipu_id), {}),
            device,
            (partition.id, partition.config, gcd),
            machine,
            fabric.readings(machine.name),
            busy=fabric.load.is_busy((machine.name, device.ipu_id)),
        )
        for gcd in partition.config.gcd_configs
        for device in gcd.devices
        for machine in [machines[device.ip]]
    ]

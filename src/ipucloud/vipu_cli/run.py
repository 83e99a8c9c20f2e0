"""Runs one `vipu` command."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from ipucloud.vipu_cli import show
from ipucloud.vipu_cli.arguments import GATEWAY_ROUTINGS, ROUTINGS, SYNC_TYPES, Usage, parse
from ipucloud.vipu_cli.controller import Controller
from ipucloud.vipu_cli.endpoint import TIMEOUT, Endpoint, VipuProblem, endpoint_from
from ipucloud.vipu_cli.ipuof import files_of
from ipucloud.vipu_cli.waiting import Sleep, until_active, until_gone
from ipucloud.wire import vipu_pb2 as pb

VERSION = "1.18.0"
"""The vendor's version that this command follows."""

FAILED = 1


@dataclass(frozen=True)
class World:
    """Environment of a command: `connect` opens a controller, `keep` stores an IPUoF file by name.

    `keep` returns the path as shown to the user.
    """

    env: Mapping[str, str]
    connect: Callable[[Endpoint], Controller]
    out: Callable[[str], object]
    err: Callable[[str], object]
    keep: Callable[[str, bytes], str]
    sleep: Sleep
    prog: str = "vipu"


Act = Callable[[World, Controller, argparse.Namespace], Awaitable[None]]


async def run(args: Sequence[str], world: World) -> int:
    """The exit status: 0 done, 1 failed with the cause on standard error, 2 invalid command line."""
    try:
        options = parse(args, world.prog)
    except Usage as usage:
        (world.err if usage.status else world.out)(str(usage))
        return usage.status
    if options.version:
        world.out(f"vipu version {VERSION}\n")
        return 0
    act, what = _chosen(options)
    try:
        endpoint = endpoint_from(world.env, "VIPU_CLI_API", _given(options))
        await act(world, world.connect(endpoint), options)
    except VipuProblem as problem:
        world.err(f"{what}: failed: {problem}.\n")
        return FAILED
    return 0


def _chosen(options: argparse.Namespace) -> tuple[Act, str]:
    """The function to run, and its name in error messages."""
    if options.server_version:
        return _server_version, "server version"
    noun = {"partitions": "partition", "allocations": "allocation"}.get(options.noun, options.noun)
    if options.verb == "list":
        return _LISTS[noun], f"list {options.noun}"
    return _PARTITION[options.verb], f"{options.verb} partition ({options.id})"


def _given(options: argparse.Namespace) -> dict[str, str | None]:
    return {
        "host": options.api_host,
        "port": options.api_port,
        "admin_port": options.admin_port,
        "user_id": options.api_user_id,
        "access_key": options.api_access_key,
    }


async def _server_version(world: World, controller: Controller, options: argparse.Namespace) -> None:
    version = await controller.version()
    host = controller.endpoint.address
    world.out(
        show.json({"version": version, "host": host}) if options.showjson else f"version: {version}\nhost: {host}\n"
    )


async def _list_partitions(world: World, controller: Controller, options: argparse.Namespace) -> None:
    found = await controller.partitions()
    world.out(show.json({"partitions": show.plain_all(found)}) if options.showjson else show.partitions(found))


async def _list_allocations(world: World, controller: Controller, options: argparse.Namespace) -> None:
    found = await controller.allocations()
    world.out(show.json({"allocations": show.plain_all(found)}) if options.showjson else show.allocations(found))


async def _list_attributes(world: World, controller: Controller, options: argparse.Namespace) -> None:
    found = await controller.attributes(options.agent)
    world.out(show.json({"entries": show.plain_all(found)}) if options.showjson else show.attributes(found))


async def _create(world: World, controller: Controller, options: argparse.Namespace) -> None:
    await controller.create(
        pb.CreatePartitionRequest(
            requirements=pb.PartitionRequirements(
                id=options.id,
                size=options.size,
                cluster_id=options.cluster,
                allocation_id=options.allocation,
                num_gcds=options.gcds,
                num_replicas=options.num_replicas,
                num_ipulink_segments=options.segments,
                reconfigurable=options.reconfigurable,
                ipulink_routing_type=ROUTINGS.get(options.routing, pb.IRT_UNDEFINED),
                gw_routing_type=GATEWAY_ROUTINGS.get(options.gateway_routing, pb.GRT_UNDEFINED),
                sync_type=SYNC_TYPES.get(options.sync_type, pb.ST_UNDEFINED),
            ),
            disable_auto_reset=options.disable_auto_reset,
            relocatable=options.relocatable,
        )
    )
    if not options.no_wait:
        await until_active(controller, options.id, options.timeout or TIMEOUT, world.sleep)
    _succeeded(world, options, "create")
    if options.ipuof_configs:
        await _configs(world, controller, options.id, options.gcds or 1, None)


async def _get(world: World, controller: Controller, options: argparse.Namespace) -> None:
    status = await controller.status(options.id)
    found = next((each for each in await controller.partitions() if each.id == options.id), None)
    if found is None:
        raise VipuProblem(f"partition {options.id!r} does not exist")
    if options.ipuof_configs:
        await _configs(world, controller, options.id, found.spec.num_gcds, options.gcd)
    elif options.showjson:
        world.out(show.json({"partition": show.plain(found), "status": show.plain(status)}))
    else:
        world.out(show.partition(found, status))


async def _reset(world: World, controller: Controller, options: argparse.Namespace) -> None:
    await controller.reset(options.id, relocatable=options.relocatable)
    if not options.no_wait:
        await until_active(controller, options.id, options.timeout or TIMEOUT, world.sleep)
    _succeeded(world, options, "reset")


async def _remove(world: World, controller: Controller, options: argparse.Namespace) -> None:
    await controller.remove(options.id, force=options.force)
    if not options.no_wait:
        await until_gone(controller, options.id, options.timeout or TIMEOUT, world.sleep)
    _succeeded(world, options, "remove")


async def _configs(world: World, controller: Controller, partition: str, gcds: int, gcd: int | None) -> None:
    """Print the IPUoF configuration, save its files, and print their paths on standard error."""
    config = await controller.ipuof_config(partition, gcd)
    world.out(show.json(show.plain(config)))
    for name, content in files_of(partition, config, gcds):
        world.err(f"wrote {world.keep(name, content)}\n")


def _succeeded(world: World, options: argparse.Namespace, verb: str) -> None:
    if options.showjson:
        world.out(show.json({"operation": f"{verb} partition", "partition_id": options.id, "result": "success"}))
    else:
        world.out(f"{verb} partition ({options.id}): success.\n")


_LISTS: dict[str, Act] = {
    "partition": _list_partitions,
    "allocation": _list_allocations,
    "ipu-attrs": _list_attributes,
}
_PARTITION: dict[str, Act] = {"create": _create, "get": _get, "reset": _reset, "remove": _remove}

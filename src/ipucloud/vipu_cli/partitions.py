"""What the verbs for partitions do."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ipucloud.vipu_cli import show
from ipucloud.vipu_cli.controller import Controller
from ipucloud.vipu_cli.endpoint import TIMEOUT, VipuProblem
from ipucloud.vipu_cli.files import FOLDER, content_of, files_of, kept_files
from ipucloud.vipu_cli.waiting import until_active, until_gone
from ipucloud.vipu_cli.world import Act, World
from ipucloud.wire import vipu_pb2 as pb

DOMAIN_IPUS = 64
"""IPUs that an IPU-Link domain has places for."""


async def server_version(world: World, controller: Controller, options: argparse.Namespace) -> None:
    version = await controller.version()
    host = controller.endpoint.address
    world.out(
        show.json({"version": version, "host": host})
        if options.showjson
        else f"version: {show.printable(version)}\nhost: {host}\n"
    )


async def list_partitions(world: World, controller: Controller, options: argparse.Namespace) -> None:
    partitions = await controller.partitions(options.allocation)
    world.out(
        show.json({"partitions": show.plain_all(partitions)}) if options.showjson else show.partitions(partitions)
    )


async def _create(world: World, controller: Controller, options: argparse.Namespace) -> None:
    await controller.create(
        pb.CreatePartitionRequest(
            requirements=pb.PartitionRequirements(
                id=options.id,
                size=options.size,
                cluster_id=options.cluster,
                allocation_id=options.allocation,
                num_gcds=options.num_gcds,
                num_replicas=options.num_replicas,
                num_ipulink_segments=options.segments,
                reconfigurable=options.reconfigurable,
                ipulink_routing_type=options.routing,
                gw_routing_type=options.gateway_routing,
                sync_type=options.sync_type,
                ipus=_places(options),
            ),
            disable_auto_reset=options.disable_auto_reset,
            relocatable=options.relocatable,
        )
    )
    if not options.no_wait:
        await until_active(controller, options.id, options.timeout or TIMEOUT, world.sleep)
        _forget_files(world, options.id)  # of an earlier partition of this name
        await _keep_files(world, controller, options.id)
    succeeded(world, options)


async def _get(world: World, controller: Controller, options: argparse.Namespace) -> None:
    status = await controller.status(options.id)
    partition = next((each for each in await controller.partitions() if each.id == options.id), None)
    if partition is None:
        raise VipuProblem(f"partition {options.id!r} does not exist")
    if options.ipuof_configs:
        world.out(await _file_of(controller, partition, options.gcd))
    elif options.showjson:
        world.out(show.json({"partition": show.plain(partition), "status": show.plain(status)}))
    else:
        world.out(show.partition(partition, status))


async def _reset(world: World, controller: Controller, options: argparse.Namespace) -> None:
    await controller.reset(options.id, relocatable=options.relocatable)
    if not options.no_wait:
        await until_active(controller, options.id, options.timeout or TIMEOUT, world.sleep)
        if list(kept_files(options.id, world.files)):
            await _keep_files(world, controller, options.id)
    succeeded(world, options)


async def _remove(world: World, controller: Controller, options: argparse.Namespace) -> None:
    await controller.remove(options.id, force=options.force)
    if not options.no_wait:
        await until_gone(controller, options.id, options.timeout or TIMEOUT, world.sleep)
    _forget_files(world, options.id)
    succeeded(world, options)


VERBS: dict[str, Act[Controller]] = {
    "create": _create,
    "get": _get,
    "reset": _reset,
    "remove": _remove,
    "delete": _remove,
}


def succeeded(world: World, options: argparse.Namespace, also: str = "") -> None:
    """Print that an object was changed."""
    what = f"{options.verb} {options.noun}"
    if options.showjson:
        world.out(show.json({"operation": what, f"{options.noun}_id": options.id, "result": "success"}))
    else:
        world.out(f"{what} ({options.id}): success.{also}\n")


def _places(options: argparse.Namespace) -> Sequence[pb.PartitionIpu]:
    """The IPUs of the `--index`-th block of this size in the cluster; the controller gives them their routing ids."""
    if options.index is None:
        return ()
    if not options.cluster:
        raise VipuProblem("--index counts the blocks of a cluster: name it with --cluster")
    first = options.index * options.size
    return [
        pb.PartitionIpu(ipulink_domain_topology_id=place // DOMAIN_IPUS, topology_id=place % DOMAIN_IPUS)
        for place in range(first, first + options.size)
    ]


async def _file_of(controller: Controller, partition: pb.Partition, gcd: int | None) -> str:
    """The IPUoF configuration file of a GCD, or of the only one."""
    gcds = partition.spec.num_gcds
    if gcd is None and gcds > 1:
        raise VipuProblem(f"it has {gcds} GCDs, each with a configuration of its own: choose one with --gcd")
    config = await controller.ipuof_config(partition.id, gcd or 0)
    if not config.gcd_configs:
        raise VipuProblem("the controller's answer has no configuration")
    return content_of(config.gcd_configs[0]).decode()


async def _keep_files(world: World, controller: Controller, partition: str) -> None:
    """Put the files of an active partition where Poplar looks for them. It exists also if that fails."""
    config = await controller.ipuof_config(partition)
    for name, content in files_of(partition, config, len(config.gcd_configs)):
        path = f"{FOLDER}/{name}"
        try:
            world.files.write(path, content)
        except OSError as error:
            world.err(f"warning: {path} was not written: {error.strerror}\n")


def _forget_files(world: World, partition: str) -> None:
    try:
        for path in kept_files(partition, world.files):
            world.files.remove(path)
    except OSError as error:
        world.err(f"warning: the files of the partition in {FOLDER} were not removed: {error.strerror}\n")

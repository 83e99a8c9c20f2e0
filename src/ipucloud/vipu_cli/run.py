"""Runs one `vipu` command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from ipucloud.vipu_cli import partition_arguments as partitions
from ipucloud.vipu_cli import show
from ipucloud.vipu_cli.controller import Controller
from ipucloud.vipu_cli.endpoint import Endpoint
from ipucloud.vipu_cli.parser import Parser, new_parser, parsed, shared_options
from ipucloud.vipu_cli.partitions import VERBS, list_partitions, server_version
from ipucloud.vipu_cli.world import Act, World, run_command


async def run(args: Sequence[str], world: World, connect: Callable[[Endpoint], Controller]) -> int:
    """The exit status: 0 done, 1 failed with the cause on standard error, 2 invalid command line."""
    return await run_command(world, lambda: parse(args, world.prog), connect, _chosen)


def _chosen(options: argparse.Namespace) -> tuple[Act[Controller], str]:
    if options.server_version:
        return server_version, "server version"
    if options.verb == "list":
        return _LISTS[options.noun.removesuffix("s")], f"list {options.noun}"
    return VERBS[options.verb], f"{options.verb} partition ({options.id})"


async def _list_allocations(world: World, controller: Controller, options: argparse.Namespace) -> None:
    allocations = await controller.allocations()
    world.out(
        show.json({"allocations": show.plain_all(allocations)}) if options.showjson else show.allocations(allocations)
    )


async def _list_attributes(world: World, controller: Controller, options: argparse.Namespace) -> None:
    entries = await controller.attributes(options.agent)
    world.out(show.json({"entries": show.plain_all(entries)}) if options.showjson else show.attributes(entries))


_LISTS: dict[str, Act[Controller]] = {
    "partition": list_partitions,
    "allocation": _list_allocations,
    "ipu-attr": _list_attributes,
}


def parse(args: Sequence[str], prog: str) -> argparse.Namespace:
    """The options; `verb` and `noun` are absent for `--version` and `--server-version`. Raises Usage."""
    return parsed(_parser(prog), args)


def _parser(prog: str) -> Parser:
    parser = new_parser(prog, "Manage partitions of IPUs at a V-IPU controller.")
    shared = shared_options()
    verbs = parser.add_subparsers(dest="verb", metavar="list|create|get|reset|remove")
    nouns = verbs.add_parser("list", help="list objects").add_subparsers(dest="noun", required=True)
    partitions.list_partitions(nouns, shared)
    nouns.add_parser("allocations", aliases=["allocation"], parents=[shared])
    attributes = nouns.add_parser("ipu-attrs", parents=[shared])
    attributes.add_argument("--agent", action="append", default=[], metavar="ID", help="only this agent (repeatable)")
    for verb, declare, spelt in (
        ("create", partitions.create_partition, []),
        ("get", partitions.get_partition, []),
        ("reset", partitions.reset_partition, []),
        ("remove", partitions.remove_partition, ["delete"]),
    ):
        added = verbs.add_parser(verb, aliases=spelt, help=f"{verb} a partition")
        declare(added.add_subparsers(dest="noun", required=True), shared)
    return parser

"""The command line of `vipu`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ipucloud.vipu_cli import partition_arguments as partitions
from ipucloud.vipu_cli.parser import Parser, new_parser, parsed, shared_options


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

"""The command line of `vipu-admin`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ipucloud.vipu_cli import partition_arguments as partitions
from ipucloud.vipu_cli.parser import Parser, Verbs, count, names, new_parser, parsed, shared_options

AGENT_PORT = 8080
"""Where agents listen, by the vendor's documentation."""


def parse(args: Sequence[str], prog: str) -> argparse.Namespace:
    """The options; `verb` and `noun` are absent for `--version` and `--server-version`. Raises Usage."""
    return parsed(_parser(prog), args)


def _parser(prog: str) -> Parser:
    parser = new_parser(
        prog, "Administer a V-IPU controller: agents, clusters, allocations, users, partitions.", admin=True
    )
    shared = shared_options(admin=True)
    verbs = parser.add_subparsers(dest="verb", metavar="list|get|create|remove|reset|discover|test")
    _lists(_nouns(verbs, "list", "list objects"), shared)
    get = _nouns(verbs, "get", "show an object")
    create = _nouns(verbs, "create", "create an object")
    remove = _nouns(verbs, "remove", "remove an object", "delete")
    for kind in ("agent", "cluster", "allocation"):
        _named(get, kind, shared)
    for kind in ("agent", "cluster", "allocation", "user"):
        _named(remove, kind, shared)
    _agent(_named(create, "agent", shared))
    _cluster(_named(create, "cluster", shared))
    _allocation(_named(create, "allocation", shared))
    user = _named(create, "user", shared)
    user.add_argument("--allocations", type=names, default=[], metavar="IDS", help="what the user sees (default: all)")
    partitions.get_partition(get, shared, scoped=True)
    partitions.create_partition(create, shared)
    partitions.remove_partition(remove, shared, scoped=True)
    partitions.reset_partition(_nouns(verbs, "reset", "reset a partition"), shared, scoped=True)
    discover = _nouns(verbs, "discover", "find machines that are no agents")
    discover.add_parser("agent", aliases=["agents"], parents=[shared])
    test = _named(_nouns(verbs, "test", "test a cluster's cables and links; disturbs what runs"), "cluster", shared)
    test.add_argument("--allocation", default="", metavar="ID", help="test its machines (default: the only one's)")
    test.add_argument("--timeout", type=count, default=3600, metavar="SECONDS", help="how long to wait (default: 3600)")
    return parser


def _nouns(verbs: Verbs, verb: str, meaning: str, *spelt: str) -> Verbs:
    return verbs.add_parser(verb, aliases=spelt, help=meaning).add_subparsers(dest="noun", required=True)


def _named(nouns: Verbs, kind: str, shared: Parser) -> Parser:
    parser: Parser = nouns.add_parser(kind, parents=[shared])
    parser.add_argument("id", help=f"the {kind}'s id")
    return parser


def _lists(nouns: Verbs, shared: Parser) -> None:
    partitions.list_partitions(nouns, shared)
    for kind in ("agent", "cluster", "allocation", "user"):
        nouns.add_parser(f"{kind}s", aliases=[kind], parents=[shared])


def _agent(parser: Parser) -> None:
    parser.add_argument("--host", default="", metavar="HOST", help="address of the machine's gateway")
    parser.add_argument("--port", type=count, choices=[AGENT_PORT], default=AGENT_PORT, metavar="PORT", help="8080")


def _cluster(parser: Parser) -> None:
    add = parser.add_argument
    add("--agents", type=names, required=True, metavar="IDS", help="the agents, with commas between them")
    add("--topology", choices=["mesh", "torus"], help="of the IPU-Links of each domain (default: as it is cabled)")
    add("--num-ipulinkdomains", type=count, default=0, metavar="N", help="number of IPU-Link domains")
    add("--cluster-topology", choices=["looped", "switched"], help="of the GW-Links (default: as they are cabled)")


def _allocation(parser: Parser) -> None:
    parser.add_argument("--cluster", default="", metavar="ID", help="the cluster (default: the only one)")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--size", type=count, default=0, metavar="MACHINES", help="so many free machines")
    what.add_argument("--agents", type=names, default=[], metavar="IDS", help="these agents")

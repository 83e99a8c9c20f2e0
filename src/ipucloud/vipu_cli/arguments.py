"""The command line of `vipu`. An invalid one raises; it never ends the process, which may be a whole site."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import IO, NoReturn

from ipucloud.wire import vipu_pb2 as pb

SYNC_TYPES = {
    "c2-compatible": pb.ST_GS2_DEFAULT,
    "independent-rails": pb.ST_GS2_INDEPENDENT_RAILS,
    "pod-native": pb.ST_POD_NATIVE_DEFAULT,
    "pod-native-replicated-pipeline": pb.ST_POD_NATIVE_REPLICATED_PIPELINE,
}
ROUTINGS = {"dnc": pb.IRT_DNC, "swnc": pb.IRT_SWNC, "btnc": pb.IRT_BTNC, "ringswnc": pb.IRT_RINGSWNC}
GATEWAY_ROUTINGS = {"ring": pb.GRT_RING, "swring": pb.GRT_SWRING}


class Usage(Exception):
    """Invalid command line (status 2) or help (status 0), with the text to print."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Usage(f"{self.format_usage()}{self.prog}: {message}\n", 2)

    def print_help(self, file: IO[str] | None = None) -> NoReturn:  # type: ignore[override]  # help ends parsing
        raise Usage(self.format_help(), 0)


def parse(args: Sequence[str], prog: str) -> argparse.Namespace:
    """The options; `verb` and `noun` are absent for `--version` and `--server-version`.

    Raises Usage.
    """
    options = _parser(prog).parse_args(args)
    if options.verb is None and not options.version and not options.server_version:
        raise Usage(_parser(prog).format_help(), 2)
    return options


def _parser(prog: str) -> _Parser:
    parser = _Parser(prog=prog, description="Manage partitions of IPUs at a V-IPU controller.", allow_abbrev=False)
    parser.set_defaults(verb=None, noun=None)
    parser.add_argument("--version", action="store_true", help="version of this command")
    parser.add_argument("--server-version", action="store_true", help="version of the controller")
    _connection(parser, None)
    shared = _Parser(add_help=False)
    # An option before the verb must not be reset by its absence after the verb.
    _connection(shared, argparse.SUPPRESS)
    verbs = parser.add_subparsers(dest="verb", metavar="list|create|get|reset|remove")
    nouns = verbs.add_parser("list", help="list objects").add_subparsers(dest="noun", required=True)
    for noun in ("partitions", "partition", "allocations", "allocation"):
        nouns.add_parser(noun, parents=[shared])
    attributes = nouns.add_parser("ipu-attrs", parents=[shared])
    attributes.add_argument("--agent", action="append", default=[], metavar="ID", help="only this agent (repeatable)")
    _create(_partition(verbs, "create", shared))
    _get(_partition(verbs, "get", shared))
    reset = _partition(verbs, "reset", shared)
    reset.add_argument("--relocatable", action="store_true", help="allow moving to other IPUs")
    _waiting(reset)
    remove = _partition(verbs, "remove", shared)
    remove.add_argument("--force", action="store_true", help="even if machines do not respond")
    _waiting(remove)
    return parser


def _partition(verbs: argparse._SubParsersAction[_Parser], verb: str, shared: _Parser) -> _Parser:
    nouns = verbs.add_parser(verb, help=f"{verb} a partition").add_subparsers(dest="noun", required=True)
    parser: _Parser = nouns.add_parser("partition", parents=[shared])
    parser.add_argument("id", help="the partition's id")
    return parser


def _connection(parser: _Parser, default: str | None) -> None:
    add = parser.add_argument
    add("-H", "--api-host", default=default, metavar="HOST", help="controller's host (VIPU_CLI_API_HOST)")
    add("-p", "--api-port", default=default, metavar="PORT", help="user port (VIPU_CLI_API_PORT, 8090)")
    add("--admin-port", default=default, metavar="PORT", help="administration port (VIPU_CLI_API_ADMIN_PORT, 8091)")
    add("--api-user-id", default=default, metavar="USER", help="user (VIPU_CLI_API_USER_ID)")
    add("--api-access-key", default=default, metavar="KEY", help="the user's key (VIPU_CLI_API_ACCESS_KEY)")
    if default is None:
        parser.set_defaults(showjson=False)
    showjson_default = False if default is None else default
    add("--showjson", action="store_true", default=showjson_default, help="print JSON, whose format is stable")


def _create(parser: _Parser) -> None:
    add = parser.add_argument
    add("--size", type=_count, required=True, metavar="IPUS", help="a power of two")
    add("--allocation", default="", metavar="ID", help="allocation to use (default: any with room)")
    add("--cluster", default="", metavar="ID", help="V-IPU cluster to use")
    add("--gcds", type=_count, default=0, metavar="N", help="graph compile domains (default: 1)")
    add("--num-replicas", "--replicas", type=_count, default=0, metavar="N", help="replicas (default: as many as GCDs)")
    add("--segments", type=_count, default=0, metavar="N", help="IPU-Link domains (default: as few as possible)")
    add("--reconfigurable", action="store_true", help="let programs choose devices of any size")
    add("--sync-type", choices=sorted(SYNC_TYPES))
    add("--routing", choices=sorted(ROUTINGS), help="of IPU-Links")
    add("--gateway-routing", choices=sorted(GATEWAY_ROUTINGS), help="of GW-Links")
    add("--relocatable", action="store_true", help="allow a reset to move it to other IPUs")
    add("--disable-auto-reset", action="store_true", help="do not reset it when a machine fails")
    _ipuof(parser)
    _waiting(parser)


def _get(parser: _Parser) -> None:
    parser.add_argument("--gcd", type=_number, metavar="N", help="with --ipuof-configs: only this GCD")
    _ipuof(parser)


def _ipuof(parser: _Parser) -> None:
    parser.add_argument(
        "--ipuof-configs", action="store_true", help="show the IPUoF configuration and save it in ~/.ipuof.conf.d"
    )


def _waiting(parser: _Parser) -> None:
    parser.add_argument("--timeout", type=_count, default=0, metavar="SECONDS", help="how long to wait (default: 120)")
    parser.add_argument("--no-wait", action="store_true", help="return when the controller has accepted the call")


def _number(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return int(text)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text)

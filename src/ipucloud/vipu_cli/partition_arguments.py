"""The verbs for partitions, which `vipu` and `vipu-admin` have in common."""

from __future__ import annotations

from ipucloud.vipu_cli.parser import Parser, Verbs, count, number
from ipucloud.vipu_cli.spellings import gateway_routing, routing, sync_type


def list_partitions(nouns: Verbs, shared: Parser) -> None:
    parser = nouns.add_parser("partitions", aliases=["partition"], parents=[shared])
    parser.add_argument("--allocation", default="", metavar="ID", help="only partitions of this allocation")


def create_partition(nouns: Verbs, shared: Parser) -> None:
    parser = _partition(nouns, shared)
    add = parser.add_argument
    add("--size", type=count, required=True, metavar="IPUS", help="a power of two")
    add("--allocation", default="", metavar="ID", help="allocation to use (default: the only one)")
    add("--cluster", default="", metavar="ID", help="V-IPU cluster to use")
    add("--index", type=number, metavar="N", help="which of the cluster's blocks of this size to use, from 0 on")
    add("--num-gcds", "--gcds", type=count, default=0, metavar="N", help="graph compile domains (default: 1)")
    replicas = ("--gcd-sync-replicas", "--num-replicas", "--replicas")
    add(*replicas, dest="num_replicas", type=count, default=0, metavar="N", help="replicas (default: as many as GCDs)")
    segments = ("--num-ipulink-segments", "--segments")
    add(*segments, dest="segments", type=count, default=0, metavar="N", help="IPU-Link domains (default: the fewest)")
    add("--reconfigurable", action="store_true", help="let programs choose devices of any size")
    add("--sync-type", type=sync_type, default="default", metavar="TYPE", help="c2-compatible, pod-native-default, …")
    add("--routing", type=routing, default="default", metavar="TYPE", help="of IPU-Links: dnc, swnc, btnc, ringswnc")
    add("--gateway-routing", type=gateway_routing, default="default", metavar="TYPE", help="of GW-Links: ring, swring")
    add("--relocatable", action="store_true", help="allow a reset to move it to other IPUs")
    add("--disable-auto-reset", action="store_true", help="do not reset it when a machine fails")
    _waiting(parser)


def get_partition(nouns: Verbs, shared: Parser, *, scoped: bool = False) -> None:
    parser = _partition(nouns, shared, scoped=scoped)
    parser.add_argument("--gcd", type=number, metavar="N", help="with --ipuof-configs: the GCD")
    parser.add_argument("--ipuof-configs", action="store_true", help="print the IPUoF configuration file of a GCD")


def reset_partition(nouns: Verbs, shared: Parser, *, scoped: bool = False) -> None:
    parser = _partition(nouns, shared, scoped=scoped)
    parser.add_argument("--relocatable", action="store_true", help="allow moving to other IPUs")
    _waiting(parser)


def remove_partition(nouns: Verbs, shared: Parser, *, scoped: bool = False) -> None:
    parser = _partition(nouns, shared, scoped=scoped)
    parser.add_argument("--force", action="store_true", help="even if machines do not respond")
    _waiting(parser)


def _partition(nouns: Verbs, shared: Parser, *, scoped: bool = False) -> Parser:
    """`scoped`: with an option for the allocation, which an endpoint of all allocations needs."""
    parser: Parser = nouns.add_parser("partition", parents=[shared])
    parser.add_argument("id", help="the partition's id")
    if scoped:
        parser.add_argument("--allocation", default="", metavar="ID", help="its allocation, if several have such a one")
    return parser


def _waiting(parser: Parser) -> None:
    parser.add_argument("--timeout", type=count, default=0, metavar="SECONDS", help="how long to wait (default: 120)")
    parser.add_argument("--no-wait", action="store_true", help="return when the controller has accepted the call")

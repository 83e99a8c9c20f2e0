"""What makes a partition request valid, and what its unset fields mean. Pure.

The rules are the vendor's where they are documented. Ours are: the domain limit, the divisibility of GCDs and replicas,
and the default routings.
"""

from __future__ import annotations

from dataclasses import replace

from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from ipucloud.laboratory.simulator.hardware import DOMAIN_IPUS
from ipucloud.laboratory.simulator.refusal import invalid
from ipucloud.laboratory.simulator.vipu.model import Shape
from ipucloud.laboratory.simulator.vipu.topology import Cluster
from ipucloud.wire import vipu_pb2 as pb

MAX_ID_LENGTH = 36
_ID_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


def check_id(kind: str, name: str) -> None:
    """An id has 1 to 36 letters, digits, dots, dashes and underscores."""
    if not name:
        raise invalid(f"a {kind} needs an id")
    if len(name) > MAX_ID_LENGTH:
        raise invalid(f"the {kind} id has {len(name)} characters; at most {MAX_ID_LENGTH} are allowed")
    if not _ID_CHARACTERS.issuperset(name):
        raise invalid(f"{kind} id {name!r} may hold only letters, digits, '.', '-' and '_'")


def shape_of(requirements: pb.PartitionRequirements) -> Shape:
    """The validated shape of a request, with every default that does not depend on the cluster."""
    size = requirements.size or len(requirements.ipus)
    if not is_power_of_two(size):
        raise invalid(f"partition size {size} is not a power of two")
    if requirements.ipus and len(requirements.ipus) != size:
        raise invalid(f"size is {size}, but {len(requirements.ipus)} IPUs are listed")
    if requirements.ipus and not requirements.cluster_id:
        raise invalid("a request that lists its IPUs must name the cluster_id that they belong to")
    gcds = requirements.num_gcds or 1
    replicas = requirements.num_replicas or gcds
    _check_graphs(size, gcds, replicas)
    return Shape(
        size=size,
        gcds=gcds,
        replicas=replicas,
        segments=_segments(requirements, size, gcds),
        reconfigurable=requirements.reconfigurable,
        sync_type=_sync_type(requirements),
        routing=_name(pb.IpuLinkRoutingType, requirements.ipulink_routing_type, "IPU-Link routing type"),
        gw_routing=_name(pb.GatewayRoutingType, requirements.gw_routing_type, "gateway routing type"),
    )


def _check_graphs(size: int, gcds: int, replicas: int) -> None:
    if size % gcds:
        raise invalid(f"{size} IPUs cannot be divided into {gcds} GCDs of equal size")
    if replicas % gcds:
        raise invalid(f"{replicas} replicas cannot be divided among {gcds} GCDs")
    if size % replicas:
        raise invalid(f"{size} IPUs cannot be divided into {replicas} replicas of equal size")


def _segments(requirements: pb.PartitionRequirements, size: int, gcds: int) -> int:
    needed = max(1, size // DOMAIN_IPUS)
    segments = requirements.num_ipulink_segments or needed
    if segments < needed:
        raise invalid(f"{size} IPUs need at least {needed} IPU-Link domains of {DOMAIN_IPUS}; {segments} are requested")
    if not is_power_of_two(segments) or segments > size:
        raise invalid(f"{size} IPUs cannot be spread over {segments} IPU-Link domains")
    if requirements.reconfigurable and segments > 1:
        raise invalid(
            f"a reconfigurable partition lies in one IPU-Link domain; {size} IPUs in {segments} domains do not"
        )
    if gcds < segments:
        raise invalid(f"a partition over {segments} IPU-Link domains needs at least {segments} GCDs, not {gcds}")
    return segments


def _sync_type(requirements: pb.PartitionRequirements) -> str:
    sync = _name(pb.SyncType, requirements.sync_type, "sync type")
    if sync == "ST_GS2_INDEPENDENT_RAILS":
        raise invalid("sync type ST_GS2_INDEPENDENT_RAILS is unsupported")
    if not requirements.reconfigurable:
        return "ST_POD_NATIVE_DEFAULT" if sync == "ST_UNDEFINED" else sync
    if sync not in {"ST_UNDEFINED", "ST_GS2_DEFAULT"}:
        raise invalid(f"a reconfigurable partition has sync type ST_GS2_DEFAULT; {sync} is requested")
    return "ST_GS2_DEFAULT"


def with_routing(shape: Shape, cluster: Cluster) -> Shape:
    """The shape with the routing types that it gets on this cluster."""
    return replace(shape, routing=_ipulink_routing(shape, cluster), gw_routing=_gateway_routing(shape, cluster))


def _ipulink_routing(shape: Shape, cluster: Cluster) -> str:
    per_domain = shape.size // shape.segments
    if shape.routing == "IRT_RINGSWNC" and not cluster.torus:
        raise invalid(f"IRT_RINGSWNC needs a torus; cluster {cluster.id} is a mesh")
    if shape.routing == "IRT_RINGSWNC" and per_domain < DOMAIN_IPUS:
        raise invalid(
            f"IRT_RINGSWNC goes around a whole torus of {DOMAIN_IPUS} IPUs; the partition has {per_domain} in a domain"
        )
    if shape.routing != "IRT_UNDEFINED":
        return shape.routing
    if per_domain < DOMAIN_IPUS:
        return "IRT_DNC"
    return "IRT_RINGSWNC" if cluster.torus else "IRT_SWNC"


def _gateway_routing(shape: Shape, cluster: Cluster) -> str:
    if shape.gw_routing == "GRT_RING" and not cluster.looped:
        raise invalid(f"GRT_RING needs looped gateways; those of cluster {cluster.id} are switched")
    if shape.gw_routing == "GRT_SWRING" and cluster.looped:
        raise invalid(f"GRT_SWRING needs switched gateways; those of cluster {cluster.id} are looped")
    if shape.gw_routing != "GRT_UNDEFINED" or shape.segments == 1:
        return shape.gw_routing
    return "GRT_RING" if cluster.looped else "GRT_SWRING"


def _name(kind: EnumTypeWrapper, value: int, what: str) -> str:
    """The name of a wire enumeration's value. proto3 lets unknown numbers through; they are refused here."""
    if value not in kind.values():
        raise invalid(f"{what} {value} is not known")
    return kind.Name(value)


def is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0

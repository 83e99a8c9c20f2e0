"""How people spell the values of the wire: `c2-compatible`, `ST_GS2_DEFAULT`, `st_gs2_default`. Pure."""

from __future__ import annotations

import argparse
from typing import TypeVar

from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from ipucloud.wire import vipu_pb2 as pb

T = TypeVar("T")

_SYNC_TYPES = {
    "default": pb.ST_UNDEFINED,
    "c2-compatible": pb.ST_GS2_DEFAULT,
    "gs2-default": pb.ST_GS2_DEFAULT,
    "independent-rails": pb.ST_GS2_INDEPENDENT_RAILS,
    "gs2-independent-rails": pb.ST_GS2_INDEPENDENT_RAILS,
    "pod-native-default": pb.ST_POD_NATIVE_DEFAULT,
    "pod-native": pb.ST_POD_NATIVE_DEFAULT,
    "pod-native-replicated-pipeline": pb.ST_POD_NATIVE_REPLICATED_PIPELINE,
}
_SYNC_TYPE_NAMES = {value: name for name, value in reversed(_SYNC_TYPES.items())}
"""The first spelling of each."""
_ROUTINGS = {
    "default": pb.IRT_UNDEFINED,
    "dnc": pb.IRT_DNC,
    "swnc": pb.IRT_SWNC,
    "btnc": pb.IRT_BTNC,
    "ringswnc": pb.IRT_RINGSWNC,
}
_GATEWAY_ROUTINGS = {"default": pb.GRT_UNDEFINED, "ring": pb.GRT_RING, "swring": pb.GRT_SWRING}


def sync_type(text: str) -> pb.SyncType:
    """A sync type, in any spelling."""
    return _value(text, "st-", _SYNC_TYPES)


def routing(text: str) -> pb.IpuLinkRoutingType:
    """A routing of IPU-Links, in any spelling."""
    return _value(text, "irt-", _ROUTINGS)


def gateway_routing(text: str) -> pb.GatewayRoutingType:
    """A routing of GW-Links, in any spelling."""
    return _value(text, "grt-", _GATEWAY_ROUTINGS)


def sync_type_name(value: pb.SyncType) -> str:
    """The name that people use: `c2-compatible`."""
    return _SYNC_TYPE_NAMES.get(value, str(value))


def word(kind: EnumTypeWrapper, value: int) -> str:
    """A wire value without its prefix: `IRT_DNC` is DNC. One that a later release has added is its number."""
    try:
        return str(kind.Name(value)).split("_", 1)[1].replace("UNDEFINED", "DEFAULT")
    except ValueError:
        return str(value)


def _value(text: str, prefix: str, known: dict[str, T]) -> T:
    name = text.lower().replace("_", "-").removeprefix(prefix).replace("undefined", "default")
    if name not in known:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(known)}")
    return known[name]

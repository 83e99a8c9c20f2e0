"""IPUoF configuration files, which Poplar reads to find the IPUs of a partition."""

from __future__ import annotations

import re
from collections.abc import Iterator

import orjson
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

from ipucloud.vipu_cli.endpoint import VipuProblem
from ipucloud.vipu_cli.files import Files
from ipucloud.vipu_cli.show import json
from ipucloud.wire import vipu_pb2 as pb

FOLDER = "~/.ipuof.conf.d"
SUFFIX = "_ipuof.conf"


def content_of(gcd: pb.PartitionConfig.Gcd) -> bytes:
    """The file of a GCD. Fields that are zero are in it: Poplar reads `device_id` 0 as it reads 1."""
    document = MessageToDict(gcd, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    document["attributes"] = dict(sorted(document["attributes"].items()))  # a map has no order of its own
    return json(document).encode()


def files_of(partition: str, config: pb.PartitionConfig, gcds: int) -> Iterator[tuple[str, bytes]]:
    """The name and content of each GCD's file; `gcds` are those of the whole partition."""
    for number, gcd in enumerate(config.gcd_configs):
        told = gcd.attributes.get("GCD Id", "")
        gcd_id = told if re.fullmatch(r"\d{1,5}", told, re.ASCII) else number
        part = "" if gcds == 1 else f"_gcd{gcd_id}"
        yield f"{partition}{part}{SUFFIX}", content_of(gcd)


def kept_files(partition: str, files: Files) -> Iterator[str]:
    """The paths of a partition's files. `a_gcd0_ipuof.conf` is one of `a` or of `a_gcd0`: its content says which."""
    name = re.compile(rf"{re.escape(partition)}(?:_gcd\d+)?{re.escape(SUFFIX)}")
    for path in (f"{FOLDER}/{found}" for found in files.names(FOLDER) if name.fullmatch(found)):
        try:
            owner = gcd_from(files.read(path), path).attributes.get("Partition Id", partition)
        except VipuProblem:
            continue
        if owner == partition:
            yield path


def gcd_from(content: bytes, name: str) -> pb.PartitionConfig.Gcd:
    """Parse such a file. Raises VipuProblem."""
    try:
        document = orjson.loads(content)
        if isinstance(document, dict):
            return ParseDict(document, pb.PartitionConfig.Gcd(), ignore_unknown_fields=True)
    except (orjson.JSONDecodeError, ParseError) as error:
        raise VipuProblem(f"{name} is not an IPUoF configuration file") from error
    raise VipuProblem(f"{name} is not an IPUoF configuration file")

"""IPUoF configuration files, which Poplar reads to find the IPUs of a partition."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

from ipucloud.vipu_cli.endpoint import VipuProblem
from ipucloud.wire import vipu_pb2 as pb

FOLDER = "~/.ipuof.conf.d"
SUFFIX = "_ipuof.conf"


def files_of(partition: str, config: pb.PartitionConfig, gcds: int) -> Iterator[tuple[str, bytes]]:
    """The name and content of each GCD's file; `gcds` are those of the whole partition."""
    for number, gcd in enumerate(config.gcd_configs):
        gcd_id = gcd.attributes.get("GCD Id", str(number))
        part = "" if gcds == 1 else f"_gcd{gcd_id}"
        content = MessageToDict(gcd, preserving_proto_field_name=True)
        yield f"{partition}{part}{SUFFIX}", orjson.dumps(content, option=orjson.OPT_INDENT_2)


def gcd_from(content: bytes, name: str) -> pb.PartitionConfig.Gcd:
    """Parse such a file. Raises VipuProblem."""
    try:
        document = orjson.loads(content)
        if isinstance(document, dict):
            return ParseDict(document, pb.PartitionConfig.Gcd(), ignore_unknown_fields=True)
    except (orjson.JSONDecodeError, ParseError) as error:
        raise VipuProblem(f"{name} is not an IPUoF configuration file") from error
    raise VipuProblem(f"{name} is not an IPUoF configuration file")

"""The caller's files that the commands read and write: configurations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import orjson
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

from ipucloud.vipu_cli.endpoint import VipuProblem
from ipucloud.vipu_cli.show import json
from ipucloud.wire import vipu_pb2 as pb


class Files(Protocol):
    """Files by their paths as the caller writes them, `~` included. Every method may raise OSError."""

    def read(self, path: str) -> bytes:
        """The file's content."""

    def write(self, path: str, content: bytes) -> None:
        """Put a file there that only the caller can read; its folder is made."""

    def names(self, folder: str) -> Sequence[str]:
        """What is in a folder; nothing if it does not exist."""

    def remove(self, path: str) -> None:
        """Remove a file."""


class LocalFiles:
    """Files of this machine."""

    def read(self, path: str) -> bytes:
        return Path(path).expanduser().read_bytes()

    def write(self, path: str, content: bytes) -> None:
        file = Path(path).expanduser()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_bytes(content)

    def names(self, folder: str) -> Sequence[str]:
        place = Path(folder).expanduser()
        return sorted(file.name for file in place.iterdir()) if place.is_dir() else []

    def remove(self, path: str) -> None:
        Path(path).expanduser().unlink()


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
        text = gcd.attributes.get("GCD Id", "")
        gcd_id = text if re.fullmatch(r"\d{1,5}", text, re.ASCII) else number
        part = "" if gcds == 1 else f"_gcd{gcd_id}"
        yield f"{partition}{part}{SUFFIX}", content_of(gcd)


def kept_files(partition: str, files: Files) -> Iterator[str]:
    """The paths of a partition's files. `a_gcd0_ipuof.conf` is one of `a` or of `a_gcd0`: its content says which."""
    name = re.compile(rf"{re.escape(partition)}(?:_gcd\d+)?{re.escape(SUFFIX)}")
    for path in (f"{FOLDER}/{entry}" for entry in files.names(FOLDER) if name.fullmatch(entry)):
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

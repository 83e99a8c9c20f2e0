"""References to container images, and how a site runs a program in one.

A reference is `[HOST[:PORT]/]PATH[:TAG][@sha256:DIGEST]`, with the grammar of the OCI distribution specification and of
Docker (https://github.com/distribution/reference): without a host it is one of Docker Hub's, without a tag `latest`.

A program in an image runs as one without does: as the server's user, by its number, in the environment of the server's
logins, with `HOME` its home. The image's entry point, command and user are not used; its variables hold where the
server has none of the same name, and its working directory where the request names none. Files of the image are only
read. The folders of `MOUNTED` are the server's.

A container on a real server also gets `ENGINE_OPTIONS`, so that programs in it attach to IPUs as programs beside it do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import ConfigDict, Field

from ipucloud.wire.base import Wire

MAX_REFERENCE = 512
DOCKER_HUB = "docker.io"

_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_PORT = "(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"  # 1 to 65535
_HOST = rf"(?:{_LABEL}(?:\.{_LABEL})+(?::{_PORT})?|{_LABEL}:{_PORT}|localhost)"
"""What has neither a dot nor a port is the first part of a path, as Docker reads it."""
_PART = "[a-z0-9]+(?:(?:[.]|_|__|-+)[a-z0-9]+)*"
PATTERN = rf"^(?:{_HOST}/)?{_PART}(?:/{_PART})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}})?(?:@sha256:[0-9a-f]{{64}})?$"
"""For ECMAScript, Rust and Python alike."""
_REFERENCE = re.compile(
    rf"(?:(?P<host>{_HOST})/)?(?P<path>{_PART}(?:/{_PART})*)(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}}))?"
    r"(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)


class Option(NamedTuple):
    """An option of `docker run`, or of `podman run`, and why a program that uses IPUs needs it."""

    option: str
    why: str


MOUNTED = ("/home/USER", "/data", "/mnt", "/tmp", "/volumes")  # noqa: S108 - folders of a server
"""Folders of the server that a program finds in a container, under the same paths, to read and write."""

ENGINE_OPTIONS = (
    Option("--device=/dev/ipuN", "for each IPU N of the server, where it has IPUs of its own: its configuration space"),
    Option("--device=/dev/ipuN_ex", "its exchange space"),
    Option("--device=/dev/ipuN_mailbox", "its mailbox to the control unit"),
    Option("--device=/dev/ipuN_mem", "its window on the host's memory"),
    Option("--device=/dev/infiniband/", "the RNIC, over which IPUs of IPU-Machines are reached (IPUoF)"),
    Option("--ulimit=memlock=-1:-1", "memory that the RNIC or an IPU reads stays in place"),
    Option("--cap-add=IPC_LOCK", "the right to lock that memory"),
    Option("--network=host", "the addresses of the RNIC, and the ports of services on the server's loopback address"),
    Option("--ipc=host", "shared memory without a limit of 64 MiB, for the processes of one program"),
    Option("--volume=/etc/ipuof.conf.d/:/etc/ipuof.conf.d:ro", "IPUoF configurations of the server, where it has them"),
    Option("--env=IPUOF_*, --env=IPUCLOUD_*", "the partition, as each login of the server has it"),
    Option("--volume=/etc/vipu/:/etc/vipu:ro", "the authority of the V-IPU controller (`AUTHORITY_FILE`)"),
    Option("--user=UID:GID", "the server's user, so that files in the home are that user's"),
    Option("--entrypoint=PROGRAM", "the command of the request runs, and not the image's"),
    Option("--read-only", "the program's files are in the folders that are mounted"),
    Option("--init, --rm, --pull=always", "signals and children as without a container; nothing is left of it"),
)
"""What `gc-docker` of the Poplar SDK adds to `docker run` ("each IPU device has 4 associated user space PCIe devices",
https://stackoverflow.com/a/65939378; `gc-docker --echo` prints it), and what Paddle's guide gives for IPUs over fabric
(https://paddlepaddle.org.cn/documentation/docs/zh/guides/hardware_support/ipu_docs/paddle_install_cn.html). The last
five are this interface's own."""


@dataclass(frozen=True)
class Reference:
    """A reference in parts; `digest` is `sha256:` and 64 digits, and decides if it is there."""

    host: str
    path: str
    tag: str
    digest: str | None

    @property
    def tag_or_digest(self) -> str:
        """What a registry is asked for."""
        return self.digest or self.tag


class NotAReference(ValueError):
    """A text is no reference to an image; the text says what one looks like."""

    def __init__(self) -> None:
        super().__init__(
            "Send a reference to a container image: [HOST[:PORT]/]PATH[:TAG][@sha256:DIGEST], its path in lower case,"
            " such as ghcr.io/example/train:1.2"
        )


def parse(text: str) -> Reference:
    """The parts of a reference, with what it leaves out. Raises NotAReference."""
    match = _REFERENCE.fullmatch(text) if len(text) <= MAX_REFERENCE else None
    if match is None:
        raise NotAReference
    host, path = match["host"] or DOCKER_HUB, match["path"]
    if host == DOCKER_HUB and "/" not in path:
        path = f"library/{path}"
    return Reference(host, path, match["tag"] or "latest", match["digest"])


class JobImage(Wire):
    """The image that a program runs in, and a login at its registry; without one it is public there."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    reference: str = Field(max_length=MAX_REFERENCE)
    username: str | None = None
    password: str | None = Field(None, repr=False)

    @property
    def without_password(self) -> JobImage:
        return self.model_copy(update={"password": None})

"""The OpenSSH client, pinned to the server's host key."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from ipucloud.client.errors import UsageError
from ipucloud.client.models import Cluster, PoplarServer, Ssh


def installed() -> bool:
    """Whether OpenSSH's programs are installed."""
    return shutil.which("ssh") is not None and shutil.which("sftp") is not None


def reachable(cluster: Cluster, ordinal: int) -> tuple[PoplarServer, Ssh]:
    """Server number `ordinal` (from 0) of a cluster and its SSH access. Raises UsageError if there is none yet."""
    if not cluster.poplar_servers:
        raise UsageError(f"Cluster {cluster.name} is {cluster.state} and has no server for logging in.")
    if not 0 <= ordinal < len(cluster.poplar_servers):
        raise UsageError(f"Cluster {cluster.name} has {len(cluster.poplar_servers)} servers, counted from 0.")
    server = cluster.poplar_servers[ordinal]
    if server.ssh is None or server.ssh.host_key is None:
        raise UsageError(f"Server {server.name} is {server.state} and cannot be logged in to yet.")
    return server, server.ssh


def pin_host_key(directory: Path, server: PoplarServer, ssh: Ssh) -> Path:
    """Write a known_hosts file with only this server, by its id, because addresses are reused."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = directory / server.id
    path.write_text(f"{server.id} {ssh.host_key}\n")
    return path


def settings(server: PoplarServer, known_hosts: Path, identity: Path | None) -> dict[str, str]:
    """Client configuration that refuses any other server without asking."""
    chosen = {"IdentityFile": f'"{identity.absolute()}"', "IdentitiesOnly": "yes"} if identity else {}
    return {
        **chosen,
        "HostKeyAlias": server.id,
        "UserKnownHostsFile": f'"{known_hosts}"',
        "GlobalKnownHostsFile": "none",
        "StrictHostKeyChecking": "yes",
        "UpdateHostKeys": "no",
    }


def options(server: PoplarServer, known_hosts: Path, identity: Path | None) -> list[str]:
    """`settings` as options of ssh, scp and sftp."""
    return [part for pair in settings(server, known_hosts, identity).items() for part in ("-o", "=".join(pair))]


def program(name: str) -> str:
    """Where ssh or scp is. Raises UsageError if it is not installed."""
    path = shutil.which(name)
    if path is None:
        raise UsageError(f"The OpenSSH client ({name}) is not installed.")
    return path


def command(
    server: PoplarServer, ssh: Ssh, known_hosts: Path, identity: Path | None, remote: Sequence[str]
) -> list[str]:
    """The command that logs in or runs `remote` there. Raises UsageError if no OpenSSH client is installed."""
    pinned = options(server, known_hosts, identity)
    return [program("ssh"), *pinned, "-p", str(ssh.port), f"{ssh.user}@{ssh.host}", *remote]

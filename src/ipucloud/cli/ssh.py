"""The OpenSSH client, pinned to the server's host key."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ipucloud.cli.certificates import Certificate
from ipucloud.client.errors import UsageError
from ipucloud.client.models import Cluster, ClusterState, PoplarServer, Ssh

LAST_PORT = 65_535
Identity = Path | Certificate | None
"""What logs in: a private key, a certificate with its key, or whatever OpenSSH takes by itself."""


def installed() -> bool:
    """Whether OpenSSH's programs are installed."""
    return shutil.which("ssh") is not None and shutil.which("sftp") is not None


def reachable(cluster: Cluster, ordinal: int) -> tuple[PoplarServer, Ssh]:
    """Server number `ordinal` (from 0) of a cluster and its SSH access. Raises UsageError if there is none yet."""
    if cluster.state == ClusterState.SUSPENDED:
        raise UsageError(f"Cluster {cluster.name} is suspended. Resume it: ipucloud clusters resume {cluster.name}")
    if not cluster.poplar_servers:
        raise UsageError(f"The state of cluster {cluster.name} is {cluster.state}: it has no server to log in to.")
    if not 0 <= ordinal < len(cluster.poplar_servers):
        raise UsageError(f"Cluster {cluster.name} has {len(cluster.poplar_servers)} servers, counted from 0.")
    server = cluster.poplar_servers[ordinal]
    if server.ssh is None or server.ssh.host_key is None:
        raise UsageError(
            f"Server {server.name} is {server.state} and cannot be logged in to yet."
            f" Wait for it: ipucloud clusters wait {cluster.name}"
        )
    return server, server.ssh


def pin_host_key(directory: Path, server: PoplarServer, ssh: Ssh) -> Path:
    """Write a known_hosts file with only this server, by its id, because addresses are reused."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = directory / server.id
    path.write_text(f"{server.id} {ssh.host_key}\n")
    return path


def settings(server: PoplarServer, known_hosts: Path, identity: Identity) -> dict[str, str]:
    """Client configuration that refuses any other server without asking."""
    return {
        **_identities(identity),
        "HostKeyAlias": server.id,
        "UserKnownHostsFile": _quoted(known_hosts),
        "GlobalKnownHostsFile": "none",
        "StrictHostKeyChecking": "yes",
        "UpdateHostKeys": "no",
        "ConnectTimeout": "20",
        "ServerAliveInterval": "15",  # routers forget idle connections after a minute or more
        "ServerAliveCountMax": "4",
    }


def _quoted(path: Path) -> str:
    """A path in a configuration, where % begins a token."""
    return '"{}"'.format(str(path).replace("%", "%%"))


_OURS = {"ControlMaster": "no", "ControlPath": "none", "RemoteCommand": "none"}
"""What the customer's configuration may say for every host, and would keep a command of ours from running here."""


def _identities(identity: Identity) -> dict[str, str]:
    if isinstance(identity, Certificate):
        return {"IdentityFile": _quoted(identity.key), "CertificateFile": _quoted(identity.file)}
    return {"IdentityFile": _quoted(identity.absolute()), "IdentitiesOnly": "yes"} if identity else {}


def options(server: PoplarServer, known_hosts: Path, identity: Identity) -> list[str]:
    """`settings` as options of ssh, scp and sftp.

    After a certificate the keys are tried that OpenSSH takes by itself: whoever names one loses them.
    """
    pairs = [*settings(server, known_hosts, identity).items(), *_OURS.items()]
    if isinstance(identity, Certificate):
        pairs += [("IdentityFile", _quoted(each)) for each in _usual_identities()]
    return [part for pair in pairs for part in ("-o", "=".join(pair))]


def _usual_identities() -> list[Path]:
    files = (Path.home() / ".ssh" / f"id_{kind}" for kind in ("rsa", "ecdsa", "ecdsa_sk", "ed25519", "ed25519_sk"))
    return [each for each in files if each.exists()]


def login(ssh: Ssh) -> str:
    """User and host for scp, sftp and rsync, where brackets tell an IPv6 address from the path after it."""
    host = f"[{ssh.host}]" if ":" in ssh.host else ssh.host
    return f"{ssh.user}@{host}"


def program(name: str) -> str:
    """Where ssh or scp is. Raises UsageError if it is not installed."""
    path = shutil.which(name)
    if path is None:
        raise UsageError(f"The OpenSSH client ({name}) is not installed.")
    return path


def command(
    server: PoplarServer,
    ssh: Ssh,
    known_hosts: Path,
    identity: Identity,
    remote: Sequence[str],
    *,
    forward: Sequence[str] = (),
) -> list[str]:
    """The command that logs in or runs `remote` there. Raises UsageError if no OpenSSH client is installed.

    `forward`: ports of the server that are reached at 127.0.0.1 here, `PORT` or `LOCAL:PORT`; without `remote` there is
    no login then.
    """
    pinned = options(server, known_hosts, identity)
    ports = forwardings(forward)
    if ports:
        ports += ["-o", "ExitOnForwardFailure=yes", *(() if remote else ("-N",))]
    return [program("ssh"), *pinned, *ports, "-p", str(ssh.port), f"{ssh.user}@{ssh.host}", *remote]


def forwardings(forward: Sequence[str]) -> list[str]:
    """Options of ssh for these ports. Raises UsageError for what is none."""
    return [part for option in forward for part in ("-L", _forwarding(option))]


def _forwarding(option: str) -> str:
    local, _, port = option.rpartition(":")
    ends = local or port, port
    if not all(end.isascii() and end.isdecimal() and 1 <= int(end) <= LAST_PORT for end in ends):
        raise UsageError(f"--forward {option} is no port from 1 to {LAST_PORT}, nor two of them like 9000:8000.")
    return f"127.0.0.1:{ends[0]}:127.0.0.1:{port}"


FAILED = 255
"""The exit status of ssh that has not logged in."""


@dataclass(frozen=True)
class Ended:
    """How ssh ended: the exit status, and whether the server accepted none of the keys."""

    status: int
    denied: bool


def converse(command: Sequence[str]) -> Ended:
    """Run ssh to its end. What it reports itself, unlike a remote program, is shown then."""
    program, *rest = command
    before = signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is for ssh; ignoring it would make ssh ignore it
    try:
        with TemporaryDirectory(prefix="ipucloud-") as directory:
            log = Path(directory) / "ssh.log"
            status = subprocess.run([program, "-E", str(log), *rest], check=False).returncode
            reported = log.read_text(errors="replace") if log.exists() else ""
    finally:
        signal.signal(signal.SIGINT, before)
    sys.stderr.write(reported)
    return Ended(128 - status if status < 0 else status, "Permission denied" in reported)

"""What a simulated site is started with."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Network
from pathlib import Path
from typing import Literal

from ipucloud.laboratory.simulator.ports import PORTS

DEFAULT_MACHINES = 32
DEFAULT_POD_SIZE = 16
DEFAULT_SERVERS = 2
DEFAULT_DISK_MIB = 8192
VIPU_VERSION = "1.18.0"
ADDRESSES = IPv4Network("127.64.0.0/16")
ADDRESS_PORT = 2222
CONTROL_PLANE = ("127.0.0.1/32", "::1/128")

GatewayTopology = Literal["looped", "switched"]
Numbering = Literal["by-machine", "by-ipu"]
"""The topology ids of a domain: of one machine after the other, or of all IPUs 0 first, then all IPUs 1."""

WallChoice = Literal["auto", "namespaces", "landlock", "none"]
"""The wall around the programs of Poplar servers: the first that this machine has, or this one."""


@dataclass(frozen=True)
class Settings:
    """One simulated site. `machines` and `hosts` count per region under V-IPU, `servers` per kind of server without.

    Port 0 means: choose one of `ports` and keep it. Each Poplar server has a disk of `disk_mib` MiB.

    `addresses` are the IPs of public addresses, which take SSH at `address_port`.
    `control_plane` are networks from which servers are reached whatever sources their customers allow.
    `advertise` is the address that others reach `bind` by, when it is another one.
    Machines start switched off, as clean-up leaves them, unless `machines_on`.
    `regions` are further regions under V-IPU, each with the type of its machines.
    Each V-IPU controller has a certificate authority. The control plane's client certificates are kept in `clients`,
    unless given in a folder of the data folder. `plaintext`: the controllers speak no TLS, and ask for no certificate.
    `secure` V-IPU controllers ask every caller for a user and an access key. They know an `administrator`, a user who
    sees everything, from the start.
    V-IPU controllers say that they run `vipu_version`. Without `cluster_test` they refuse to test clusters.
    `numbering`: the topology ids that they give to IPUs.
    A region has one controller, or one for each `pods_per_controller` pods, of which some run other `versions`.
    `insecure_registries`, as HOST:PORT, may be at any address, and speak plain HTTP. `use_engine`: container images
    that a Docker or Podman engine of this machine has are taken from there.
    `unconfined`: where this machine has no `wall`, programs run without one.
    `time_scale` divides every duration (45 turns fifteen minutes into twenty seconds); 0 makes everything immediate.
    """

    data: Path
    token: str
    bind: str = "127.0.0.1"
    advertise: str = ""
    http_port: int = 0
    machines: int = DEFAULT_MACHINES
    pod_size: int = DEFAULT_POD_SIZE
    hosts: int = DEFAULT_MACHINES
    servers: int = DEFAULT_SERVERS
    regions: tuple[tuple[str, str], ...] = ()
    disk_mib: int = DEFAULT_DISK_MIB
    time_scale: float = 1.0
    machines_on: bool = False
    seed: int = 0
    secure: bool = False
    administrator: tuple[str, str] | None = field(default=None, repr=False)
    gateway_topology: GatewayTopology = "looped"
    fsync: bool = True
    clients: Path | None = None
    plaintext: bool = False
    vipu_version: str = VIPU_VERSION
    cluster_test: bool = True
    numbering: Numbering = "by-machine"
    pods_per_controller: int = 0
    versions: tuple[tuple[str, str], ...] = ()
    wall: WallChoice = "auto"
    unconfined: bool = False
    ports: range = PORTS
    insecure_registries: tuple[str, ...] = ()
    use_engine: bool = True
    addresses: IPv4Network = ADDRESSES
    address_port: int = ADDRESS_PORT
    control_plane: tuple[str, ...] = CONTROL_PLANE

    @property
    def advertised_address(self) -> str:
        """The address that the site reports of itself."""
        return self.advertise or self.bind

    @property
    def own_address(self) -> str:
        """The address at which this process reaches what it listens on itself."""
        return "127.0.0.1" if self.bind in {"", "0.0.0.0", "::"} else self.bind  # noqa: S104  # compared, not bound

    @property
    def client_certificates(self) -> Path:
        """Where the control plane finds a file `<controller>.pem` for each controller."""
        return self.clients or self.data / "clients"

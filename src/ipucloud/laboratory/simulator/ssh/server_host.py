"""Where a Poplar server stands: its address, and what it reaches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ipucloud.laboratory.simulator.images.store import Images
from ipucloud.laboratory.simulator.ports import PORTS
from ipucloud.laboratory.simulator.ssh.confinement import Confinement
from ipucloud.laboratory.simulator.ssh.disk_free import Volumes
from ipucloud.laboratory.simulator.ssh.fabric import Fabric


@dataclass(frozen=True)
class ServerHost:
    """Where a server stands: the address it listens on, the one that others reach it by, and what it reaches.

    `disk_size` is in bytes. `answers`: whether connections to the SSH port are served, and not broken off at once.
    `client_of`: the client's address of a connection that comes from a local port of an address's forwarder.
    `is_control_plane`: whether an address is let in to every server, for keys that may log in for a while only.
    `images`: the container images of the site; None: it has none. `volumes`: what volumes a server there has now.
    """

    bind: str
    advertised_address: str
    fabric: Fabric
    disk_size: int
    answers: Callable[[], bool] = lambda: True
    ports: range = PORTS
    confinement: Confinement = field(default_factory=Confinement)
    client_of: Callable[[int], str | None] = lambda _: None
    is_control_plane: Callable[[str], bool] = lambda _: False
    images: Images | None = None
    volumes: Volumes = dict

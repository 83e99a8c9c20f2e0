"""Where a Poplar server stands: its address, and what it reaches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ipucloud.laboratory.simulator.ports import PORTS
from ipucloud.laboratory.simulator.ssh.fabric import Fabric
from ipucloud.laboratory.simulator.ssh.userland import Confinement

COMMAND_SECONDS = 3600.0


@dataclass(frozen=True)
class Surroundings:
    """Where a server stands: the address it listens on, the one that others reach it by, and what it reaches.

    `disk_size` is in bytes; a login's command is killed after `command_seconds`. `answers`: whether connections to the
    SSH port are served, and not broken off at once.
    """

    bind: str
    told_address: str
    fabric: Fabric
    disk_size: int
    command_seconds: float = COMMAND_SECONDS
    answers: Callable[[], bool] = lambda: True
    ports: range = PORTS
    confinement: Confinement = field(default_factory=lambda: Confinement("built-in"))

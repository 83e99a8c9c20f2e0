"""What one Poplar server reaches: V-IPU endpoints of its tenant, and IPU machines through its tenant network.

The customer's environment says which endpoint to ask; only those of allocations with machines in the server's network
are reached from here. Unless it also says how to secure connections, they are verified with the controller's authority.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ipucloud.laboratory.simulator.hardware import Machine
from ipucloud.laboratory.simulator.ssh.attachments import Attachments, Load
from ipucloud.vipu_cli.controller import CALL_SECONDS, Channels, Controller
from ipucloud.vipu_cli.endpoint import Endpoint, Security, VipuProblem


@dataclass(frozen=True)
class Fabric:
    """`endpoints` are the addresses that the server reaches; there are none where no machine is under V-IPU.

    `authority`: what their controller is verified with, PEM; None without TLS. `machine_at` finds a machine by its RNIC
    address. `server` is the machine that the host itself is, if any. `readings` are those of a machine's sensors that
    differ from the usual. `load`: the IPUs that programs hold.
    """

    channels: Channels
    endpoints: Callable[[], frozenset[str]] | None
    authority: Callable[[], bytes | None]
    machine_at: Callable[[str], Machine | None]
    server: Machine | None
    server_works: Callable[[], bool]
    readings: Callable[[str], Mapping[str, float]]
    load: Load = field(default_factory=lambda: Load(Attachments(), ""))

    def controller(self, endpoint: Endpoint, call_seconds: float = CALL_SECONDS) -> Controller:
        """The way to the controller that the environment names. Raises VipuProblem."""
        if self.endpoints is None:
            raise VipuProblem("this server has IPUs of its own, and no V-IPU controller")
        if endpoint.address not in self.endpoints():
            raise VipuProblem(f"the V-IPU controller at {endpoint.address} is unreachable")
        if endpoint.security == Security():
            authority = self.authority()
            endpoint = replace(endpoint, security=Security(authority, plaintext=authority is None))
        return Controller(endpoint, self.channels, call_seconds=call_seconds)

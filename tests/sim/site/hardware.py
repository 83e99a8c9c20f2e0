"""The site itself: what changes do to it, and what time does. Semantics are those of the simulated site process.

A change is accepted or refused at once and completes later. Names are unique, a machine is in one allocation, a port
in one network, a partition lives in an allocation.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from ipucloud.site.ports import SiteBusy
from ipucloud.wire.inventory import LinkState
from ipucloud.wire.site import HostState, NetworkSpec, NetworkState
from tests.sim.faults import Faults
from tests.sim.site.servers import Servers
from tests.sim.site.state import Course, Host, Machine, Network, Power, SiteState
from tests.sim.site.vipu_controller import VipuController

_REACHED: dict[Power, Power] = {"PoweringOn": "On", "PoweringOff": "Off"}
STALE_SECONDS = 10.0
"""How old an observation can be that the site still shows."""


class Hardware:
    """One region's machines and networks, with the controller and the servers on them.

    `palette`: the seconds that anything may take. `leftovers`: names of what nobody asked for. `forgets`: how often the
    controller lost everything.
    """

    def __init__(
        self,
        machines: Sequence[str],
        hosts: Sequence[str],
        *,
        palette: Sequence[float],
        draw: random.Random,
        faults: Faults,
    ) -> None:
        self.state = SiteState(dict.fromkeys(machines, Machine()), dict.fromkeys(hosts, Host()))
        self._course = Course(palette, draw, faults)
        self.controller = VipuController(self.state, self._course)
        self.servers = Servers(self.state, self._course)
        self.leftovers: set[str] = set()
        self.forgets = 0
        self._draw = draw
        self._past: deque[tuple[float, SiteState]] = deque()

    @property
    def now(self) -> float:
        """The time up to which everything has happened."""
        return self._course.now

    def advance(self, now: float) -> None:
        """Let everything happen whose time has come."""
        self._course.now = now
        self._advance_machines()
        self.servers.advance()
        self._advance_networks()
        self.controller.advance()

    def remember(self) -> None:
        """Keep the state as it is, for somebody to see it late."""
        self._past.append((self.now, self.state.copy()))
        while self._past[0][0] < self.now - STALE_SECONDS:
            self._past.popleft()

    def earlier(self) -> tuple[SiteState, float]:
        """A state of the last seconds, and its time."""
        recent = [(then, state) for then, state in self._past if then >= self.now - STALE_SECONDS]
        if not recent:
            return self.state, self.now
        then, state = self._draw.choice(recent)
        return state, then

    # Changes: each refuses, or is accepted.

    def put_network(self, name: str, spec: NetworkSpec) -> None:
        state = self.state
        present = state.networks.get(name)
        if present is not None:
            if present.spec != spec or present.state is NetworkState.DETACHING:
                raise SiteBusy(f"PUT network {name}: it exists otherwise")
            return
        ports = {*spec.machines, *spec.hosts}
        for other in state.networks.values():
            if ports & {*other.spec.machines, *other.spec.hosts}:
                raise SiteBusy(f"PUT network {name}: a port is in another network")
        state.networks[name] = Network(spec, NetworkState.ATTACHING, self._course.later())

    def delete_network(self, name: str) -> None:
        network = self.state.networks.get(name)
        if network is not None and network.state is not NetworkState.DETACHING:
            self.state.networks[name] = replace(network, state=NetworkState.DETACHING, due=self._course.later())

    def power_on(self, name: str, network: str) -> None:
        self._require_network(name, network)
        machine = self.state.machines[name]
        if machine.power in {"Off", "PoweringOff"}:
            broken = machine.broken or self._course.fails()
            self.state.machines[name] = Machine("PoweringOn", self._course.later(), broken)

    def power_off(self, name: str, network: str) -> None:
        self._require_network(name, network)
        machine = self.state.machines[name]
        if machine.power != "Off":
            self.state.machines[name] = Machine("PoweringOff", self._course.later(), machine.broken)
            self.controller.lose(name)

    def _require_network(self, machine: str, network: str) -> None:
        for name, spec_of in self.state.networks.items():
            if machine in spec_of.spec.machines and name != network:
                raise SiteBusy(f"reset of {machine}: it is in another tenant's network")

    def strike(self, name: str) -> None:
        """A machine breaks, or a host whose server runs dies."""
        if name in self.state.machines:
            self.state.machines[name] = replace(self.state.machines[name], broken=True)
            self.controller.lose(name)
        elif self.state.hosts[name].state is HostState.RUNNING:
            self.state.hosts[name] = replace(self.state.hosts[name], state=HostState.FAILED, died=True)

    def impair(self, name: str, state: LinkState) -> None:
        """The link that begins at a machine has errors, or is down."""
        self.state.links[name] = state

    def forget(self) -> None:
        """The controller loses everything that it was told."""
        self.forgets += 1
        self.controller.forget()
        self.remember()

    def restore_link(self, name: str) -> None:
        del self.state.links[name]

    def restore(self, name: str) -> None:
        """What broke works again, but a host without a tenant network is off then. One that never came up stays so."""
        if name in self.state.machines:
            self.state.machines[name] = replace(self.state.machines[name], broken=False)
        elif (host := self.state.hosts[name]).died and host.state is HostState.FAILED:
            attached = host.server is not None and host.server.network in self.state.networks
            state = HostState.RUNNING if attached else HostState.OFF
            self.state.hosts[name] = replace(host, state=state, fails=False, died=False, boots=host.boots + 1)

    def repair(self) -> None:
        """Whatever is broken works again."""
        for name in (*self.state.machines, *self.state.hosts):
            self.restore(name)
        for name, host in self.state.hosts.items():
            if host.died:  # it is starting again, and would not come up
                self.state.hosts[name] = replace(host, fails=False, died=False)
        self.state.links.clear()

    # Time.

    def _advance_machines(self) -> None:
        for name, machine in self.state.machines.items():
            if machine.due is not None and machine.due <= self._course.now:
                self.state.machines[name] = Machine(_REACHED[machine.power], None, machine.broken)

    def _advance_networks(self) -> None:
        for name, network in list(self.state.networks.items()):
            if network.due is not None and network.due <= self._course.now:
                if network.state is NetworkState.DETACHING:
                    del self.state.networks[name]
                else:
                    self.state.networks[name] = Network(network.spec, NetworkState.READY, None)

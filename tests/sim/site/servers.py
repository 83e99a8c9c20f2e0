"""What changes do to the servers on a site's hosts, and what time does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ipucloud.site.ports import SiteBusy
from ipucloud.wire.site import HostState, ServerSpec
from tests.sim.site.state import Course, Host, SiteState

_SWITCHED = frozenset({HostState.BOOTING, HostState.RUNNING, HostState.OFF})


class Servers:
    def __init__(self, state: SiteState, course: Course) -> None:
        self.state = state
        self._course = course

    def put_server(self, name: str, spec: ServerSpec) -> None:
        host = self.state.hosts[name]
        if host.server is not None:
            if host.server != spec or host.state is HostState.WIPING:
                raise SiteBusy(f"PUT server on {name}: the host is not clean")
            return
        network = self.state.networks.get(spec.network)
        if network is None or name not in network.spec.hosts:
            raise SiteBusy(f"PUT server on {name}: the host is not in the network")
        self.state.hosts[name] = Host(HostState.DEPLOYING, spec, self._course.later(), fails=self._course.fails())

    def delete_server(self, name: str, server: str) -> None:
        host = self.state.hosts[name]
        if host.server is not None and host.server.name == server and host.state is not HostState.WIPING:
            self.state.hosts[name] = replace(host, state=HostState.WIPING, due=self._course.later())

    def switch_on(self, name: str, server: str, network: str, environment: Mapping[str, str]) -> None:
        host, spec = self._carrying(name, server)
        if self._network_of(name) != network:
            raise SiteBusy(f"power of {name}: it is not in that network")
        if host.state is HostState.OFF or spec.network != network:
            moved = spec.model_copy(update={"network": network, "environment": dict(environment)})
            self.state.hosts[name] = replace(self._booting(host), server=moved, died=False)

    def switch_off(self, name: str, server: str, network: str) -> None:
        host, spec = self._carrying(name, server)
        if self._network_of(name) not in {None, network}:
            raise SiteBusy(f"power of {name}: it is in another tenant's network")
        self.state.hosts[name] = Host(HostState.OFF, spec, boots=host.boots, rebuilds=host.rebuilds)

    def restart(self, name: str, server: str, network: str, boot_id: str) -> None:
        host, _ = self._carrying(name, server)
        if self._network_of(name) not in {None, network}:
            raise SiteBusy(f"power of {name}: it is in another tenant's network")
        if str(host.boots) != boot_id:
            raise SiteBusy(f"power of {name}: it has started again since")
        booting = self._booting(host)
        self.state.hosts[name] = replace(booting, died=booting.fails)

    def _booting(self, host: Host) -> Host:
        fails, due = self._course.fails(), self._course.later()
        return replace(host, state=HostState.BOOTING, due=due, set_up_at=0.0, fails=fails, boots=host.boots + 1)

    def put_keys(self, name: str, server: str, network: str, keys: Sequence[str], revision: int) -> None:
        host = self.state.hosts[name]
        if host.server is None or host.server.name != server or host.state is HostState.WIPING:
            raise SiteBusy(f"PUT keys on {name}: it does not carry that server")
        if self._network_of(name) != network:
            raise SiteBusy(f"PUT keys on {name}: it is not in that network")
        spec = host.server.model_copy(update={"ssh_authorized_keys": [*keys], "keys_revision": revision})
        if spec != host.server and revision <= host.server.keys_revision:
            raise SiteBusy(f"PUT keys on {name}: it has had a later revision")
        self.state.hosts[name] = replace(host, server=spec)

    def rebuild(self, name: str, spec: ServerSpec) -> None:
        host = self.state.hosts[name]
        gone = host.server is None or host.server.name != spec.name
        if host.server is None or gone or host.state in {HostState.WIPING, HostState.FAILED}:
            raise SiteBusy(f"rebuild on {name}: it does not carry that server")
        if self._network_of(name) != spec.network:
            raise SiteBusy(f"rebuild on {name}: it is not in that network")
        if host.server == spec:
            return
        if spec.generation <= host.server.generation:
            raise SiteBusy(f"rebuild on {name}: it has had a later generation")
        fails = self._course.fails()
        self.state.hosts[name] = Host(
            HostState.DEPLOYING,
            spec,
            self._course.later(),
            fails=fails,
            died=fails,
            boots=host.boots + 1,
            rebuilds=host.rebuilds + 1,
        )

    def _carrying(self, name: str, server: str) -> tuple[Host, ServerSpec]:
        host = self.state.hosts[name]
        if host.server is None or host.server.name != server or host.state not in _SWITCHED:
            raise SiteBusy(f"power of {name}: it does not carry that server")
        return host, host.server

    def _network_of(self, host: str) -> str | None:
        return next((name for name, network in self.state.networks.items() if host in network.spec.hosts), None)

    def advance(self) -> None:
        """Let every transition of a host end whose time has come."""
        for name in self.state.hosts:
            while (host := self.state.hosts[name]).due is not None and host.due <= self._course.now:
                self.state.hosts[name] = self._next(host, host.due)

    def _next(self, host: Host, since: float) -> Host:
        if host.state is HostState.WIPING:
            return Host()
        if host.fails:
            return replace(host, state=HostState.FAILED, due=None)
        if host.state is HostState.DEPLOYING:
            due = self._course.later(since)
            return replace(host, state=HostState.BOOTING, due=due, boots=host.boots + 1)
        set_up_at = self._course.later(since)
        return replace(host, state=HostState.RUNNING, due=None, set_up_at=set_up_at)

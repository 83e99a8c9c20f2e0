"""Tenant networks: which machines' and hosts' RNIC ports see each other."""

from __future__ import annotations

from collections.abc import Callable

from ipucloud.laboratory.simulator.clock import Clock
from ipucloud.laboratory.simulator.durations import Action, Durations
from ipucloud.laboratory.simulator.hardware import Machine, Region
from ipucloud.laboratory.simulator.refusal import exists, invalid, not_found, precondition
from ipucloud.laboratory.simulator.state import NetworkRecord
from ipucloud.wire.site import Network, NetworkSpec, NetworkState


class Networks:
    """Every tenant network. A port is in one network at most, until that network is gone."""

    def __init__(
        self,
        regions: dict[str, Region],
        records: dict[str, NetworkRecord],
        *,
        clock: Clock,
        durations: Durations,
        changed: Callable[[], None],
    ) -> None:
        self._regions = regions
        self._records = records
        self._clock = clock
        self._durations = durations
        self._changed = changed
        self._network_of = {port: name for name, record in records.items() for port in _ports(record.spec)}
        self._rnics = {
            (region, machine.rnic): machine
            for region, hardware in regions.items()
            for machine in hardware.machines.values()
        }

    def get(self, name: str) -> Network:
        self._reconcile()
        record = self._records.get(name)
        if record is None:
            raise not_found(f"network {name!r} does not exist")
        return _view(name, record)

    def all(self, region: str | None) -> list[Network]:
        """Every network (of one region, when it is named), by name."""
        self._reconcile()
        return [
            _view(name, record)
            for name, record in sorted(self._records.items())
            if region in {None, record.spec.region}
        ]

    def put(self, name: str, spec: NetworkSpec) -> Network:
        """Start attaching a network; a repeat of the same spec answers the network as it stands."""
        self._reconcile()
        present = self._records.get(name)
        if present is not None:
            if _ports(present.spec) != _ports(spec) or present.spec.region != spec.region:
                raise exists(f"network {name!r} exists with other ports")
            if present.state is NetworkState.DETACHING:
                raise precondition(f"network {name!r} is being detached")
            return _view(name, present)
        self._check(spec)
        due = self._clock.now() + self._seconds(Action.NETWORK_ATTACH, name, spec)
        self._records[name] = NetworkRecord(spec, NetworkState.ATTACHING, due)
        self._network_of.update(dict.fromkeys(_ports(spec), name))
        self._changed()
        return self.get(name)

    def delete(self, name: str) -> None:
        """Start detaching a network; a repeat while it is being detached changes nothing."""
        self._reconcile()
        record = self._records.get(name)
        if record is None:
            raise not_found(f"network {name!r} does not exist")
        if record.state is not NetworkState.DETACHING:
            record.state = NetworkState.DETACHING
            record.due = self._clock.now() + self._seconds(Action.NETWORK_DETACH, name, record.spec)
            self._changed()

    def network_of(self, port: str) -> str | None:
        """The network that a machine's or host's port is in."""
        self._reconcile()
        return self._network_of.get(port)

    def machine_at(self, host: str, region: str, rnic: str) -> Machine | None:
        """The machine with this RNIC address, if `host` reaches it: both ports in one network that is ready."""
        self._reconcile()
        machine = self._rnics.get((region, rnic))
        name = self._network_of.get(host)
        if machine is None or name is None or self._network_of.get(machine.name) != name:
            return None
        return machine if self._records[name].state is NetworkState.READY else None

    def machines_beside(self, host: str) -> frozenset[str]:
        """The machines that a host reaches: those of its network, once that is ready."""
        self._reconcile()
        record = self._records.get(self._network_of.get(host, ""))
        ready = record is not None and record.state is NetworkState.READY
        return frozenset(record.spec.machines) if record is not None and ready else frozenset()

    def _check(self, spec: NetworkSpec) -> None:
        region = self._regions.get(spec.region)
        if region is None:
            raise not_found(f"region {spec.region!r} does not exist")
        for machine in spec.machines:
            if machine not in region.machines:
                raise invalid(f"machine {machine!r} is not in region {spec.region!r}")
        for host in spec.hosts:
            if host not in region.host_names:
                raise invalid(f"host {host!r} is not in region {spec.region!r}")
        for port in sorted(_ports(spec)):
            if port in self._network_of:
                raise precondition(f"the port of {port!r} is in network {self._network_of[port]!r}")

    def _seconds(self, action: Action, name: str, spec: NetworkSpec) -> float:
        return self._durations.seconds(action, name, len(spec.machines))

    def _reconcile(self) -> None:
        now = self._clock.now()
        passed = [n for n, r in self._records.items() if r.due is not None and r.due <= now]
        for name in passed:
            record = self._records[name]
            if record.state is NetworkState.ATTACHING:
                record.state, record.due = NetworkState.READY, None
            else:
                del self._records[name]
                for port in _ports(record.spec):
                    del self._network_of[port]
            self._changed()


def _ports(spec: NetworkSpec) -> set[str]:
    return {*spec.machines, *spec.hosts}


def _view(name: str, record: NetworkRecord) -> Network:
    return Network(name=name, spec=record.spec, state=record.state)

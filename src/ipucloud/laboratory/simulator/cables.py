"""The links between machines as hardware: which there are, and which are not up."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ipucloud.laboratory.simulator.hardware import Machine, Region
from ipucloud.laboratory.simulator.refusal import not_found
from ipucloud.laboratory.simulator.vipu.links import link_name
from ipucloud.wire.faults import BrokenLink
from ipucloud.wire.inventory import LinkKind, LinkState


class Cables:
    """Every link of the site. Only those that are not up have a record, by name."""

    def __init__(
        self, regions: Mapping[str, Region], records: dict[str, LinkState], *, changed: Callable[[], None]
    ) -> None:
        self.broken = records
        self._changed = changed
        self._places = {
            (machine.region.slug, machine.pod, machine.slot): machine
            for region in regions.values()
            for machine in region.machines.values()
        }
        self._pods = {(pod.gw_group, pod.position): pod for region in regions.values() for pod in region.pods}
        self._pod = {(slug, pod.name): pod for slug, region in regions.items() for pod in region.pods}

    def ends(self, machine: Machine, kind: LinkKind) -> tuple[Machine, Machine]:
        """The machines at both ends of a link. Refuses one that does not exist."""
        pod = self._pod[machine.region.slug, machine.pod]
        other: Machine | None = machine
        if kind is LinkKind.NEXT:
            slot = machine.slot + 1
            slot = 0 if slot == len(pod.machines) and pod.topology == "torus" else slot
            other = self._places.get((machine.region.slug, pod.name, slot))
        elif kind is LinkKind.GATEWAY:
            beyond = self._pods.get((pod.gw_group, pod.position + 1))
            other = self._places.get((machine.region.slug, beyond.name, machine.slot)) if beyond else None
        if other is None:
            raise not_found(f"machine {machine.name!r} has no {kind} link")
        return machine, other

    def all_broken(self) -> list[BrokenLink]:
        """Every link that is not up."""
        links = ((*name.rpartition("/"), state) for name, state in self.broken.items())
        return [
            BrokenLink(machine=machine, kind=LinkKind(kind), state="down" if state is LinkState.DOWN else "degraded")
            for machine, _, kind, state in links
        ]

    def fail(self, machine: Machine, kind: LinkKind, state: LinkState) -> tuple[Machine, Machine]:
        """Break a link; answers the machines at its ends."""
        ends = self.ends(machine, kind)
        self.broken[link_name(machine.name, kind)] = state
        self._changed()
        return ends

    def repair(self, machine: Machine, kind: LinkKind) -> None:
        """Repair a link."""
        self.ends(machine, kind)
        if self.broken.pop(link_name(machine.name, kind), None) is not None:
            self._changed()

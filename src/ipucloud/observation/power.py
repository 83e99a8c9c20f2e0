"""Machines whose power has been changing for too long: neither on nor off, they work for nobody."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from ipucloud.inventory.health.codes import Code
from ipucloud.inventory.health.judge import LiveReport
from ipucloud.kernel.clock import Clock
from ipucloud.observation.expected import Machine
from ipucloud.wire.redfish import RedfishSystem

_SETTLED = frozenset({"On", "Off"})


class PowerWatch:
    """Remembers, in this process, since when each machine's power has been changing.

    Another process begins to count anew, but what is reported stays so until the power has settled.
    """

    def __init__(self, clock: Clock, limit: float) -> None:
        self._clock = clock
        self._limit = limit
        self._since: dict[UUID, float] = {}

    def stuck(
        self, machines: Collection[Machine], systems: Mapping[str, RedfishSystem] | None, live: Collection[LiveReport]
    ) -> frozenset[UUID]:
        """The machines that have been switching on or off for longer than the limit, in seconds.

        `systems`: what was read of them by name, None when nothing was.
        """
        now = self._clock.monotonic()
        if systems is not None:
            changing = [each.id for each in machines if _changing(systems.get(each.name))]
            self._since = {machine: self._since.get(machine, now) for machine in changing}
        reported = {each.object_id for each in live if each.code is Code.POWER_STUCK}
        return frozenset(
            machine for machine, since in self._since.items() if machine in reported or now - since > self._limit
        )


def _changing(system: RedfishSystem | None) -> bool:
    return system is not None and system.PowerState not in _SETTLED

"""What happens to the V-IPU controller: a partition fails, its certificate is not trusted, it forgets everything."""

import random
from collections.abc import Sequence
from typing import Any

import psycopg

from tests.sim.site.hardware import Hardware
from tests.sim.site.network import Network

MOST = 2
"""How often it forgets in one history: each time takes two sweeps and an operation to repair."""
DISTRUSTED_SECONDS = (5.0, 30.0, 90.0)
"""How long its certificate is not trusted: until somebody has corrected it, or the inventory was read again."""
_LET_REPAIR = "UPDATE repairs SET started_at = started_at - interval '1 hour' WHERE requested_by = 'sweep'"
_IN_USE = "SELECT external_name FROM clusters WHERE state IN ('active', 'degraded') AND external_name = ANY (%s)"


class Controller:
    def __init__(self, control: psycopg.Connection[Any], hardware: Hardware, wires: Network, draw: random.Random):
        self._control = control
        self._hardware = hardware
        self._wires = wires
        self._draw = draw

    def fail_partition(self) -> str | None:
        """A partition fails, and the controller resets it by itself; None: there is none that works."""
        working = self._hardware.controller.working_partitions()
        if not working:
            return None
        allocation, name = self._draw.choice(working)
        self._hardware.controller.fail_partition(allocation, name)
        return f"partition {name} fails"

    def is_distrusted(self) -> str | None:
        """For a while no call reaches it, because its certificate is not of the authority in the inventory."""
        self._wires.distrusted_until = self._hardware.now + self._draw.choice(DISTRUSTED_SECONDS)
        return f"the controller's certificate is not trusted until {self._wires.distrusted_until:.2f}"

    def forget(self) -> str | None:
        """It loses allocations, partitions, users and tests; None: there is nothing to lose, or it has enough."""
        if self._hardware.forgets >= MOST or not self._hardware.state.allocations:
            return None
        self._hardware.forget()
        return "the controller forgets everything"

    def audited(self) -> None:
        """What an operator does about losses that sweeps repaired within the hour without effect: repair them again."""
        self._control.execute(_LET_REPAIR)

    def lost(self) -> Sequence[str]:
        """Clusters in use whose allocation it has forgotten."""
        forgotten = list(self._hardware.controller.forgotten)
        return [name for (name,) in self._control.execute(_IN_USE, (forgotten,)).fetchall()] if forgotten else []

"""What happens to the V-IPU controller, and what comes back of a cluster that is gone.

A partition of the controller fails, its certificate is not trusted, it forgets everything. Something comes back as if a
worker had frozen before its request for longer than one lives; only a sweep can know that nobody needs it.
"""

import random
from collections.abc import Sequence
from typing import Any

import psycopg

from ipucloud.site.vipu_ports import Allocation
from ipucloud.wire.site import NetworkSpec, NetworkState
from tests.sim.site.hardware import Hardware
from tests.sim.site.network import Network as Wires
from tests.sim.site.state import Network

MOST_LOSSES = 2
"""How often it forgets in one history: each time takes two sweeps and an operation to repair."""
DISTRUSTED_SECONDS = (5.0, 30.0, 90.0)
"""How long its certificate is not trusted: until somebody has corrected it, or the inventory was read again."""
_LET_REPAIR = "UPDATE repairs SET started_at = started_at - interval '1 hour' WHERE requested_by = 'sweep'"
_IN_USE = "SELECT external_name FROM clusters WHERE state IN ('active', 'degraded') AND external_name = ANY (%s)"
MOST_LEFTOVERS = 2
"""In one history: each keeps a machine from being used until two sweeps have seen it."""
_GONE = "SELECT external_name FROM clusters WHERE state = 'deleted' ORDER BY id"
_TAKEN = """
SELECT m.name FROM machines m JOIN allocations a ON a.machine_id = m.id AND a.freed_at IS NULL
 UNION SELECT m.name FROM machines m JOIN hardware_validations v ON v.machine_id = m.id AND v.ended_at IS NULL
"""


class Controller:
    def __init__(self, control: psycopg.Connection[Any], hardware: Hardware, wires: Wires, draw: random.Random):
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
        if self._hardware.forgets >= MOST_LOSSES or not self._hardware.state.allocations:
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


class Leftovers:
    def __init__(self, control: psycopg.Connection[Any], hardware: Hardware, draw: random.Random) -> None:
        self._control = control
        self._hardware = hardware
        self._draw = draw

    def appear(self) -> str | None:
        """Have an allocation or a network of a gone cluster on a machine of nobody; None where that cannot be."""
        state = self._hardware.state
        if len(self._hardware.leftovers) >= MOST_LEFTOVERS:
            return None
        gone = [name for (name,) in self._control.execute(_GONE).fetchall() if name not in self._hardware.leftovers]
        in_use = {name for (name,) in self._control.execute(_TAKEN).fetchall()}
        in_use.update(*(held.agent_ids for held in state.allocations.values()))
        in_use.update(*(network.spec.machines for network in state.networks.values()))
        free = sorted(state.machines.keys() - in_use)
        if not gone or not free:
            return None
        name, machine = self._draw.choice(gone), self._draw.choice(free)
        self._hardware.leftovers.add(name)
        if self._draw.random() < 0.5:
            state.allocations[name] = Allocation(name, "vipu-0", frozenset({machine}))
            return f"allocation {name} comes back on {machine}"
        spec = NetworkSpec(region="luxembourg-2", machines=[machine], hosts=[])
        state.networks[name] = Network(spec, NetworkState.READY, None)
        return f"network {name} comes back on {machine}"

    def remain(self) -> bool:
        """Whether any of them is still at the site."""
        state = self._hardware.state
        return not self._hardware.leftovers.isdisjoint(state.allocations.keys() | state.networks.keys())

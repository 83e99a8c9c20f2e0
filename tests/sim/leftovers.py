"""What comes back of a cluster that is gone, as if a worker had frozen before its request for longer than one lives.

Only a sweep can know that nobody needs it.
"""

import random
from typing import Any

import psycopg

from ipucloud.site.vipu_ports import Allocation
from ipucloud.wire.site import NetworkSpec, NetworkState
from tests.sim.site.hardware import Hardware
from tests.sim.site.state import Network

MOST = 2
"""In one history: each keeps a machine from being used until two sweeps have seen it."""
_GONE = "SELECT external_name FROM clusters WHERE state = 'deleted' ORDER BY id"
_TAKEN = """
SELECT m.name FROM machines m JOIN allocations a ON a.machine_id = m.id AND a.freed_at IS NULL
 UNION SELECT m.name FROM machines m JOIN hardware_validations v ON v.machine_id = m.id AND v.ended_at IS NULL
"""


class Leftovers:
    def __init__(self, control: psycopg.Connection[Any], hardware: Hardware, draw: random.Random) -> None:
        self._control = control
        self._hardware = hardware
        self._draw = draw

    def appear(self) -> str | None:
        """Have an allocation or a network of a gone cluster on a machine of nobody; None where that cannot be."""
        state = self._hardware.state
        if len(self._hardware.leftovers) >= MOST:
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

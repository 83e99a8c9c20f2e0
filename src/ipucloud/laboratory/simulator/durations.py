"""How long the simulated hardware takes.

Nominal seconds at time scale 1. They are chosen so that the stages of a POD16 sum to about fifteen minutes, the
length of a physical deployment, and grow a little with the number of machines. Each object has its own small, fixed
deviation, derived from its name, so that nothing in a test moves in lockstep and a run can be repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b

JITTER = 0.05
POD16_MACHINES = 4


class Action(Enum):
    """An action of the hardware: base seconds, and seconds for each machine that takes part."""

    NETWORK_ATTACH = (55.0, 1.0)
    NETWORK_DETACH = (25.0, 1.0)
    MACHINE_POWER_ON = (130.0, 0.0)
    MACHINE_POWER_OFF = (15.0, 0.0)
    CLUSTER_TEST = (70.0, 5.0)
    PARTITION_CREATE = (55.0, 5.0)
    PARTITION_RESET = (30.0, 3.0)
    PARTITION_REMOVE = (12.0, 1.0)
    AUTO_RESET_WAIT = (60.0, 0.0)
    HOST_DEPLOY = (340.0, 0.0)
    HOST_BOOT = (150.0, 0.0)
    HOST_SET_UP = (50.0, 0.0)
    HOST_WIPE = (240.0, 0.0)
    SNAPSHOT_COPY = (20.0, 0.0)

    @property
    def base(self) -> float:
        return self.value[0]

    @property
    def per_machine(self) -> float:
        return self.value[1]


_EXCHANGE = (
    Action.PARTITION_REMOVE,
    Action.NETWORK_DETACH,
    Action.MACHINE_POWER_OFF,
    Action.NETWORK_ATTACH,
    Action.MACHINE_POWER_ON,
    Action.CLUSTER_TEST,
    Action.PARTITION_CREATE,
    Action.HOST_BOOT,
    Action.HOST_SET_UP,
)
# The stages of operations as the control plane names them, and the actions of the site that fill each.
STAGES: dict[str, tuple[Action, ...]] = {
    "NETWORK": (Action.NETWORK_ATTACH,),
    "IPU_SERVERS": (Action.MACHINE_POWER_ON,),
    "VIPU_CONTROLLER": (Action.CLUSTER_TEST, Action.PARTITION_CREATE),
    "POPLAR_SERVERS": (Action.HOST_DEPLOY, Action.HOST_BOOT),
    "POST_DEPLOY_SETUP": (Action.HOST_SET_UP,),
    "CLUSTER_SUSPEND": (Action.PARTITION_REMOVE, Action.NETWORK_DETACH, Action.MACHINE_POWER_OFF),
    "CLUSTER_RESUME": (
        Action.NETWORK_ATTACH,
        Action.MACHINE_POWER_ON,
        Action.CLUSTER_TEST,
        Action.PARTITION_CREATE,
        Action.HOST_BOOT,
        Action.HOST_SET_UP,
    ),
    "CLUSTER_REPAIR": _EXCHANGE,
    "CLUSTER_RESIZE": _EXCHANGE,
    "CLUSTER_REBUILD": (Action.HOST_DEPLOY, Action.HOST_BOOT),
    "CLUSTER_REBOOT": (Action.HOST_BOOT,),
    "PARTITION": (Action.PARTITION_RESET,),
    "CLUSTER_CLEAN_UP": (
        Action.HOST_WIPE,
        Action.PARTITION_REMOVE,
        Action.NETWORK_DETACH,
        Action.MACHINE_POWER_OFF,
    ),
}


@dataclass(frozen=True)
class Durations:
    """Durations under one time scale."""

    time_scale: float

    def seconds(self, action: Action, name: str, machines: int = 1) -> float:
        """Wall-clock seconds that `action` takes on the object `name` when `machines` machines take part."""
        if self.time_scale == 0:
            return 0.0
        return self._nominal(action, machines) * _deviation(action, name) / self.time_scale

    def typical_seconds(self) -> dict[str, float]:
        """The usual wall-clock length of every stage for a POD16."""
        return {
            stage: sum((self._nominal(action, POD16_MACHINES) for action in actions), 0.0) / self.time_scale
            if self.time_scale
            else 0.0
            for stage, actions in STAGES.items()
        }

    @staticmethod
    def _nominal(action: Action, machines: int) -> float:
        return action.base + action.per_machine * machines


def _deviation(action: Action, name: str) -> float:
    digest = blake2b(f"{action.name}:{name}".encode(), digest_size=4).digest()
    return 1.0 + JITTER * (int.from_bytes(digest, "big") / 2**31 - 1.0)

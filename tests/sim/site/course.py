"""How long what a site does takes, and whether it fails."""

import random
from collections.abc import Sequence

from tests.sim.faults import Faults


class Course:
    """The time at a site. `palette`: the seconds that anything may take."""

    def __init__(self, palette: Sequence[float], draw: random.Random, faults: Faults) -> None:
        self.now = 0.0
        self._palette = palette
        self._draw = draw
        self._faults = faults

    def later(self, since: float | None = None) -> float:
        """When something ends that began at `since`; None: that begins now."""
        return (self.now if since is None else since) + self._draw.choice(self._palette)

    def fails(self) -> bool:
        """Whether the hardware that something needs fails by then."""
        return self._faults.hardware()

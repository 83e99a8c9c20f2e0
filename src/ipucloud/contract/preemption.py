"""The notice of a preemptible cluster."""

from __future__ import annotations

from typing import Literal, TypeAlias

PreemptionOutcome: TypeAlias = Literal["suspended", "not_needed", "not_in_use"]
"""How a notice ended: the cluster is suspended, its machines are not needed any more, or it was stopped before."""

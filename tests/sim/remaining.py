"""What is still under way once nothing goes wrong any more, and how the simulation speeds it up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg

from tests.sim.losses import Controller, Leftovers
from tests.sim.site.hardware import Hardware
from tests.sim.site.network import Network
from tests.sim.validating import Validations

_OPEN = """
SELECT (SELECT count(*) FROM operations WHERE finished_at IS NULL),
       (SELECT count(*) FROM work WHERE parked_at IS NOT NULL),
       (SELECT count(*) FROM repairs WHERE state = 'running'),
       (SELECT count(*) FROM partitions WHERE external_name = ANY (%s) AND desired_state = 'absent'),
       (SELECT count(*) FROM health_reports WHERE code = 'not_clean' AND cleared_at IS NULL)
"""
_OPERATED = "SELECT FROM operations WHERE finished_at IS NULL LIMIT 1"
_RECORDED = "SELECT external_name, state FROM partitions WHERE removed_at IS NULL AND origin <> 'customer'"
# A worker may hold the lock of what it is just changing, and can only go on when the simulation does.
_READ_PARTITIONS = """
UPDATE work SET run_at = %s WHERE (kind, key) IN (
  SELECT kind, key FROM work WHERE kind = 'partitions' AND run_at IS NOT NULL FOR UPDATE SKIP LOCKED)
"""
_SERVE = """
UPDATE work SET wake_seq = wake_seq + 1, run_at = %s WHERE (kind, key) IN (
  SELECT kind, key FROM work WHERE key = 'serve_waiting_clusters' FOR UPDATE SKIP LOCKED)
"""
_REQUEUE = """
UPDATE work SET wake_seq = wake_seq + 1, run_at = %s, parked_at = NULL WHERE (kind, key) IN (
  SELECT kind, key FROM work WHERE parked_at IS NOT NULL FOR UPDATE SKIP LOCKED)
"""


@dataclass(frozen=True)
class Remaining:
    control: psycopg.Connection[Any]
    hardware: Hardware
    wires: Network
    leftovers: Leftovers
    validations: Validations
    controller: Controller

    def operated(self) -> bool:
        return self.control.execute(_OPERATED).fetchone() is not None

    def done(self) -> bool:
        """Whether every operation has ended, hardware that clusters left is clean, and nothing is under way."""
        partitions = self.hardware.state.partitions
        if self.wires.late or any(partition.due is not None for partition in partitions.values()):
            return False
        if self.leftovers.remain() or self.validations.unfinished() or self.controller.lost():
            return False
        return self.control.execute(_OPEN, ([name for _, name in partitions],)).fetchone() == (0, 0, 0, 0, 0)

    def records_agree(self) -> bool:
        """Whether every partition is recorded as it is at the site."""
        actual = {name: partition for (_, name), partition in self.hardware.state.partitions.items()}
        recorded = self.control.execute(_RECORDED).fetchall()
        return all(name not in actual or actual[name].state == state for name, state in recorded)

    def read_partitions(self, now: datetime) -> None:
        """Now rather than within a minute."""
        self.control.execute(_READ_PARTITIONS, (now,))

    def serve_waiting(self, now: datetime) -> None:
        self.control.execute(_SERVE, (now,))

    def requeue(self, now: datetime) -> None:
        """What an operator does with parked work: a work item is parked when its passes died or lost their lease."""
        self.control.execute(_REQUEUE, (now,))

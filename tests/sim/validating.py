"""What must be true of machines that are validated before the next cluster gets them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg

from tests.sim.sessions import instant
from tests.sim.site.network import Network

_ENDED = "UPDATE hardware_validations SET ended_at"
_OFFERED = """
SELECT m.name, last.result FROM machines m
  JOIN LATERAL (SELECT v.result, v.ended_at FROM hardware_validations v WHERE v.machine_id = m.id
                 ORDER BY v.ended_at DESC NULLS FIRST, v.id DESC LIMIT 1) AS last
    ON last.ended_at IS NULL OR last.result = 'failed'
  LEFT JOIN allocations held ON held.machine_id = m.id AND held.freed_at IS NULL
 WHERE m.allocatable OR held.id IS NOT NULL
 ORDER BY m.name
"""
_NEWLY_ENDED = """
SELECT v.id, m.name, m.pod_id::text, v.name, v.result, v.findings, v.tested_at
  FROM hardware_validations v JOIN machines m ON m.id = v.machine_id
 WHERE v.ended_at IS NOT NULL AND NOT v.id = ANY (%s) ORDER BY v.id
"""
# A cluster that takes other hardware may get some of its own again, in the same transaction, whose statements have
# times of their own here. What a cluster leaves of its reservation is the reservation's again, whose project goes on;
# what no cluster had of a reservation was not left by one.
_GIVEN_AWAY = """
SELECT m.name, left_at, next_at
  FROM (SELECT machine_id, freed_at AS left_at,
               lead(created_at) OVER turns AS next_at, lead(cluster_id) OVER turns = cluster_id AS kept,
               lead(reservation_id) OVER turns = reservation_id AS kept_reserved,
               cluster_id IS NOT NULL OR EXISTS (SELECT FROM allocations e
                                                  WHERE e.machine_id = a.machine_id AND e.cluster_id IS NOT NULL
                                                    AND e.reservation_id = a.reservation_id) AS used
          FROM allocations a WHERE machine_id IS NOT NULL
        WINDOW turns AS (PARTITION BY machine_id ORDER BY created_at, id)) AS turn
  JOIN machines m ON m.id = machine_id
 WHERE left_at IS NOT NULL AND (next_at IS NOT NULL OR m.allocatable)
   AND used AND NOT coalesce(kept_reserved, false) AND NOT (coalesce(kept, false) AND next_at <= left_at + %s)
   AND NOT EXISTS (SELECT FROM hardware_validations v
                    WHERE v.machine_id = m.id AND v.result = 'passed' AND v.ended_at >= left_at
                      AND v.ended_at <= coalesce(next_at, 'infinity'))
 ORDER BY 1, 2
"""
_UNFINISHED = """
SELECT count(*) FROM hardware_validations v JOIN machines m ON m.id = v.machine_id
 WHERE v.ended_at IS NULL AND (v.name IS NOT NULL OR m.validating)
"""


@dataclass
class Validations:
    """Follows one history. `failures`: what was false."""

    control: psycopg.Connection[Any]
    wires: Network
    failures: list[str] = field(default_factory=list)
    _ended: list[UUID] = field(default_factory=list)

    def committed(self, labels: Sequence[str]) -> None:
        """V1, V2: judge what a transaction left."""
        if len(labels) < 2:
            return  # a single statement
        for name, result in self.control.execute(_OFFERED).fetchall():
            self.failures.append(f"V1: {name} is offered or held, and its validation {result or 'has not ended'}")
        if any(label.startswith(_ENDED) for label in labels):
            for key, *row, tested_at in self.control.execute(_NEWLY_ENDED, (self._ended,)).fetchall():
                self._ended.append(key)
                machine, _, name, result, _ = row
                wrong = [*self._left_over(*row), *self._believed(name, result, tested_at)]
                self.failures += [f"V2: {name} of {machine} ended with {fault}" for fault in wrong]

    def _left_over(self, machine: str, pod: str, name: str, result: str, findings: str) -> Iterator[str]:
        """What is left of a validation, or on its way; a machine that does not switch off is reported for that."""
        hardware = self.wires.hardware
        hardware.advance(hardware.now)
        for allocation in hardware.state.allocations.values():
            if machine in allocation.agent_ids and allocation.id not in hardware.leftovers:
                yield f"allocation {allocation.id}"
        for late in self.wires.late:
            if late.request.call == "remove_allocation" and late.request.name == name:
                continue  # no other allocation ever has this name, so it takes nothing from anybody
            if late.request.sender == pod and (machine in late.request.touches or late.request.name.startswith(name)):
                yield f"{late.request.call} under way"
        power = hardware.state.machines[machine].power
        if power != "Off" and not (result == "failed" and findings == "it does not switch off"):
            yield f"power {power}"

    def _believed(self, name: str, result: str, tested_at: datetime) -> Iterator[str]:
        """What a validation made of its test. One that a late request starts again, on machines that are off by then,
        says nothing about them."""
        failed_at = self.wires.hardware.controller.failed_tests.get(f"{name}-t")
        if result == "passed" and failed_at is not None and instant(failed_at) <= tested_at:
            yield "its test failed, and `passed` as the result"

    def unfinished(self) -> bool:
        """Whether a validation is under way, or could be."""
        return self.control.execute(_UNFINISHED).fetchone() != (0,)

    def given_away(self, longest: timedelta) -> list[str]:
        """V3: machines that were offered again, or taken, without having passed a validation since they were left.

        `longest`: what the longest transaction took.
        """
        return [
            f"V3: {name} was left at {freed} and offered again by {allocated or 'now'} without a validation that passed"
            for name, freed, allocated in self.control.execute(_GIVEN_AWAY, (longest,)).fetchall()
        ]

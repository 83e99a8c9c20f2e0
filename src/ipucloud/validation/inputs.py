"""The inputs of a reconcile pass over the validation of a pod's machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from ipucloud.contract.operator_validations import ValidationResult
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.sync import controller, controller_of_pod
from ipucloud.operations.frozen import frozen_until
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.site.ports import VipuAddress


@dataclass(frozen=True, slots=True)
class Validated:
    """A machine that is to be validated, or is being validated. `result`: found, and not ended yet.

    `eligible`: no cluster holds it, and no other report keeps clusters away. `alone`: not together with others.
    """

    id: UUID
    machine_id: UUID
    machine: str
    name: str | None
    result: ValidationResult | None
    findings: str | None
    alone: bool
    eligible: bool


@dataclass(frozen=True, slots=True)
class Pod:
    """The validations of a pod. `running`: machines of the region that are being validated now.

    `overdue`: the time of the present part of the validation has passed. `quiet_for`: seconds since it was seen
    cleared; None: it was not, or something of it came back.
    """

    id: UUID
    region: str
    vipu: VipuAddress | None
    vipu_cluster_id: str
    machines: tuple[Validated, ...]
    overdue: bool
    quiet_for: float | None
    running: int
    halted: bool
    frozen: bool

    @property
    def batch(self) -> tuple[Validated, ...]:
        """Those that are being validated, together and under one name."""
        return tuple(each for each in self.machines if each.name is not None)

    @property
    def next(self) -> tuple[Validated, ...]:
        """Those that can begin: all that may be validated together, else the first of the others."""
        ready = [each for each in self.machines if each.name is None and each.eligible]
        together = tuple(each for each in ready if not each.alone)
        return together or tuple(ready[:1])


class _Row(NamedTuple):
    leased: bool
    id: UUID | None
    region: str | None
    vipu_cluster_id: str | None
    vipu: VipuAddress | None
    machines: list[list[Any]]
    overdue: bool
    quiet_for: float | None
    running: int
    halted: bool
    frozen: bool


_LOAD = Query(
    f"""
    SELECT w.lease_until > app_now() AS leased, p.id, p.region, p.vipu_cluster_id,
           {controller("v")},
           coalesce(opened.machines, '[]') AS machines, coalesce(opened.overdue, false) AS overdue, opened.quiet_for,
           (SELECT count(*) FROM hardware_validations v
              JOIN machines m ON m.id = v.machine_id JOIN pods other ON other.id = m.pod_id
             WHERE other.region = p.region AND v.name IS NOT NULL AND v.ended_at IS NULL) AS running,
           EXISTS (SELECT FROM observations o WHERE o.region = p.region AND o.halted_since IS NOT NULL) AS halted,
           {frozen_until("p.region")} IS NOT NULL AS frozen
      FROM work w
      LEFT JOIN pods p ON p.id = CAST(w.key AS uuid)
      {controller_of_pod("p", "v")}
      LEFT JOIN LATERAL (
        SELECT json_agg(json_build_array(v.id, m.id, m.name, v.name, v.result, v.findings, v.alone,
                                         m.validating AND held.id IS NULL) ORDER BY m.slot) AS machines,
               bool_or(v.deadline_at <= app_now()) AS overdue,
               extract(epoch FROM app_now() - max(v.released_at))::float8 AS quiet_for
          FROM hardware_validations v
          JOIN machines m ON m.id = v.machine_id
          LEFT JOIN allocations held ON held.machine_id = m.id AND held.freed_at IS NULL
         WHERE m.pod_id = p.id AND v.ended_at IS NULL) AS opened ON true
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,  # noqa: S608  # our own text
    _Row,
)


async def load(connection: Statements, item: WorkItem) -> Pod | None:
    """The inputs; None when no machine of the pod is to be validated. Raises LeaseLost."""
    row = await inputs_of(connection, _LOAD, item)
    if row.id is None or row.region is None or row.vipu_cluster_id is None or not row.machines:
        return None
    return Pod(
        id=row.id,
        region=row.region,
        vipu=row.vipu,
        vipu_cluster_id=row.vipu_cluster_id,
        machines=tuple(Validated(UUID(each[0]), UUID(each[1]), *each[2:]) for each in row.machines),
        overdue=row.overdue,
        quiet_for=row.quiet_for,
        running=row.running,
        halted=row.halted,
        frozen=row.frozen,
    )

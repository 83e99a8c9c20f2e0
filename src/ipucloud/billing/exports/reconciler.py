"""Runs the current step of an export's open operation."""

from __future__ import annotations

import random

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.exports.exporter import Exporter
from ipucloud.billing.exports.inputs import ExportInputs, load
from ipucloud.billing.exports.operation import BUILD_ATTEMPTS, EXPORT
from ipucloud.db.statements import Statements
from ipucloud.operations.results import StepResult
from ipucloud.operations.runner import Runner, unknown
from ipucloud.reconcile.outcomes import Done, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem

ROOM_SECONDS = 2.0
"""Until a worker checks again whether it has room for another process."""


class ExportReconciler:
    """Builds and delivers files with `exporter`."""

    kind = EXPORT.work_kind

    def __init__(self, exporter: Exporter, draw: random.Random) -> None:
        self._exporter = exporter
        self._runner = Runner([EXPORT], attempts=BUILD_ATTEMPTS, pause=1.0, draw=draw)

    async def load(self, connection: Statements, item: WorkItem) -> ExportInputs | Outcome:
        inputs = await load(connection, item)
        if inputs is None:
            return Done()
        if not self._runner.knows(inputs.operation):
            return unknown(inputs.operation)
        return Wait("this worker is building other files", recheck=ROOM_SECONDS) if self._exporter.busy else inputs

    async def act(self, item: WorkItem, inputs: ExportInputs) -> StepResult:
        operation = inputs.operation
        structlog.contextvars.bind_contextvars(
            **_concerns(inputs), operation_id=str(operation.id), request_id=operation.request_id
        )
        return await self._runner.step(operation).act(self._exporter, item, inputs)

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: ExportInputs, result: StepResult
    ) -> Outcome:
        return await self._runner.apply(connection, inputs.operation, inputs, result)


def _concerns(inputs: ExportInputs) -> dict[str, str]:
    """The project or the account, for the log."""
    if inputs.row.owner_account_id is not None:
        return {"account_id": str(inputs.row.owner_account_id)}
    return {"project_id": str(inputs.row.project_id)}

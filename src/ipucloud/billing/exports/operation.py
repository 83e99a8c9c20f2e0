"""The operation of an export."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.exports.exporter import GAVE_UP, Built, Exporter
from ipucloud.billing.exports.inputs import ExportInputs
from ipucloud.kernel.errors import EXPORT_FAILED, Problem
from ipucloud.operations.kind import Billing, Kind, OpenOperation, Repeated
from ipucloud.operations.results import Achieved, Failed, StepResult
from ipucloud.operations.step import PlannedStep, Stage, Step, plan_of
from ipucloud.reconcile.reconciler import WorkItem

KEPT_DAYS = 7
BUILD_ATTEMPTS = 5
_BUCKET = frozenset({"bucket"})

ExportAct: TypeAlias = Callable[[Exporter, WorkItem, ExportInputs], Awaitable[StepResult]]

_BUILT = sa.text(
    """
    UPDATE exports SET fence = :fence, manifest = CAST(:manifest AS jsonb), built_at = app_now(), last_error = NULL,
                       expires_at = app_now() + make_interval(days => :kept)
     WHERE (project_id = :project_id OR owner_account_id = :account_id) AND id = :id
    """
)
_LEFT_OVERS = sa.text("DELETE FROM export_chunks WHERE export_id = :id AND fence <> :fence")
_DELIVERED = sa.text(
    """
    UPDATE exports SET delivered_at = app_now(), last_error = NULL
     WHERE (project_id = :project_id OR owner_account_id = :account_id) AND id = :id
    """
)
_FAILED = sa.text(
    """
    UPDATE exports SET last_error = :error, deliveries = deliveries + :failures
     WHERE (project_id = :project_id OR owner_account_id = :account_id) AND id = :id
    """
)


async def _keep(connection: AsyncConnection, inputs: ExportInputs, achieved: Achieved) -> None:
    if not isinstance(achieved, Built):
        raise TypeError("a file is kept by its manifest")
    values = inputs.parameters | {"fence": achieved.fence, "kept": KEPT_DAYS}
    await connection.execute(_BUILT, values | {"manifest": orjson.dumps(achieved.manifest).decode()})
    await connection.execute(_LEFT_OVERS, values)


async def _delivered(connection: AsyncConnection, inputs: ExportInputs, _: Achieved) -> None:
    await connection.execute(_DELIVERED, inputs.parameters)


async def _not_built(connection: AsyncConnection, inputs: ExportInputs, failed: Failed) -> None:
    if not failed.final:
        await connection.execute(_FAILED, inputs.parameters | {"error": failed.detail, "failures": 0})


async def _not_delivered(connection: AsyncConnection, inputs: ExportInputs, failed: Failed) -> None:
    if not failed.final:
        await connection.execute(_FAILED, inputs.parameters | {"error": failed.detail, "failures": 1})


def _export_failed(_operation: OpenOperation, _failed: Failed) -> Problem:
    return Problem(EXPORT_FAILED, GAVE_UP)


EXPORT = Kind[ExportAct, ExportInputs](
    name="export.create",
    work_kind="export",
    steps=(
        Step(
            name="build_file",
            stage=Stage("BUILD", 30),
            act=Exporter.build,
            on_success=_keep,
            on_failure=_not_built,
            attempts=BUILD_ATTEMPTS,
        ),
        Step(
            name="deliver_file",
            stage=Stage("DELIVER", 0),
            act=Exporter.deliver,
            on_success=_delivered,
            on_failure=_not_delivered,
            attempts=math.inf,
            backoff=15.0,
            requires=_BUCKET,
        ),
    ),
    states=None,
    begins_in=frozenset(),
    during=None,
    success=None,
    undo=None,
    cancellable=False,
    repeated=Repeated.REFUSED,
    billing=Billing.UNCHANGED,
    deadline=None,
    preceding=(),
    replacing=(),
    failure=_export_failed,
)
"""A delivery is retried until the deadline, however often it fails: the file can be downloaded meanwhile."""

_NO_BUCKET: Mapping[str, str] = MappingProxyType({"bucket": "it is available for download only"})


def plan(*, delivered: bool) -> tuple[PlannedStep, ...]:
    """The steps of an export that is `delivered` to S3 or only available for download."""
    return plan_of(EXPORT.steps, {} if delivered else _NO_BUCKET)

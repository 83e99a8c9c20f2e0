"""The operation of an export: child processes build its file and deliver it."""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

import orjson
import sqlalchemy as sa
import structlog
from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.exports.connections import Rules, Stored
from ipucloud.billing.exports.process import Build, Deliver, Note, Reply, carried_out
from ipucloud.billing.exports.selection import Period, Selection
from ipucloud.catalogue.current import CurrentCatalogue
from ipucloud.contract.exports import Dataset, FileFormat, FocusVersion
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.schema_check import SchemaMismatchError
from ipucloud.db.statements import Statements
from ipucloud.identity.members import Home
from ipucloud.kernel.errors import DEADLINE_EXCEEDED, EXPORT_FAILED, Problem
from ipucloud.kernel.sealing import SealingError
from ipucloud.operations.kind import Billing, Kind, OpenOperation, Repeated
from ipucloud.operations.queries import CURRENT_STEP, OPEN_OPERATION
from ipucloud.operations.results import Achieved, Failed, StepResult
from ipucloud.operations.runner import Runner, unknown
from ipucloud.operations.step import PlannedStep, Stage, Step, plan_of
from ipucloud.operations.store import record_progress
from ipucloud.reconcile.outcomes import Done, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem, inputs_of

KEPT_DAYS = 7
BUILD_ATTEMPTS = 5
BUILD_SECONDS = 1800.0
DELIVER_SECONDS = 900.0
AT_ONCE = 4
"""Maximum number of child processes of one worker at the same time."""
ROOM_SECONDS = 2.0
"""Until a worker checks again whether it has room for another process."""

GAVE_UP = "The file could not be built. Create the export again, or contact the operator with the operation's id."
_BROKEN_OFF = "The file could not be built; it is retried."
_UNANSWERED = "The bucket's service did not answer."
_UNDELIVERED = "The file could not be delivered in time: {} It can be downloaded for seven days."
_NO_KEY = (
    "The bucket's secret cannot be decrypted. The operator must set IPUCLOUD_SECRETS_KEY to the key that encrypted it; "
    "if that key is lost, create the connection again."
)


class Export(NamedTuple):
    """An export and the bucket that it is delivered to, if any. Without an operation there may be no export either."""

    leased: bool
    id: UUID
    project_id: UUID | None
    owner_account_id: UUID | None
    account_id: UUID | None
    dataset: Dataset
    focus_version: FocusVersion
    format: FileFormat
    since: date
    until: date
    provisional: bool
    fence: int
    manifest: dict[str, Any]
    last_error: str | None
    connection_id: UUID | None
    endpoint: str
    region: str
    bucket: str
    prefix: str
    access_key_id: str
    secret: str | None
    operation: OpenOperation | None

    @property
    def home(self) -> Home:
        """The project or the account whose export it is."""
        return Home(self.project_id, self.owner_account_id)


_LOAD = Query(
    f"""
    SELECT w.lease_until > app_now() AS leased, x.id, x.project_id, x.owner_account_id, x.account_id,
           x.dataset, x.focus_version, x.format,
           coalesce(x.month, x.since) AS since,
           coalesce((x.month + interval '1 month')::date, x.until) AS until, x.provisional, x.fence, x.manifest,
           x.last_error,
           c.id AS connection_id, c.endpoint, c.region, c.bucket, c.prefix, c.access_key_id, c.secret,
           {OPEN_OPERATION}
      FROM work w
      LEFT JOIN exports x ON x.id = CAST(w.key AS uuid)
      LEFT JOIN operations o ON (o.project_id = x.project_id OR o.account_id = x.owner_account_id)
       AND o.export_id = x.id AND o.finished_at IS NULL
      LEFT JOIN s3_connections c ON (c.project_id = x.project_id OR c.account_id = x.owner_account_id)
       AND c.id = x.connection_id
      {CURRENT_STEP}
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,  # noqa: S608  # our own text
    Export,
)


@dataclass(frozen=True)
class ExportInputs:
    """An export with its open operation."""

    row: Export
    operation: OpenOperation

    @property
    def parameters(self) -> dict[str, object]:
        """Parameters of statements about this export."""
        return {**self.row.home.parameters, "id": self.row.id, "operation_id": self.operation.id}


@dataclass(frozen=True, slots=True)
class Built(Achieved):
    """The file is complete, in chunks under `fence`."""

    manifest: Mapping[str, JsonValue]
    fence: int


class Exporter:
    """`provider` and the catalogue's names are the names of the service and its regions in files."""

    def __init__(self, database: Database, *, provider: str, catalogue: CurrentCatalogue, rules: Rules) -> None:
        self._database = database
        self._provider = provider
        self._catalogue = catalogue
        self._rules = rules
        self._under_way = 0

    @property
    def busy(self) -> bool:
        """Whether the maximum number of processes is running."""
        return self._under_way >= AT_ONCE

    async def build(self, item: WorkItem, inputs: ExportInputs) -> StepResult:
        """Build the file and store it in the database."""
        if inputs.operation.overdue:
            return _late(GAVE_UP)
        row = inputs.row
        order = Build(
            database_url=self._database.url,
            export_id=row.id,
            fence=item.fence,
            subject=Selection(
                dataset=row.dataset,
                version=row.focus_version,
                format=row.format,
                period=Period(row.since, row.until),
                project_id=None if row.account_id else row.project_id,
                account_id=row.account_id,
                provider=self._provider,
                regions=self._catalogue.catalogue.region_names,
                provisional=row.provisional,
            ),
        )
        reply = await self._carry_out(order, BUILD_SECONDS, self._note(item, inputs))
        return Failed(_BROKEN_OFF) if reply.manifest is None else Built(reply.manifest, item.fence)

    async def deliver(self, item: WorkItem, inputs: ExportInputs) -> StepResult:
        """Upload the stored file to the bucket."""
        row = inputs.row
        if inputs.operation.overdue:
            return _late(_UNDELIVERED.format(row.last_error or "it was not attempted in time."))
        if row.connection_id is None or row.secret is None:
            return Failed(_NO_KEY)
        stored = Stored(row.endpoint, row.region, row.bucket, row.prefix, row.access_key_id, row.secret, False)
        try:
            target = self._rules.target(stored, row.connection_id, row.home)
        except SealingError:
            return Failed(_NO_KEY)
        [file] = row.manifest["files"]
        order = Deliver(
            database_url=self._database.url,
            export_id=row.id,
            fence=row.fence,
            name=file["name"],
            size=file["bytes"],
            manifest=row.manifest,
            target=target,
        )
        reply = await self._carry_out(order, DELIVER_SECONDS, self._note(item, inputs))
        return Achieved() if reply.delivered else Failed(reply.error or _UNANSWERED)

    async def _carry_out(self, order: Build | Deliver, seconds: float, note: Note) -> Reply:
        """Raises SchemaMismatchError if the process found another schema than this version's."""
        self._under_way += 1
        try:
            reply = await carried_out(order, seconds, note)
        finally:
            self._under_way -= 1
        if reply.lacks_schema:
            raise SchemaMismatchError("the process that builds the file found a table or column missing")
        return reply

    def _note(self, item: WorkItem, inputs: ExportInputs) -> Note:
        """Records progress in percent while a process runs; under the fence, though outside `apply`."""

        async def note(percent: int) -> None:
            half = percent // 2 if inputs.row.connection_id else percent
            async with self._database.read() as connection:
                await record_progress(connection, item, inputs.operation, min(half, 99))

        return note


def _late(sentence: str) -> Failed:
    return Failed("it exceeded its deadline", final=True, problem=Problem(DEADLINE_EXCEEDED, sentence))


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
            requires=frozenset({"bucket"}),
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


def plan(*, delivered: bool) -> tuple[PlannedStep, ...]:
    """The steps of an export that is `delivered` to S3 or only available for download."""
    return plan_of(EXPORT.steps, {} if delivered else {"bucket": "it is available for download only"})


class ExportReconciler:
    """Builds and delivers files with `exporter`."""

    kind = EXPORT.work_kind

    def __init__(self, exporter: Exporter, draw: random.Random) -> None:
        self._exporter = exporter
        self._runner = Runner([EXPORT], attempts=BUILD_ATTEMPTS, pause=1.0, draw=draw)

    async def load(self, connection: Statements, item: WorkItem) -> ExportInputs | Outcome:
        row = await inputs_of(connection, _LOAD, item)
        if row.operation is None:
            return Done()
        inputs = ExportInputs(row, row.operation)
        if not self._runner.knows(inputs.operation):
            return unknown(inputs.operation)
        return Wait("this worker is building other files", recheck=ROOM_SECONDS) if self._exporter.busy else inputs

    async def act(self, item: WorkItem, inputs: ExportInputs) -> StepResult:
        operation, home = inputs.operation, inputs.row.home
        structlog.contextvars.bind_contextvars(
            **{name: str(value) for name, value in home.parameters.items() if value is not None},
            operation_id=str(operation.id),
            request_id=operation.request_id,
        )
        return await self._runner.step(operation).act(self._exporter, item, inputs)

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: ExportInputs, result: StepResult
    ) -> Outcome:
        return await self._runner.apply(connection, inputs.operation, inputs, result)

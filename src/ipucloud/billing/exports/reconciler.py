"""Keeps the promise of an export: its file is made by a process of its own, kept, and delivered if it is to be."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.exports.order import Build, Deliver, Said, Subject, Target
from ipucloud.billing.exports.plan import BUILD, DELIVER, WORK_KIND
from ipucloud.billing.exports.process import carried_out
from ipucloud.catalogue.current import CurrentCatalogue
from ipucloud.db.engine import Database
from ipucloud.db.schema_check import SchemaMismatchError
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import DEADLINE_EXCEEDED, EXPORT_FAILED, Problem
from ipucloud.kernel.sealing import Keys, SealingError, place, unseal
from ipucloud.operations.states import OperationState
from ipucloud.operations.store import end_export
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait, backoff
from ipucloud.reconcile.reconciler import LeaseLost, Ticket

KEPT_DAYS = 7
BUILD_ATTEMPTS = 5
BUILD_SECONDS = 1800.0
DELIVER_SECONDS = 900.0
AT_ONCE = 4
"""Files that one worker makes or delivers at the same time, each by a process of its own."""
ROOM_SECONDS = 2.0

_BROKEN_OFF = "The file could not be made; it is tried again."
_GAVE_UP = "The file could not be made. Ask for it again; if that fails too, tell support the request id."
_UNDELIVERED = "The file could not be delivered within its time: {} It is kept for download for seven days."
_NO_KEY = "The bucket's secret cannot be read; create the connection again."

_LOAD = sa.text(
    """
    SELECT w.lease_until > app_now() AS leased, x.id, x.project_id, x.account_id, x.dataset, x.focus_version, x.format,
           coalesce(x.month, x.since) AS since,
           coalesce((x.month + interval '1 month')::date, x.until) AS until, x.fence, x.manifest,
           o.id AS operation_id, o.request_id, o.deadline_at < app_now() AS overdue,
           step.ordinal, step.name AS step, step.attempts, c.id AS connection_id, c.endpoint, c.region, c.bucket,
           c.prefix, c.access_key_id, c.secret
      FROM work w
      LEFT JOIN exports x ON x.id = CAST(w.key AS uuid)
      LEFT JOIN operations o ON o.project_id = x.project_id AND o.export_id = x.id AND o.finished_at IS NULL
      LEFT JOIN s3_connections c ON c.project_id = x.project_id AND c.id = x.connection_id
      LEFT JOIN LATERAL (
        SELECT s.ordinal, s.name, s.attempts FROM operation_steps s
         WHERE s.project_id = o.project_id AND s.operation_id = o.id AND s.state IN ('pending', 'running')
         ORDER BY s.ordinal LIMIT 1) AS step ON true
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """
)
_STEP = sa.text(
    """
    WITH step AS (
      UPDATE operation_steps
         SET state = :state, detail = :detail, attempts = attempts + :failures,
             started_at = coalesce(started_at, app_now()),
             finished_at = CASE WHEN :state IN ('succeeded', 'failed') THEN app_now() END
       WHERE project_id = :project_id AND operation_id = :operation_id AND ordinal = :ordinal
    )
    UPDATE operations
       SET state = CASE WHEN state = 'queued' THEN 'running' ELSE state END,
           started_at = coalesce(started_at, app_now()), progress = greatest(progress, :progress),
           stage = coalesce(CAST(:stage AS text), stage), version = version + 1
     WHERE project_id = :project_id AND id = :operation_id AND finished_at IS NULL
    """
).bindparams(
    sa.bindparam("state", type_=sa.Text),
    sa.bindparam("detail", type_=sa.Text),
    sa.bindparam("progress", type_=sa.Integer),
)
_PROGRESS = sa.text(
    """
    UPDATE operations
       SET state = CASE WHEN state = 'queued' THEN 'running' ELSE state END,
           started_at = coalesce(started_at, app_now()), progress = greatest(progress, :progress),
           version = version + 1
     WHERE project_id = :project_id AND id = :operation_id AND finished_at IS NULL
       AND EXISTS (SELECT FROM work WHERE kind = :kind AND key = :key AND fence = :fence AND lease_owner IS NOT NULL)
    """
).bindparams(sa.bindparam("progress", type_=sa.Integer))
_BUILT = sa.text(
    """
    UPDATE exports SET fence = :fence, manifest = CAST(:manifest AS jsonb), built_at = app_now(), last_error = NULL,
                       expires_at = app_now() + make_interval(days => :kept)
     WHERE project_id = :project_id AND id = :id
    """
)
_LEFT_OVERS = sa.text("DELETE FROM export_chunks WHERE export_id = :id AND fence <> :fence")
_DELIVERED = sa.text(
    "UPDATE exports SET delivered_at = app_now(), last_error = NULL WHERE project_id = :project_id AND id = :id"
)
_FAILED = sa.text(
    """
    UPDATE exports SET last_error = :error, deliveries = deliveries + :failures
     WHERE project_id = :project_id AND id = :id
    """
)
_LAST_ERROR = sa.text("SELECT last_error FROM exports WHERE project_id = :project_id AND id = :id")


@dataclass(frozen=True)
class ExportInputs:
    """An export with its open operation and step. `row` holds the columns of `_LOAD`."""

    row: sa.Row[Any]

    @property
    def mine(self) -> dict[str, object]:
        return {"project_id": self.row.project_id, "id": self.row.id, "operation_id": self.row.operation_id}


class ExportReconciler:
    """`provider` and the catalogue's names are what the files call the service and its regions.

    `keys` open buckets' secrets.
    """

    kind = WORK_KIND

    def __init__(
        self,
        database: Database,
        *,
        provider: str,
        catalogue: CurrentCatalogue,
        keys: Keys | None,
        private_too: bool,
        ports: frozenset[int],
        draw: random.Random,
    ) -> None:
        self._database = database
        self._provider = provider
        self._catalogue = catalogue
        self._keys = keys
        self._private_too = private_too
        self._ports = ports
        self._draw = draw
        self._under_way = 0

    async def load(self, connection: Statements, ticket: Ticket) -> ExportInputs | Outcome:
        found = await connection.execute(_LOAD, {"kind": ticket.kind, "key": ticket.key, "fence": ticket.fence})
        row = found.one_or_none()
        if row is None or not row.leased:
            raise LeaseLost(ticket.key)
        if row.operation_id is None:
            return Done()
        if self._under_way >= AT_ONCE:
            return Wait("this worker makes other files", recheck=ROOM_SECONDS)
        return ExportInputs(row)

    async def act(self, ticket: Ticket, inputs: ExportInputs) -> Said:
        row = inputs.row
        structlog.contextvars.bind_contextvars(
            project_id=str(row.project_id), operation_id=str(row.operation_id), request_id=row.request_id
        )
        if row.overdue:
            return Said()
        try:
            order = self._order(ticket, row)
        except SealingError:
            return Said(error=_NO_KEY)
        seconds = BUILD_SECONDS if isinstance(order, Build) else DELIVER_SECONDS

        async def note(percent: int) -> None:
            values = inputs.mine | {"kind": ticket.kind, "key": ticket.key, "fence": ticket.fence}
            half = percent // 2 if row.connection_id else percent
            async with self._database.read() as connection:
                await connection.execute(_PROGRESS, values | {"progress": min(half, 99)})

        self._under_way += 1
        try:
            said = await carried_out(order, seconds, note)
        finally:
            self._under_way -= 1
        if said.lacks_schema:
            raise SchemaMismatchError("the process that makes the file met a missing table or column")
        return said

    async def apply(self, connection: AsyncConnection, ticket: Ticket, inputs: ExportInputs, result: Said) -> Outcome:
        row = inputs.row
        if row.overdue:
            return await self._give_up(connection, inputs)
        if row.step == BUILD:
            if result.manifest is None:
                return await self._build_again(connection, inputs)
            return await self._keep(connection, ticket, inputs, result.manifest)
        if result.delivered:
            await connection.execute(_DELIVERED, inputs.mine)
            return await self._succeed(connection, inputs)
        return await self._deliver_again(connection, inputs, result.error or "The bucket's service did not answer.")

    def _order(self, ticket: Ticket, row: sa.Row[Any]) -> Build | Deliver:
        if row.step == DELIVER:
            [file] = row.manifest["files"]
            return Deliver(
                database_url=self._database.url,
                export_id=row.id,
                fence=row.fence,
                name=file["name"],
                size=file["bytes"],
                manifest=row.manifest,
                target=self._target(row),
            )
        return Build(
            database_url=self._database.url,
            export_id=row.id,
            fence=ticket.fence,
            subject=Subject(
                dataset=row.dataset,
                version=row.focus_version,
                format=row.format,
                since=row.since,
                until=row.until,
                project_id=None if row.account_id else row.project_id,
                account_id=row.account_id,
                provider=self._provider,
                regions=self._catalogue.catalogue.region_names,
            ),
        )

    def _target(self, row: sa.Row[Any]) -> Target:
        """Raises SealingError."""
        if self._keys is None or row.secret is None:
            raise SealingError("no key")
        return Target(
            endpoint=row.endpoint,
            region=row.region,
            bucket=row.bucket,
            prefix=row.prefix,
            access_key_id=row.access_key_id,
            secret=unseal(self._keys, row.secret, secret_place(row.connection_id, row.project_id)),
            private_too=self._private_too,
            ports=self._ports,
        )

    async def _keep(
        self, connection: AsyncConnection, ticket: Ticket, inputs: ExportInputs, manifest: Mapping[str, object]
    ) -> Outcome:
        values = inputs.mine | {"fence": ticket.fence, "kept": KEPT_DAYS}
        await connection.execute(_BUILT, values | {"manifest": orjson.dumps(manifest).decode()})
        await connection.execute(_LEFT_OVERS, values)
        if inputs.row.connection_id is None:
            return await self._succeed(connection, inputs)
        await self._step(connection, inputs, "succeeded", progress=50, stage="DELIVER")
        return Go()

    async def _build_again(self, connection: AsyncConnection, inputs: ExportInputs) -> Outcome:
        await connection.execute(_FAILED, inputs.mine | {"error": _BROKEN_OFF, "failures": 0})
        if inputs.row.attempts + 1 >= BUILD_ATTEMPTS:
            await self._step(connection, inputs, "failed", failed=True)
            return await self._fail(connection, inputs, Problem(EXPORT_FAILED, _GAVE_UP))
        await self._step(connection, inputs, "running", detail=_BROKEN_OFF, failed=True)
        return Wait(_BROKEN_OFF, recheck=backoff(inputs.row.attempts + 1, self._draw))

    async def _deliver_again(self, connection: AsyncConnection, inputs: ExportInputs, error: str) -> Outcome:
        await connection.execute(_FAILED, inputs.mine | {"error": error, "failures": 1})
        await self._step(connection, inputs, "running", detail=error, failed=True)
        return Wait(error, recheck=15 * backoff(inputs.row.attempts + 1, self._draw))

    async def _give_up(self, connection: AsyncConnection, inputs: ExportInputs) -> Outcome:
        [(said,)] = await connection.execute(_LAST_ERROR, inputs.mine)
        detail = _UNDELIVERED.format(said or "it was not tried in time.") if inputs.row.step == DELIVER else _GAVE_UP
        return await self._fail(connection, inputs, Problem(DEADLINE_EXCEEDED, detail))

    async def _succeed(self, connection: AsyncConnection, inputs: ExportInputs) -> Outcome:
        await self._step(connection, inputs, "succeeded", progress=99)
        await self._end(connection, inputs, OperationState.SUCCEEDED, None)
        return Done()

    async def _fail(self, connection: AsyncConnection, inputs: ExportInputs, problem: Problem) -> Outcome:
        await self._end(connection, inputs, OperationState.FAILED, problem.document())
        return Done()

    async def _end(
        self, connection: AsyncConnection, inputs: ExportInputs, state: OperationState, error: dict[str, object] | None
    ) -> None:
        row = inputs.row
        await end_export(connection, project_id=row.project_id, export_id=row.id, state=state.value, error=error)

    async def _step(
        self,
        connection: AsyncConnection,
        inputs: ExportInputs,
        state: str,
        *,
        detail: str | None = None,
        failed: bool = False,
        progress: int = 0,
        stage: str | None = None,
    ) -> None:
        values = {"state": state, "detail": detail, "failures": int(failed), "progress": progress, "stage": stage}
        await connection.execute(_STEP, inputs.mine | values | {"ordinal": inputs.row.ordinal})


def secret_place(connection_id: UUID, project_id: UUID) -> str:
    """Where a bucket's secret is sealed for."""
    return place("s3_connections", connection_id, "secret", project_id)

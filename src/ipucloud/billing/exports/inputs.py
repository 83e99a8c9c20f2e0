"""Everything that a reconcile pass over an export acts on, read in one statement that also checks the lease."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple
from uuid import UUID

from ipucloud.contract.exports import Dataset, FileFormat, FocusVersion
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.identity.members import Home
from ipucloud.operations.kind import OpenOperation
from ipucloud.operations.queries import CURRENT_STEP, OPEN_OPERATION
from ipucloud.reconcile.reconciler import WorkItem, inputs_of


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
    def home(self) -> UUID:
        """The project or the account whose export it is."""
        return Home(self.project_id, self.owner_account_id).id


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
        return {
            "project_id": self.row.project_id,
            "account_id": self.row.owner_account_id,
            "id": self.row.id,
            "operation_id": self.operation.id,
        }


async def load(connection: Statements, item: WorkItem) -> ExportInputs | None:
    """The inputs, or None when the export has no open operation. Raises LeaseLost."""
    row = await inputs_of(connection, _LOAD, item)
    return None if row.operation is None else ExportInputs(row, row.operation)

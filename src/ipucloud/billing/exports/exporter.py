"""The steps of an export: child processes build and deliver its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from ipucloud.billing.exports.connections import secret_place
from ipucloud.billing.exports.inputs import Export, ExportInputs
from ipucloud.billing.exports.order import Build, Deliver, Reply, Target
from ipucloud.billing.exports.periods import Period
from ipucloud.billing.exports.process import Note, carried_out
from ipucloud.billing.exports.selection import Selection
from ipucloud.catalogue.current import CurrentCatalogue
from ipucloud.db.engine import Database
from ipucloud.db.schema_check import SchemaMismatchError
from ipucloud.kernel.errors import DEADLINE_EXCEEDED, Problem
from ipucloud.kernel.sealing import Keys, SealingError, unseal
from ipucloud.operations.results import Achieved, Failed, StepResult
from ipucloud.operations.store import record_progress
from ipucloud.reconcile.reconciler import WorkItem

BUILD_SECONDS = 1800.0
DELIVER_SECONDS = 900.0
AT_ONCE = 4
"""Maximum number of child processes of one worker at the same time."""

GAVE_UP = "The file could not be built. Create the export again, or contact the operator with the operation's id."
_BROKEN_OFF = "The file could not be built; it is retried."
_UNANSWERED = "The bucket's service did not answer."
_UNDELIVERED = "The file could not be delivered in time: {} It can be downloaded for seven days."
_NO_KEY = (
    "The bucket's secret cannot be decrypted. The operator must set IPUCLOUD_SECRETS_KEY to the key that encrypted it; "
    "if that key is lost, create the connection again."
)


@dataclass(frozen=True, slots=True)
class Built(Achieved):
    """The file is complete, in chunks under `fence`."""

    manifest: Mapping[str, JsonValue]
    fence: int


class Exporter:
    """`provider` and the catalogue's names are the names of the service and its regions in files.

    `keys` decrypt buckets' secrets.
    `private_too`: private addresses and plain HTTP are allowed for buckets. `ports`: allowed ports.
    """

    def __init__(
        self,
        database: Database,
        *,
        provider: str,
        catalogue: CurrentCatalogue,
        keys: Keys | None,
        private_too: bool,
        ports: frozenset[int],
    ) -> None:
        self._database = database
        self._provider = provider
        self._catalogue = catalogue
        self._keys = keys
        self._private_too = private_too
        self._ports = ports
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
        try:
            target = self._target(row)
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

    def _target(self, row: Export) -> Target:
        """Raises SealingError."""
        if self._keys is None or row.connection_id is None or row.secret is None:
            raise SealingError("no key")
        return Target(
            endpoint=row.endpoint,
            region=row.region,
            bucket=row.bucket,
            prefix=row.prefix,
            access_key_id=row.access_key_id,
            secret=unseal(self._keys, row.secret, secret_place(row.connection_id, row.home)),
            private_too=self._private_too,
            ports=self._ports,
        )


def _late(sentence: str) -> Failed:
    return Failed("it exceeded its deadline", final=True, problem=Problem(DEADLINE_EXCEEDED, sentence))

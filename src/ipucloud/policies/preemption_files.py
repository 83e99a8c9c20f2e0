"""Brings the notice of a preemptible cluster to its Poplar servers, and records which of them have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.preemption.server_files import PREEMPTION_FILES, REVISION, SEEN
from ipucloud.clusters.server_settings import Server, SettingInputs, SettingReconciler, SettingRow, loading
from ipucloud.clusters.states import BILLABLE
from ipucloud.kernel.failpoints import failpoint
from ipucloud.reconcile.outcomes import Done, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem
from ipucloud.site.ports import Hosts
from ipucloud.wire.site import Host


class PreemptionFileReconciler(SettingReconciler[datetime | None]):
    """The notice on the servers of one cluster in use. A server that is switched off has lost it."""

    kind = PREEMPTION_FILES
    statement = loading(
        REVISION,
        """json_build_array((SELECT notice.preempt_at FROM preemptions AS notice
                              WHERE (notice.project_id, notice.cluster_id) = (c.project_id, c.id)
                                AND notice.ended_at IS NULL))""",
    )
    seen = SEEN
    waiting = 5.0
    what = "the notice"

    def idle(self, row: SettingRow) -> Outcome | None:
        if row.state in BILLABLE:
            return None
        # What restarts or is rebuilt comes back with its notice; what is suspended or deleted needs none.
        return Wait("the cluster is not in use", recheck=self.waiting) if self.content(row) else Done()

    def content(self, row: SettingRow) -> datetime | None:
        [preempt_at] = row.content
        return None if preempt_at is None else datetime.fromisoformat(preempt_at)

    async def put(self, hosts: Hosts, cluster: SettingInputs[datetime | None], server: Server) -> Host:
        return await hosts.put_preemption(
            server.host, server.name, cluster.network, cluster.content, revision=cluster.revision
        )

    def shown(self, host: Host) -> Mapping[str, object] | None:
        return None if host.preemption is None else {"revision": host.preemption.revision}

    async def apply(
        self,
        connection: AsyncConnection,
        item: WorkItem,
        inputs: SettingInputs[datetime | None],
        result: Sequence[tuple[Server, Mapping[str, object] | None]],
    ) -> Outcome:
        outcome = await super().apply(connection, item, inputs, result)
        failpoint("preemption_files.recorded")
        return outcome

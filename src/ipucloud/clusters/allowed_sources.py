"""The networks from which SSH to the servers of a cluster is allowed: kept under a revision, enforced by its site.

Work items of the kind `SOURCE_RULES`, one for each cluster, bring them to the site. A server is deployed with those of
that moment, so that it is never open to others before (`steps/poplar_servers.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.server_settings import (
    EXISTS,
    Server,
    SettingInputs,
    SettingReconciler,
    SettingRow,
    changing,
    loading,
    renewing,
    seeing,
)
from ipucloud.kernel.failpoints import failpoint
from ipucloud.reconcile.outcomes import Outcome
from ipucloud.reconcile.reconciler import WorkItem
from ipucloud.site.ports import Hosts
from ipucloud.wire.site import Host

SOURCE_RULES = "source-rules"
"""Kind of the work items; the key is the cluster's id."""
_REVISION = "sources_revision"
_CHANGE = changing(_REVISION, ", allowed_sources = CAST(:sources AS jsonb)")
_RENEW = renewing(_REVISION)


async def change(connection: AsyncConnection, sources: Sequence[str], *, project_id: UUID, cluster_id: UUID) -> None:
    """Let the locked cluster have these sources."""
    ids = {"project_id": project_id, "clusters": [cluster_id], "kind": SOURCE_RULES}
    await connection.execute(_CHANGE, ids | {"sources": orjson.dumps([*sources]).decode()})


async def renew(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, ordinals: Sequence[int]) -> None:
    """Servers have started: look again at whether their site has the cluster's rules for them."""
    values = {"project_id": project_id, "cluster_id": cluster_id, "ordinals": [*ordinals], "kind": SOURCE_RULES}
    await connection.execute(_RENEW, values)


class SourceRuleReconciler(SettingReconciler[Sequence[str]]):
    """The allowed sources of one cluster."""

    kind = SOURCE_RULES
    statement = loading(_REVISION, "c.allowed_sources", EXISTS)
    seen = seeing(
        f"{_REVISION} = :revision, allowed_sources = CAST(:sources AS jsonb), sources_observed_at = app_now()",
        EXISTS,
    )
    waiting = 5.0
    what = "its allowed sources"

    def content(self, row: SettingRow) -> Sequence[str]:
        return tuple(row.content)

    async def put(self, hosts: Hosts, cluster: SettingInputs[Sequence[str]], server: Server) -> Host:
        return await hosts.put_sources(
            server.host, server.name, cluster.network, cluster.content, revision=cluster.revision
        )

    def shown(self, host: Host) -> Mapping[str, object] | None:
        if host.sources is None:
            return None
        return {"revision": host.sources.revision, "sources": orjson.dumps(host.sources.allowed_sources).decode()}

    async def apply(
        self,
        connection: AsyncConnection,
        item: WorkItem,
        inputs: SettingInputs[Sequence[str]],
        result: Sequence[tuple[Server, Mapping[str, object] | None]],
    ) -> Outcome:
        outcome = await super().apply(connection, item, inputs, result)
        failpoint("source_rules.recorded")
        return outcome

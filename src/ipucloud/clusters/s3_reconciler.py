"""Brings a cluster's S3 connections to its Poplar servers, and records what each was seen to have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.exports.connections import secret_place
from ipucloud.clusters.s3_access import REVISION, S3_ACCESS
from ipucloud.clusters.server_settings import Server, SettingInputs, SettingReconciler, SettingRow, loading, seeing
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.sealing import Keys, SealingError, unseal
from ipucloud.reconcile.outcomes import Outcome, Retry
from ipucloud.reconcile.reconciler import WorkItem
from ipucloud.site.ports import Hosts, Sites
from ipucloud.wire.site import Host, S3Remote

Remotes = tuple[S3Remote, ...]


class S3Reconciler(SettingReconciler[Remotes]):
    """The S3 connections of one cluster. `keys` decrypt their secrets."""

    kind = S3_ACCESS
    statement = loading(
        REVISION,
        """(SELECT coalesce(json_agg(json_build_object(
                     'project_id', k.project_id, 'id', k.id, 'name', k.name, 'endpoint', k.endpoint,
                     'region', k.region, 'bucket', k.bucket, 'prefix', k.prefix, 'access_key_id', k.access_key_id,
                     'secret', k.secret) ORDER BY a.place), '[]')
              FROM cluster_s3_connections AS a
              JOIN s3_connections AS k ON (k.project_id, k.id) = (a.project_id, a.connection_id)
             WHERE (a.project_id, a.cluster_id) = (c.project_id, c.id))""",
    )
    seen = seeing(
        f"{REVISION} = :revision, s3_connections = CAST(:connections AS jsonb), s3_mounts = CAST(:mounts AS jsonb),"
        " s3_observed_at = app_now()"
    )
    waiting = 30.0
    what = "its S3 connections"

    def __init__(self, sites: Sites, *, keys: Keys | None) -> None:
        super().__init__(sites)
        self._keys = keys

    def content(self, row: SettingRow) -> Remotes | Outcome:
        try:
            return tuple(self._remote(each) for each in row.content)
        except SealingError:
            return Retry("a secret of an S3 connection cannot be decrypted", after=self.waiting)

    async def put(self, hosts: Hosts, cluster: SettingInputs[Remotes], server: Server) -> Host:
        return await hosts.put_s3(server.host, server.name, cluster.network, cluster.content, revision=cluster.revision)

    def shown(self, host: Host) -> Mapping[str, object] | None:
        if host.s3 is None:
            return None
        connections, mounts = (orjson.dumps(names).decode() for names in (host.s3.connections, host.s3.mounts))
        return {"revision": host.s3.revision, "connections": connections, "mounts": mounts}

    async def apply(
        self,
        connection: AsyncConnection,
        item: WorkItem,
        inputs: SettingInputs[Remotes],
        result: Sequence[tuple[Server, Mapping[str, object] | None]],
    ) -> Outcome:
        outcome = await super().apply(connection, item, inputs, result)
        failpoint("s3_access.recorded")
        return outcome

    def _remote(self, stored: dict[str, str]) -> S3Remote:
        """Raises SealingError."""
        if self._keys is None:
            raise SealingError("no key")
        place = secret_place(UUID(stored["id"]), UUID(stored["project_id"]))
        return S3Remote.model_validate(stored | {"secret": unseal(self._keys, stored["secret"], place)})

"""The notice on the servers of a cluster, which a work item of its own brings there."""

from __future__ import annotations

from uuid import UUID

from ipucloud.clusters.preemption.server_files import show_on_servers
from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.victims import Victim
from tests.support.waiting import until

_HAS = """
SELECT bool_and(s.notice_revision IS NOT DISTINCT FROM c.notice_revision) AND min(c.notice_revision) > 0
  FROM clusters c JOIN poplar_servers s ON s.cluster_id = c.id WHERE c.id = :id
"""


class ShowNotice(Kind):
    name = "show-notice"

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        async with lab.database.begin() as connection:
            await show_on_servers(connection, project_id=lab.project.id, cluster_id=cluster)
        creation = await lab.creation(cluster)
        return Expectation(cluster, creation, "succeeded", "active")

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await self._has(lab, expectation.cluster)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.survivor():
            await self._has(lab, expectation.cluster)

    async def _has(self, lab: Lab, cluster: UUID) -> None:
        async def has() -> bool:
            return bool(await lab.value(_HAS, id=cluster))

        await until(has, "the server has the notice")


NOTICE_KINDS: tuple[Kind, ...] = (ShowNotice(),)

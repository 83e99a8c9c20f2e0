"""The kind of trial in which a cluster is given an S3 connection: its server has it, whatever dies meanwhile."""

from __future__ import annotations

from uuid import UUID

from ipucloud.billing.exports.connections import Bucket, Rules, connect
from ipucloud.identity.members import Home
from ipucloud.kernel.sealing import read_keys
from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.victims import Victim
from tests.support.waiting import until
from tests.support.world.site_world import SECRETS_KEY

_HAS = """
SELECT bool_and(s.s3_revision IS NOT DISTINCT FROM c.s3_revision)
  FROM clusters c JOIN poplar_servers s ON s.cluster_id = c.id WHERE c.id = :id
"""
NAME = "data"
_PORTS = frozenset({443})


class ChangeS3(Kind):
    name = "change-s3"

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        has = await lab.value("SELECT count(*) FROM cluster_s3_connections WHERE cluster_id = :id", id=cluster)
        bucket = Bucket(NAME, "https://s3.example", "eu", "data", "", "key", "very-secret", attachable=True)
        rules = Rules(read_keys(SECRETS_KEY), private_too=False, ports=_PORTS)
        if not await lab.value("SELECT count(*) FROM s3_connections"):
            async with lab.database.begin() as connection:
                await connect(connection, Home(lab.project.id, None), bucket, rules)
        await lab.update(cluster, s3_connections=[] if has else [NAME])
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

        await until(has, "the server has the connection")


S3_KINDS: tuple[Kind, ...] = (ChangeS3(),)

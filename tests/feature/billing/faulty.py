"""A cluster with hardware that fails and works again, under the clock of the books."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa

from ipucloud.clusters.faults import apply_reports
from ipucloud.clusters.tables import poplar_servers
from ipucloud.invariants.audit import audit
from ipucloud.invariants.billing_credits import RULES
from ipucloud.inventory.health.codes import CODES, Code, Kind
from ipucloud.inventory.health.tables import health_reports
from ipucloud.inventory.tables import allocations, site_regions
from ipucloud.kernel.ids import new_id
from tests.feature.billing.world import REGION, BillingWorld
from tests.support.factories import LONG_AGO, make_cluster_row, seed_region

SERVER = 4
"""The part that is the only server's host, of a cluster with four machines."""


@dataclass(frozen=True, slots=True)
class Faulty:
    """A cluster in use. Parts are its machines from 0 on, and then its servers' hosts."""

    billing: BillingWorld
    cluster: UUID
    parts: tuple[tuple[Kind, UUID], ...]

    async def fails(
        self, part: int, first_seen_at: datetime, code: Code | None = None, *, settled: bool = True
    ) -> UUID:
        """A fault that was first seen then is confirmed now; the report."""
        kind, thing = self.parts[part]
        code = code or (Code.HOST_FAILED if kind == "host" else Code.BMC_CRITICAL)
        declared, report = CODES[kind][code], new_id()
        await self.billing.insert(
            sa.insert(health_reports).values(
                id=report,
                region=REGION,
                machine_id=thing if kind == "machine" else None,
                host_id=thing if kind == "host" else None,
                source=min(declared.sources),
                code=code,
                allocation=declared.allocation,
                credited=declared.credited,
                detail="as seen",
                message=declared.message,
                first_seen_at=first_seen_at,
                confirmed_at=sa.func.app_now(),
            )
        )
        if settled:
            await self.settle()
        return report

    async def works(self, report: UUID, since: datetime, *, settled: bool = True) -> None:
        """The fault is seen now to be over since then."""
        over = "UPDATE health_reports SET good_since = :since, cleared_at = app_now() WHERE id = :id"
        await self.billing.execute(over, since=since, id=report)
        if settled:
            await self.settle()

    async def settle(self) -> None:
        """What an observation does after it has written reports."""
        async with self.billing.database.begin() as connection:
            await apply_reports(connection, project_id=self.billing.project.id, cluster_id=self.cluster)

    async def violations(self) -> list[str]:
        """What the audit says of credits."""
        return [f"{each.rule.name}: {each.violation.detail}" for each in await audit(self.billing.database, RULES)]


async def faulty(billing: BillingWorld, machines: int = 4, servers: int = 1) -> Faulty:
    """A cluster that is not billed yet, with machines and servers that work."""
    async with billing.database.begin() as connection:
        known = await connection.scalar(sa.select(sa.func.count()).select_from(site_regions))
        if not known:
            await seed_region(connection, REGION, host_count=4)
        cluster = await make_cluster_row(
            connection, billing.project.id, machines=machines, ipus=4 * machines, flavor="m2000-pod16"
        )
        parts = await connection.execute(
            sa.text(
                "(SELECT 'machine', id FROM machines m WHERE NOT EXISTS"
                "  (SELECT FROM allocations a WHERE a.machine_id = m.id) ORDER BY name LIMIT :machines)"
                " UNION ALL (SELECT 'host', id FROM hosts h WHERE NOT EXISTS"
                "  (SELECT FROM allocations a WHERE a.host_id = h.id) ORDER BY name LIMIT :servers)"
            ),
            {"machines": machines, "servers": servers},
        )
        cluster_parts = Faulty(billing, cluster, tuple((kind, thing) for kind, thing in parts))
        for ordinal, (kind, thing) in enumerate(cluster_parts.parts):
            held = {"id": new_id(), "project_id": billing.project.id, "cluster_id": cluster, "created_at": LONG_AGO}
            await connection.execute(
                sa.insert(allocations).values(**held, ordinal=ordinal % machines, **{f"{kind}_id": thing})
            )
        for ordinal in range(servers):
            await connection.execute(
                sa.insert(poplar_servers).values(
                    id=new_id(),
                    project_id=billing.project.id,
                    cluster_id=cluster,
                    ordinal=ordinal,
                    name=f"poplar-{ordinal}",
                    state="running",
                )
            )
    return cluster_parts

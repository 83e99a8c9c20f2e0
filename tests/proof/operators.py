"""What operators do with hardware while a proof goes on."""

from __future__ import annotations

from uuid import UUID

from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.reports import clear, report
from tests.support.world import SiteWorld

_HELD = """
SELECT machine_id FROM allocations WHERE cluster_id = :id AND freed_at IS NULL AND machine_id IS NOT NULL
 ORDER BY machine_id LIMIT 1
"""


async def drain(world: SiteWorld, cluster: UUID) -> UUID:
    """Drain a machine that the cluster holds: the cluster keeps it, and no other one gets it. The machine."""
    machine: UUID = await world.value(_HELD, id=cluster)
    async with world.database.begin() as connection:
        await report(
            connection,
            kind="machine",
            object_id=machine,
            source=Source.OPERATOR,
            code=Code.DRAIN,
            detail="its rack is moved",
            cluster_id=cluster,
        )
    return machine


async def clear_reports(world: SiteWorld, *codes: Code) -> None:
    """End every report with these codes, so that the next cases can have the hardware."""
    reports = await world.column(
        "SELECT id FROM health_reports WHERE cleared_at IS NULL AND code = ANY (:codes)", codes=[*codes]
    )
    for each in reports:
        async with world.database.begin() as connection:
            await clear(connection, report_id=each)

"""What operators see of a filled region: a validation, health, inventory, a freeze, a simulated fault and a finding."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.invariants.tables import site_findings
from ipucloud.inventory.expected.changes import replace
from ipucloud.inventory.expected.shown import Change, Shown, record_changes, write_shown
from ipucloud.inventory.expected.tables import Happened
from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.reports import report
from ipucloud.inventory.health.tables import observations
from ipucloud.inventory.tables import hardware_validations, simulated_faults
from ipucloud.kernel.ids import new_id
from ipucloud.operations.tables import freezes
from tests.support.factories import LUXEMBOURG
from tests.support.filled_names import DELETED_AT, FAR_AWAY, READY_AT, Filled


async def fill_hardware(connection: AsyncConnection, filled: Filled) -> None:
    """One row of each table at least."""
    await _health(connection, filled)
    await _inventory(connection)
    await _operators(connection)


async def _health(connection: AsyncConnection, filled: Filled) -> None:
    """A validation, and a reading of the region with what it showed of the host."""
    validated = {"id": new_id(), "machine_id": filled.machine, "reason": "release", "result": "abandoned"}
    await connection.execute(sa.insert(hardware_validations).values(**validated, ended_at=READY_AT))
    await connection.execute(sa.insert(observations).values(region=LUXEMBOURG[0], source="bmc"))
    await report(
        connection, kind="host", object_id=filled.host, source=Source.HOST, code=Code.HOST_FAILED, detail="no heartbeat"
    )


async def _inventory(connection: AsyncConnection) -> None:
    """A machine that shows another serial number than expected, and an event about it."""
    region, shown = LUXEMBOURG[0], Shown("m0", serial="GC2")
    items = [{"kind": "machine", "name": "m0", "serial": "GC1"}]
    await replace(connection, region, items, str(new_id()))
    await write_shown(connection, region, "machine", [shown])
    await record_changes(connection, region, "machine", [Change("m0", Happened.ADDED, "the site's inventory lists it")])


async def _operators(connection: AsyncConnection) -> None:
    """What operators did, and what they are to look at."""
    await connection.execute(
        sa.insert(freezes).values(
            id=new_id(),
            reason="moving the rack",
            created_by=new_id(),
            expires_at=FAR_AWAY,
            ended_at=DELETED_AT,
            ended_by=new_id(),
            end_reason="done",
        )
    )
    await connection.execute(
        sa.insert(simulated_faults).values(
            id=new_id(), region=LUXEMBOURG[0], kind="link", name="m0", link="next", state="ended", created_by=new_id()
        )
    )
    await connection.execute(
        sa.insert(site_findings).values(
            rule="network_belongs_to_a_cluster",
            region=LUXEMBOURG[0],
            object_id="operators-own",
            detail="unowned",
        )
    )

"""Writes of operators: what they do with hardware, health reports and work items."""

from __future__ import annotations

from functools import partial
from itertools import count

from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.reports import report
from tests.api.support import key
from tests.proof.writes.write import At, Cases, Setup, Write, sent
from tests.support.world.customer import REGION

_numbers = count()


async def _machine(setup: Setup) -> str:
    """The name of another machine each time, in a region without clusters."""
    names = await setup.world.column(
        "SELECT m.name FROM machines m JOIN pods p ON p.id = m.pod_id WHERE p.region <> :region ORDER BY m.name",
        region=REGION,
    )
    name: str = names[next(_numbers) % len(names)]
    return name


async def _of_machines(setup: Setup, *, verb: str, **reason: str) -> Write:
    body = {"machines": [await _machine(setup)], **reason}
    other = body | ({"reason": "another"} if reason else {"machines": [await _machine(setup)]})
    return Write("POST", f"/v1/operator/hardware:{verb}", setup.admin.secret, body, other, key())


async def _health_report(setup: Setup) -> At:
    machine = await setup.world.value("SELECT id FROM machines WHERE name = :name", name=await _machine(setup))
    async with setup.world.database.begin() as connection:
        report_id = await report(
            connection, kind="machine", object_id=machine, source=Source.VIPU, code=Code.LINK_DEGRADED, detail="as seen"
        )
    return At(f"/v1/operator/health-reports/{report_id}", setup.admin.secret)


async def _work_item(setup: Setup) -> At:
    cluster = await setup.world.customer(await setup.project()).create()
    return At(f"/v1/operator/work/cluster/{cluster.target_id}", setup.admin.secret)


WRITES: Cases = {
    **{
        operation: partial(_of_machines, verb=verb, reason="replace the fan")
        for operation, verb in (
            ("startMaintenance", "maintenance"),
            ("drainHardware", "drain"),
            ("quarantineHardware", "quarantine"),
        )
    },
    "validateHardware": partial(_of_machines, verb="validate"),
    "returnToService": partial(_of_machines, verb="return-to-service"),
    "clearHealthReport": sent(_health_report, "POST", ":clear"),
    "parkWork": sent(_work_item, "POST", ":park", {"reason": "site upgrade"}, {"reason": "another"}),
    "requeueWork": sent(_work_item, "POST", ":requeue"),
}

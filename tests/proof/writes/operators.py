"""Writes of operators: what they do with hardware, health reports and work items."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count

from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.reports import report
from tests.api.support import key
from tests.proof.writes.write import Cases, Setup, Write
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


def _order(verb: str) -> Callable[[Setup], Awaitable[Write]]:
    async def order(setup: Setup) -> Write:
        body = {"machines": [await _machine(setup)], "reason": "replace the fan"}
        path = f"/v1/operator/hardware:{verb}"
        return Write("POST", path, setup.admin.secret, body, body | {"reason": "another"}, key())

    return order


async def validate_hardware(setup: Setup) -> Write:
    machine, other = await _machine(setup), await _machine(setup)
    path = "/v1/operator/hardware:validate"
    return Write("POST", path, setup.admin.secret, {"machines": [machine]}, {"machines": [other]}, key())


async def return_to_service(setup: Setup) -> Write:
    machine, other = await _machine(setup), await _machine(setup)
    path = "/v1/operator/hardware:return-to-service"
    return Write("POST", path, setup.admin.secret, {"machines": [machine]}, {"machines": [other]}, key())


async def clear_health_report(setup: Setup) -> Write:
    machine = await setup.world.value("SELECT id FROM machines WHERE name = :name", name=await _machine(setup))
    async with setup.world.database.begin() as connection:
        report_id = await report(
            connection, kind="machine", object_id=machine, source=Source.VIPU, code=Code.LINK_DEGRADED, detail="as seen"
        )
    return Write("POST", f"/v1/operator/health-reports/{report_id}:clear", setup.admin.secret, headers=key())


async def _work_item(setup: Setup) -> str:
    cluster = await setup.world.customer(await setup.project()).create()
    return f"/v1/operator/work/cluster/{cluster.target_id}"


async def park_work(setup: Setup) -> Write:
    path = f"{await _work_item(setup)}:park"
    return Write("POST", path, setup.admin.secret, {"reason": "site upgrade"}, {"reason": "another"}, key())


async def requeue_work(setup: Setup) -> Write:
    return Write("POST", f"{await _work_item(setup)}:requeue", setup.admin.secret, headers=key())


WRITES: Cases = {
    "startMaintenance": _order("maintenance"),
    "drainHardware": _order("drain"),
    "quarantineHardware": _order("quarantine"),
    "validateHardware": validate_hardware,
    "returnToService": return_to_service,
    "clearHealthReport": clear_health_report,
    "parkWork": park_work,
    "requeueWork": requeue_work,
}

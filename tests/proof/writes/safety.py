"""Writes of operators about removals, and about the hardware that is expected."""

from __future__ import annotations

from ipucloud.inventory.expected.changes import replace
from tests.api.support import key
from tests.proof.writes.office import ACCEPTED, DELETED, REPLACED, Cases, Office, Write
from tests.support.world.customer import REGION

FREEZE = {"reason": "the site is rebuilt", "expires_at": "2126-01-01T00:00:00Z"}


async def start_freeze(office: Office) -> Write:
    # A freeze ends the one before it: let there be none.
    await office.world.execute("UPDATE freezes SET ended_at = app_now(), end_reason = 'over' WHERE ended_at IS NULL")
    body = FREEZE | {"region": REGION}
    return Write("POST", "/v1/operator/freezes", office.admin.secret, body, body | {"reason": "another"}, key())


async def end_freeze(office: Office) -> Write:
    made = await office.id_of("/v1/operator/freezes", FREEZE, office.admin.secret)
    body = {"reason": "the site is ready"}
    return Write(
        "POST", f"/v1/operator/freezes/{made}:end", office.admin.secret, body, body | {"reason": "another"}, key()
    )


async def force_delete_cluster(office: Office) -> Write:
    made = await office.world.customer(await office.project()).create()
    path = f"/v1/operator/clusters/{made.target_id}:force-delete"
    return Write("POST", path, office.admin.secret, {"reason": "it is abused"}, {"reason": "another"}, key())


async def _expected(office: Office, region: str) -> str:
    """Expect one machine of a region, which its site does not show; its name."""
    name = office.fresh()
    async with office.world.database.begin() as connection:
        await replace(connection, region, [{"kind": "machine", "name": name}], "setup")
    return name


async def replace_expected_inventory(office: Office) -> Write:
    await _expected(office, REPLACED)
    path = f"/v1/operator/regions/{REPLACED}/expected-inventory"
    return Write("PUT", path, office.admin.secret, {"items": [{"kind": "machine", "name": office.fresh()}]})


async def accept_shown_hardware(office: Office) -> Write:
    body = {"machines": [await _expected(office, ACCEPTED)], "reason": "it was sold"}
    path = f"/v1/operator/regions/{ACCEPTED}/expected-inventory:accept"
    return Write("POST", path, office.admin.secret, body, body | {"reason": "another"}, key())


async def delete_expected_inventory(office: Office) -> Write:
    await _expected(office, DELETED)
    return Write("DELETE", f"/v1/operator/regions/{DELETED}/expected-inventory", office.admin.secret)


SIMULATED_FAULTS = "/v1/operator/simulated-faults"


async def _working_hosts(office: Office) -> list[str]:
    """Hosts of a simulated site, by name, that no simulated fault breaks yet: a second one of a host is refused."""
    await office.world.execute("UPDATE site_regions SET simulated = true WHERE region = :region", region=REGION)
    names: list[str] = await office.world.value(
        "SELECT array_agg(name ORDER BY name) FROM hosts WHERE region = :region"
        " AND name NOT IN (SELECT name FROM simulated_faults WHERE kind = 'host' AND state <> 'ended')",
        region=REGION,
    )
    return names


def _of_host(name: str) -> dict[str, str]:
    return {"kind": "host", "name": name}


async def create_simulated_fault(office: Office) -> Write:
    first, second, *_ = await _working_hosts(office)
    return Write("POST", SIMULATED_FAULTS, office.admin.secret, _of_host(first), _of_host(second), key())


async def end_simulated_fault(office: Office) -> Write:
    """Of another host than the next fault: both are prepared before either is sent."""
    *_, last = await _working_hosts(office)
    made = await office.id_of(SIMULATED_FAULTS, _of_host(last), office.admin.secret)
    return Write("POST", f"{SIMULATED_FAULTS}/{made}:end", office.admin.secret, headers=key())


WRITES: Cases = {
    "createSimulatedFault": create_simulated_fault,
    "endSimulatedFault": end_simulated_fault,
    "startFreeze": start_freeze,
    "endFreeze": end_freeze,
    "forceDeleteCluster": force_delete_cluster,
    "replaceExpectedInventory": replace_expected_inventory,
    "acceptShownHardware": accept_shown_hardware,
    "deleteExpectedInventory": delete_expected_inventory,
}

"""Writes of operators about removals, and about the hardware that is expected."""

from __future__ import annotations

from ipucloud.inventory.expected.changes import replace
from tests.api.support import key
from tests.proof.writes.write import ACCEPTED, DELETED, REPLACED, At, Cases, Setup, Write, created, platform, sent
from tests.support.world.customer import REGION

FREEZE = {"reason": "the site is rebuilt", "expires_at": "2126-01-01T00:00:00Z"}


async def start_freeze(setup: Setup) -> Write:
    # A freeze ends the one before it: let there be none.
    await setup.world.execute("UPDATE freezes SET ended_at = app_now(), end_reason = 'over' WHERE ended_at IS NULL")
    body = FREEZE | {"region": REGION}
    return Write("POST", "/v1/operator/freezes", setup.admin.secret, body, body | {"reason": "another"}, key())


async def _cluster(setup: Setup) -> At:
    cluster = await setup.world.customer(await setup.project()).create()
    return At(f"/v1/operator/clusters/{cluster.target_id}", setup.admin.secret)


async def _expected(setup: Setup, region: str) -> str:
    """Expect one machine of a region, which its site does not show; its name."""
    name = setup.fresh()
    async with setup.world.database.begin() as connection:
        await replace(connection, region, [{"kind": "machine", "name": name}], "setup")
    return name


async def replace_expected_inventory(setup: Setup) -> Write:
    await _expected(setup, REPLACED)
    path = f"/v1/operator/regions/{REPLACED}/expected-inventory"
    return Write("PUT", path, setup.admin.secret, {"items": [{"kind": "machine", "name": setup.fresh()}]})


async def accept_shown_hardware(setup: Setup) -> Write:
    body = {"machines": [await _expected(setup, ACCEPTED)], "reason": "it was sold"}
    path = f"/v1/operator/regions/{ACCEPTED}/expected-inventory:accept"
    return Write("POST", path, setup.admin.secret, body, body | {"reason": "another"}, key())


async def _expected_inventory(setup: Setup) -> At:
    await _expected(setup, DELETED)
    return At(f"/v1/operator/regions/{DELETED}/expected-inventory", setup.admin.secret)


SIMULATED_FAULTS = "/v1/operator/simulated-faults"


async def _working_hosts(setup: Setup) -> list[str]:
    """Hosts of a simulated site, by name, that no simulated fault breaks yet: a second one of a host is refused."""
    await setup.world.execute("UPDATE site_regions SET simulated = true WHERE region = :region", region=REGION)
    names: list[str] = await setup.world.value(
        "SELECT array_agg(name ORDER BY name) FROM hosts WHERE region = :region"
        " AND name NOT IN (SELECT name FROM simulated_faults WHERE kind = 'host' AND state <> 'ended')",
        region=REGION,
    )
    return names


def _of_host(name: str) -> dict[str, str]:
    return {"kind": "host", "name": name}


async def create_simulated_fault(setup: Setup) -> Write:
    first, second, *_ = await _working_hosts(setup)
    return Write("POST", SIMULATED_FAULTS, setup.admin.secret, _of_host(first), _of_host(second), key())


async def end_simulated_fault(setup: Setup) -> Write:
    """Of another host than the next fault: both are prepared before either is sent."""
    *_, last = await _working_hosts(setup)
    fault = await setup.id_of(SIMULATED_FAULTS, _of_host(last), setup.admin.secret)
    return Write("POST", f"{SIMULATED_FAULTS}/{fault}:end", setup.admin.secret, headers=key())


WRITES: Cases = {
    "createSimulatedFault": create_simulated_fault,
    "endSimulatedFault": end_simulated_fault,
    "startFreeze": start_freeze,
    "endFreeze": sent(
        created(platform, "/operator/freezes", FREEZE), "POST", ":end", {"reason": "it is ready"}, {"reason": "another"}
    ),
    "forceDeleteCluster": sent(_cluster, "POST", ":force-delete", {"reason": "it is abused"}, {"reason": "another"}),
    "replaceExpectedInventory": replace_expected_inventory,
    "acceptShownHardware": accept_shown_hardware,
    "deleteExpectedInventory": sent(_expected_inventory, "DELETE"),
}

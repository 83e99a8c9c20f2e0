"""What operators see of machines that no cluster holds: how they were cleaned, and whether they were validated."""

from __future__ import annotations

from uuid import UUID

import httpx
import pytest

from ipucloud.identity.roles import Role
from tests.api.support import Api, items, ok, problem

pytestmark = pytest.mark.anyio


async def test_what_was_observed_between_two_clusters_is_found_by_machine_and_cluster(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    cluster = UUID((await api.make_cluster("bert"))["target"]["id"])
    await api.world.delete(cluster)
    await api.world.finish_delete(cluster)

    async def cleaned(**query: str) -> list[tuple[str, str]]:
        answer = ok(await admin.get("/v1/operator/cleanings", params=query))
        return [(each["kind"], each["name"]) for each in answer["items"]]

    validations = await cleaned(cluster=str(cluster))
    assert sorted(kind for kind, _ in validations) == ["host", "machine"]
    machine = dict(validations)["machine"]
    assert await cleaned(machine=machine) == [("machine", machine)]
    assert await cleaned(host=machine) == await cleaned(region="amsterdam-1") == []


async def test_a_machine_is_kept_from_clusters_until_it_was_validated_or_that_is_withdrawn(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    await api.make_cluster("bert")
    pod = "luxembourg-2-m2000-pod-000"

    async def validated(**body: list[str]) -> httpx.Response:
        return await admin.post("/v1/operator/hardware:validate", json=body)

    changed = {each["name"]: each for each in (await validated(pods=[pod])).json()["items"]}
    assert len(changed) == 16
    held = {name for name, each in changed.items() if each["holder"]}
    assert {name for name, each in changed.items() if each["codes"] == ["not_validated"]} == changed.keys() - held
    problem(await validated(machines=sorted(held)), 409, "state_conflict")
    capacity = (await admin.get("/v1/operator/regions/luxembourg-2/capacity")).json()["types"][0]["states"]
    assert (capacity["free"], capacity["validating"], capacity["allocated"]) == (0, 15, 1)
    listed = await items(admin, "/v1/operator/validations", state="waiting", limit="1000")
    assert {each["machine"] for each in listed} == changed.keys() - held
    assert {(each["reason"], each["result"], each["name"]) for each in listed} == {("operator", None, None)}
    [machine, other, *_] = sorted(changed.keys() - held)
    await api.world.execute(
        "UPDATE hardware_validations SET name = 'val-1', started_at = app_now(), deadline_at = app_now()"
        " WHERE machine_id = (SELECT id FROM machines WHERE name = :name)",
        name=other,
    )
    for name, status in ((machine, 200), (other, 409)):
        [report] = await items(admin, "/v1/operator/health-reports", machine=name)
        cleared = await admin.post(f"/v1/operator/health-reports/{report['id']}:clear")
        assert cleared.status_code == status, cleared.text
    shown = (await admin.get(f"/v1/operator/machines/{machine}")).json()
    assert (shown["state"], shown["codes"]) == ("free", [])
    assert (await admin.get(f"/v1/operator/machines/{other}")).json()["state"] == "validating"
    [entry] = await items(admin, f"/v1/operator/machines/{machine}/history?type=validated")
    assert (entry["detail"], entry["actor"] is not None) == ("abandoned: an operator cleared the report", True)

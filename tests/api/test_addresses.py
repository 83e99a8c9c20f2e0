"""Addresses over the API: what is refused says why and changes nothing; names, quota, money, projects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ipucloud.identity.roles import Role
from tests.api.support import Api, codes_of, key, problem
from tests.support.addresses import IP, address_json, make_address, offer_addresses

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
async def offered(api: Api) -> None:
    async with api.world.database.begin() as connection:
        await offer_addresses(connection)


async def post(api: Api, path: str, body: Mapping[str, object] | None = None) -> Any:
    return await api.owner.post(f"{api.base}/addresses{path}", json=body, headers=key())


async def test_an_address_is_made_found_by_its_name_changed_and_listed(api: Api) -> None:
    answer = await post(api, "", address_json(tags={"team": "nlp"}))
    assert answer.status_code == 202, answer.text
    address = answer.json()
    assert answer.headers["location"].endswith(address["id"])
    assert (address["state"], address["ip"], address["observed_at"], address["tags"]) == (
        "creating",
        None,
        None,
        {"team": "nlp"},
    )
    assert (await api.owner.get(f"{api.base}/addresses/frontdoor")).json() == address
    problem(await post(api, "", address_json(tags={})), 409, "name_taken")
    changed = await api.owner.patch(f"{api.base}/addresses/frontdoor", json={"name": "door"}, headers=key())
    assert changed.json()["name"] == "door"
    problem(await api.owner.get(f"{api.base}/addresses/frontdoor"), 404, "not_found")
    assert (await api.owner.delete(f"{api.base}/addresses/door")).json()["state"] == "deleting"
    listed = (await api.owner.get(f"{api.base}/addresses", params={"state": "deleting"})).json()["items"]
    assert [each["name"] for each in listed] == ["door"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"name": "../door"}, "string_pattern_mismatch"),
        ({"region": "nowhere"}, "unknown_region"),
        ({"region": "amsterdam-2"}, "not_offered"),
        ({"ip": IP}, "extra_forbidden"),
    ],
)
async def test_what_cannot_be_is_refused(api: Api, changes: dict[str, object], code: str) -> None:
    assert codes_of(await post(api, "", address_json() | changes)) == [code]
    assert await api.world.value("SELECT count(*) FROM addresses") == 0


async def test_a_project_has_five_addresses_in_a_region_unless_it_gets_more(api: Api) -> None:
    for number in range(5):
        assert (await post(api, "", address_json(f"door-{number}"))).status_code == 202
    refused = problem(await post(api, "", address_json("more")), 409, "quota_exceeded")
    assert refused["why_not"]["numbers"] == {"wanted": 1, "limit": 5, "used": 5}
    assert "ipucloud quotas request luxembourg-2 address 6" in refused["detail"]
    assert await quota(api) == {"unit": "address", "limit": 5, "used": 5}
    admin = await api.caller(Role.ADMIN)
    path = f"{api.base}/quota-requests"
    body = {"region": "luxembourg-2", "machine_type": "address", "limit": 5, "reason": "Doors"}
    problem(await api.owner.post(path, json=body, headers=key()), 422, "validation_failed")
    answer = await api.owner.post(path, json=body | {"limit": 9}, headers=key())
    assert answer.status_code == 201, answer.text
    one = f"/v1/operator/quota-requests/{answer.json()['id']}"
    request = (await admin.get(one)).json()
    assert (request["present_limit"], request["used"]) == (5, 5)
    assert (await admin.get("/v1/operator/quota-requests")).json()["items"] == [request]
    granted = (await admin.post(f"{one}:grant", json={"limit": 6}, headers=key())).json()
    assert (granted["granted_limit"], granted["present_limit"]) == (6, 6)
    assert (await post(api, "", address_json("more"))).status_code == 202
    problem(await post(api, "", address_json("seventh")), 409, "quota_exceeded")
    # One that is being deleted makes room.
    await api.owner.delete(f"{api.base}/addresses/more")
    assert await quota(api) == {"unit": "address", "limit": 6, "used": 5}


async def test_an_operator_sets_the_quota_of_addresses_beside_that_of_machines(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    assert (await post(api, "", address_json())).status_code == 202
    ours = "SELECT * FROM quotas WHERE project_id = :project ORDER BY region, machine_type"
    machines = await api.world.rows(ours, project=api.world.project.id)

    async def put(*limits: int) -> Any:
        answer = await admin.get(f"{api.base}/quotas")
        others = [each for each in answer.json()["items"] if each["unit"] == "machine"]
        of_addresses = [{"region": "luxembourg-2", "machine_type": "address", "limit": limit} for limit in limits]
        items = [{key: each[key] for key in ("region", "machine_type", "limit")} for each in others] + of_addresses
        return await admin.put(
            f"{api.base}/quotas", json={"items": items}, headers={"If-Match": answer.headers["etag"]} | key()
        )

    assert "has 1 address in" in problem(await put(0), 409, "state_conflict")["detail"]
    assert (await put(1)).status_code == 200
    assert await quota(api) == {"unit": "address", "limit": 1, "used": 1}
    problem(await post(api, "", address_json("more")), 409, "quota_exceeded")
    assert (await put()).status_code == 200, "the default again"
    assert await quota(api) == {"unit": "address", "limit": 5, "used": 1}
    assert await api.world.rows(ours, project=api.world.project.id) == machines


async def quota(api: Api) -> dict[str, object]:
    """As the project reads it."""
    items = (await api.owner.get(f"{api.base}/quotas")).json()["items"]
    [row] = [each for each in items if each["machine_type"] == "address" and each["region"] == "luxembourg-2"]
    return {name: row[name] for name in ("unit", "limit", "used")}


async def test_an_address_is_attached_to_clusters_of_its_project_and_region_in_use(api: Api) -> None:
    address = await make_address(api.world, api.world.project)
    elsewhere = await api.world.make_active("there", "bow-pod4", region="amsterdam-2")
    starting = (await api.world.create("starting")).target_id
    stranger = await api.other_project()
    foreign = (await api.world.customer(stranger).create("foreign")).target_id
    await api.world.finish_create(foreign)
    for cluster, status, code, words in (
        (elsewhere, 409, "state_conflict", "amsterdam-2"),
        (starting, 409, "state_conflict", "in use"),
        (foreign, 404, "not_found", f"no cluster {foreign}"),
    ):
        refused = problem(await post(api, f"/{address}:attach", {"cluster": str(cluster)}), status, code)
        assert words in refused["detail"]
    here = await api.world.make_active("here")
    wrong = {"cluster": str(here), "poplar_server": "nobody"}
    problem(await post(api, f"/{address}:attach", wrong), 422, "validation_failed")
    answer = await post(api, f"/{address}:attach", {"cluster": str(here)})
    shown = answer.json()
    assert (answer.status_code, shown["state"], shown["cluster"], shown["cluster_name"], shown["command"]) == (
        202,
        "attaching",
        str(here),
        "here",
        None,
    )
    [listed] = (await api.owner.get(f"{api.base}/addresses")).json()["items"]
    assert listed == shown
    assert (await post(api, f"/{address}:attach", {"cluster": str(here)})).json() == shown, "asked again"
    other = await api.world.make_active("other")
    problem(await post(api, f"/{address}:attach", {"cluster": str(other)}), 409, "state_conflict")
    refused = problem(await api.owner.delete(f"{api.base}/addresses/{address}"), 409, "in_use")
    assert "Detach it" in refused["detail"]
    # The end of the cluster is not that of the address.
    await api.world.delete(here)
    assert await api.world.value("SELECT state FROM addresses") == "detaching"


async def test_a_cluster_shows_its_addresses_with_the_command_that_logs_in(api: Api) -> None:
    cluster = await api.world.make_active("bert")
    address = await make_address(api.world, api.world.project, attached_to=cluster)
    await make_address(api.world, api.world.project, "spare")
    shown = (await api.owner.get(f"{api.base}/clusters/bert")).json()
    server = shown["poplar_servers"][0]
    command = f"ssh -p 22 {server['ssh']['user']}@{IP}"
    assert shown["addresses"] == [
        {
            "id": str(address),
            "name": "frontdoor",
            "state": "attached",
            "ip": IP,
            "port": 22,
            "poplar_server": server["name"],
            "command": command,
        }
    ]
    assert (await api.owner.get(f"{api.base}/addresses/frontdoor")).json()["command"] == command
    detached = (await post(api, "/frontdoor:detach")).json()
    assert (detached["state"], detached["command"]) == ("detaching", None)


async def test_an_address_is_billed_until_its_deletion_is_accepted(api: Api) -> None:
    address = await make_address(api.world, api.world.project)
    billed = "SELECT ended_at IS NULL FROM usage_intervals WHERE address_id = :id"
    assert await api.world.column(billed, id=address) == [True]
    assert (await api.owner.delete(f"{api.base}/addresses/{address}")).json()["state"] == "deleting"
    assert (await api.owner.delete(f"{api.base}/addresses/{address}")).status_code == 202, "asked again"
    assert await api.world.column(billed, id=address) == [False]


async def test_a_project_with_addresses_is_not_deleted(api: Api) -> None:
    project = await api.other_project()
    await make_address(api.world, project)
    refused = problem(await (await api.caller(Role.ADMIN)).delete(f"/v1/projects/{project.slug}"), 409, "in_use")
    assert "addresses" in refused["detail"]

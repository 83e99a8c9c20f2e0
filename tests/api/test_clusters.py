"""Clusters, usage and the catalogue through the API; what a model documents is what is answered."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ipucloud.policies.preemption import follow_preemptions
from ipucloud.policies.waiting import serve_waiting
from tests.api.support import Api, cluster_id, cluster_json, items, key, ok, problem
from tests.support.preemptible import offer_preemptible

pytestmark = pytest.mark.anyio


async def test_a_cluster_from_its_making_to_its_end(api: Api) -> None:
    accepted = await api.owner.post(f"{api.base}/clusters", json=cluster_json(tags={"team": "nlp"}))
    operation = accepted.json()
    assert operation.pop("warnings") == []
    assert (await api.owner.get(accepted.headers["location"])).json() == operation
    path = f"{api.base}/clusters/{operation['target']['id']}"
    cluster = (await api.owner.get(path)).json()
    assert (cluster["state"], cluster["tags"]) == ("creating", {"team": "nlp"})
    assert cluster["operation"]["id"] == operation["id"]
    assert (await api.owner.get(f"{path}/machines")).json()["items"] == cluster["machines"]
    assert (await api.owner.get(f"{path}/poplar-servers")).json()["items"] == cluster["poplar_servers"]
    await api.world.finish_create(cluster_id(operation))
    active = (await api.owner.get(path)).json()
    assert (active["state"], active["billing"]["status"]) == ("active", "running")
    usage = (await api.owner.get(f"{path}/usage")).json()
    assert (usage["running"], usage["cluster_id"]) == (True, cluster["id"])
    gone = await api.owner.delete(path)
    assert (gone.status_code, gone.json()["kind"]) == (202, "cluster.delete")
    assert (await api.owner.delete(path)).json()["id"] == gone.json()["id"]
    await api.world.finish_delete(cluster_id(operation))
    assert (await api.owner.get(path)).json()["state"] == "deleted"
    assert (await api.owner.get(f"{api.base}/clusters")).json()["items"] == []
    problem(await api.owner.delete(path), 404, "not_found")
    project = (await api.owner.get(f"{api.base}/usage")).json()
    assert project == (await api.owner.get(f"{api.base}/billing/usage")).json() | {"until": project["until"]}


async def test_what_cannot_be_had_says_why(api: Api) -> None:
    await api.make_cluster()
    problem(await api.owner.post(f"{api.base}/clusters", json=cluster_json()), 409, "name_taken")
    large = await api.owner.post(f"{api.base}/clusters", json=cluster_json("ernie", flavor="m2000-pod64"))
    assert problem(large, 409, "capacity_exhausted")["why_not"]["numbers"]["largest"] == 8
    await api.world.execute("UPDATE quotas SET machine_limit = 2 WHERE machine_type = 'm2000'")
    refused = await api.owner.post(f"{api.base}/clusters", json=cluster_json("ernie", flavor="m2000-pod16"))
    quota = problem(refused, 409, "quota_exceeded")
    assert quota["why_not"]["numbers"]["used"] == 1
    assert "ipucloud quotas request luxembourg-2 m2000 5" in quota["detail"]
    assert await api.count("clusters") == 1


async def test_usage_of_a_period(api: Api) -> None:
    now = datetime.now(UTC)
    query = {"since": "2020-01-01T00:00:00Z", "until": "2020-02-01T00:00:00Z"}
    past = (await api.owner.get(f"{api.base}/usage", params=query)).json()
    assert (past["minutes"], past["cost"], past["clusters"]) == (0, {"amount": "0.00", "currency": "EUR"}, [])
    month = (await api.owner.get(f"{api.base}/usage")).json()
    assert month["since"] == f"{now:%Y-%m}-01T00:00:00Z"


async def test_the_catalogue(shared_api: Api) -> None:
    regions = (await shared_api.owner.get("/v1/regions")).json()["items"]
    assert {region["slug"] for region in regions} >= {"luxembourg-2", "amsterdam-2"}
    region = regions[0]
    assert (await shared_api.owner.get(f"/v1/regions/{region['number']}")).json() == region
    flavors = (await shared_api.owner.get("/v1/flavors", params={"region": "amsterdam-2"})).json()["items"]
    assert {flavor["machine_type"] for flavor in flavors} == {"bow-2000"}
    pod16 = (await shared_api.owner.get("/v1/flavors/m2000-pod16")).json()
    assert pod16["price_per_minute"] == {"amount": "0.25", "currency": "EUR"}
    assert pod16["price_per_hour"] == {"amount": "15.00", "currency": "EUR"}
    prices = (await shared_api.owner.get("/v1/prices")).json()["items"]
    assert {(price["sku"], price["unit_price"]["amount"]) for price in prices} == {
        ("ipu-m2000", "0.0625"),
        ("ipu-bow-2000", "0.0875"),
    }
    for path, least in (("hardware/ipus", 4), ("hardware/machines", 4), ("images", 1), ("tools", 10), ("recipes", 20)):
        answer = await shared_api.owner.get(f"/v1/{path}")
        assert len(answer.json()["items"]) >= least
        known = {"If-None-Match": answer.headers["etag"]}
        assert (await shared_api.owner.get(f"/v1/{path}", headers=known)).status_code == 304
    nlp = (await shared_api.owner.get("/v1/recipes", params={"task": "nlp"})).json()["items"]
    assert {recipe["task"] for recipe in nlp} == {"nlp"}
    frameworks = (await shared_api.owner.get("/v1/tools", params={"kind": "framework"})).json()["items"]
    assert all("framework" in tool["kinds"] for tool in frameworks)
    assert (await shared_api.owner.get("/v1/images", params={"region": "mars-1"})).json()["items"] == []


async def test_a_notice_is_seen_and_the_property_stays(api: Api) -> None:
    async with api.world.database.begin() as connection:
        await offer_preemptible(connection)
    path = f"{api.base}/clusters/{await api.world.make_active(flavor='m2000-pod64', preemptible=True)}"
    problem(await api.owner.patch(path, json={"preemptible": False}), 422, "validation_failed")
    small = cluster_json("ernie", flavor="m2000-pod16")
    answer = await api.owner.post(f"{api.base}/clusters", json=small, headers=key())
    refused = problem(answer, 409, "capacity_exhausted")
    assert refused["preemption_minutes"] == 10
    estimated = (await api.owner.post(f"{api.base}/clusters:estimate", json=small, headers=key())).json()
    assert estimated["capacity"]["preemption_minutes"] == 10
    ok(await api.owner.post(f"{api.base}/clusters", json=small | {"wait_for_capacity": True}, headers=key()), 202)
    await serve_waiting(api.world.settings, api.world.database)
    await follow_preemptions(api.world.settings, api.world.database)
    cluster = (await api.owner.get(path)).json()
    assert cluster["preemptible"]
    assert cluster["preempt_at"] is not None
    log = await items(api.owner, f"{api.base}/events", type="cluster.preemption_scheduled")
    assert [each["data"] for each in log] == [{"preempt_at": cluster["preempt_at"]}]
    listed = await items(api.owner, f"{api.base}/clusters", name="bert")
    assert [each["preempt_at"] for each in listed] == [cluster["preempt_at"]]

"""Another catalogue in a running API: what is sold changes, what was bought stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from starlette.requests import HTTPConnection

from ipucloud.api.services import catalogue_of
from ipucloud.catalogue.load import load
from ipucloud.catalogue.queries import Catalogue
from ipucloud.identity.roles import Role
from tests.api.support import Api, cluster_id, cluster_json, problem
from tests.support.catalogues import FLAVOR, REGION, billed_from_the_request, with_frankfurt

pytestmark = pytest.mark.anyio

FROM_THE_REQUEST = {"starts": "requested", "ends": "delete_requested"}


def without_luxembourg() -> Catalogue:
    """The shipped catalogue, and nothing is sold in luxembourg-2."""
    shipped = load()
    return replace(
        shipped,
        regions=tuple(region for region in shipped.regions if region.slug != "luxembourg-2"),
        flavors=tuple(flavor for flavor in shipped.flavors if flavor.machine_type != "m2000"),
    )


async def test_what_is_sold_is_what_the_catalogue_has_now(api: Api, tmp_path: Path) -> None:
    for path in (f"/v1/regions/{REGION}", f"/v1/flavors/{FLAVOR}"):
        problem(await api.owner.get(path), 404, "not_found")
    api.services.catalogue.catalogue = load(with_frankfurt(tmp_path / "own"))
    region = (await api.owner.get("/v1/regions/10")).json()
    assert (region["slug"], region["billing"]) == (REGION, FROM_THE_REQUEST)
    flavor = (await api.owner.get(f"/v1/flavors/{FLAVOR}")).json()
    assert (flavor["sku"], flavor["price_per_minute"]) == ("ipu-rack-4", None)
    assert flavor["billing"] == FROM_THE_REQUEST
    [capacity] = (await api.owner.get(f"/v1/regions/{REGION}/capacity")).json()["items"]
    assert (capacity["available"], capacity["why_not"]["reason"]) == (0, "capacity")


async def test_a_cluster_keeps_the_billing_rule_that_it_was_created_under(api: Api) -> None:
    shipped = api.services.catalogue.catalogue
    first = cluster_id(await api.make_cluster())
    api.services.catalogue.catalogue = billed_from_the_request(shipped)
    estimate = await api.owner.post(f"{api.base}/clusters:estimate", json=cluster_json(name="second"))
    assert estimate.json()["billing"] == FROM_THE_REQUEST
    second = cluster_id(await api.make_cluster(name="second"))
    api.services.catalogue.catalogue = shipped
    rules = {}
    for cluster in (first, second):
        billing = (await api.owner.get(f"{api.base}/clusters/{cluster}")).json()["billing"]
        rules[cluster] = (billing["starts"], billing["ends"], billing["status"])
    ends = FROM_THE_REQUEST["ends"]
    assert rules == {first: ("active", ends, "not_started"), second: ("requested", ends, "running")}


async def test_a_request_is_answered_from_one_catalogue(api: Api) -> None:
    first = api.services.catalogue.catalogue
    connection = HTTPConnection({"type": "http", "app": api.app})
    assert catalogue_of(connection) is first
    api.services.catalogue.catalogue = without_luxembourg()
    assert catalogue_of(connection) is first
    assert catalogue_of(HTTPConnection({"type": "http", "app": api.app})) is api.services.catalogue.catalogue


async def test_clusters_go_on_when_their_region_is_no_longer_sold(api: Api) -> None:
    cluster = await api.world.make_active()
    path = f"{api.base}/clusters/{cluster}"
    before = (await api.owner.get(path)).json()
    api.services.catalogue.catalogue = without_luxembourg()
    after = (await api.owner.get(path)).json()
    assert (after["state"], after["price_per_minute"]) == ("active", before["price_per_minute"])
    listed = (await api.owner.get(f"{api.base}/clusters", params={"region": "luxembourg-2"})).json()["items"]
    assert [each["id"] for each in listed] == [str(cluster)]
    assert (await api.owner.get(f"{path}/usage")).json()["running"]
    assert (await api.owner.get(f"{api.base}/prices")).status_code == 200
    refused = problem(await api.owner.post(f"{api.base}/clusters", json=cluster_json("more")), 422, "validation_failed")
    assert {error["code"] for error in refused["errors"]} == {"unknown_region", "unknown_flavor"}
    assert (await api.owner.delete(path)).status_code == 202


async def test_limits_of_what_is_no_longer_sold_can_be_set_and_not_made_anew(api: Api) -> None:
    admin, path = await api.caller(Role.ADMIN), f"{api.base}/quotas"
    await api.make_cluster()
    api.services.catalogue.catalogue = without_luxembourg()
    stored = await admin.get(path)
    items = [{name: quota[name] for name in ("region", "machine_type", "limit")} for quota in stored.json()["items"]]
    assert any(item["region"] == "luxembourg-2" for item in items)
    kept = await admin.put(path, json={"items": items}, headers={"If-Match": stored.headers["etag"]})
    assert kept.json() == stored.json()
    new = {"region": "luxembourg-2", "machine_type": "bow-2000", "limit": 1}
    refused = await admin.put(path, json={"items": [*items, new]}, headers={"If-Match": kept.headers["etag"]})
    [fault] = problem(refused, 422, "validation_failed")["errors"]
    assert (fault["code"], "There is no region luxembourg-2." in fault["detail"]) == ("not_sold", True)

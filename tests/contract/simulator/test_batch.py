"""Reading a whole region in a few calls, through the product's own clients."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from ipucloud.site.ports import Site
from ipucloud.wire.faults import FaultAction, FaultRule
from ipucloud.wire.inventory import LinkKind, LinkState
from tests.support.site import RunningSite, address_of
from tests.support.waiting import PATIENCE

# ruff: noqa: ASYNC212 - the site is another process, and one call is made at a time

pytestmark = pytest.mark.anyio

REGION = "luxembourg-2"


@pytest.fixture
async def port(shared_site: RunningSite, http: httpx.Client) -> AsyncIterator[Site]:
    clients = shared_site.clients(call_timeout=PATIENCE)
    yield clients.at(address_of(shared_site.region()), lambda: PATIENCE)
    await clients.close()


async def test_every_machine_of_a_region_is_on_one_page_or_on_several(port: Site, http: httpx.Client) -> None:
    machines = await port.machines.list(REGION)
    assert len({each.Id for each in machines}) == len(machines) == 32
    assert machines[3] == await port.machines.get(machines[3].Id)
    query = {"region": REGION, "$skip": "30", "$top": "10"}
    page = http.get("/redfish/v1/Systems", params=query).json()
    assert ([each["Id"] for each in page["Members"]], page["Members@odata.count"]) == (
        [each.Id for each in machines[30:]],
        32,
    )
    assert http.get("/redfish/v1/Systems", params={"region": "nowhere"}).status_code == 404
    assert http.get("/redfish/v1/Systems", params={"$skip": "-1"}).status_code == 422


async def test_a_machine_whose_bmc_is_silent_is_missing_from_its_page(port: Site, http: httpx.Client) -> None:
    silent = (await port.machines.list(REGION))[5].Id
    rule = FaultRule(call="redfish.member", target=silent, action=FaultAction.STATUS)
    http.post("/v1/faults", json=rule.model_dump()).raise_for_status()
    ids = {each.Id for each in await port.machines.list(REGION)}
    assert (len(ids), silent in ids) == (31, False)


async def test_agents_and_impaired_links_are_those_of_the_whole_controller(
    port: Site, shared_site: RunningSite, http: httpx.Client, pod: list[str]
) -> None:
    agents = {each.id: each.reachable for each in await port.vipu.agents()}
    assert len(agents) == 32
    assert all(agents[name] for name in pod)
    assert await port.vipu.impaired_links() == []
    http.post(f"/v1/machines/{pod[1]}/links/next:fail", json={"state": "degraded"}).raise_for_status()
    http.post(f"/v1/machines/{pod[4]}/links/next:fail", json={"state": "down"}).raise_for_status()
    http.post(f"/v1/machines/{pod[5]}:fail").raise_for_status()
    [link] = await port.vipu.impaired_links()
    assert (link.kind, link.ends, link.state) == (LinkKind.NEXT, (pod[1], pod[2]), LinkState.DEGRADED)
    assert {each.id for each in await port.vipu.agents() if not each.reachable} == {pod[5]}

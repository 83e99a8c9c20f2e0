"""The site's HTTP interface: inventory, networks, hosts, machine power, and who may call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from ipucloud.config import Settings
from ipucloud.site.connect import SiteClients
from ipucloud.site.ports import SiteRefused
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire.site import HostState
from tests.support.site import RunningSite
from tests.support.tenant import Tenant
from tests.support.vipu import PodDriver
from tests.support.waiting import PATIENCE

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIN7Z7skWWHzKfHoutwZ9L29KGSDFlLv0ASDWS1/ctDDk someone@example"
OTHER_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINODF9vfxk9Z0MpEohsB7ZxgKnXr80E6f8/epRF4gujP other@example"
RESET = "/redfish/v1/Systems/{}/Actions/ComputerSystem.Reset"


def network(machines: list[str], *hosts: str) -> dict[str, Any]:
    return {"region": "luxembourg-2", "machines": machines, "hosts": list(hosts)}


@pytest.fixture
def tenant(shared_site: RunningSite, http: httpx.Client) -> Tenant:
    return Tenant(shared_site)


@pytest.mark.parametrize("authorization", ["", "Bearer wrong", "Basic c2l0ZQ=="])
def test_callers_without_the_site_token_are_turned_away(shared_site: RunningSite, authorization: str) -> None:
    headers = {"Authorization": authorization} if authorization else {}
    for method, path in [("GET", "/v1/inventory"), ("POST", "/v1/faults"), ("DELETE", "/v1/hosts/lux2-h001/server")]:
        assert httpx.request(method, shared_site.url + path, headers=headers, timeout=PATIENCE).status_code == 401


def test_the_inventory_is_two_regions_of_whole_pods_and_one_of_servers(shared_site: RunningSite) -> None:
    regions = {region.region: region for region in shared_site.inventory().regions}
    laboratory = regions.pop("lab-1")
    assert laboratory.vipu is None
    assert {(pod.machine_type, pod.topology, pod.cluster_id, pod.gateway_topology) for pod in laboratory.pods} == {
        ("c600-server", "line", None, None),
        ("dss8440", "ladder", None, None),
    }
    assert {host.machine for host in laboratory.hosts} == {m.name for pod in laboratory.pods for m in pod.machines}
    assert {slug: region.pods[0].machine_type for slug, region in regions.items()} == {
        "luxembourg-2": "m2000",
        "amsterdam-2": "bow-2000",
    }
    for region in regions.values():
        assert [len(pod.machines) for pod in region.pods] == [16, 16]
        assert {pod.topology for pod in region.pods} == {"torus"}
        assert len({pod.gw_group for pod in region.pods}) == 1
        assert [pod.position for pod in region.pods] == [0, 1]
    first = regions["luxembourg-2"].pods[1].machines[2]
    assert (first.rnic, first.bmc, first.gateway) == ("10.5.2.3", "10.1.2.3", "10.2.2.3")


def test_a_network_is_put_once_or_again_the_same_and_deleted(http: httpx.Client, pod: list[str]) -> None:
    assert http.put("/v1/networks/n", json=network(pod[:4], "lux2-h001")).status_code == 200
    shown = http.get("/v1/networks/n").json()
    assert (shown["state"], shown["spec"]["machines"]) == ("ready", pod[:4])
    assert http.put("/v1/networks/n", json=network(pod[:4], "lux2-h001")).status_code == 200
    assert http.put("/v1/networks/n", json=network(pod[:5], "lux2-h001")).status_code == 409
    assert http.delete("/v1/networks/n").status_code == 204
    assert http.get("/v1/networks/n").status_code == 404
    assert http.delete("/v1/networks/n").status_code == 404


def test_a_port_is_in_one_network_only(http: httpx.Client, pod: list[str]) -> None:
    http.put("/v1/networks/n", json=network(pod[:4], "lux2-h001"))
    refused = http.put("/v1/networks/m", json=network(pod[3:6]))
    assert refused.status_code == 409
    assert pod[3] in refused.json()["detail"]
    assert http.put("/v1/networks/m", json=network(pod[4:6], "lux2-h001")).status_code == 409


def test_a_network_of_unknown_ports_is_refused(http: httpx.Client) -> None:
    assert http.put("/v1/networks/n", json=network(["ams2-p001-m01"])).status_code == 422
    assert http.put("/v1/networks/n", json=network([], "nowhere")).status_code == 422
    elsewhere = {"region": "nowhere", "machines": [], "hosts": []}
    assert http.put("/v1/networks/n", json=elsewhere).status_code == 404
    assert http.get("/v1/networks").json() == {"networks": []}


def test_unknown_names_are_not_found_and_malformed_bodies_refused(http: httpx.Client) -> None:
    for path in ("/v1/hosts/none", "/redfish/v1/Systems/none", "/v1/networks/none"):
        assert http.get(path).status_code == 404
    assert http.put("/v1/networks/n", content=b"{").status_code == 422
    assert http.post("/v1/hosts/lux2-h001/power", json={"action": "explode"}).status_code == 422


def test_a_server_needs_its_network_and_a_readable_key_and_is_deployed_once(tenant: Tenant) -> None:
    refused = tenant.put_server([KEY])
    assert (refused.status_code, tenant.name in refused.json()["detail"]) == (409, True)
    tenant.attach()
    assert tenant.put_server(["ssh-ed25519 nonsense"]).status_code == 422
    assert tenant.observe().state is HostState.CLEAN
    first = tenant.put_server([KEY]).json()
    assert first["state"] == "running"
    assert tenant.put_server([KEY]).json()["ssh"] == first["ssh"]
    assert tenant.put_server([OTHER_KEY]).status_code == 409


@pytest.mark.parametrize("user", ["", "Root", "../../etc", "a b"])
def test_a_server_for_no_possible_user_is_refused(tenant: Tenant, user: str) -> None:
    tenant.attach()
    spec = tenant.server_spec([KEY]) | {"user": user}
    assert tenant.http.put(f"/v1/hosts/{tenant.host}/server", json=spec).status_code == 422


def test_a_wiped_host_is_clean_and_forgets_its_server(tenant: Tenant) -> None:
    tenant.deploy([KEY])
    path = f"/v1/hosts/{tenant.host}/server"
    assert tenant.http.delete(path, params={"name": "another"}).status_code == 404
    assert tenant.http.delete(path, params={"name": f"{tenant.name}-h1"}).json()["state"] == "clean"
    assert tenant.http.delete(path, params={"name": f"{tenant.name}-h1"}).status_code == 404
    assert tenant.observe().server is None


def test_the_server_counts_the_ipus_of_its_partition_or_says_why_it_cannot(tenant: Tenant, pod: list[str]) -> None:
    tenant.build([KEY])
    assert tenant.observe().ipus_visible == 16
    tenant.http.post(f"/v1/machines/{pod[0]}:fail").raise_for_status()
    observed = tenant.observe()
    assert (observed.ipus_visible, "not active" in (observed.detail or "")) == (None, True)


def test_machines_outside_the_tenant_network_are_not_seen(tenant: Tenant, vipu: PodDriver) -> None:
    tenant.attach()
    vipu.allocate(tenant.name, vipu.cluster, vipu.pod[:8])
    tenant.vipu.create(tenant.name, 32, reconfigurable=True)
    tenant.put_server([KEY]).raise_for_status()
    observed = tenant.observe()
    assert observed.ipus_visible is None
    assert "10.5.1.5" in (observed.detail or "")


def test_power_actions_of_a_host(tenant: Tenant) -> None:
    path = f"/v1/hosts/{tenant.host}/power"
    assert tenant.http.post(path, json={"action": "off"}).status_code == 409
    tenant.attach()
    before = tenant.put_server([KEY]).json()["ssh"]
    assert tenant.http.post(path, json={"action": "off"}).json()["state"] == "off"
    assert tenant.observe().ssh is None
    assert tenant.http.post(path, json={"action": "on"}).json()["state"] == "running"
    assert tenant.http.post(path, json={"action": "reboot"}).json()["ssh"] == before


def test_a_power_action_that_names_its_tenant_is_for_no_other(tenant: Tenant, pod: list[str]) -> None:
    """A host's name says nothing of whose it is, and requests may arrive late."""
    path, server, network = f"/v1/hosts/{tenant.host}/power", f"{tenant.name}-h1", tenant.name
    owner = {"server": server, "network": network}
    tenant.attach()
    before = tenant.put_server([KEY]).json()["ssh"]

    def ask(**action: object) -> int:
        return tenant.http.post(path, json=action).status_code

    assert ask(action="off", server="another", network=network) == 409
    assert ask(action="off", server=server, network="another") == 409
    assert (ask(action="off", **owner), ask(action="off", **owner)) == (200, 200)
    tenant.http.delete(f"/v1/networks/{network}")
    assert ask(action="on", **owner) == 409, "it is in no network"
    assert ask(action="off", **owner) == 200
    later = {"region": "luxembourg-2", "machines": pod[:1], "hosts": [tenant.host]}
    tenant.http.put(f"/v1/networks/{network}-2", json=later).raise_for_status()
    assert (ask(action="on", **owner), ask(action="off", **owner)) == (409, 409)
    renamed = {"server": server, "network": f"{network}-2", "environment": {"LIFE": "2"}}
    assert ask(action="on", **renamed) == 200
    host = tenant.observe()
    assert (host.state, host.ssh and host.ssh.model_dump()) == (HostState.RUNNING, before)
    assert host.server is not None
    assert (host.server.network, host.server.environment) == (f"{network}-2", {"LIFE": "2"})


def test_a_failed_host_comes_back_after_its_repair_wiped_if_it_was(tenant: Tenant) -> None:
    tenant.deploy([KEY])
    tenant.http.post(f"/v1/hosts/{tenant.host}:fail").raise_for_status()
    assert tenant.observe().state is HostState.FAILED
    tenant.http.post(f"/v1/hosts/{tenant.host}:repair").raise_for_status()
    assert tenant.observe().state is HostState.RUNNING
    tenant.http.post(f"/v1/hosts/{tenant.host}:fail").raise_for_status()
    tenant.wipe()
    assert (tenant.observe().state, tenant.observe().server) == (HostState.FAILED, None)
    tenant.http.post(f"/v1/hosts/{tenant.host}:repair").raise_for_status()
    assert tenant.observe().state is HostState.CLEAN


def test_a_machine_shows_its_model_power_and_health(http: httpx.Client, pod: list[str]) -> None:
    system = http.get(f"/redfish/v1/Systems/{pod[0]}").json()
    assert (system["Model"], system["PowerState"], system["Status"]["Health"]) == ("IPU-M2000", "On", "OK")
    assert http.get("/redfish/v1/Systems/ams2-p001-m01").json()["Model"] == "Bow-2000"
    firmware = {http.get(f"/redfish/v1/Systems/{name}").json()["BiosVersion"] for name in pod}
    assert len(firmware) == 1
    for verb, health in (("fail", "Critical"), ("repair", "OK")):
        http.post(f"/v1/machines/{pod[1]}:{verb}").raise_for_status()
        assert http.get(f"/redfish/v1/Systems/{pod[1]}").json()["Status"]["Health"] == health


def test_machine_power_off_and_on(http: httpx.Client, vipu: PodDriver) -> None:
    vipu.take(1)
    vipu.create("p", 4)
    assert http.post(RESET.format(vipu.pod[0]), json={"ResetType": "ForceOff"}).status_code == 204
    assert http.get(f"/redfish/v1/Systems/{vipu.pod[0]}").json()["PowerState"] == "Off"
    assert vipu.status("p").ready_state == pb.PS_ERROR
    http.post(RESET.format(vipu.pod[0]), json={"ResetType": "On"})
    assert http.get(f"/redfish/v1/Systems/{vipu.pod[0]}").json()["PowerState"] == "On"
    vipu.reset("p")
    assert vipu.status("p").ready_state == pb.PS_ACTIVE
    http.post(RESET.format(vipu.pod[0]), json={"ResetType": "PowerCycle"}).raise_for_status()
    assert http.get(f"/redfish/v1/Systems/{vipu.pod[0]}").json()["PowerState"] == "On"


@pytest.mark.anyio
async def test_a_token_is_replaced_while_clients_use_it(shared_site: RunningSite, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(shared_site.token)
    sites = SiteClients.of(Settings(site_url=shared_site.url, site_token_file=path))
    try:
        assert (await sites.inventory()).regions
        path.write_text("that of another site")
        assert (await sites.inventory()).regions  # no token has spaces: the file is being written
        path.write_text("that-of-another-site")
        with pytest.raises(SiteRefused, match="401"):
            await sites.inventory()
        path.write_text(shared_site.token)
        assert (await sites.inventory()).regions
    finally:
        await sites.close()

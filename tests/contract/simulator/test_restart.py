"""A site that is killed: nothing it answered is lost, and what was under way goes on."""

from __future__ import annotations

import socket
from functools import partial
from pathlib import Path
from typing import Any

import asyncssh
import httpx
import orjson
import pytest

from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire.site import HostState
from tests.support.site import RunningSite, running_site
from tests.support.tenant import REGION, Tenant
from tests.support.waiting import PATIENCE, eventually

RESET = "/redfish/v1/Systems/{}/Actions/ComputerSystem.Reset"
SLOW = ("--time-scale", "60", "--machines-on")


@pytest.fixture(scope="module")
def key() -> str:
    return asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()


def stored(site: RunningSite, name: str) -> Any:
    """A file of the site as it lies on disk now."""
    return orjson.loads((site.data / name).read_bytes())


def test_everything_that_was_answered_survives_a_kill(tmp_path: Path, key: str) -> None:
    with running_site(tmp_path, options=["--machines-on"]) as site:
        tenant = Tenant(site)
        tenant.build([key])
        machine = site.region(REGION).pods[1].machines[0].name
        tenant.http.post(f"/v1/machines/{machine}:fail").raise_for_status()
        tenant.http.post("/v1/faults", json={"call": "networks.*", "action": "status"}).raise_for_status()
        inventory, server = site.inventory(), tenant.observe()
        partitions, allocations = tenant.vipu.partitions(), tenant.vipu.allocations()
        site.revive()
        tenant = Tenant(site)
        assert site.inventory() == inventory
        # How long nobody has used it goes on to grow.
        assert tenant.observe().model_copy(update={"idle_seconds": server.idle_seconds}) == server
        assert tenant.vipu.partitions() == partitions
        assert tenant.vipu.allocations() == allocations
        assert tenant.http.get(f"/redfish/v1/Systems/{machine}").json()["Status"]["Health"] == "Critical"
        assert tenant.http.get("/v1/faults").json() == {"faults": []}, "rules of an experiment end with the process"


def test_each_change_is_on_disk_before_it_is_answered(
    shared_site: RunningSite, http: httpx.Client, pod: list[str], key: str
) -> None:
    tenant, controller = Tenant(shared_site, machines=1), f"vipu-{REGION}.json"
    vipu = tenant.vipu
    tenant.attach()
    assert "tenant" in stored(shared_site, "site.json")["networks"]
    vipu.allocate("tenant", vipu.cluster, pod[:1])
    assert "tenant" in stored(shared_site, controller)["allocations"]
    vipu.create("tenant", 4, reconfigurable=True)
    assert "tenant/tenant" in stored(shared_site, controller)["partitions"]
    tenant.put_server([key]).raise_for_status()
    assert stored(shared_site, "site.json")["hosts"][tenant.host]["server"]["name"] == "tenant-h1"
    http.post(RESET.format(pod[5]), json={"ResetType": "ForceOff"}).raise_for_status()
    assert stored(shared_site, "site.json")["machines"][pod[5]]["power"] != "On"
    vipu.remove("tenant")
    assert stored(shared_site, controller)["partitions"].get("tenant/tenant", {}).get("operation", "") != "POS_IDLE"


def test_what_was_under_way_goes_on_after_the_restart(tmp_path: Path, key: str) -> None:
    with running_site(tmp_path, options=["--machines-on"]) as site:
        wiped = Tenant(site)
        wiped.build([key])
        site.restart(*SLOW)
        wiped, built = Tenant(site), Tenant(site, name="built", machines=0, host="lux2-h002")
        machine = site.region(REGION).pods[1].machines[0].name
        wiping = wiped.wipe()
        wiped.vipu.remove("tenant")
        wiped.http.delete("/v1/networks/tenant").raise_for_status()
        wiped.http.post(RESET.format(machine), json={"ResetType": "PowerCycle"}).raise_for_status()
        wiped.vipu.allocate("built", wiped.vipu.cluster, [wiped.vipu.pod[8]])
        wiped.vipu.create("built", 4)
        built.attach()
        deploying = built.put_server([key]).raise_for_status()
        site.revive()
        assert (wiping.json()["state"], deploying.json()["state"]) == ("wiping", "deploying")
        wiped, built = Tenant(site), Tenant(site, name="built", host="lux2-h002")
        eventually(lambda: set(wiped.vipu.partitions()) == {"built"}, "the removed partition is gone")
        eventually(lambda: built.vipu.status("built").ready_state == pb.PS_ACTIVE, "the new partition is active")
        eventually(lambda: wiped.http.get("/v1/networks/tenant").status_code == 404, "the network is gone")
        eventually(lambda: built.http.get("/v1/networks/built").json()["state"] == "ready", "the network is ready")
        eventually(
            lambda: wiped.http.get(f"/redfish/v1/Systems/{machine}").json()["PowerState"] == "On", "the machine is on"
        )
        wiped.wait_for(HostState.CLEAN)
        assert not (tmp_path / "hosts" / wiped.host).exists()
        site.revive()
        built = Tenant(site, name="built", host="lux2-h002")
        assert built.wait_for(HostState.RUNNING).ssh is not None


def test_nobody_meets_a_site_that_is_half_restored(tmp_path: Path, key: str) -> None:
    """Servers come back one by one while wiped hosts go, with kills in between and callers from the first moment on."""
    wiped, running = [f"lux2-h{number:03d}" for number in range(1, 9)], [f"lux2-h{n:03d}" for n in range(9, 33)]
    with running_site(tmp_path, options=["--machines-on"]) as site:
        for host in wiped + running:
            tenant = Tenant(site, name=host, machines=0, host=host)
            tenant.deploy([key])
        before = {host: tenant_on(site, host).observe() for host in running}
        ports = [server.ssh.port for server in before.values() if server.ssh]
        assert len(ports) == len(running)
        site.restart("--machines", "32", "--machines-on", "--time-scale", "1")
        for host in wiped:
            site.http().delete(f"/v1/hosts/{host}/server").raise_for_status()
        site.options = ["--machines", "32", "--machines-on", "--time-scale", "0"]
        for port in ports[::6]:
            site.kill()
            make_due(site, wiped)
            site.launch()
            eventually(partial(listens, port), "a server of the middle of the list listens")
        site.kill()
        make_due(site, wiped)
        site.launch()
        eventually(lambda: listens(int(site.url.rsplit(":", 1)[1])), "the site listens")
        hosts = {host["name"]: host for host in site.http().get("/v1/hosts").raise_for_status().json()["hosts"]}
        assert {host: hosts[host]["ssh"] for host in running} == {
            host: server.ssh.model_dump() for host, server in before.items() if server.ssh
        }
        eventually(lambda: all(not (tmp_path / "hosts" / host).exists() for host in wiped), "every wipe ends")
        assert "Traceback" not in site.log.read_text()


def tenant_on(site: RunningSite, host: str) -> Tenant:
    return Tenant(site, name=host, machines=0, host=host)


def make_due(site: RunningSite, hosts: list[str]) -> None:
    """Let the wipes of a site that does not run be due: they end while it starts."""
    state = stored(site, "site.json")
    wiping = {host: {"state": "wiping", "due": 0.0} for host in hosts}
    state["hosts"] = wiping | {name: host for name, host in state["hosts"].items() if name not in wiping}
    (site.data / "site.json").write_bytes(orjson.dumps(state))


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
    except ConnectionRefusedError:
        return False
    return True


def test_a_partition_on_a_machine_that_failed_is_found_failed_after_the_restart(tmp_path: Path) -> None:
    """Machine and partition are kept in two files: a kill between their writes must not leave an active partition."""
    with running_site(tmp_path, options=["--machines-on"]) as site:
        vipu = Tenant(site).vipu
        agents = vipu.take(1)
        vipu.create("p", 4)
        before = (tmp_path / f"vipu-{REGION}.json").read_bytes()
        site.http().post(f"/v1/machines/{agents[0]}:fail").raise_for_status()
        site.kill()
        (tmp_path / f"vipu-{REGION}.json").write_bytes(before)
        site.start()
        assert Tenant(site).vipu.status("p").ready_state == pb.PS_ERROR

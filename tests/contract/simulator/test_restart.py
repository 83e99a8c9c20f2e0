"""A site that is killed: nothing it told is lost, and what was under way goes on."""

from __future__ import annotations

from pathlib import Path

import asyncssh
import pytest

from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire.site import HostState
from tests.support.site import RunningSite, running_site
from tests.support.tenant import REGION, Tenant
from tests.support.vipu import VipuDriver
from tests.support.waiting import eventually

RESET = "/redfish/v1/Systems/{}/Actions/ComputerSystem.Reset"


@pytest.fixture(scope="module")
def key() -> str:
    return asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()


def revive(site: RunningSite) -> None:
    site.kill()
    site.start()


def test_everything_that_was_answered_survives_a_kill(tmp_path: Path, key: str) -> None:
    with running_site(tmp_path, options=["--machines-on"]) as site:
        tenant = Tenant(site)
        tenant.build([key])
        machine = site.region(REGION).pods[1].machines[0].name
        tenant.http.post(f"/v1/machines/{machine}:fail").raise_for_status()
        inventory, server = site.inventory(), tenant.observe()
        partitions, allocations = tenant.vipu.partitions(), tenant.vipu.allocations()
        revive(site)
        tenant = Tenant(site)
        assert site.inventory() == inventory
        assert tenant.observe() == server
        assert tenant.vipu.partitions() == partitions
        assert tenant.vipu.allocations() == allocations
        assert tenant.http.get(f"/redfish/v1/Systems/{machine}").json()["Status"]["Health"] == "Critical"


def test_each_change_is_on_disk_before_it_is_answered(tmp_path: Path, key: str) -> None:
    """One kill right after each answer, with a new process in between."""
    with running_site(tmp_path, options=["--machines-on"]) as site:
        region = site.region(REGION)
        machine = region.pods[0].machines[0].name
        Tenant(site, machines=1).attach()
        revive(site)
        assert Tenant(site).http.get("/v1/networks/tenant").json()["state"] == "ready"
        Tenant(site).vipu.allocate("tenant", region.pods[0].cluster_id, [machine])
        revive(site)
        assert Tenant(site).vipu.allocations() == {"tenant": [machine]}
        Tenant(site).vipu.create("tenant", 4, reconfigurable=True)
        revive(site)
        assert Tenant(site).vipu.status("tenant").ready_state == pb.PS_ACTIVE
        Tenant(site).put_server([key]).raise_for_status()
        revive(site)
        assert Tenant(site).observe().ipus_visible == 4
        Tenant(site).vipu.remove("tenant")
        revive(site)
        assert Tenant(site).vipu.partitions() == {}


def test_a_partition_under_way_becomes_active_after_the_restart(tmp_path: Path) -> None:
    with running_site(tmp_path, time_scale=20, options=["--machines-on"]) as site:
        vipu = Tenant(site).vipu
        vipu.allocate("a", site.region(REGION).pods[0].cluster_id, size=4)
        vipu.create("p", 16)
        assert vipu.status("p").operation_state == pb.POS_CREATING
        revive(site)
        vipu = Tenant(site).vipu
        eventually(lambda: vipu.status("p").ready_state == pb.PS_ACTIVE, "the partition becomes active")


def test_a_removal_under_way_ends_after_the_restart(tmp_path: Path) -> None:
    with running_site(tmp_path, options=["--machines-on"]) as site:
        vipu = Tenant(site).vipu
        vipu.allocate("a", site.region(REGION).pods[0].cluster_id, size=4)
        vipu.create("p", 16)
        site.restart("--time-scale", "10", "--machines-on")
        vipu = Tenant(site).vipu
        vipu.remove("p")
        revive(site)
        vipu = VipuDriver(site.user_channel(REGION), site.admin_channel(REGION))
        eventually(lambda: vipu.partitions() == {}, "the partition is gone")


@pytest.mark.parametrize("moment", [HostState.DEPLOYING, HostState.BOOTING])
def test_a_deployment_under_way_goes_on_after_the_restart(tmp_path: Path, key: str, moment: HostState) -> None:
    with running_site(tmp_path, time_scale=150) as site:
        tenant = Tenant(site)
        tenant.attach()
        eventually(lambda: tenant.put_server([key]).is_success, "the host takes a server")
        tenant.wait_for(moment)
        revive(site)
        assert Tenant(site).wait_for(HostState.RUNNING).ssh is not None


def test_a_wipe_under_way_ends_after_the_restart(tmp_path: Path, key: str) -> None:
    with running_site(tmp_path) as site:
        tenant = Tenant(site)
        tenant.attach()
        tenant.put_server([key]).raise_for_status()
        site.restart("--time-scale", "100")
        tenant = Tenant(site)
        tenant.http.delete(f"/v1/hosts/{tenant.host}/server").raise_for_status()
        assert tenant.observe().state is HostState.WIPING
        revive(site)
        Tenant(site).wait_for(HostState.CLEAN)
        assert not (tmp_path / "hosts" / tenant.host).exists()


def test_a_machine_powering_on_is_on_after_the_restart(tmp_path: Path) -> None:
    with running_site(tmp_path, time_scale=60) as site:
        http = site.http()
        machine = site.region(REGION).pods[0].machines[0].name
        assert http.get(f"/redfish/v1/Systems/{machine}").json()["PowerState"] == "Off"
        http.post(RESET.format(machine), json={"ResetType": "On"}).raise_for_status()
        assert http.get(f"/redfish/v1/Systems/{machine}").json()["PowerState"] == "PoweringOn"
        revive(site)
        http = site.http()
        eventually(lambda: http.get(f"/redfish/v1/Systems/{machine}").json()["PowerState"] == "On", "the machine is on")


def test_a_partition_on_a_machine_that_failed_is_found_failed_after_the_restart(tmp_path: Path) -> None:
    """Machine and partition are kept in two files: a kill between their writes must not leave an active partition."""
    with running_site(tmp_path, options=["--machines-on"]) as site:
        vipu = Tenant(site).vipu
        agents = vipu.allocate("a", site.region(REGION).pods[0].cluster_id, size=1)
        vipu.create("p", 4)
        before = (tmp_path / f"vipu-{REGION}.json").read_bytes()
        site.http().post(f"/v1/machines/{agents[0]}:fail").raise_for_status()
        site.kill()
        (tmp_path / f"vipu-{REGION}.json").write_bytes(before)
        site.start()
        assert Tenant(site).vipu.status("p").ready_state == pb.PS_ERROR


def test_rules_of_an_experiment_end_with_the_process(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        site.http().post("/v1/faults", json={"call": "*", "action": "status"}).raise_for_status()
        site.restart()
        assert site.http().get("/v1/faults").json() == {"faults": []}

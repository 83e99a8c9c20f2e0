"""`vipu-admin`: the vendor's published administration, on our administration service."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest

from ipucloud.kernel.ids import external_name, validation_name
from ipucloud.vipu_cli.admin.run import run
from ipucloud.vipu_cli.admin.service import AdminController
from ipucloud.vipu_cli.controller import Channels
from ipucloud.vipu_cli.files import LocalFiles
from ipucloud.vipu_cli.world import World
from tests.support.site import running_site
from tests.support.tenant import REGION, Tenant
from tests.support.waiting import PATIENCE


@pytest.fixture(scope="module")
def tenant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenant]:
    """A site whose region has one cluster of two pods: 32 machines in two IPU-Link domains."""
    with running_site(tmp_path_factory.mktemp("site"), options=["--machines-on"]) as site:
        yield Tenant(site)


class Operator:
    """Runs command lines in this process; `said` is what the last one printed."""

    def __init__(self, tenant: Tenant) -> None:
        endpoint = tenant.site.endpoint(REGION)
        self.where = ["-H", endpoint.host, "-P", str(endpoint.admin_port)]
        self.where += ["--api-ca-file", str(tenant.site.authority_file(REGION))]
        self.where += ["--api-client-cert-file", str(tenant.site.client_file(REGION))]
        self.said = self.blamed = ""

    def status(self, line: str) -> int:
        return asyncio.run(self._run(line))

    def __call__(self, line: str) -> str:
        assert self.status(line) == 0, self.blamed
        return self.said

    async def _run(self, line: str) -> int:
        out: list[str] = []
        err: list[str] = []
        channels = Channels()
        world = World({}, out.append, err.append, LocalFiles(), asyncio.sleep, "vipu-admin")
        try:
            return await run([*self.where, *line.split()], world, partial(AdminController, channels=channels))
        finally:
            await channels.close()
            self.said, self.blamed = "".join(out), "".join(err)


@pytest.fixture
def vipu_admin(tenant: Tenant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Operator:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return Operator(tenant)


def cells(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split(" | ")] for line in table.splitlines() if " | " in line]


def pods(tenant: Tenant) -> list[list[str]]:
    return [[machine.name for machine in pod.machines] for pod in tenant.site.region(REGION).pods]


def test_a_site_is_taken_into_use(tenant: Tenant, vipu_admin: Operator) -> None:
    """From discovered agents to partitions over two IPU-Link domains, and back."""
    first, second = pods(tenant)
    (before,) = [row[0] for row in cells(vipu_admin("list clusters"))[1:]]
    assert vipu_admin(f"remove cluster {before}") == f"remove cluster ({before}): success.\n"
    vipu_admin(f"remove agent {first[0]}")
    heads, values = cells(vipu_admin("discover agent"))
    assert heads == ["Host", "Port", "Network Interface", "Time Since Last Seen", "Agent Auto-Add ID"]
    assert (values[0], values[1], values[4]) == ("10.5.1.1", "8080", first[0])
    created = vipu_admin(f"create agent {first[0]} --host 10.5.1.1 --port 8080")
    assert created == f"create agent ({first[0]}): success.\n"
    agents = ",".join([*first, *second])
    options = "--num-ipulinkdomains 2 --topology torus --cluster-topology looped"
    assert vipu_admin(f"create cluster 2xPOD64 {options} --agents {agents}") == "create cluster (2xPOD64): success.\n"
    assert cells(vipu_admin("get cluster 2xPOD64"))[1][:5] == ["2xPOD64", "torus", "2", "looped", "32"]
    assert vipu_admin("create allocation a1 --size 32") == "create allocation (a1): success.\n"
    options = "--size 128 --num-gcds 32 --gcd-sync-replicas 32 --routing ringswnc --cluster 2xPOD64"
    assert vipu_admin(f"create partition gcl128 {options}") == "create partition (gcl128): success.\n"
    listed = json.loads(vipu_admin("list partitions --allocation a1 --showjson"))
    assert [partition["id"] for partition in listed["partitions"]] == ["gcl128"]
    assert vipu_admin("remove partition gcl128 --force") == "remove partition (gcl128): success.\n"
    assert vipu_admin("remove allocation a1") == "remove allocation (a1): success.\n"
    vipu_admin("remove cluster 2xPOD64")
    vipu_admin(f"create cluster {before} --agents {agents}")


PUBLISHED = {
    *("Agent ID", "Host", "Port", "Status", "Exporter", "Platform", "Manufacturer", "Discovery Mode", "Virm version"),
    *("Runtime version", "Board serial number", "Part number", "GWSW Version", "IPUoF server version", "HDF Version"),
    *("HDF Hash", "Num of IPUs"),
}
"""The rows of the vendor's sample of `get agent`."""


def test_an_agent_is_shown_with_its_ipus(tenant: Tenant, vipu_admin: Operator) -> None:
    name = pods(tenant)[0][0]
    shown = cells(vipu_admin(f"get agent {name}"))
    facts = {row[0]: row[1] for row in shown if len(row) == 2}
    assert (facts["Agent ID"], facts["Host"], facts["Port"], facts["Status"]) == (name, "10.5.1.1", "8080", "Up")
    assert (facts["Num of IPUs"], facts["Virm version"]) == ("4", "1.18.0")
    assert facts.keys() >= PUBLISHED
    assert (facts["Manufacturer"], facts["GWSW Version"], facts["IPUoF server version"]) == (
        "Graphcore",
        "2.6.0",
        "1.11.0",
    )
    assert (facts["Exporter"], facts["HDF Hash"]) == ("-", "-"), "what is not known is a dash"
    assert shown[-5:] == [
        ["IPU", "PCI", "Device", "Firmware", "Architecture", "Num Tiles"],
        *([str(ipu), str(ipu), "-", "2.6.8", "ipu2", "1472"] for ipu in range(4)),
    ]
    assert len(json.loads(vipu_admin("list agents --showjson"))["agents"]) == 32
    assert cells(vipu_admin("list agents"))[1][:3] == [name, "10.5.1.1", "Up"]


def test_allocations_as_scripts_read_them(tenant: Tenant, vipu_admin: Operator) -> None:
    vipu_admin("create allocation job --size 4")
    shown = json.loads(vipu_admin("get allocation job --showjson"))
    assert len(shown["allocation"]["spec"]["agent_ids"]) == 4
    endpoint = shown["allocation"]["endpoint"]
    assert cells(vipu_admin("get allocation job"))[1][-1] == endpoint
    assert int(endpoint.rpartition(":")[2]) > 0
    vipu_admin("create allocation other --size 1")
    assert vipu_admin.status("create partition p1 --size 4") == 1  # it would be in any of them
    assert "--allocation: job, other" in vipu_admin.blamed
    vipu_admin("remove allocation other")
    # A customer's, and one that the service tests machines in, are used by nobody who does not name them.
    others = [external_name(UUID(int=1), 1), validation_name(UUID(int=2))]
    for name in others:
        vipu_admin(f"create allocation {name} --size 1")
    assert vipu_admin("create partition p1 --size 4") == "create partition (p1): success.\n"
    [partition] = json.loads(vipu_admin("list partitions --showjson"))["partitions"]
    assert partition["spec"]["allocation_id"] == "job"
    vipu_admin("remove partition p1")
    vipu_admin("remove allocation job")
    assert vipu_admin.status("create partition p1 --size 4") == 1
    assert "every allocation is of a cluster of the service" in vipu_admin.blamed
    assert vipu_admin(f"create partition p1 --size 4 --allocation {others[0]}").endswith("success.\n")
    vipu_admin(f"remove partition p1 --allocation {others[0]}")
    for name in others:
        vipu_admin(f"remove allocation {name}")
    vipu_admin("create allocation job --size 4")
    assert vipu_admin.status("create allocation more --size 64") == 1
    assert "no free allocation" in vipu_admin.blamed
    assert cells(vipu_admin("list allocations"))[1][0] == "job"
    assert vipu_admin("delete allocation job") == "delete allocation (job): success.\n"


def test_a_user_gets_a_key_and_a_configuration_file(tenant: Tenant, vipu_admin: Operator, tmp_path: Path) -> None:
    vipu_admin("create allocation alices --size 1")
    said = vipu_admin("create user alice --allocations alices")
    key = said.removeprefix("create user (alice): success. Access key is '").removesuffix("'.\n")
    file = tmp_path / "alice.vipu-cli.hcl"
    assert file.stat().st_mode & 0o077 == 0
    assert f'api-access-key = "{key}"' in file.read_text()
    assert f'api-port = "{tenant.site.user_endpoint("alices").port}"' in file.read_text()
    assert cells(vipu_admin("list users"))[1:] == [["alice", "alices", "first"]]
    assert vipu_admin.status("create user alice") == 1
    assert vipu_admin.blamed == "create user (alice): failed: user 'alice' exists.\n"
    assert vipu_admin("remove user alice") == "remove user (alice): success.\n"
    vipu_admin("remove allocation alices")


def test_a_cluster_is_tested_link_by_link(tenant: Tenant, vipu_admin: Operator) -> None:
    (cluster,) = [row[0] for row in cells(vipu_admin("list clusters"))[1:]]
    assert vipu_admin.status(f"test cluster {cluster}") == 1
    assert "no machine of it is in an allocation" in vipu_admin.blamed
    machine = pods(tenant)[0][0]
    vipu_admin(f"create allocation tested --agents {machine},{pods(tenant)[0][1]}")
    rows = cells(vipu_admin(f"test cluster {cluster}"))
    assert [row[:2] for row in rows[1:]] == [
        [kind, "PASSED"] for kind in ("version", "cabling", "sync-link", "link-training", "traffic")
    ]
    tenant.http.post(f"/v1/machines/{machine}/links/next:fail", json={}).raise_for_status()
    assert vipu_admin.status(f"test cluster {cluster} --allocation tested") == 1
    assert ["cabling", machine, pods(tenant)[0][1]] in [row[:3] for row in cells(vipu_admin.said)]
    tenant.http.post(f"/v1/machines/{machine}/links/next:repair").raise_for_status()
    vipu_admin("remove allocation tested")


@pytest.mark.parametrize("line", ["create agent a --port 9000", "create cluster c", "create allocation a", "frob"])
def test_a_wrong_command_line_is_refused(vipu_admin: Operator, line: str) -> None:
    assert vipu_admin.status(line) == 2
    assert vipu_admin.blamed.startswith("usage: vipu-admin")


def test_it_is_a_command_of_ipucloud(tenant: Tenant) -> None:
    operator = Operator(tenant)
    done = subprocess.run(
        [sys.executable, "-m", "ipucloud.cli.main", "vipu-admin", *operator.where, "--server-version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert done.stdout == operator("--server-version")

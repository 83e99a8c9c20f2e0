"""The vendor's published command lines, as its documentation and public scripts have them, on a Poplar server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from tests.contract.simulator.outcomes import output
from tests.support.machine import Need, needs
from tests.support.openssh import OpenSsh, make_key
from tests.support.site import running_site
from tests.support.tenant import Tenant
from tests.support.waiting import eventually

pytestmark = needs(Need.OPENSSH)

LIFES = [
    "create partition p1 --size 4 --reconfigurable",
    "create partition p1 --allocation tenant --size 16 --reconfigurable",
    "create partition p1 --size 64 --num-gcds 4 --gcd-sync-replicas 16 --routing ringswnc",
    "create partition p1 --size 64 --gcds 2 --gcd-sync-replicas 4",
    "create partition p1 --size 2 --num-gcds 2 --cluster CLUSTER",
    "create partition p1 --size 2 --cluster CLUSTER --index 3",
    "create partition p1 --size 4 --sync-type c2-compatible",
    "create partition p1 --size 4 --sync-type ST_POD_NATIVE_DEFAULT",
    "create partition p1 --size 4 --sync-type pod-native-replicated-pipeline --num-gcds 2",
    "create partition p1 --size 4 --routing DNC",
    "create partition p1 --size 4 --routing IRT_SWNC --gateway-routing default",
]
"""Creations, each followed by the removal in the other of its two spellings."""


@pytest.fixture(scope="module")
def tenant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenant]:
    """A whole pod of a tenant: 64 IPUs on a torus."""
    with running_site(tmp_path_factory.mktemp("site"), machines=16, options=["--machines-on"]) as site:
        tenant = Tenant(site, machines=16)
        tenant.attach()
        tenant.vipu.allocate("tenant", tenant.vipu.cluster, tenant.vipu.pod)
        yield tenant


@pytest.fixture(scope="module")
def login(tenant: Tenant, tmp_path_factory: pytest.TempPathFactory) -> OpenSsh:
    folder = tmp_path_factory.mktemp("key")
    key = make_key(folder)
    tenant.put_server([key.public_line]).raise_for_status()
    return OpenSsh(tenant.ssh(), key, folder / "known_hosts")


@pytest.fixture
def emptied(tenant: Tenant) -> Iterator[Tenant]:
    yield tenant
    for partition in tenant.vipu.partitions():
        tenant.vipu.remove(partition, force=True)
    eventually(lambda: not tenant.vipu.partitions(), "the test's partitions are gone")


def test_every_published_creation_is_taken(login: OpenSsh, tenant: Tenant) -> None:
    for number, line in enumerate(LIFES):
        said = output(login, f"vipu {line.replace('CLUSTER', tenant.vipu.cluster)}")
        assert said == "create partition (p1): success.\n", line
        verb = ("remove", "delete")[number % 2]
        assert output(login, f"vipu {verb} partition p1") == f"{verb} partition (p1): success.\n", line


def test_an_index_chooses_a_block_of_the_cluster(login: OpenSsh, emptied: Tenant) -> None:
    output(login, f"vipu create partition p1 --size 2 --cluster {emptied.vipu.cluster} --index 3")
    assert [ipu.topology_id for ipu in emptied.vipu.partitions()["p1"].spec.ipus] == [7, 6]
    refused = login.ssh(f"vipu create partition p2 --size 4 --cluster {emptied.vipu.cluster} --index 1")
    assert b"no free allocation" in refused.stderr


@pytest.mark.parametrize("index", ["", " --index 0"])
def test_a_reconfigurable_partition_has_one_sync_type(login: OpenSsh, emptied: Tenant, index: str) -> None:
    """With an index the vendor's tool does not refuse another one, which ours does."""
    create = f"vipu create partition p1 --size 4 --cluster {emptied.vipu.cluster} --reconfigurable --sync-type"
    refused = login.ssh(f"{create} ST_POD_NATIVE_DEFAULT{index}")
    assert (refused.returncode, b"has sync type ST_GS2_DEFAULT" in refused.stderr) == (1, True), refused.stderr
    assert not emptied.vipu.partitions()
    output(login, f"{create} c2-compatible{index}")


def test_scripts_find_the_first_active_partition(login: OpenSsh, emptied: Tenant) -> None:
    """As public launchers look for it: a table's row with ACTIVE, the column of the partition."""
    output(login, "vipu create partition p64 --size 64 --routing ringswnc")
    [row] = output(login, "vipu list partitions | grep ACTIVE").splitlines()
    name, _, *facts = [cell.strip() for cell in row.split("|")]
    assert [name, *facts] == ["p64", "1", "DEFAULT", "RINGSWNC", "64", "1", "ACTIVE"]
    listed = json.loads(output(login, "vipu list partitions --allocation tenant --showjson"))
    assert [partition["id"] for partition in listed["partitions"]] == ["p64"]


def test_scripts_find_the_controllers_address(login: OpenSsh, tenant: Tenant) -> None:
    """The second word of the second line, as `sed -n 2p | awk '{print $2}'` takes it."""
    second = output(login, "vipu --server-version").splitlines()[1]
    endpoint = tenant.site.user_endpoint("tenant")
    assert second.split()[1] == f"{endpoint.host}:{endpoint.port}"


def test_the_first_two_ipus_are_the_highest_of_the_machine(login: OpenSsh, emptied: Tenant) -> None:
    output(login, "vipu create partition p1 --size 2 --num-gcds 2")
    for gcd, ipu in ((0, 3), (1, 2)):
        listed = output(login, f"vipu get partition p1 --gcd {gcd} --ipuof-configs > f; IPUOF_CONFIG_PATH=f gc-info -l")
        assert f"-+- Id: [0], target: [Fabric], IPU-M host: [10.5.1.1], IPU#: [{ipu}]" in listed
        assert listed.count("-+- Id:") == 1


def test_four_ipus_are_seven_devices(login: OpenSsh, emptied: Tenant) -> None:
    output(login, "vipu create partition p1 --size 4 --reconfigurable")
    listed = output(login, IN_P1 + "gc-info -l")
    single = dict(re.findall(r"-\+- Id: \[(\d+)\], target: \[Fabric\], .*IPU#: \[(\d)\]", listed))
    assert single == {"0": "3", "1": "2", "2": "1", "3": "0"}
    groups = re.split(r"-\+- Id: \[\d+\], target: \[Multi IPU\]", listed)[1:]
    assert [re.findall(r"\|--- Id: \[(\d)\]", group) for group in groups] == [list("01"), list("23"), list("0123")]
    assert re.findall(r"Id: \[(\d+)\], target: \[Multi IPU\]", listed) == ["4", "5", "6"]


IN_P1 = "export IPUOF_VIPU_API_PARTITION_ID=p1 IPUOF_VIPU_API_GCD_ID=0; "

MONITOR = """\
+---------------+--------------------------------------------------------------------------------+
|  gc-monitor   |            Partition: p1 (gcd:0) [active] has 8 reconfigurable IPUs            |
+-------------+--------------------+--------+--------------+----------+------+----+------+-------+
|    IPU-M    |       Serial       |IPU-M SW|Server version|  ICU FW  | Type | ID | IPU# |Routing|
+-------------+--------------------+--------+--------------+----------+------+----+------+-------+
|  10.5.1.1   | 0024.0002.8203321  | 2.6.0  |    1.11.0    |  2.6.8   |M2000 | 0  |  3   |  DNC  |
|  10.5.1.1   | 0024.0002.8203321  | 2.6.0  |    1.11.0    |  2.6.8   |M2000 | 1  |  2   |  DNC  |
|  10.5.1.1   | 0024.0001.8203321  | 2.6.0  |    1.11.0    |  2.6.8   |M2000 | 2  |  1   |  DNC  |
|  10.5.1.1   | 0024.0001.8203321  | 2.6.0  |    1.11.0    |  2.6.8   |M2000 | 3  |  0   |  DNC  |
+-------------+--------------------+--------+--------------+----------+------+----+------+-------+
|  10.5.1.2   | 0024.0002.8203321  | 2.6.0  |    1.11.0    |  2.6.8   |M2000 | 4  |  3   |  DNC  |
|  10.5.1.2   | 0024.0002.8203321  | 2.6.0  |    1.11.0    |  2.6.8   |M2000 | 5  |  2   |  DNC  |
|  10.5.1.2   | 0024.0001.8203321  | 2.6.0  |    1.11.0    |  2.6.8   |M2000 | 6  |  1   |  DNC  |
|  10.5.1.2   | 0024.0001.8203321  | 2.6.0  |    1.11.0    |  2.6.8   |M2000 | 7  |  0   |  DNC  |
+-------------+--------------------+--------+--------------+----------+------+----+------+-------+
+------------------------------------------------------------------------------------------------+
|                             No attached processes in partition p1                              |
+------------------------------------------------------------------------------------------------+
"""
"""The vendor's sample of a partition of 8 IPUs, with the versions and addresses of the simulated site."""


def test_gc_monitor_shows_its_published_table(login: OpenSsh, emptied: Tenant) -> None:
    output(login, "vipu create partition p1 --size 8 --reconfigurable")
    shown = output(login, IN_P1 + "gc-monitor")
    serials = re.sub(r"\d{4}\.(000[12])\.\d{7}", r"0024.\1.8203321", shown)
    assert serials == MONITOR


def test_all_partitions_are_listed_without_groups(login: OpenSsh, emptied: Tenant) -> None:
    output(login, "vipu create partition p1 --size 4 --reconfigurable; vipu create partition p2 --size 4")
    assert output(login, IN_P1 + "gc-info -l --all-partitions") == (
        "Graphcore device listing:\n"
        "Partition: p1 [active]\n"
        + "".join(f"-+- Id: [{n}], target: [Fabric], IPU-M host: [10.5.1.1], IPU#: [{3 - n}]\n" for n in range(4))
        + "Partition: p2\n"
        + "".join(f"-+- Id: [{n + 4}], target: [Fabric], IPU-M host: [10.5.1.2], IPU#: [{3 - n}]\n" for n in range(4))
    )


def test_the_attributes_have_their_published_names_and_forms(login: OpenSsh, emptied: Tenant) -> None:
    output(login, "vipu create partition p1 --size 4 --reconfigurable")
    shown = dict(line.strip().split(": ", 1) for line in output(login, IN_P1 + "gc-info -i -d 0").splitlines()[1:])
    fixed = {
        "id": "0",
        "target": "Fabric",
        "board ipu index": "3",
        "board type": "M2000",
        "clock": "1330MHz",
        "firmware version": "2.6.8",
        "gateway software version": "2.6.0",
        "graph streaming": "true",
        "hexoatt active size (bytes)": "0",
        "hexoatt total size (bytes)": "34082914304",
        "hexopt total size (bytes)": "268435456",
        "ipu architecture": "ipu2",
        "ipu error state": "no errors",
        "ipu utilisation": "0.00%",
        "ipu utilisation (session)": "0.00%",
        "ipuof host": "10.5.1.1",
        "ipuof partition id": "p1",
        "ipuof routing id": "0",
        "ipuof routing type": "DNC",
        "ipuof server version": "1.11.0",
        "link correctable error count": "0",
        "link speed": "16 GT/s",
        "link width": "8",
        "number of replicas": "1",
        "partition sync type": "c2-compatible",
        "pci id": "3",
        "pcie physical slot": "3",
        "reconfigurable partition": "true",
        "remote buffers supported": "1",
        "total board power": "N/A",
    }
    assert {name: shown.get(name) for name in fixed} == fixed
    assert re.fullmatch(r"\d{4}\.0002\.\d{7}", shown["board serial number"])


LISTED = {
    *("board ipu index", "board serial number", "board type", "clock"),
    *("driver version", "firmware major version", "firmware minor version", "firmware patch version"),
    *("firmware version", "hexopt active size (bytes)"),
}
"""Those of the vendor's sample of `vipu list ipu-attrs`, in its order; `gc-info` shows them too, and more."""
SHOWN = {"config domain", "host link correctable error count", "ipu power", "ipuof routing id", "partition sync type"}


def test_the_attributes_of_the_published_samples_are_all_there(login: OpenSsh, emptied: Tenant) -> None:
    output(login, "vipu create partition p1 --size 1")
    table = [[cell.strip() for cell in line.split("|")] for line in output(login, "vipu list ipu-attrs").splitlines()]
    rows = [cells for cells in table if len(cells) == 4]
    assert rows[0] == ["Agent", "IPU", "Attribute", "Value"]
    first = next(number for number, cells in enumerate(rows) if cells[1] == "0")
    after = next(number for number, cells in enumerate(rows) if cells[1] == "1")
    named = [cells[2] for cells in rows[first:after]]
    assert named == sorted(named), "as in the sample"
    assert set(named) >= LISTED
    shown = {line.strip().split(": ", 1)[0] for line in output(login, IN_P1 + "gc-info -i -d 0").splitlines()[1:]}
    assert shown >= LISTED | SHOWN


def test_temperatures_are_those_of_idle_boards_or_of_the_machines_sensor(login: OpenSsh, emptied: Tenant) -> None:
    """Nothing runs, although a partition has the IPUs."""
    output(login, "vipu create partition p1 --size 4 --reconfigurable")
    machine = emptied.vipu.pod[0]
    temperature = IN_P1 + "gc-info -i -d 0 | grep 'die temp'"
    assert 30 < float(output(login, temperature).split()[3]) < 45
    emptied.http.put(f"/v1/machines/{machine}/sensors/die_temperature", json={"reading": 93.5}).raise_for_status()
    assert output(login, temperature) == "  average die temp: 93.5 C\n"
    emptied.http.post(f"/v1/machines/{machine}:repair").raise_for_status()


def test_the_health_check_names_the_ipus_that_fail(login: OpenSsh, emptied: Tenant) -> None:
    output(login, "vipu create partition p1 --size 4 --reconfigurable")
    assert json.loads(output(login, IN_P1 + "gc_health_check")) == {}
    machine = emptied.vipu.pod[0]
    emptied.http.post(f"/v1/machines/{machine}:fail").raise_for_status()
    report = json.loads(output(login, IN_P1 + "gc_health_check"))
    assert report["hosts"]["10.5.1.1"][2] == {
        "error": "connection",
        "id": "2",
        "partition": "p1",
        "board ipu index": "1",
    }
    emptied.http.post(f"/v1/machines/{machine}:repair").raise_for_status()
    gone = json.loads(output(login, "IPUOF_VIPU_API_PARTITION_ID=none gc_health_check"))
    assert "none" in gone["error"]

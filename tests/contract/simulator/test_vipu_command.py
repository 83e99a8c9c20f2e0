"""`vipu` on a Poplar server, over real SSH and real gRPC."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.simulator.outcomes import output
from tests.support.machine import Need, needs
from tests.support.openssh import KeyPair, OpenSsh
from tests.support.site import running_site
from tests.support.tenant import Tenant
from tests.support.waiting import eventually

pytestmark = needs(Need.OPENSSH)


@pytest.fixture(scope="module")
def tenant(folder: Path, key: KeyPair) -> Iterator[Tenant]:
    """Two machines without a partition, and another tenant's allocation with one beside them."""
    with running_site(folder / "site", options=["--machines-on"]) as site:
        tenant = Tenant(site, machines=2)
        tenant.attach()
        tenant.vipu.allocate("tenant", tenant.vipu.cluster, tenant.vipu.pod[:2])
        tenant.vipu.allocate("stranger", tenant.vipu.cluster, tenant.vipu.pod[8:12])
        tenant.vipu.create("theirs", 16, allocation_id="stranger")
        tenant.put_server([key.public_line]).raise_for_status()
        yield tenant


@pytest.fixture(scope="module")
def login(tenant: Tenant, folder: Path, key: KeyPair) -> OpenSsh:
    return OpenSsh(tenant.ssh(), key, folder / "known_hosts")


@pytest.fixture
def emptied(tenant: Tenant) -> Iterator[Tenant]:
    """The tenant, whose partitions go after the test."""
    yield tenant
    for partition in tenant.vipu.partitions():
        if partition != "theirs":
            tenant.vipu.remove(partition, force=True)
    eventually(lambda: list(tenant.vipu.partitions()) == ["theirs"], "the test's partitions are gone")


def refused(login: OpenSsh, command: str) -> str:
    done = login.ssh(command)
    assert done.returncode == 1, done.stdout
    return done.stderr.decode()


def test_the_life_of_a_partition_from_the_server(login: OpenSsh, emptied: Tenant) -> None:
    """Make one, see it, choose it, look at its IPUs, remove it."""
    assert output(login, "vipu create partition p1 --size 4 --reconfigurable") == "create partition (p1): success.\n"
    listed = output(login, "vipu list partitions")
    assert listed == (
        "---------------------------------------------------------------------\n"
        " Partition | ILDs | GW Routing | ILD Routing | Size | GCDs | State\n"
        "---------------------------------------------------------------------\n"
        " p1        | 1    | DEFAULT    | DNC         | 4    | 1    | ACTIVE\n"
        "---------------------------------------------------------------------\n"
    )
    assert output(login, "vipu list partition") == listed
    listing = output(login, "export IPUOF_VIPU_API_PARTITION_ID=p1; gc-info -l")
    assert "Partition: p1 [active]\n-+- Id: [0], target: [Fabric], IPU-M host: [10.5.1.1], IPU#: [3]" in listing
    assert listing.count("-+- Id:") == 7
    assert "Partition: p1 [active] has 4 reconfigurable IPUs" in output(
        login, "export IPUOF_VIPU_API_PARTITION_ID=p1; gc-monitor"
    )
    assert output(login, "vipu reset partition p1") == "reset partition (p1): success.\n"
    assert output(login, "vipu remove partition p1") == "remove partition (p1): success.\n"
    assert "'p1' does not exist" in refused(login, "export IPUOF_VIPU_API_PARTITION_ID=p1; gc-info -l")


def test_a_partition_has_its_ipuof_files_while_it_exists(login: OpenSsh, emptied: Tenant) -> None:
    output(login, "vipu create partition one --size 2 && vipu create partition one_gcd0 --size 1")
    kept = json.loads(output(login, "cat ~/.ipuof.conf.d/one_ipuof.conf"))
    assert [device["server_port"] for device in kept["devices"]] == [50055, 50054]
    assert (kept["devices"][0]["device_id"], kept["devices"][0]["ipulink_segment_id"]) == (0, 0)
    assert kept["attributes"]["GCD Id"] == "0"
    output(login, "vipu remove partition one")
    assert output(login, "ls ~/.ipuof.conf.d") == "one_gcd0_ipuof.conf\n"
    # With one file there the programs need no more telling.
    assert "Partition: one_gcd0 [active]" in output(login, "export IPUOF_VIPU_API_PARTITION_ID=; gc-info -l")
    output(login, "vipu create partition two --size 4 --gcds 2")
    assert output(login, "ls ~/.ipuof.conf.d") == "one_gcd0_ipuof.conf\ntwo_gcd0_ipuof.conf\ntwo_gcd1_ipuof.conf\n"
    several = refused(login, "export IPUOF_VIPU_API_PARTITION_ID=; gc-info -l")
    assert "several partitions are configured and none is chosen (one_gcd0, two)" in several
    path = "export IPUOF_CONFIG_PATH=~/.ipuof.conf.d/two_gcd1_ipuof.conf; gc-info --ipu-count"
    assert output(login, path) == "2\n"
    output(login, "vipu delete partition two && vipu remove partition one_gcd0 --no-wait")
    assert output(login, "ls ~/.ipuof.conf.d") == ""


def test_the_configuration_of_a_gcd_goes_where_the_shell_sends_it(login: OpenSsh, emptied: Tenant) -> None:
    output(login, "vipu create partition p1 --size 4 --num-gcds 2 --gcd-sync-replicas 4")
    several = refused(login, "vipu get partition p1 --ipuof-configs")
    assert "it has 2 GCDs, each with a configuration of its own: choose one with --gcd" in several
    listed = output(
        login,
        "mkdir -p work; cd work; vipu get partition p1 --gcd 1 --ipuof-configs > f; IPUOF_CONFIG_PATH=f gc-info -l;"
        " echo [$IPUOF_CONFIG_PATH]",
    )
    assert "IPU-M host: [10.5.1.1], IPU#: [1]" in listed
    assert listed.endswith("[]\n"), "the variable was the command's alone"
    assert "partition p1 has GCDs 0 to 1, not 2" in refused(login, "vipu get partition p1 --gcd 2 --ipuof-configs")


def test_the_environment_of_a_login_follows_the_partitions(login: OpenSsh, emptied: Tenant) -> None:
    """The server was made for the partition `tenant`, which does not exist any more."""
    named = "echo [$IPUOF_VIPU_API_PARTITION_ID]"
    assert output(login, named) == "[]\n"
    output(login, "vipu create partition p1 --size 4")
    assert output(login, named) == "[p1]\n"
    assert output(login, "gc-info --ipu-count") == "4\n"
    output(login, "vipu create partition p2 --size 4")
    assert output(login, named) == "[]\n", "no partition is chosen for the customer"
    kept = "sed s/p1/gone/g ~/.ipuof.conf.d/p1_ipuof.conf > kept; rm ~/.ipuof.conf.d/*"
    login.ssh(f"{kept}; mv kept ~/.ipuof.conf.d/gone_ipuof.conf")
    sentence = refused(login, "gc-info -l")
    assert "partition 'gone' does not exist. `vipu list partitions` shows those that exist: set IPUOF_VIPU" in sentence
    login.ssh("rm ~/.ipuof.conf.d/*")
    output(login, "vipu remove partition p2 && vipu create partition tenant --size 4")
    assert output(login, named) == "[tenant]\n"


def test_a_file_that_cannot_be_written_is_a_warning(login: OpenSsh, emptied: Tenant) -> None:
    """The partition exists all the same."""
    done = login.ssh("rm -r ~/.ipuof.conf.d; touch ~/.ipuof.conf.d; vipu create partition p1 --size 1")
    login.ssh("rm ~/.ipuof.conf.d; mkdir ~/.ipuof.conf.d")
    assert (done.returncode, done.stdout) == (0, b"create partition (p1): success.\n")
    assert b"warning: ~/.ipuof.conf.d/p1_ipuof.conf was not written" in done.stderr


def test_the_controller_is_found_by_option_environment_or_file(login: OpenSsh, tenant: Tenant) -> None:
    endpoint = tenant.site.user_endpoint("tenant")
    unset = "export IPUOF_VIPU_API_HOST= VIPU_CLI_API_HOST=; "
    lines = f'# made by hand\n\napi-host="{endpoint.host}"  # of the region\napi-port = {endpoint.port}\nother="x"\n'
    login.ssh("cat > c.hcl", stdin=lines.encode())
    version = f"version: 1.18.0\nhost: {endpoint.host}:{endpoint.port}\n"
    assert output(login, f"{unset} vipu --config c.hcl --server-version") == version
    assert output(login, f"vipu -H {endpoint.host} -P {endpoint.port} --server-version") == version
    assert output(login, "vipu --server-version") == version
    assert output(login, "vipu --version") == "vipu version 1.18.0\n"
    assert "VIPU_CLI_API_PORT is '0'" in refused(
        login, f"{unset} VIPU_CLI_API_PORT=0 vipu --config c.hcl list partitions"
    )
    assert "configuration file no.hcl does not exist" in refused(login, "vipu --config no.hcl list partitions")
    login.ssh("cat > c.hcl", stdin=b"api-host = \n")
    assert 'line 1 of the configuration file c.hcl is not `name = "value"`' in refused(
        login, "vipu list partitions --config c.hcl"
    )


def test_json_is_the_wire_field_by_field(login: OpenSsh, emptied: Tenant) -> None:
    output(login, "vipu create partition p1 --size 2 --sync-type pod-native")
    [partition] = json.loads(output(login, "vipu list partitions --showjson"))["partitions"]
    assert (partition["id"], partition["ready_state"]) == ("p1", "PS_ACTIVE")
    assert partition["spec"] | {"ipus": [], "cluster_id": ""} == {
        "cluster_id": "",
        "ipus": [],
        "ipulink_routing_type": "IRT_DNC",
        "sync_type": "ST_POD_NATIVE_DEFAULT",
        "num_gcds": 1,
        "num_ipulink_segments": 1,
        "reconfigurable": False,
        "gw_routing_type": "GRT_UNDEFINED",
        "num_replicas": 1,
        "allocation_id": "tenant",
    }
    status = json.loads(output(login, "vipu --showjson get partition p1"))["status"]
    assert (status["operation_state"], status["errors"], status["auto_reset_retry_count"]) == ("POS_IDLE", [], 0)
    removed = json.loads(output(login, "vipu remove partition p1 --showjson"))
    assert removed == {"operation": "remove partition", "partition_id": "p1", "result": "success"}


def test_a_partition_is_shown_whole(login: OpenSsh, emptied: Tenant) -> None:
    output(login, "vipu create partition p1 --size 4")
    rows = dict(
        line.strip().split(" | ") for line in output(login, "vipu get partition p1").splitlines() if "|" in line
    )
    shown = {name.strip(): value for name, value in rows.items()}
    assert (shown["Partition ID"], shown["Allocation ID"], shown["State"]) == ("p1", "tenant", "ACTIVE")
    assert shown["IPUs"] == "0: 0 1 2 3"
    assert shown["Sync Type"] == "pod-native-default"


def test_allocations_and_attributes_are_listed(login: OpenSsh, tenant: Tenant) -> None:
    agents = tenant.vipu.pod[:2]
    table = output(login, "vipu list allocations").splitlines()
    assert [line.split(" | ") for line in table if "|" in line] == [
        [" Allocation ID", "Agents"],
        [" tenant       ", " ".join(agents)],
    ]
    entries = json.loads(output(login, "vipu list ipu-attrs --showjson"))["entries"]
    assert sorted(entry["agent"] for entry in entries) == agents
    assert entries[0]["ipu_attributes"]["3"]["attributes"]["board type"] == "M2000"
    some = output(login, f"vipu list ipu-attrs --agent {agents[0]}")
    assert some.count("board serial number") == 4
    assert " Agent" in some.splitlines()[1]


@pytest.mark.parametrize(
    ("command", "cause"),
    [
        ("vipu create partition p1 --size 3", "create partition (p1): failed: "),
        ("vipu create partition p1 --size 16", "no free allocation for 16 IPUs"),
        ("vipu create partition p1 --size 4 --allocation stranger", "allocation 'stranger' does not exist"),
        ("vipu get partition theirs", "partition 'theirs' does not exist"),
        ("vipu get partition theirs --ipuof-configs", "partition 'theirs' does not exist"),
        ("vipu reset partition theirs", "partition 'theirs' does not exist"),
        ("vipu remove partition theirs --force", "partition 'theirs' does not exist"),
        ("vipu list partitions --allocation stranger", "allocation 'stranger' does not exist"),
        ("vipu create partition p1 --size 4 --index 0", "name it with --cluster"),
        ("vipu list ipu-attrs --agent lux2-p001-m09", "agent 'lux2-p001-m09' does not exist"),
        ("vipu --api-port 1 list partitions", "is unreachable"),
        ("vipu -H example.org list partitions", "the V-IPU controller at example.org"),
        ("export VIPU_CLI_API_PORT=many; vipu list partitions", "VIPU_CLI_API_PORT is 'many', not a port"),
        ("export IPUOF_VIPU_API_HOST=; vipu list partitions", "no V-IPU controller is configured"),
    ],
)
def test_a_failure_names_its_cause_and_nothing_of_others(login: OpenSsh, command: str, cause: str) -> None:
    assert cause in refused(login, command)


def test_a_wrong_command_line_is_reported_and_the_server_lives(login: OpenSsh) -> None:
    done = login.ssh("vipu create partition p1")
    assert done.returncode == 2
    assert b"--size" in done.stderr
    assert output(login, "vipu create partition --help").startswith("usage: vipu create partition")

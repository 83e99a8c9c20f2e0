"""`ipu-run` on a Poplar server: who holds IPUs, what is refused, and that whatever ends a program frees them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.simulator.outcomes import output
from tests.support.machine import Need, needs, program
from tests.support.openssh import SECONDS, KeyPair, OpenSsh
from tests.support.site import RunningSite
from tests.support.tenant import Tenant
from tests.support.waiting import eventually

pytestmark = needs(Need.OPENSSH)

REFUSED, BUSY = 125, 75


@pytest.fixture(scope="module")
def tenant(site: RunningSite, key: KeyPair) -> Tenant:
    """Two machines in the reconfigurable partition `tenant`, and two in `gcds`, of two GCDs."""
    tenant = Tenant(site)
    tenant.attach()
    tenant.vipu.allocate(tenant.name, tenant.vipu.cluster, tenant.vipu.pod[: tenant.machines])
    tenant.vipu.create("tenant", 8, allocation_id=tenant.name, reconfigurable=True)
    tenant.vipu.create("gcds", 8, allocation_id=tenant.name, num_gcds=2)
    tenant.put_server([key.public_line]).raise_for_status()
    return tenant


@pytest.fixture
def login(tenant: Tenant, folder: Path, key: KeyPair) -> Iterator[OpenSsh]:
    yield OpenSsh(tenant.ssh(), key, folder / "known_hosts")
    eventually(lambda: tenant.observe().attached_ipus == 0, "no IPU is held any more")


def refusal(login: OpenSsh, command: str) -> tuple[int, str]:
    done = login.ssh(command)
    assert not done.stdout
    return done.returncode, done.stderr.decode()


def holding(login: OpenSsh, arguments: str) -> int:
    """Start a program that holds IPUs and outlives its login; answers its process once it does."""
    started = f"nohup ipu-run {arguments} -- sh -c 'echo $$; exec sleep 100000' > held 2>&1 &"
    return int(output(login, f"rm -f held; {started} while [ ! -s held ]; do sleep 0.05; done; cat held"))


def monitored(login: OpenSsh, before: str = "") -> dict[str, list[dict[str, Any]]]:
    document: dict[str, list[dict[str, Any]]] = json.loads(output(login, f"{before} gc-monitor --json"))
    return document


def test_a_command_runs_as_itself_in_the_usual_environment(login: OpenSsh) -> None:
    said = output(
        login, "X=1 ipu-run -- sh -c 'echo $X $HOME $IPUOF_VIPU_API_PARTITION_ID $IPUCLOUD_DEVICE_IDS; pwd; cat' <<< in"
    )
    assert said == "1 /home/ubuntu tenant 0,1,2,3,4,5,6,7\n/home/ubuntu\nin\n"
    assert [login.ssh(f"ipu-run -- {end}").returncode for end in ("true", "sh -c 'exit 7'")] == [0, 7]
    assert login.ssh("ipu-run -- sh -c 'kill -TERM $$'").returncode == 255
    assert refusal(login, "ipu-run -- no-such-command") == (
        127,
        "ipu-run: no-such-command: No such file or directory\n",
    )
    assert login.ssh("ipu-run -- /etc/hostname").returncode == 126


def test_the_tools_and_the_site_show_what_holds_ipus(tenant: Tenant, login: OpenSsh) -> None:
    idle = monitored(login)
    assert idle["processes"] == []
    process = holding(login, "--num-ipus 4")
    busy = monitored(login)
    (shown,) = busy["processes"]
    assert (shown["pid"], shown["command"], shown["user"], shown["ids"]) == (process, "sh", "ubuntu", [0, 1, 2, 3])
    table = output(login, "gc-monitor")
    assert "Attached processes in partition tenant" in table
    assert table.count(f" {process} ") == 4
    assert f" {process} " in output(login, "gc-monitor --no-card-info")

    def shows(document: dict[str, list[dict[str, Any]]], name: str) -> list[float]:
        return [float(device[name].rstrip("%CW ")) for device in document["devices"]]

    for name in ("ipu utilisation", "average die temp", "average board temp", "ipu power"):
        before, now = shows(idle, name), shows(busy, name)
        assert all(after > earlier for after, earlier in zip(now[:4], before[:4], strict=True)), name
        assert now[4:] == before[4:]
    host = tenant.observe()
    assert (host.attached_ipus, host.sessions, host.idle_seconds) == (4, 0, 0.0)
    output(login, f"kill {process}")
    eventually(lambda: monitored(login) == idle, "nothing is held")


ATTACHED = """\
+------------------------------------------------------------------------+------------------------+-----------------+
|                 Attached processes in partition tenant                 |          IPU           |      Board      |
+--------+-----------------------------------------+--------+------------+----+----------+--------+--------+--------+
|  PID   |                 Command                 |  Time  |    User    | ID |  Clock   |  Temp  |  Temp  | Power  |
+--------+-----------------------------------------+--------+------------+----+----------+--------+--------+--------+
|  1234  |                   sh                    |   1s   |   ubuntu   | 0  | 1330MHz  | 60.0 C | 30.0 C |200.0 W |
|  1234  |                   sh                    |   1s   |   ubuntu   | 1  | 1330MHz  | 60.0 C |        |        |
+--------+-----------------------------------------+--------+------------+----+----------+--------+--------+--------+
|  1234  |                   sh                    |   1s   |   ubuntu   | 2  | 1330MHz  | 60.0 C | 30.0 C |200.0 W |
|  1234  |                   sh                    |   1s   |   ubuntu   | 3  | 1330MHz  | 60.0 C |        |        |
+--------+-----------------------------------------+--------+------------+----+----------+--------+--------+--------+
"""
"""In the form of the vendor's samples, with one process, time and load in place of those of the moment."""


def test_gc_monitor_shows_processes_in_its_published_table(login: OpenSsh) -> None:
    process = holding(login, "--num-ipus 4")
    shown = output(login, "gc-monitor --no-card-info")
    for pattern, sample in (
        (rf"\| *{process} *\|", "|  1234  |"),
        (r"\| *(\d+m)?\d+s *\|", "|   1s   |"),
        (r"\|\d{3}\.\d W \|", "|200.0 W |"),
        (r"MHz  \| \d\d\.\d C \|", "MHz  | 60.0 C |"),
        (r"C \| \d\d\.\d C \|2", "C | 30.0 C |2"),
    ):
        shown = re.sub(pattern, sample, shown)
    output(login, f"kill {process}")
    assert shown == ATTACHED


def test_ipus_are_held_by_one_program_at_a_time(login: OpenSsh) -> None:
    first, second = holding(login, "--num-ipus 4"), holding(login, "--num-ipus 2")
    assert [process["ids"] for process in monitored(login)["processes"]] == [[0, 1, 2, 3], [4, 5]]
    status, said = refusal(login, "ipu-run --num-ipus 4 -- true")
    assert status == BUSY
    assert said == (
        "Failed to attach to IPUs: no device of 4 IPUs of partition 'tenant' is free;"
        f" in use by sh (process {first}), sh (process {second}).\n"
    )
    assert refusal(login, "ipu-run -- true")[0] == BUSY
    assert output(login, "ipu-run --num-ipus 2 -- sh -c 'echo $IPUCLOUD_DEVICE_IDS'") == "6,7\n"
    output(login, f"kill -9 {first} {second}")
    eventually(lambda: login.ssh("ipu-run -- true").returncode == 0, "all IPUs are free")
    assert refusal(login, "ipu-run -- ipu-run -- true")[0] == BUSY


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("ipu-run", "no command is given"),
        ("ipu-run --num-ipus 0 -- true", "--num-ipus must be 1 or more"),
        ("ipu-run --num-ipus many -- true", "invalid int value: 'many'"),
        ("ipu-run --num-ipus 16 -- true", "16 IPUs are wanted, and partition 'tenant' has 8"),
        ("ipu-run --num-ipus 3 -- true", "partition 'tenant' has no device of 3 IPUs: there are devices of 1, 2, 4, 8"),
        ("ipu-run --gcd 1 -- true", "partition tenant has GCDs 0 to 0, not 1"),
        ("env -u IPUOF_VIPU_API_PARTITION_ID HOME=/ ipu-run --num-ipus 99 -- true", "99 IPUs are wanted"),
        ("IPUOF_VIPU_API_PARTITION_ID=none ipu-run -- true", "partition 'none' does not exist"),
        ("IPUOF_VIPU_API_PARTITION_ID=gcds ipu-run -- true", "'gcds' has 2 graph compile domains"),
        ("IPUOF_VIPU_API_PARTITION_ID=gcds ipu-run --gcd 2 -- true", "has GCDs 0 to 1, not 2"),
        ("IPUOF_VIPU_API_PARTITION_ID=gcds ipu-run --gcd 0 --num-ipus 2 -- true", "GCD 0 of 'gcds' has no device of 2"),
        ("IPUOF_VIPU_API_PARTITION_ID=gcds ipu-run --gcd 0 --num-ipus 8 -- true", "and GCD 0 of 'gcds' has 4"),
        ("IPUOF_VIPU_API_PORT=1 ipu-run -- true", "is unreachable"),
        ("IPUOF_CONFIG_PATH=missing ipu-run -- true", "missing cannot be read"),
    ],
)
def test_what_a_real_attach_refuses_is_refused(login: OpenSsh, command: str, says: str) -> None:
    status, said = refusal(login, command)
    assert (status, says in said) == (REFUSED, True), said


def test_a_gcd_is_held_apart_from_the_others(login: OpenSsh) -> None:
    chosen = "IPUOF_VIPU_API_PARTITION_ID=gcds"
    output(login, f"{chosen} nohup ipu-run --gcd 1 -- sleep 100000 > /dev/null 2>&1 &")
    busy = f"{chosen} IPUOF_VIPU_API_GCD_ID=1"
    eventually(lambda: bool(monitored(login, busy)["processes"]), "GCD 1 is held")
    assert refusal(login, f"{busy} ipu-run -- true")[0] == BUSY
    assert output(login, f"{chosen} ipu-run --gcd 0 -- sh -c 'echo $IPUOF_VIPU_API_GCD_ID'") == "0\n"
    file = "vipu get partition gcds --gcd 1 --ipuof-configs > gcd1.conf;"
    assert refusal(login, f"{file} IPUOF_CONFIG_PATH=gcd1.conf ipu-run -- true")[0] == BUSY
    assert refusal(login, "IPUOF_CONFIG_PATH=gcd1.conf ipu-run --gcd 0 -- true")[0] == REFUSED
    output(login, "pkill -9 sleep")


def test_a_lost_connection_frees_what_its_program_held(tenant: Tenant, login: OpenSsh) -> None:
    arguments = [program("ssh"), *login.options, "-p", str(login.at.port), login.target, "ipu-run -- sleep 100000"]
    with subprocess.Popen(arguments, stdin=subprocess.DEVNULL) as client:
        eventually(lambda: tenant.observe().attached_ipus == 8, "the program holds its IPUs")
        client.kill()
        client.wait(timeout=SECONDS)
    eventually(lambda: tenant.observe().attached_ipus == 0, "they are free")


def test_a_child_of_the_program_holds_on(tenant: Tenant, login: OpenSsh) -> None:
    output(login, "ipu-run -- sh -c 'nohup sleep 100000 > /dev/null 2>&1 &'")
    assert tenant.observe().attached_ipus == 8
    output(login, "pkill -9 sleep")


def test_a_broken_machine_and_a_failed_partition_are_refused(tenant: Tenant, login: OpenSsh) -> None:
    machine = tenant.vipu.pod[0]
    tenant.http.post(f"/v1/machines/{machine}:fail").raise_for_status()
    try:
        status, said = refusal(login, "ipu-run -- true")
        assert status == REFUSED
        assert said.startswith("Failed to attach to IPUs: ")
    finally:
        tenant.http.post(f"/v1/machines/{machine}:repair").raise_for_status()
        reset = f"/redfish/v1/Systems/{machine}/Actions/ComputerSystem.Reset"
        tenant.http.post(reset, json={"ResetType": "On"}).raise_for_status()
        tenant.vipu.reset("tenant")
    eventually(lambda: login.ssh("ipu-run -- true").returncode == 0, "the partition is active again")


def test_a_restart_of_the_server_frees_its_ipus(tenant: Tenant, login: OpenSsh, key: KeyPair, folder: Path) -> None:
    holding(login, "")
    assert tenant.observe().attached_ipus == 8
    tenant.power("reboot")
    again = OpenSsh(tenant.ssh(), key, folder / "known_hosts")
    assert output(again, "ipu-run -- gc-monitor --json | python3 -c 'import json, sys; json.load(sys.stdin)'") == ""

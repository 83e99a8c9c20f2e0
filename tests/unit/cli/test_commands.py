"""What a customer sees of each command, against a real HTTP server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ipucloud.client import retry
from tests.support.scripted import HANG_UP, Reply, Service, problem
from tests.unit.cli.conftest import Run, Terminal

HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGsLsPG0tEBYgAJSQm/bNPNAkrF3HXFGDWmMvVWOWcU1"
CLUSTER_ID = "01900000-0000-7000-8000-000000000001"
CLUSTER = {
    "id": CLUSTER_ID,
    "name": "bert",
    "region": "luxembourg-2",
    "flavor": "m2000-pod16",
    "image": "poplar-3.0.0",
    "state": "active",
    "created_at": "2026-01-01T00:00:00Z",
    "ipus": 16,
    "version": 3,
    "billing": {"status": "running", "minutes": 2, "cost": {"amount": "0.50", "currency": "EUR"}},
    "poplar_servers": [
        {
            "id": "server-1",
            "name": "bert-p0",
            "state": "running",
            "ssh": {"host": "127.0.0.1", "port": 2201, "user": "ubuntu", "host_key": HOST_KEY, "command": "ssh …"},
        }
    ],
}
QUARTER = {"amount": "0.25", "currency": "EUR"}
OPERATION = {
    "id": "operation-1",
    "kind": "cluster.create",
    "target": {"type": "cluster", "id": CLUSTER_ID},
    "state": "running",
    "done": False,
    "stage": "NETWORK",
    "progress": 10,
    "created_at": "2026-01-01T00:00:00Z",
    "request_id": "req-7",
}
NETWORK = {"name": "attach_network", "stage": "NETWORK", "state": "succeeded"}
NETWORK |= {"started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:12Z"}
DONE = OPERATION | {"state": "succeeded", "done": True, "progress": 100, "steps": [NETWORK, NETWORK | {"stage": "B"}]}
FAILED = OPERATION | {"state": "failed", "done": True, "error": {"code": "site_refused", "detail": "No network."}}


def serve_catalogue(service: Service) -> None:
    flavor = {"name": "m2000-pod16", "machine_type": "m2000", "ipus": 16, "machines": 4, "poplar_servers": 1}
    service.gives("/v1/flavors/m2000-pod16", flavor | {"regions": ["luxembourg-2"]})
    versions = ["1.9.0", "1.18.0"]
    images = [
        {"name": f"poplar-{version}", "sdk_version": version, "regions": ["luxembourg-2"]} for version in versions
    ]
    service.lists("/v1/images", [*images, {"name": "elsewhere", "sdk_version": "9.0.0", "regions": ["amsterdam-2"]}])
    service.lists("/v1/projects/demo/ssh-keys", [ssh_key("laptop")])


def ssh_key(name: str) -> dict[str, str]:
    return {"id": f"id-{name}", "name": name, "fingerprint": "SHA256:abc", "public_key": HOST_KEY}


def serve_cluster(service: Service, cluster: dict[str, Any] = CLUSTER) -> None:
    service.lists("/v1/projects/demo/clusters", [cluster])
    service.gives(f"/v1/projects/demo/clusters/{CLUSTER_ID}", cluster)
    refusal = problem(409, "state_conflict", "A service token is nobody's.")
    service.on("POST", f"/v1/projects/demo/clusters/{CLUSTER_ID}:sign-ssh-key", refusal)


def test_create_fills_in_what_has_only_one_answer_and_waits(run: Run, service: Service) -> None:
    serve_catalogue(service)
    serve_cluster(service)
    service.on("POST", "/v1/projects/demo/clusters", Reply(202, OPERATION))
    service.on("GET", "/v1/projects/demo/operations/operation-1", Reply(body=OPERATION), Reply(body=DONE))
    ended = run("clusters", "create", "bert", "--flavor", "m2000-pod16", "--tag", "team=nlp")
    assert ended.status == 0
    assert "active" in ended.out
    assert "✓ Network, 12 s" in ended.err
    assert "ipucloud clusters ssh bert" in ended.out
    assert "ssh asks once about the host key; for one that knows it: ipucloud clusters ssh-config bert" in ended.out
    body = service.bodies("POST")[0]
    assert body == {
        "name": "bert",
        "region": "luxembourg-2",
        "flavor": "m2000-pod16",
        "image": "poplar-1.18.0",
        "ssh_keys": ["laptop"],
        "tags": {"team": "nlp"},
        "partition": {"reconfigurable": True},
        "auto_repair": True,
        "delete_protection": False,
    }


def test_create_without_waiting_gives_the_same_document_and_its_warnings(run: Run, service: Service) -> None:
    serve_catalogue(service)
    serve_cluster(service)
    create = ("clusters", "create", "bert", "--flavor", "m2000-pod16", "--no-wait")
    service.on("POST", "/v1/projects/demo/clusters", Reply(202, OPERATION))
    ended = run(*create, "--json")
    assert (ended.status, "Warning" in ended.err) == (0, False)
    assert (ended.json["operation"]["id"], ended.json["cluster"]["name"]) == ("operation-1", "bert")
    warning = {"code": "no_login", "detail": "Nobody will be able to log in."}
    service.on("POST", "/v1/projects/demo/clusters", Reply(202, OPERATION | {"warnings": [warning]}))
    run(*create).fails(0, "Warning: Nobody will be able to log in.\n")


def test_a_failed_operation_says_why_and_under_which_request(run: Run, service: Service) -> None:
    service.gives("/v1/projects/demo/operations/operation-1", FAILED)
    ended = run("operations", "wait", "operation-1", "--json")
    assert ended.status == 1
    assert "No network." in ended.err
    assert "operation id operation-1" in ended.err
    assert "req-7" not in ended.err
    assert ended.json["error"]["code"] == "site_refused"


@pytest.mark.parametrize(
    ("status", "exit_status"),
    [(400, 2), (401, 4), (403, 4), (404, 3), (409, 5), (412, 5), (422, 2), (500, 1)],
)
def test_a_refusal_is_a_sentence_with_the_request_id(run: Run, service: Service, status: int, exit_status: int) -> None:
    refusal = problem(status, "a_code", "Do that.", errors=[{"pointer": "/name", "code": "x", "detail": "Too long."}])
    service.on("GET", "/v1/projects/demo/quotas", refusal)
    ended = run("quotas", "--json")
    assert ended.status == exit_status
    assert ended.err.splitlines() == ["ipucloud: Do that.", "  name: Too long.", "  request id req-1"]
    assert ended.json["error"]["code"] == "a_code"
    assert run("quotas").out == ""


def test_a_service_that_is_away(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPUCLOUD_URL", "http://127.0.0.1:1")
    run("flavors", "list").fails(6, "cannot be reached")


def test_waiting_no_longer_than_asked(run: Run, service: Service) -> None:
    service.gives("/v1/projects/demo/operations/operation-1", OPERATION)
    run("operations", "wait", "operation-1", "--timeout", "0").fails(6, "continues")


def test_lists_are_tables_or_json_arrays(run: Run, service: Service) -> None:
    serve_cluster(service)
    assert run("clusters", "list").out.splitlines()[-1].split()[:6] == [
        "bert",
        "active",
        "-",
        "m2000-pod16",
        "luxembourg-2",
        "16",
    ]
    [listed] = run("clusters", "list", "--json").json
    assert listed["name"] == "bert"
    assert listed["billing"]["cost"] == {"amount": "0.50", "currency": "EUR"}


def test_what_a_service_sends_cannot_steer_the_terminal(run: Run, service: Service) -> None:
    service.lists("/v1/images", [{"name": "[red]evil\x1b[2J\u202e"}])
    out = run("images", "list").out
    assert "[red]evil" in out
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_delete_asks_nobody_who_cannot_answer_and_says_how_to_allow_it(run: Run, service: Service) -> None:
    serve_cluster(service)
    service.on("DELETE", f"/v1/projects/demo/clusters/{CLUSTER_ID}", Reply(202, OPERATION))
    service.gives("/v1/projects/demo/operations/operation-1", DONE)
    run("clusters", "delete", "bert").fails(2, "--yes")
    assert service.bodies("DELETE") == []
    ended = run("clusters", "delete", "bert", "--yes", "--json")
    assert (ended.status, ended.json["operation"]["state"]) == (0, "succeeded")
    serve_cluster(service, CLUSTER | {"delete_protection": True})
    ended = run("clusters", "delete", "bert", "--yes", "--json")
    assert (ended.status, ended.json["error"]["code"]) == (5, "delete_protected")
    assert "ipucloud clusters update bert --no-protect" in ended.err


@pytest.mark.parametrize(
    ("verb", "options"), [("suspend", ["--yes"]), ("resume", []), ("repair", ["--yes"]), ("reboot", ["--yes"])]
)
def test_a_cluster_rests_and_comes_back(run: Run, service: Service, verb: str, options: list[str]) -> None:
    serve_cluster(service)
    service.on("POST", f"/v1/projects/demo/clusters/{CLUSTER_ID}:{verb}", Reply(202, OPERATION))
    service.gives("/v1/projects/demo/operations/operation-1", DONE)
    ended = run("clusters", verb, "bert", *options, "--json")
    assert (ended.status, ended.json["operation"]["state"]) == (0, "succeeded")
    [request] = [each for each in service.requests if each.method == "POST"]
    assert "idempotency-key" in request.headers


@pytest.mark.parametrize(("verb", "size"), [("resume", []), ("resize", ["m2000-pod64", "--yes"])])
def test_a_resume_and_a_resize_wait_for_capacity(run: Run, service: Service, verb: str, size: list[str]) -> None:
    serve_cluster(service)
    service.on("POST", f"/v1/projects/demo/clusters/{CLUSTER_ID}:{verb}", Reply(202, OPERATION))
    flavor = {"flavor": size[0]} if size else {}
    assert run("clusters", verb, "bert", *size, "--wait-for-capacity", "--no-wait").status == 0
    assert service.requests[-2].body == flavor | {"wait_for_capacity": True}
    assert run("clusters", verb, "bert", *size, "--wait-until", "2030-01-01T00:00:00Z", "--no-wait").status == 0
    body = service.requests[-2].body
    assert isinstance(body, dict)
    assert (body["wait_for_capacity"], body["wait_until"][:10]) == (True, "2030-01-01")


def test_a_power_cycle_says_what_is_lost_first(run: Run, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    serve_cluster(service)
    path = f"/v1/projects/demo/clusters/{CLUSTER_ID}:power-cycle"
    service.on("POST", path, Reply(202, OPERATION))
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    run("clusters", "reboot", "bert", "--hard", "--server", "bert-p0").fails(1, "not yet written to disk is lost")
    assert service.bodies("POST") == []
    assert run("clusters", "reboot", "bert", "--hard", "--server", "bert-p0", "--yes", "--no-wait").status == 0
    assert service.bodies("POST") == [{"poplar_servers": ["bert-p0"]}]


def test_a_rebuild_says_what_is_lost_first(run: Run, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    serve_cluster(service)
    service.on("POST", f"/v1/projects/demo/clusters/{CLUSTER_ID}:rebuild", Reply(202, OPERATION))
    assert "--keep-disk" in run("clusters", "rebuild", "bert", "--yes").err
    for option, lost in (("--wipe", "/home too"), ("--keep-disk", "except /home will be lost")):
        monkeypatch.setattr("sys.stdin", Terminal("n\n"))
        run("clusters", "rebuild", "bert", option).fails(1, lost, "Nothing is billed")
    assert service.bodies("POST") == []
    options = ("--wipe", "--no-user-data", "--ssh-key", "ci", "--server", "bert-p0", "--yes", "--no-wait")
    assert run("clusters", "rebuild", "bert", *options).status == 0
    assert service.bodies("POST") == [
        {"disk": "wipe", "user_data": None, "ssh_keys": ["ci"], "poplar_servers": ["bert-p0"]}
    ]


def test_keys_are_changed_and_followed(run: Run, service: Service) -> None:
    serve_cluster(service, CLUSTER | {"operation": OPERATION})
    service.on("PATCH", f"/v1/projects/demo/clusters/{CLUSTER_ID}", Reply(200, CLUSTER | {"operation": OPERATION}))
    service.gives("/v1/projects/demo/operations/operation-1", DONE)
    assert run("clusters", "update", "bert", "--ssh-key", "laptop", "--ssh-key", "ci").status == 0
    assert service.bodies("PATCH") == [{"ssh_keys": ["laptop", "ci"]}]
    assert [each.path for each in service.requests if each.path.endswith("operation-1")]


def test_suspend_lists_partitions_that_are_lost(run: Run, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    serve_cluster(service)
    partitions = [{"name": "training", "origin": "api", "size": 8}, {"name": "bert-1", "origin": "cluster", "size": 16}]
    service.lists(f"/v1/projects/demo/clusters/{CLUSTER_ID}/partitions", partitions)
    assert "add --yes" in run("clusters", "suspend", "bert").err
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    run("clusters", "suspend", "bert").fails(1, "These partitions will be lost: training (8 IPUs).")
    assert service.bodies("POST") == []


def test_repair_lists_servers_whose_data_is_lost(run: Run, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = {"kind": "poplar_server", "name": "bert-1-p0", "code": "host_failed", "message": "It failed."}
    serve_cluster(service, CLUSTER | {"faults": [fault | {"since": "2026-01-02T00:00:00Z", "credited": True}]})
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    run("clusters", "repair", "bert").fails(1, "The data on these Poplar servers will be lost: bert-1-p0.")
    assert service.bodies("POST") == []


def test_a_failed_cluster_shows_its_cause_and_what_to_do(run: Run, service: Service) -> None:
    serve_cluster(service, CLUSTER | {"state": "error", "state_reason": "No network.", "ssh_keys": ["laptop"]})
    service.lists("/v1/projects/demo/operations", [FAILED])
    out = run("clusters", "show", "bert").out
    for words in ("No network.", "cluster.create failed operation-1", "ipucloud clusters delete bert", "laptop"):
        assert words in out
    assert "log in" not in out


def test_a_suspended_cluster_shows_how_to_resume_it_and_no_login(run: Run, service: Service) -> None:
    serve_cluster(service, CLUSTER | {"state": "suspended", "tags": {"team": "nlp"}, "price_per_minute": QUARTER})
    out = run("clusters", "show", "bert").out
    assert "15.00 EUR after a resume; nothing while suspended" in out
    assert "ipucloud clusters resume bert" in out
    assert "team=nlp" in out
    assert "log in" not in out


def test_a_deleted_cluster_is_not_found_by_its_name(run: Run, service: Service) -> None:
    serve_cluster(service, CLUSTER | {"deleted_at": "2026-01-02T00:00:00Z", "state": "deleted"})
    assert run("clusters", "show", "bert").status == 3
    assert run("clusters", "show", CLUSTER_ID).status == 0


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the arguments that a program in the place of OpenSSH was called with."""
    program, arguments = tmp_path / "bin" / "ssh", tmp_path / "arguments"
    program.parent.mkdir()
    record, refuse = f'printf "%s\\n" "$@" > {arguments}', 'echo "Permission denied (publickey)." > "$2"'
    program.write_text(f"#!/bin/sh\n{record}\n{refuse}\nexit 255\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return arguments


def test_ssh_pins_the_host_key_and_lists_the_keys_that_are_accepted(
    run: Run, service: Service, config_dir: Path, ssh: Path, tmp_path: Path
) -> None:
    serve_cluster(service, CLUSTER | {"ssh_keys": ["laptop", "ci"], "allowed_sources": ["203.0.113.0/24"]})
    identity = tmp_path / "key"
    identity.touch()
    run("clusters", "ssh", "bert", "-i", str(identity), "--", "gc-info", "-l").fails(
        255,
        "Permission denied (publickey).",
        "bert accepts these SSH keys: laptop, ci.",
        "bert takes SSH only from 203.0.113.0/24.",
    )
    arguments = ssh.read_text().splitlines()
    assert arguments[-2:] == ["gc-info", "-l"]
    assert arguments[-5:-2] == ["-p", "2201", "ubuntu@127.0.0.1"]
    assert "StrictHostKeyChecking=yes" in arguments
    known_hosts = config_dir / "known_hosts" / "server-1"
    assert f'UserKnownHostsFile="{known_hosts}"' in arguments
    assert known_hosts.read_text() == f"server-1 {HOST_KEY}\n"


def test_a_remote_command_has_its_own_options(run: Run, service: Service, ssh: Path) -> None:
    serve_cluster(service, CLUSTER)
    for words in (("gc-info", "-l", "--server", "1"), ("--", "gc-info", "-l", "--server", "1")):
        run("clusters", "ssh", "bert", "--server", "0", *words)
        assert ssh.read_text().splitlines()[-5:] == ["ubuntu@127.0.0.1", "gc-info", "-l", "--server", "1"]


def test_ssh_forwards_ports_without_a_login(run: Run, service: Service, ssh: Path) -> None:
    serve_cluster(service, CLUSTER)
    run("clusters", "ssh", "bert", "--forward", "8000", "--forward", "9001:8001")
    arguments = ssh.read_text().splitlines()
    assert [arguments[n + 1] for n, each in enumerate(arguments) if each == "-L"] == [
        "127.0.0.1:8000:127.0.0.1:8000",
        "127.0.0.1:9001:127.0.0.1:8001",
    ]
    assert "-N" in arguments


@pytest.mark.parametrize("port", ["0", "65536", "here:8000", "8000:", "1:2:3"])
def test_a_port_that_is_none_is_not_forwarded(run: Run, service: Service, port: str) -> None:
    serve_cluster(service, CLUSTER)
    run("clusters", "ssh", "bert", "--forward", port).fails(2, f"--forward {port} is no port")


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        ({"state": "suspended"}, "ipucloud clusters resume bert"),
        ({"state": "creating", "poplar_servers": []}, "log"),
        ({"state": "creating", "poplar_servers": [{"id": "s", "name": "p0", "state": "pending", "ssh": None}]}, "log"),
    ],
)
def test_ssh_to_a_cluster_that_is_not_ready(run: Run, service: Service, cluster: dict[str, Any], words: str) -> None:
    serve_cluster(service, CLUSTER | cluster)
    run("clusters", "ssh", "bert").fails(2, words)


def test_a_private_key_is_not_sent(run: Run, service: Service, tmp_path: Path) -> None:
    key = tmp_path / "id_ed25519"
    key.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n")
    run("ssh-keys", "add", "laptop", str(key)).fails(2)
    assert service.requests == []


def test_ssh_keys_are_added_listed_and_removed_by_name(run: Run, service: Service, tmp_path: Path) -> None:
    path = "/v1/projects/demo/ssh-keys"
    key = tmp_path / "key.pub"
    key.write_text(HOST_KEY + " me@laptop\n")
    service.on("POST", path, Reply(201, ssh_key("laptop")))
    service.lists(path, [])
    service.on("DELETE", f"{path}/id-laptop", Reply(204))
    assert run("ssh-keys", "create", "laptop", str(key)).status == 0
    assert service.requests[-1].body == {"name": "laptop", "public_key": HOST_KEY + " me@laptop"}
    service.lists(path, [ssh_key("laptop")])
    service.on("POST", path, problem(409, "key_exists", "The project has this key already, as laptop."))
    run("ssh-keys", "create", "desk", str(key)).fails(5, "The project has this key already, as laptop.")
    assert "laptop" in run("ssh-keys", "list").out
    service.lists("/v1/projects/demo/clusters", [CLUSTER | {"ssh_keys": ["laptop"]}])
    deleted = run("ssh-keys", "delete", "laptop")
    assert (deleted.status, "These clusters still accept it: bert." in deleted.err) == (0, True)
    assert run("ssh-keys", "remove", "desktop").status == 3
    assert run("ssh-keys", "delete", "laptop", "--yes").status == 0


def test_usage_of_a_cluster_and_of_the_project(run: Run, service: Service) -> None:
    serve_cluster(service)
    cost = {"amount": "0.500000", "currency": "EUR"}
    span = {"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z", "minutes": 2, "cost": cost}
    usage = span | {key: CLUSTER[key] for key in ("name", "region", "flavor")}
    usage |= {"cluster_id": CLUSTER_ID, "running": True, "slices": []}
    service.gives(f"/v1/projects/demo/clusters/{CLUSTER_ID}/usage", usage)
    service.gives("/v1/projects/demo/billing/usage", span | {"clusters": [usage]})
    assert run("usage", "bert", "--json").json["cost"] == {"amount": "0.500000", "currency": "EUR"}
    assert "0.50 EUR" in run("usage", "--since", "2026-01-01").out
    assert service.requests[-1].query == {"since": "2026-01-01T00:00:00Z"}
    assert run("usage", "bert", "--since", "2026-01-01").status == 2


def test_events_stop_at_the_limit(run: Run, service: Service) -> None:
    event = {"id": "1", "type": "cluster.active", "subject_type": "cluster", "subject_id": CLUSTER_ID}
    event |= {"at": "2026-01-01T00:00:00Z"}
    service.gives("/v1/projects/demo/events", {"items": [event] * 3, "next_cursor": "more"})
    assert len(run("events", "--limit", "5", "--json").json) == 5


def test_the_help_of_customers_loads_nothing_of_the_service() -> None:
    program = """
import sys
from ipucloud.cli.main import cli
for arguments in (["--help"], ["clusters", "--help"], ["clusters", "list"]):
    try:
        cli(arguments, prog_name="ipucloud")
    except SystemExit:
        pass
heavy = {"sqlalchemy", "fastapi", "grpc", "asyncssh", "psycopg", "alembic"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_lost_answer_is_repeated_without_a_word(run: Run, service: Service) -> None:
    service.on("GET", "/v1/projects/demo/quotas", *[HANG_UP] * (retry.Retry().attempts - 1), Reply(body={"items": []}))
    assert run("quotas", "--json").json == []

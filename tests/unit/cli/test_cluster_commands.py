"""Changing, awaiting and reaching clusters from the command line, against a real HTTP server."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.machine import find_program
from tests.support.scripted import Reply, Service, page, problem
from tests.unit.cli.conftest import Run, Terminal
from tests.unit.cli.test_commands import CLUSTER, CLUSTER_ID, DONE, FAILED, HOST_KEY, OPERATION, serve_cluster

PATH = f"/v1/projects/demo/clusters/{CLUSTER_ID}"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("commands.cluster_changes", "watching"):
        monkeypatch.setattr(f"ipucloud.cli.{module}.sleep", lambda _: None)


def changes(service: Service) -> list[Any]:
    return [each for each in service.requests if each.method == "PATCH"]


def test_an_update_changes_something(run: Run, service: Service) -> None:
    run("clusters", "update", "bert").fails(2, "--no-protect")
    assert service.requests == []
    serve_cluster(service)
    service.on("PATCH", PATH, Reply(body=CLUSTER))
    assert run("clusters", "update", "bert", "--no-protect", "--name", "large").status == 0
    assert changes(service)[0].body == {"name": "large", "delete_protection": False}
    assert "if-match" not in changes(service)[0].headers


def test_tags_are_changed_one_by_one_and_never_lost(run: Run, service: Service) -> None:
    tagged = CLUSTER | {"tags": {"team": "nlp", "stage": "old"}}
    serve_cluster(service, tagged)
    service.on("GET", PATH, Reply(body=tagged, headers={"ETag": '"7"'}))
    service.on("PATCH", PATH, Reply(body=tagged))
    assert run("clusters", "update", "bert", "--tag", "owner=ann", "--untag", "stage").status == 0
    assert changes(service)[0].body == {"tags": {"team": "nlp", "owner": "ann"}}
    assert changes(service)[0].headers["if-match"] == '"7"'
    run("clusters", "update", "bert", "--delete-tag", "colour").fails(2, "no tag colour")


def test_changed_s3_connections_are_waited_for_until_the_servers_that_run_have_them(run: Run, service: Service) -> None:
    server: dict[str, Any] = CLUSTER["poplar_servers"][0]  # type: ignore[index]
    off = {"id": "server-2", "name": "bert-p1", "state": "off"}

    def seen(access: dict[str, Any] | None) -> dict[str, Any]:
        settings = {"s3_connections": ["lake"], "allowed_sources": []}
        return CLUSTER | settings | {"poplar_servers": [server | {"s3_access": access}, off]}

    serve_cluster(service, seen(None))
    service.on("PATCH", PATH, Reply(body=seen(None)))
    later = [seen(None), seen({"connections": [], "current": False}), seen({"connections": ["lake"], "current": True})]
    service.on("GET", PATH, Reply(body=seen(None)), *(Reply(body=each) for each in later))
    ended = run("clusters", "update", "bert", "--s3-connection", "lake", "--json")
    assert ended.status == 0, ended.err
    assert ended.json["poplar_servers"][0]["s3_access"]["current"]
    service.gives(PATH, seen(None))
    assert run("clusters", "update", "bert", "--s3-connection", "lake", "--no-wait").status == 0
    run("clusters", "update", "bert", "--s3-connection", "lake", "--timeout", "0").fails(6, "on 1 servers")


def test_expiry_is_a_duration_a_date_or_never(run: Run, service: Service) -> None:
    serve_cluster(service)
    service.on("PATCH", PATH, Reply(body=CLUSTER))
    assert run("clusters", "update", "bert", "--expires-at", "2030-12-24").status == 0
    assert run("clusters", "update", "bert", "--expires-at", "1d12h").status == 0
    assert run("clusters", "update", "bert", "--no-expiry").status == 0
    first, second, third = (each.body["expires_at"] for each in changes(service))
    assert (first, third) == ("2030-12-24T00:00:00Z", None)
    assert second.endswith("Z")
    for wrong in ("soon", "", "2030-13-01", "99999999999w"):
        assert run("clusters", "update", "bert", "--expires-at", wrong).status == 2
    assert run("clusters", "update", "bert", "--expires-at", "2h", "--no-expiry").status == 2


def test_waiting_for_the_open_operations(run: Run, service: Service) -> None:
    serve_cluster(service, CLUSTER | {"operation": OPERATION})
    service.lists("/v1/projects/demo/operations", [OPERATION])
    service.on("GET", "/v1/projects/demo/operations/operation-1", Reply(body=OPERATION), Reply(body=DONE))
    assert run("clusters", "wait", "bert", "--json").json["name"] == "bert"
    service.gives("/v1/projects/demo/operations/operation-1", FAILED)
    assert run("clusters", "wait", "bert").status == 1
    service.gives("/v1/projects/demo/operations/operation-1", OPERATION)
    assert run("clusters", "wait", "bert", "--timeout", "0").status == 6
    serve_cluster(service)
    service.lists("/v1/projects/demo/operations", [])
    assert run("clusters", "wait", "bert", "--for", "operation").status == 0


@pytest.mark.parametrize(("then", "status"), [("suspended", 0), ("error", 1)])
def test_waiting_for_a_state(run: Run, service: Service, then: str, status: int) -> None:
    serve_cluster(service)
    active, other = Reply(body=CLUSTER), Reply(body=CLUSTER | {"state": then})
    service.on("GET", PATH, active, active, other)
    ended = run("clusters", "wait", "bert", "--state", "suspended", "--json")
    assert (ended.status, ended.json["state"]) == (status, then)
    serve_cluster(service)
    run("clusters", "wait", "bert", "--state", "suspended", "--timeout", "0").fails(6, "still active")
    assert run("clusters", "wait", "bert", "--for", "active", "--json").json["state"] == "active"
    assert run("clusters", "wait", "bert", "--state", "sleeping").status == 2


def test_waiting_for_a_deletion_that_is_over(run: Run, service: Service) -> None:
    """By its name the cluster is not found any more; another name is refused."""
    deleted = CLUSTER | {"state": "deleted", "deleted_at": "2026-05-04T13:10:00Z"}
    lists = "/v1/projects/demo/clusters"
    service.on("GET", lists, page([]), page([]), page([deleted]))
    service.gives(PATH, deleted)
    ended = run("clusters", "wait", "bert", "--for", "deleted", "--json")
    assert (ended.status, ended.json["state"]) == (0, "deleted")
    service.lists(lists, [])
    assert run("clusters", "wait", "ernie", "--for", "deleted").status == 3


@pytest.fixture
def exec_calls(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command lines that the command became."""
    command_lines: list[list[str]] = []

    def become(program: str, arguments: list[str]) -> None:
        command_lines.append(arguments)
        raise SystemExit(0)

    monkeypatch.setattr("os.execv", become)
    real = {"ssh-keygen": find_program("ssh-keygen")}  # which is run, and not become
    monkeypatch.setattr("shutil.which", lambda program: real.get(program, f"/usr/bin/{program}"))
    return command_lines


def test_scp_goes_both_ways_with_the_host_key_pinned(
    run: Run, service: Service, config_dir: Path, exec_calls: list[list[str]]
) -> None:
    serve_cluster(service)
    assert run("clusters", "scp", "a.py", "./b:c", "bert:").status == 0
    assert run("clusters", "scp", "-r", "bert:results/it's", ".").status == 0
    there, back = exec_calls
    assert there[-6:] == ["-P", "2201", "--", "a.py", "./b:c", "ubuntu@127.0.0.1:"]
    assert back[:2] == ["/usr/bin/scp", "-r"]
    assert back[-2:] == ["ubuntu@127.0.0.1:results/it's", "."]
    assert f'UserKnownHostsFile="{config_dir / "known_hosts" / "server-1"}"' in there
    assert "StrictHostKeyChecking=yes" in there


@pytest.mark.parametrize("paths", [["a", "b"], ["bert:a"], ["bert:a", "other:b"], ["bert:a", "b", "c"]])
def test_scp_copies_between_here_and_one_cluster(run: Run, service: Service, paths: list[str]) -> None:
    run("clusters", "scp", *paths).fails(2, "cluster:path")
    assert service.requests == []


def test_ssh_config_has_a_block_for_every_reachable_server(run: Run, service: Service, config_dir: Path) -> None:
    away = {"id": "server-2", "name": "bert-p1", "state": "pending", "ssh": None}
    servers: Any = CLUSTER["poplar_servers"]
    serve_cluster(service, CLUSTER | {"poplar_servers": [*servers, away]})
    known_hosts = config_dir / "known_hosts" / "server-1"
    assert run("clusters", "ssh-config").out.splitlines() == [
        "Host bert bert.0",
        "  HostName 127.0.0.1",
        "  Port 2201",
        "  User ubuntu",
        "  HostKeyAlias server-1",
        f'  UserKnownHostsFile "{known_hosts}"',
        "  GlobalKnownHostsFile none",
        "  StrictHostKeyChecking yes",
        "  UpdateHostKeys no",
        "  ConnectTimeout 20",
        "  ServerAliveInterval 15",
        "  ServerAliveCountMax 4",
        "",
    ]
    assert known_hosts.read_text() == f"server-1 {HOST_KEY}\n"
    [host] = run("clusters", "ssh-config", "bert", "--json").json
    assert host["HostName"] == "127.0.0.1"


def serve_changing_list(service: Service) -> None:
    """A cluster that becomes active, then a refusal."""
    pages = [page([CLUSTER | {"state": state}]) for state in ("creating", "creating", "active")]
    service.on("GET", "/v1/projects/demo/clusters", *pages, problem(401, "unauthenticated", "Send a valid token."))


def test_watching_writes_new_lines_to_a_pipe_until_the_service_refuses(run: Run, service: Service) -> None:
    serve_changing_list(service)
    ended = run("clusters", "list", "--watch")
    assert ended.status == 4
    assert [line.split()[1] for line in ended.out.splitlines() if line.startswith("bert")] == ["creating", "active"]
    serve_changing_list(service)
    states = [line for line in run("clusters", "list", "--watch", "--json").out.splitlines() if '"state"' in line]
    assert len(states) == 2, "one document for each change"


def test_watching_redraws_a_terminal(run: Run, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    serve_changing_list(service)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout", Terminal())
    assert run("clusters", "list", "--watch").status == 4
    drawn = sys.stdout.getvalue() if isinstance(sys.stdout, Terminal) else ""
    first, *redrawn = drawn.split("\x1b[1A")
    assert "creating" in first
    assert "active" in redrawn[-1]


def test_events_are_followed_from_the_last_one_on(run: Run, service: Service) -> None:
    event: dict[str, object] = {"type": "cluster.active", "subject_type": "cluster", "subject_id": CLUSTER_ID}
    event |= {"at": "2026-01-01T00:00:00Z", "request_id": None, "operation_id": None, "data": {}}
    service.lists("/v1/projects/demo/events", [event | {"id": each} for each in ("2", "1")])
    sent = f"id: 2\n\nid: 3\nevent: cluster.active\ndata: {json.dumps(event | {'id': '3'})}\n\n".encode()
    stream = Reply(raw=sent, headers={"Content-Type": "text/event-stream"})
    refusal = problem(401, "unauthenticated", "Send a valid token.")
    service.on("GET", "/v1/projects/demo/events/stream", stream, refusal)
    ended = run("events", "--follow", "--json")
    assert ended.status == 4
    assert [line.partition(",")[0] for line in ended.out.splitlines()[:3]] == ['{"id": "1"', '{"id": "2"', '{"id": "3"']
    assert [each.query.get("after") for each in service.requests] == [None, "2", "2"]
    assert [each.headers.get("last-event-id") for each in service.requests] == [None, None, "3"]


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (("events", "list"), "/v1/projects/demo/cloud-events"),
        (("accounts", "events", "research"), "/v1/billing/accounts/research/cloud-events"),
        (("admin", "events"), "/v1/operator/cloud-events"),
    ],
)
def test_events_are_printed_as_cloud_events(run: Run, service: Service, command: tuple[str, ...], path: str) -> None:
    service.lists(path, [{"specversion": "1.0", "id": each, "agent": None} for each in ("2", "1")])
    lines = run(*command, "--cloud-events").out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["2", "1"]
    request_count = len(service.requests)
    refused = run(*command, "--cloud-events", "--follow")
    assert (refused.status, len(service.requests)) == (2, request_count)
    assert "--cloud-events or --follow" in refused.err


def test_an_accounts_events_are_followed_by_type(run: Run, service: Service) -> None:
    account, path = "research", "/v1/billing/accounts/research/events"
    event: dict[str, object] = {"subject_type": "account", "subject_id": CLUSTER_ID, "at": "2026-01-01T00:00:00Z"}
    event |= {"request_id": None, "operation_id": None, "data": {}}
    service.lists(path, [event | {"id": "1", "type": "invoice.issued"}])
    types = {"2": "payment.received", "3": "invoice.overdue"}
    sent = [json.dumps(event | {"id": each, "type": name}) for each, name in types.items()]
    text = "".join(
        f"id: {each}\nevent: {types[each]}\ndata: {data}\n\n" for each, data in zip(types, sent, strict=True)
    )
    stream = Reply(raw=text.encode(), headers={"Content-Type": "text/event-stream"})
    service.on("GET", f"{path}/stream", stream, problem(401, "unauthenticated", "Send a valid token."))
    ended = run("accounts", "events", account, "--follow", "--json", "--type", "invoice.*")
    assert ended.status == 4
    assert [line.partition(",")[0] for line in ended.out.splitlines()[:2]] == ['{"id": "1"', '{"id": "3"']


def test_open_uses_a_browser_or_prints_the_address(run: Run, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def browse(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr("webbrowser.open", browse)
    assert run("open").out == ""
    assert opened == [f"{service.url}/docs"]
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    assert f"{service.url}/docs" in run("open").out


SCHEDULE = {
    "time_zone": "Europe/Luxembourg",
    "periods": [
        {"days": ["mon", "tue", "wed", "thu", "fri"], "starts_at": "08:00", "ends_at": "20:00"},
        {"days": ["sat"], "starts_at": "10:00", "ends_at": "14:00"},
    ],
    "holidays": ["2026-12-25", "2026-12-26"],
}


def test_a_schedule_is_set_with_the_holidays_of_a_file(run: Run, service: Service, tmp_path: Path) -> None:
    due = {"action": "resume", "due_at": "2026-05-04T06:00:00Z", "waits_for": "capacity_exhausted"}
    due |= {"detail": "The region is full.", "retry_at": "2026-05-04T06:05:00Z"}
    answer = SCHEDULE | {"next_action": "suspend", "next_at": "2026-05-04T18:00:00Z", "due": due}
    serve_cluster(service)
    service.on("PATCH", PATH, Reply(body=CLUSTER | {"schedule": answer}))
    days = tmp_path / "holidays"
    days.write_text("# Luxembourg\n\n2026-12-26 # second day of Christmas\n2026-12-25\n")
    arguments = ("mon-fri 08:00-20:00", "sat 10:00-14:00", "--time-zone", "Europe/Luxembourg")
    ended = run("clusters", "schedule", "bert", *arguments, "--holidays-file", str(days), "--holiday", "2026-12-25")
    assert (ended.status, changes(service)[0].body) == (0, {"schedule": SCHEDULE})
    for part in (
        "mon,tue,wed,thu,fri 08:00-20:00; sat 10:00-14:00",
        "suspend at 2026-05-04 18:00:00Z",
        "region is full",
    ):
        assert part in ended.out
    assert run("clusters", "schedule", "bert", "--remove").status == 0
    assert changes(service)[1].body == {"schedule": None}
    serve_cluster(service, CLUSTER | {"schedule": SCHEDULE | {"next_action": None, "next_at": None, "due": None}})
    assert run("clusters", "schedule", "bert", "--json").json["time_zone"] == "Europe/Luxembourg"
    assert len(changes(service)) == 2, "it is shown without a change"


@pytest.mark.parametrize(
    "wrong",
    [
        ("mon-fri 08:00-20:00",),
        ("mon-fri 8-20", "--time-zone", "UTC"),
        ("monday 08:00-20:00", "--time-zone", "UTC"),
        ("--time-zone", "UTC"),
        ("mon 08:00-20:00", "--time-zone", "UTC", "--remove"),
        ("mon 08:00-20:00", "--time-zone", "UTC", "--holiday", "Christmas"),
    ],
)
def test_a_schedule_that_is_not_one_asks_nothing(run: Run, service: Service, wrong: tuple[str, ...]) -> None:
    serve_cluster(service)
    assert run("clusters", "schedule", "bert", *wrong).status == 2
    assert changes(service) == []


def test_a_cluster_is_suspended_when_nobody_uses_it_or_not(run: Run, service: Service) -> None:
    idle = {"since": "2026-05-04T12:00:00Z", "observed_at": "2026-05-04T13:00:00Z"}
    watched = CLUSTER | {"idle_suspend_minutes": 60, "idle": idle}
    serve_cluster(service, watched)
    service.on("PATCH", PATH, Reply(body=watched))
    run("clusters", "update", "bert", "--idle-suspend", "60").shows("after 60 min", "2026-05-04 12:00:00Z")
    assert run("clusters", "update", "bert", "--no-idle-suspend").status == 0
    assert [each.body for each in changes(service)] == [{"idle_suspend_minutes": 60}, {"idle_suspend_minutes": None}]
    for wrong in (("--idle-suspend", "4"), ("--idle-suspend", "60", "--no-idle-suspend")):
        assert run("clusters", "update", "bert", *wrong).status == 2

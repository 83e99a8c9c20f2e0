"""What operators see of hardware and work, against a real HTTP server."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ipucloud.admin.whatis import COMMANDS
from ipucloud.cli.main import cli
from tests.support.scripted import Reply, Service, page, problem
from tests.unit.cli.conftest import Run

HOLDER = {"project": "research", "cluster": "c1", "name": "bert", "state": "active", "since": "2026-05-04T09:15:00Z"}
MACHINE = {
    "name": "lux2-m07",
    "region": "luxembourg-2",
    "pod": "lux2-0-p0",
    "slot": 7,
    "state": "allocated",
    "maintenance": True,
    "codes": ["drain"],
    "holder": HOLDER,
    "serial": "GC3F0A71C2D9",
    "parts": {"bmc": "2.6.0"},
    "part_serials": {"ipu-0": "5B21C77E"},
    "holders": [HOLDER],
}


def test_machines_are_listed_with_their_holders(run: Run, service: Service) -> None:
    service.lists("/v1/operator/machines", [MACHINE])
    shown = run("admin", "machines", "list", "--state", "allocated", "--region", "luxembourg-2")
    assert {"lux2-m07", "drain", "research", "bert"} <= set(shown.out.split())
    assert service.requests[-1].query["state"] == "allocated"
    service.gives("/v1/operator/machines/lux2-m07", MACHINE)
    facts = run("admin", "machines", "show", "lux2-m07").out
    assert all(fact in facts for fact in ("research/bert", "GC3F0A71C2D9", "firmware of bmc"))
    service.lists("/v1/operator/machines", [MACHINE | {"holder": HOLDER | {"cluster": None, "name": "may"}}])
    assert "may (reservation)" in run("admin", "machines", "list", "--serial", "GC3F0A71C2D9").out
    assert service.requests[-1].query["serial"] == "GC3F0A71C2D9"
    assert run("admin", "machines", "list", "--state", "broken").status == 2


def test_hardware_is_drained_by_name_pod_and_rack(run: Run, service: Service) -> None:
    changed = {"kind": "machine", "name": "lux2-m07", "allocatable": False, "codes": ["drain"], "holder": HOLDER}
    service.on("POST", "/v1/operator/hardware:drain", page([changed]))
    run("admin", "drain", "--pod", "lux2-0-p0", "--pod", "lux2-0-p1", "--reason", "power work").shows("bert")
    assert service.requests[-1].body == {
        "machines": [],
        "hosts": [],
        "pods": ["lux2-0-p0", "lux2-0-p1"],
        "racks": [],
        "reason": "power work",
    }
    assert run("admin", "drain", "--reason", "nothing").status == 2


def test_parked_work_is_requeued(run: Run, service: Service) -> None:
    item = {"kind": "cluster", "key": "c1", "state": "due", "attempt": 0}
    service.on("POST", "/v1/operator/work/cluster/c1:requeue", Reply(body=item))
    assert run("admin", "work", "requeue", "cluster", "c1", "--json").json["state"] == "due"


@pytest.mark.parametrize("command", COMMANDS.values())
def test_the_commands_that_show_an_object_exist(command: str) -> None:
    context: Any = cli.make_context("ipucloud", [], resilient_parsing=True)
    for word in command.split(" {", maxsplit=1)[0].removesuffix(" --project").removesuffix(" --pod").split()[1:]:
        subcommand = context.command.get_command(context, word)
        assert subcommand is not None, word
        context = subcommand.make_context(word, [], parent=context, resilient_parsing=True)


FREEZE = {"id": "freeze-1", "region": None, "state": "live", "reason": "wrong answers"}


SIMULATED = {"id": "fault-1", "kind": "link", "name": "lux2-m07", "link": "next", "state": "in_force"}


def test_a_simulated_site_is_asked_to_break_something(run: Run, service: Service) -> None:
    path = "/v1/operator/simulated-faults"
    service.on("POST", path, Reply(202, SIMULATED | {"state": "requested"}))
    assert "requested" in run("admin", "simulated-faults", "create", "link", "lux2-m07", "--link", "next").out
    assert service.requests[-1].body == {"kind": "link", "name": "lux2-m07", "link": "next"}
    assert run("admin", "simulated-faults", "create", "flood", "lux2-m07").status == 2
    service.lists(path, [SIMULATED])
    assert "in_force" in run("admin", "simulated-faults", "list", "--open").out
    assert service.requests[-1].query["ended"] == "false"
    service.on("POST", f"{path}/fault-1:end", Reply(202, SIMULATED | {"state": "ending"}))
    assert "ending" in run("admin", "simulated-faults", "end", "fault-1").out


def test_removals_are_frozen_until_a_time(run: Run, service: Service) -> None:
    service.on("POST", "/v1/operator/freezes", Reply(201, FREEZE))
    assert "wrong answers" in run("admin", "freezes", "start", "--reason", "wrong answers", "--expires-at", "2h").out
    assert service.requests[-1].body.keys() == {"reason", "expires_at"}
    assert run("admin", "freezes", "start", "--reason", "for ever").status == 2
    assert run("admin", "freezes", "start", "--reason", "wrong", "--expires-at", "soon").status == 2
    service.on("POST", "/v1/operator/freezes/freeze-1:end", Reply(body=FREEZE | {"state": "ended"}))
    assert "ended" in run("admin", "freezes", "end", "freeze-1", "--reason", "right again").out
    service.lists("/v1/operator/freezes", [FREEZE])
    assert "all" in run("admin", "freezes", "list", "--state", "live").out
    assert run("admin", "freezes", "list", "--state", "frozen").status == 2


def test_what_sweeps_left_is_listed_with_the_reason(run: Run, service: Service) -> None:
    finding = {"object": "x-1", "host": "h0", "left_because": "The operator has frozen removals."}
    service.lists("/v1/operator/site-findings", [finding])
    run("admin", "site-findings", "list", "--region", "lux-2").shows("x-1 on h0", "frozen removals")


def test_a_cluster_is_deleted_by_force_only_on_purpose(run: Run, service: Service) -> None:
    operation = {"id": "operation-1", "kind": "cluster.delete", "state": "queued"}
    service.on("POST", "/v1/operator/clusters/cluster-1:force-delete", Reply(202, operation))
    command = ("admin", "clusters", "force-delete", "cluster-1", "--reason", "its rack is gone")
    assert run(*command).status == 2
    assert "operation-1" in run(*command, "--yes", "--no-wait").out
    assert service.requests[-1].body == {"reason": "its rack is gone"}
    other = operation | {"id": "operation-0", "project": "nlp"}
    service.lists("/v1/operator/operations", [other, operation | {"project": "research"}])
    ended = operation | {"state": "succeeded", "done": True}
    service.gives("/v1/projects/research/operations/operation-1", ended)
    run(*command, "--yes").shows("succeeded")
    service.gives("/v1/projects/research/operations/operation-1", ended | {"state": "failed", "error": {"code": "x"}})
    assert run(*command, "--yes").status == 1


def test_a_validation_is_waited_for_and_its_result_is_the_status(run: Run, service: Service) -> None:
    changed = {"kind": "machine", "name": "m07", "allocatable": False, "codes": ["not_validated"]}
    service.on("POST", "/v1/operator/hardware:validate", page([changed]))
    command, path = ("admin", "validate", "--machine", "m07"), "/v1/operator/validations"
    run(*command, "--no-wait").shows("not_validated")
    open_ = {"machine": "m07", "state": "testing", "requested_at": "2026-05-04T09:00:00Z"}
    failed, passed = (open_ | {"state": "ended", "result": each} for each in ("failed", "passed"))
    failed["findings"] = "no link"
    service.on("GET", path, page([open_]), page([open_ | {"state": "clearing"}]), page([]), page([failed, passed]))
    run(*command).shows("passed")
    assert service.requests[-1].query == {"machine": "m07", "state": "ended"}
    service.on("GET", path, page([]), page([passed, failed]))
    refused = run(*command)
    assert (refused.status, "no link" in refused.out) == (1, True)
    service.lists(path, [open_])
    run(*command, "--timeout", "0").fails(6, "m07 testing")
    service.on("POST", "/v1/operator/hardware:validate", page([changed | {"codes": []}]))  # of a pod without V-IPU
    run(*command).shows("m07")


def test_pods_show_their_slots(run: Run, service: Service) -> None:
    pod = {"name": "lux2-0-p0", "machines": 4, "masks": {"free": 9, "allocated": 2, "unhealthy": 4}, "largest_block": 1}
    service.lists("/v1/operator/pods", [pod | {"health": {"ok": 3, "failed": 1}}])
    run("admin", "pods", "list").shows(".AU.", "1 failed")


def test_operations_of_all_projects_are_listed(run: Run, service: Service) -> None:
    operation = {"id": "operation-1", "state": "running", "project": "research"}
    service.lists("/v1/operator/operations", [operation])
    assert "research" in run("admin", "operations", "list", "--state", "running", "--of", "research").out
    assert run("admin", "operations", "list", "--state", "lost").status == 2


REGION = "/v1/operator/regions/luxembourg-2/expected-inventory"
IMPORTED = {"dry_run": False, "added": 1, "findings": {"wrong_serial": 1}, "withheld": 0}


def test_an_inventory_is_imported_from_a_file(run: Run, service: Service, tmp_path: Path) -> None:
    file = tmp_path / "inventory.csv"
    file.write_text("kind,name,serial\nmachine,lux2-m07,GC1\n")
    service.on("PUT", REGION, Reply(body=IMPORTED))
    run("admin", "inventory", "import", "luxembourg-2", str(file)).shows("1 wrong_serial")
    assert [each.query.get("dry_run") for each in service.requests] == ["true", None]
    assert service.requests[-1].body == {"items": [{"kind": "machine", "name": "lux2-m07", "serial": "GC1"}]}
    file.write_text("kind,name,serial\nmachine,lux2-m07\nrobot,m1\n")
    run("admin", "inventory", "import", "luxembourg-2", str(file)).fails(2, "line 3: kind: 'robot'")
    assert len(service.requests) == 2


def test_an_import_that_withholds_hardware_asks_first(run: Run, service: Service, tmp_path: Path) -> None:
    file = tmp_path / "inventory.json"
    file.write_text('[{"kind": "machine", "name": "lux2-m07"}]')
    service.on("PUT", REGION, Reply(body=IMPORTED | {"withheld": 31}))
    refused = run("admin", "inventory", "import", "luxembourg-2", str(file))
    assert (refused.status, "--yes" in refused.err, len(service.requests)) == (2, True, 1)
    assert run("admin", "inventory", "import", "luxembourg-2", str(file), "--dry-run").status == 0
    assert [each.query.get("dry_run") for each in service.requests] == ["true", "true"]
    assert run("admin", "inventory", "import", "luxembourg-2", str(file), "--yes").status == 0
    assert service.requests[-1].query.get("dry_run") is None


def test_a_fault_that_the_service_finds_has_its_line(run: Run, service: Service, tmp_path: Path) -> None:
    file = tmp_path / "inventory.csv"
    file.write_text("kind,name,serial\nmachine,m0,GC1\n\nmachine,m1,GC2\n")
    duplicate = {"pointer": "/items/1/serial", "code": "duplicate", "detail": "Another machine has it."}
    service.on("PUT", REGION, problem(422, "validation_failed", "Correct it.", errors=[duplicate]))
    refused = run("admin", "inventory", "import", "luxembourg-2", str(file))
    assert "line 4: serial: Another machine has it." in refused.err


def test_findings_are_listed_and_accepted(run: Run, service: Service) -> None:
    finding = {"kind": "machine", "name": "lux2-m07", "code": "wrong_serial"}
    service.lists("/v1/operator/inventory-findings", [finding | {"expected": "GC1", "shown": "GC2"}])
    assert {"lux2-m07", "wrong_serial", "GC1", "GC2"} <= set(run("admin", "inventory", "diff").out.split())
    service.on("POST", f"{REGION}:accept", Reply(body=IMPORTED))
    accepted = run("admin", "inventory", "accept", "luxembourg-2", "--machine", "lux2-m07", "--reason", "exchanged")
    assert accepted.status == 0
    sent = service.requests[-1].body
    assert sent == {"machines": ["lux2-m07"], "hosts": [], "everything": False, "reason": "exchanged"}
    assert run("admin", "inventory", "accept", "luxembourg-2", "--reason", "nothing").status == 2
    service.lists(REGION, [{"kind": "machine", "name": "lux2-m07", "serial": "GC1"}])
    assert "GC1" in run("admin", "inventory", "show", "luxembourg-2").out
    service.on("DELETE", REGION, Reply(204))
    assert run("admin", "inventory", "delete", "luxembourg-2").status == 2
    assert run("admin", "inventory", "delete", "luxembourg-2", "--yes").status == 0


def test_histories_and_events_are_listed(run: Run, service: Service) -> None:
    entry = {"at": "2026-05-04T09:15:00Z", "type": "serial_changed", "detail": "serial GC1 became GC2"}
    service.lists("/v1/operator/machines/lux2-m07/history", [entry])
    assert "serial_changed" in run("admin", "machines", "history", "lux2-m07", "--since", "30d").out
    assert service.requests[-1].query["since"] < datetime.now(UTC).isoformat()
    service.lists("/v1/operator/hosts/lux2-h04/history", [entry])
    assert "serial_changed" in run("admin", "hosts", "history", "lux2-h04", "--type", "serial_changed").out
    service.lists("/v1/operator/hardware-events", [entry | {"name": "lux2-m07", "kind": "machine"}])
    assert "lux2-m07" in run("admin", "hardware-events", "--region", "luxembourg-2").out
    assert run("admin", "hardware-events", "--since", "yesterday").status == 2


def test_moves_are_proposed(run: Run, service: Service) -> None:
    place = {"pod": "lux2-0-p0", "slots": [8]}
    move = {
        "project": "research",
        "cluster": "0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90",
        "name": "bert",
        "machines": 1,
        "since": [place],
        "to": [place | {"slots": [4]}],
        "minutes": 10.3,
        "not_billed": {"amount": "2.58", "currency": "EUR"},
    }
    proposal = {"region": "luxembourg-2", "result": "possible", "target": [place], "moves": [move]}
    service.gives("/v1/operator/regions/luxembourg-2/defragmentation", proposal)
    run("admin", "defragmentation", "luxembourg-2", "--flavor", "m2000-pod32").shows(
        "research/bert", "2.58 EUR not billed"
    )
    assert run("admin", "defragmentation", "luxembourg-2").status == 2

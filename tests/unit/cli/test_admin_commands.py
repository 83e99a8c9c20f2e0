"""What operators see of hardware and work, against a real HTTP server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ipucloud.admin.whatis import COMMANDS
from ipucloud.cli.main import cli
from tests.support.scripted import Reply, Service

Run = Callable[..., Any]

HOLDER = {"project": "research", "cluster": "c1", "name": "bert", "state": "active", "since": "2026-05-04T09:15:00Z"}
MACHINE = {
    "name": "lux2-m07",
    "region": "luxembourg-2",
    "rack": "lux2-0",
    "pod": "lux2-0-p0",
    "slot": 7,
    "machine_type": "m2000",
    "state": "allocated",
    "health": "ok",
    "allocatable": False,
    "maintenance": True,
    "codes": ["drain"],
    "holder": HOLDER,
    "rnic": "10.5.1.7",
    "bmc": "10.1.1.7",
    "holders": [HOLDER],
}


def test_machines_are_listed_with_their_holders(run: Run, service: Service) -> None:
    service.lists("/v1/operator/machines", [MACHINE])
    shown = run("admin", "machines", "list", "--state", "allocated", "--region", "luxembourg-2")
    assert {"lux2-m07", "drain", "research", "bert"} <= set(shown.out.split())
    assert service.asked[-1].query["state"] == "allocated"
    service.gives("/v1/operator/machines/lux2-m07", MACHINE)
    assert "research/bert" in run("admin", "machines", "show", "lux2-m07").out
    assert run("admin", "machines", "list", "--state", "broken").status == 2


def test_hardware_is_drained_by_name_pod_and_rack(run: Run, service: Service) -> None:
    changed = {"kind": "machine", "name": "lux2-m07", "allocatable": False, "codes": ["drain"], "holder": HOLDER}
    service.on("POST", "/v1/operator/hardware:drain", Reply(body={"items": [changed], "next_cursor": None}))
    shown = run("admin", "drain", "--pod", "lux2-0-p0", "--pod", "lux2-0-p1", "--reason", "power work")
    assert (shown.status, "bert" in shown.out) == (0, True)
    assert service.asked[-1].body == {
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
        found = context.command.get_command(context, word)
        assert found is not None, word
        context = found.make_context(word, [], parent=context, resilient_parsing=True)

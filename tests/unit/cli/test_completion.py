"""What TAB offers in a shell, against a real HTTP server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.scripted import HANG_UP, Service, problem
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_commands import CLUSTER, serve_cluster

Tab = Callable[[str], list[str]]


@pytest.fixture
def tab(run: Run, monkeypatch: pytest.MonkeyPatch) -> Tab:
    """What Bash is offered after these words."""

    def tab(line: str) -> list[str]:
        monkeypatch.setenv("_IPUCLOUD_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        ended = run()
        assert ended.err == ""
        return sorted(ended.out.split())

    return tab


def test_names_of_objects(tab: Tab, service: Service) -> None:
    service.lists("/v1/projects/demo/clusters", [CLUSTER, CLUSTER | {"name": "bloom"}, CLUSTER | {"name": "gpt"}])
    assert tab("ipucloud clusters show b") == ["bert", "bloom"]
    assert tab("ipucloud clusters ssh ") == ["bert", "bloom", "gpt"]
    service.lists("/v1/flavors", [{"name": "m2000-pod4"}, {"name": "c600-1"}])
    assert tab("ipucloud clusters create bert --flavor m") == ["m2000-pod4"]
    service.lists("/v1/regions", [{"slug": "lab-1"}])
    assert tab("ipucloud flavors list --region ") == ["lab-1"]
    service.lists("/v1/projects", [{"slug": "research"}])
    assert tab("ipucloud clusters list --project r") == ["research"]
    service.lists("/v1/projects/demo/ssh-keys", [{"name": "laptop"}])
    assert tab("ipucloud ssh-keys delete l") == ["laptop"]


def test_what_was_typed_before_counts(tab: Tab, service: Service) -> None:
    serve_cluster(service)
    service.lists("/v1/projects/demo/clusters/bert/partitions", [{"name": "training"}])
    assert tab("ipucloud partitions show bert ") == ["training"]
    service.lists("/v1/projects/other/clusters", [CLUSTER | {"name": "elsewhere"}])
    assert tab("ipucloud clusters show --project other ") == ["elsewhere"]


def test_states_and_commands_need_no_service(tab: Tab, service: Service) -> None:
    assert tab("ipucloud clusters list --state sus") == ["suspended", "suspending"]
    assert tab("ipucloud operations list --state f") == ["failed"]
    assert tab("ipucloud clusters re") == [
        "reboot",
        "rebuild",
        "repair",
        "report-fault",
        "reschedule-repair",
        "resize",
        "resume",
    ]
    assert "list" in tab("ipucloud events ")
    assert service.requests == []


def test_profiles(tab: Tab, config_dir: Path) -> None:
    config_dir.mkdir()
    (config_dir / "config.json").write_text('{"profiles": {"work": {}, "home": {}}}')
    assert tab("ipucloud whoami --profile w") == ["work"]


def test_a_service_that_fails_is_asked_once(tab: Tab, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    path = "/v1/projects/demo/clusters"
    for reply in (problem(503, "unavailable", "Later."), HANG_UP, problem(401, "unauthenticated", "No.")):
        service.requests.clear()
        service.on("GET", path, reply)
        assert tab("ipucloud clusters show ") == []
        assert service.calls() == [f"GET {path}"]
    for name in ("IPUCLOUD_URL", "IPUCLOUD_TOKEN"):
        monkeypatch.delenv(name)
        assert tab("ipucloud clusters show ") == []

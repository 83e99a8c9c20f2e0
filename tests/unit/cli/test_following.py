"""What is shown while an operation runs."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from ipucloud.cli.following import current, expected, finished, follow
from ipucloud.cli.session import Session
from ipucloud.client.models import Operation
from tests.support.filled_in import component
from tests.support.scripted import Reply, Service

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
RUNNING = Operation.model_validate(
    component(
        "Operation",
        {
            "id": "operation-1",
            "kind": "cluster.create",
            "target": {"type": "cluster", "id": "c"},
            "state": "running",
            "done": False,
            "stage": "POPLAR_SERVERS",
            "progress": 71,
            "created_at": "2026-01-01T11:50:00Z",
        },
    )
)


BEGAN = datetime(2026, 1, 1, 11, 50, tzinfo=UTC)
BLOCKED = "host h07 does not answer (since 2026-01-01T11:55:00Z, checked {} times)"


def step(stage: str, state: str, begin: int = 0, end: int = 0, **more: str) -> dict[str, object]:
    """A step; `begin` and `end` in seconds after the operation's start."""
    began, ended = (str(BEGAN + timedelta(seconds=each)) for each in (begin, end))
    times = {"started_at": began, "finished_at": ended} if state != "pending" else {}
    return {"name": stage.lower(), "stage": stage, "state": state, "attempts": 0, "checks": 0} | times | more


def operation(*steps: dict[str, object], **changes: object) -> Operation:
    return Operation.model_validate(RUNNING.model_dump() | {"steps": steps} | changes)


BUILDING = operation(
    step("NETWORK", "succeeded", 0, 12),
    step("VIPU_CONTROLLER", "succeeded", 12, 20),
    step("VIPU_CONTROLLER", "succeeded", 20, 80),
    step("POPLAR_SERVERS", "running", 80),
    step("POST_DEPLOY_SETUP", "pending"),
)


@pytest.mark.parametrize(
    ("remaining", "blocked_by", "words"),
    [
        (timedelta(minutes=2, seconds=5), None, "about 2 min 5 s left"),
        (timedelta(seconds=9), None, "about 9 s left"),
        (timedelta(seconds=-30), None, "takes longer than usual"),
        (timedelta(seconds=-30), BLOCKED.format(3), "takes longer than usual"),
    ],
)
def test_the_time_left(remaining: timedelta, blocked_by: str | None, words: str) -> None:
    assert expected(RUNNING.model_copy(update={"expected_at": NOW + remaining, "blocked_by": blocked_by}), NOW) == words


def test_no_time_is_shown_that_the_service_does_not_give() -> None:
    assert expected(RUNNING, NOW) == ""
    assert expected(RUNNING.model_copy(update={"done": True, "expected_at": NOW}), NOW) == ""


def test_finished_and_failed_stages_have_a_line_with_their_duration() -> None:
    assert [line for _, line in finished(BUILDING)] == ["✓ Network, 12 s", "✓ V-IPU controller, 1 min 8 s"]
    assert current(BUILDING) == "Poplar servers"
    failed = operation(step("NETWORK", "failed", 0, 63, detail="no VLAN is free"), step("B", "skipped"))
    assert next(finished(failed)) == ("NETWORK", "✗ Network failed after 1 min 3 s: no VLAN is free")


def test_an_operation_of_one_stage_has_a_line_for_each_step() -> None:
    suspending = operation(
        step("CLUSTER_SUSPEND", "succeeded", 0, 5, name="switch_off_poplar_servers"),
        step("CLUSTER_SUSPEND", "skipped", name="remove_vipu_user"),
        step("CLUSTER_SUSPEND", "running", 5, name="detach_network"),
    )
    assert [line for _, line in finished(suspending)] == ["✓ Switch off Poplar servers, 5 s"]
    assert current(suspending) == "Detach network"


@pytest.fixture
def session(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("IPUCLOUD_URL", service.url)
    monkeypatch.setenv("IPUCLOUD_TOKEN", "token")
    session = Session(as_json=False, url=None, project="demo", environment=os.environ)
    yield session
    session.close()


def serve(service: Service, *versions: Operation) -> None:
    replies = [Reply(body=each.model_dump(mode="json")) for each in versions]
    service.on("GET", "/v1/projects/demo/operations/operation-1", *replies)


def ended(version: Operation) -> Operation:
    changes = {"done": True, "state": "succeeded", "progress": 100, "finished_at": BEGAN + timedelta(minutes=6)}
    return version.model_copy(update=changes)


def test_a_pipe_gets_a_line_for_each_stage_and_for_what_blocks(
    service: Service, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = [BUILDING.model_copy(update={"blocked_by": BLOCKED.format(times)}) for times in (1, 2)]
    serve(service, BUILDING, *blocked, ended(BUILDING))
    follow(session, BUILDING)
    assert capsys.readouterr().err.splitlines() == [
        "✓ Network, 12 s",
        "✓ V-IPU controller, 1 min 8 s",
        f"Waiting: {BLOCKED.format(1)}",
        "Done in 6 min 0 s.",
    ]


def test_a_terminal_shows_a_bar_that_is_not_red(service: Service, session: Session) -> None:
    serve(service, BUILDING, ended(BUILDING))
    screen = io.StringIO()
    session.__dict__["messages"] = Console(file=screen, force_terminal=True, width=120)
    follow(session, BUILDING)
    shown = screen.getvalue()
    assert "Poplar servers" in shown
    assert "71%" in shown
    assert "Network, 12 s" in shown
    assert "\x1b[31m" not in shown
    assert "249;38;114" not in shown, "the colour of the library's bar, which looks like a failure"

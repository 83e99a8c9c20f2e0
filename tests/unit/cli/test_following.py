"""What is shown while an operation runs."""

from __future__ import annotations

import io
import os
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from ipucloud.cli.following import expected, follow
from ipucloud.cli.session import Session
from ipucloud.client.models import Operation
from tests.support.filled_in import component
from tests.support.scripted import Reply, Service

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
RUNNING = Operation.model_validate(
    component(
        "OperationOut",
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


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (timedelta(minutes=2, seconds=5), "done in about 2 min 5 s, at 12:02:05Z"),
        (timedelta(seconds=9), "done in about 9 s, at 12:00:09Z"),
        (timedelta(seconds=-30), "any moment now"),
    ],
)
def test_the_expected_end_is_told_as_people_say_it(left: timedelta, words: str) -> None:
    assert expected(RUNNING.model_copy(update={"expected_at": NOW + left}), NOW) == words


def test_nothing_is_promised_that_the_service_does_not() -> None:
    assert expected(RUNNING, NOW) == ""
    assert expected(RUNNING.model_copy(update={"done": True, "expected_at": NOW}), NOW) == ""


def test_a_terminal_shows_a_bar_with_stage_and_percentage(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPUCLOUD_URL", service.url)
    monkeypatch.setenv("IPUCLOUD_TOKEN", "token")
    done = RUNNING.model_copy(update={"done": True, "state": "succeeded", "progress": 100})
    path = "/v1/projects/demo/operations/operation-1"
    service.on("GET", path, Reply(body=done.model_dump(mode="json")))
    session = Session(as_json=False, url=None, project="demo", environment=os.environ)
    screen = io.StringIO()
    session.__dict__["messages"] = Console(file=screen, force_terminal=True, width=120)
    try:
        assert follow(session, RUNNING).succeeded
    finally:
        session.close()
    assert "POPLAR_SERVERS" in screen.getvalue()
    assert "100%" in screen.getvalue()

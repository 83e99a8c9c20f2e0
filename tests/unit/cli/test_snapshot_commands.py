"""Snapshots as the command line shows and makes them, against a real HTTP server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.scripted import Reply, Service
from tests.unit.cli.test_volume_commands import VOLUME

Run = Callable[..., Any]

SNAPSHOT = {
    "id": "01900000-0000-7000-8000-000000000071",
    "name": "before-tuning",
    "tags": {},
    "region": "luxembourg-2",
    "volume": VOLUME["id"],
    "volume_name": "checkpoints",
    "size_gib": 100,
    "state": "available",
    "state_reason": None,
    "state_entered_at": "2026-05-04T09:30:00Z",
    "sku": "snapshot-gib",
    "currency": "EUR",
    "created_by": "01900000-0000-7000-8000-000000000014",
    "created_at": "2026-05-04T09:29:58Z",
    "deleted_at": None,
}
_ALL = "/v1/projects/demo/snapshots"
_ONE = f"{_ALL}/{SNAPSHOT['id']}"
_VOLUMES = "/v1/projects/demo/volumes"


@pytest.fixture(autouse=True)
def served(service: Service) -> None:
    service.lists(_VOLUMES, [VOLUME])
    service.lists(_ALL, [SNAPSHOT])
    service.gives(_ONE, SNAPSHOT)
    service.on("POST", _ALL, Reply(202, SNAPSHOT))
    service.on("POST", _VOLUMES, Reply(202, VOLUME | {"snapshot": SNAPSHOT["id"]}))


def test_the_list_names_the_volume_of_each_snapshot(run: Run) -> None:
    head, line = run("snapshots", "list").out.splitlines()[:2]
    assert "VOLUME" in head
    assert {"before-tuning", "available", "checkpoints", "100"} <= set(line.split())


def test_a_snapshot_is_shown_with_its_volume(run: Run) -> None:
    shown = run("snapshots", "show", "before-tuning").out
    assert ["volume", "checkpoints"] in [line.split() for line in shown.splitlines()]


def test_a_snapshot_is_taken_of_a_volume_by_its_name(run: Run, service: Service) -> None:
    assert run("snapshots", "create", "before-tuning", "checkpoints", "--tag", "team=nlp").status == 0
    assert _posted(service) == {"name": "before-tuning", "volume": VOLUME["id"], "tags": {"team": "nlp"}}


def test_of_a_volume_that_does_not_exist_no_snapshot_is_asked_for(run: Run, service: Service) -> None:
    ended = run("snapshots", "create", "before-tuning", "checkpoint")
    assert ended.status == 3
    assert "checkpoints" in ended.err  # the nearest there is
    assert all(each.method == "GET" for each in service.asked)


def test_a_volume_from_a_snapshot_is_as_large_and_in_its_region(run: Run, service: Service) -> None:
    made = run("volumes", "create", "tuned", "--snapshot", "before-tuning")
    assert made.status == 0
    assert str(SNAPSHOT["id"]) in made.out
    expected = {"name": "tuned", "region": "luxembourg-2", "size_gib": 100, "snapshot": SNAPSHOT["id"], "tags": {}}
    assert _posted(service) == expected


def test_a_volume_from_a_snapshot_can_be_larger(run: Run, service: Service) -> None:
    run("volumes", "create", "tuned", "--snapshot", "before-tuning", "--size", "200")
    assert _posted(service)["size_gib"] == 200


@pytest.mark.parametrize("given", [("--size", "10"), ("--region", "luxembourg-2"), ()])
def test_an_empty_volume_needs_a_region_and_a_size(run: Run, service: Service, given: tuple[str, ...]) -> None:
    ended = run("volumes", "create", "tuned", *given)
    assert ended.status == 2
    assert "--region" in ended.err
    assert not service.asked


def test_a_snapshot_gets_another_name(run: Run, service: Service) -> None:
    service.on("PATCH", _ONE, Reply(200, SNAPSHOT | {"name": "release-1"}))
    assert "release-1" in run("snapshots", "update", "before-tuning", "--name", "release-1").out
    assert next(each.body for each in service.asked if each.method == "PATCH") == {"name": "release-1"}


def test_a_snapshot_is_deleted_only_when_confirmed(run: Run, service: Service) -> None:
    service.on("DELETE", _ONE, Reply(202, SNAPSHOT | {"state": "deleting"}))
    assert run("snapshots", "delete", "before-tuning").status == 2
    assert not [each for each in service.asked if each.method == "DELETE"]
    deleted = run("snapshots", "delete", "before-tuning", "--yes")
    assert (deleted.status, "deleting" in deleted.out) == (0, True)


def _posted(service: Service) -> Any:
    return next(each.body for each in service.asked if each.method == "POST")

"""Volumes as the command line shows them, against a real HTTP server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.scripted import Service
from tests.unit.cli.test_commands import CLUSTER_ID

Run = Callable[..., Any]

VOLUME = {
    "id": "01900000-0000-7000-8000-000000000061",
    "name": "checkpoints",
    "tags": {},
    "region": "luxembourg-2",
    "size_gib": 100,
    "resizing_to_gib": None,
    "state": "attached",
    "state_reason": None,
    "state_entered_at": "2026-05-04T09:30:00Z",
    "cluster": CLUSTER_ID,
    "cluster_name": "bert",
    "poplar_server": f"{CLUSTER_ID}-1-p0",
    "mount_path": "/volumes/checkpoints",
    "sku": "volume-gib",
    "currency": "EUR",
    "created_by": "01900000-0000-7000-8000-000000000014",
    "created_at": "2026-05-04T09:29:58Z",
    "deleted_at": None,
}


@pytest.fixture(autouse=True)
def served(service: Service) -> None:
    service.lists("/v1/projects/demo/volumes", [VOLUME])
    service.gives(f"/v1/projects/demo/volumes/{VOLUME['id']}", VOLUME)
    service.gives("/v1/projects/demo/volumes/checkpoints", VOLUME)


def test_the_list_names_the_cluster_that_has_each_volume(run: Run) -> None:
    head, line = run("volumes", "list").out.splitlines()[:2]
    assert "CLUSTER" in head
    assert "bert" in line.split()
    assert VOLUME["poplar_server"] not in line


def test_a_volume_is_shown_with_its_cluster(run: Run) -> None:
    shown = run("volumes", "show", "checkpoints").out
    assert ["cluster", "bert"] in [line.split() for line in shown.splitlines()]

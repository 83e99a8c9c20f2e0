"""Volumes as the command line shows them, against a real HTTP server."""

from __future__ import annotations

import pytest

from tests.support.scripted import Reply, Service
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_commands import CLUSTER_ID, OPERATION, serve_catalogue, serve_cluster

VOLUME = {
    "id": "01900000-0000-7000-8000-000000000061",
    "name": "checkpoints",
    "region": "luxembourg-2",
    "size_gib": 100,
    "state": "attached",
    "cluster": CLUSTER_ID,
    "cluster_name": "bert",
    "poplar_server": f"{CLUSTER_ID}-1-p0",
    "mount_path": "/volumes/checkpoints",
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
    assert str(VOLUME["poplar_server"]) not in line
    shown = run("volumes", "show", "checkpoints").out
    assert ["cluster", "bert"] in [line.split() for line in shown.splitlines()]


def test_a_change_is_waited_for_with_progress(run: Run, service: Service) -> None:
    attaching, one = VOLUME | {"state": "attaching"}, f"/v1/projects/demo/volumes/{VOLUME['id']}"
    serve_cluster(service)
    service.on("POST", f"{one}:attach", Reply(202, attaching))
    service.on("GET", one, Reply(body=attaching), Reply(body=attaching), Reply(body=VOLUME))
    ended = run("volumes", "attach", "checkpoints", "bert")
    assert (ended.status, "✓ Volume checkpoints attached, 0 s" in ended.err) == (0, True)
    assert ["state", "attached"] in [line.split() for line in ended.out.splitlines()]
    assert run("volumes", "attach", "checkpoints", "bert", "--no-wait", "--json").json["state"] == "attaching"


@pytest.mark.parametrize(("state", "status"), [("available", 0), ("error", 1)])
def test_a_create_ends_with_what_became_of_it(run: Run, service: Service, state: str, status: int) -> None:
    service.on("POST", "/v1/projects/demo/volumes", Reply(202, VOLUME | {"state": "creating"}))
    service.gives(f"/v1/projects/demo/volumes/{VOLUME['id']}", VOLUME | {"state": state, "state_reason": "refused"})
    ended = run("volumes", "create", "checkpoints", "--region", "luxembourg-2", "--size", "100")
    assert ended.status == status
    assert ("volume checkpoints is error, not available: refused" in ended.err) == bool(status)


@pytest.mark.parametrize(
    ("options", "status"),
    [((), 0), (("--for", "attached"), 0), (("--for", "available", "--timeout", "0"), 6), (("--for", "gone"), 2)],
)
def test_a_state_is_waited_for(run: Run, options: tuple[str, ...], status: int) -> None:
    assert run("volumes", "wait", "checkpoints", *options).status == status


def test_a_deleted_volume_is_found_by_who_waits_for_its_deletion(run: Run, service: Service) -> None:
    gone = VOLUME | {"state": "deleted", "name": "old"}
    page = {"items": [VOLUME], "next_cursor": None}
    for each in ("deleted", "available"):
        service.on("GET", "/v1/projects/demo/volumes", Reply(body=page), Reply(body=page | {"items": [gone]}))
        assert run("volumes", "wait", "old", "--for", each).status == (0 if each == "deleted" else 3)


def test_a_cluster_is_created_with_volumes(run: Run, service: Service) -> None:
    serve_catalogue(service)
    serve_cluster(service)
    service.on("POST", "/v1/projects/demo/clusters", Reply(202, OPERATION))
    options = ("--flavor", "m2000-pod16", "--no-wait", "--volume", "checkpoints", "--volume", "data:1")
    assert run("clusters", "create", "bert", *options).status == 0
    body = service.bodies("POST")[0]
    assert body["volumes"] == [{"volume": "checkpoints", "server": 0}, {"volume": "data", "server": 1}]


@pytest.mark.parametrize("wrong", [":1", "data:", "data:first"])
def test_a_volume_without_a_name_or_number_is_refused(run: Run, service: Service, wrong: str) -> None:
    serve_catalogue(service)
    run("clusters", "create", "bert", "--flavor", "m2000-pod16", "--volume", wrong).fails(2, f"Write {wrong} as VOLUME")

"""Snapshots as the command line shows and makes them, against a real HTTP server."""

from __future__ import annotations

import pytest

from tests.support.scripted import Reply, Service, problem
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_commands import CLUSTER, CLUSTER_ID, serve_cluster
from tests.unit.cli.test_volume_commands import VOLUME

SNAPSHOT = {
    "id": "01900000-0000-7000-8000-000000000071",
    "name": "before-tuning",
    "region": "luxembourg-2",
    "volume": VOLUME["id"],
    "volume_name": "checkpoints",
    "cluster": None,
    "cluster_name": None,
    "poplar_server": None,
    "image": None,
    "size_gib": 100,
    "state": "available",
}
OF_SERVER = SNAPSHOT | {
    "id": "01900000-0000-7000-8000-000000000072",
    "name": "bert-ready",
    "volume": None,
    "volume_name": None,
    "cluster": CLUSTER_ID,
    "cluster_name": "bert",
    "poplar_server": "clu-01-1-p0",
    "image": "ubuntu-20.04-x64-poplar-3.0.0",
    "size_gib": None,
    "state": "creating",
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
    service.on("POST", _VOLUMES, Reply(202, VOLUME | {"snapshot": SNAPSHOT["id"], "state": "available"}))


def test_the_list_names_what_each_snapshot_is_of(run: Run, service: Service) -> None:
    service.lists(_ALL, [SNAPSHOT, OF_SERVER])
    head, volume, server = run("snapshots", "list").out.splitlines()[:3]
    assert "OF" in head.split()
    assert {"before-tuning", "available", "checkpoints", "100"} <= set(volume.split())
    assert "server clu-01-1-p0 of bert" in server
    assert "-" in server.split()  # its size is not known before it is copied
    shown = run("snapshots", "show", "before-tuning").out
    assert ["volume", "checkpoints"] in [line.split() for line in shown.splitlines()]


def test_a_snapshot_is_taken_of_a_volume_by_its_name(run: Run, service: Service) -> None:
    run("snapshots", "create", "before-tuning", "checkpoint").fails(3, "checkpoints")
    assert service.bodies("POST") == []
    assert run("snapshots", "create", "before-tuning", "checkpoints", "--tag", "team=nlp").status == 0
    assert service.bodies("POST")[0] == {"name": "before-tuning", "volume": VOLUME["id"], "tags": {"team": "nlp"}}


@pytest.mark.parametrize("server", [None, "clu-01-1-p0"])
def test_a_snapshot_is_taken_of_a_server_of_a_cluster(run: Run, service: Service, server: str | None) -> None:
    serve_cluster(service, CLUSTER)
    service.on("POST", _ALL, Reply(202, OF_SERVER))
    service.gives(f"{_ALL}/{OF_SERVER['id']}", OF_SERVER | {"state": "available"})
    which = () if server is None else ("--server", server)
    created = run("snapshots", "create", "bert-ready", "--cluster", "bert", *which)
    assert created.status == 0
    shown = [line.split() for line in created.out.splitlines()]
    assert ["server", "clu-01-1-p0"] in shown
    assert ["cluster", "bert"] in shown
    expected = {"name": "bert-ready", "cluster": CLUSTER_ID, "tags": {}}
    assert service.bodies("POST")[0] == expected | ({} if server is None else {"poplar_server": server})


@pytest.mark.parametrize(
    "arguments", [(), ("checkpoints", "--cluster", "bert"), ("checkpoints", "--server", "clu-01-1-p0")]
)
def test_a_snapshot_is_of_one_thing(run: Run, service: Service, arguments: tuple[str, ...]) -> None:
    run("snapshots", "create", "before-tuning", *arguments).fails(2, "--cluster")
    assert not service.requests


def test_a_snapshot_of_a_server_is_an_image_that_exists(run: Run, service: Service) -> None:
    service.lists("/v1/images", [{"name": "poplar-3.0", "release": 1}])
    service.lists(_ALL, [SNAPSHOT, OF_SERVER | {"state": "available"}])
    service.lists("/v1/flavors", [])
    service.on("POST", "/v1/projects/demo/clusters", problem(422, "validation_failed", "Refused.", errors=[]))
    options = ("--flavor", "pod", "--region", "luxembourg-2", "--ssh-key", "laptop")
    assert "no image" not in run("clusters", "create", "gpt", "--image", "bert-ready", *options).err
    misspelt = run("clusters", "create", "gpt", "--image", "bert-read", *options).err
    assert "no image bert-read" in misspelt
    assert "bert-ready" in misspelt
    assert "before-tuning" not in misspelt  # a volume's


def test_a_volume_from_a_snapshot_is_in_its_region_and_as_large_or_larger(run: Run, service: Service) -> None:
    run("volumes", "create", "tuned", "--snapshot", "before-tuning").shows(str(SNAPSHOT["id"]))
    expected = {"name": "tuned", "region": "luxembourg-2", "size_gib": 100, "snapshot": SNAPSHOT["id"], "tags": {}}
    assert service.bodies("POST")[0] == expected
    run("volumes", "create", "tuned", "--snapshot", "before-tuning", "--size", "200")
    assert service.bodies("POST")[1]["size_gib"] == 200


@pytest.mark.parametrize("options", [("--size", "10"), ("--region", "luxembourg-2"), ()])
def test_an_empty_volume_needs_a_region_and_a_size(run: Run, service: Service, options: tuple[str, ...]) -> None:
    run("volumes", "create", "tuned", *options).fails(2, "--region")
    assert not service.requests


def test_a_snapshot_gets_another_name_and_is_deleted_only_when_confirmed(run: Run, service: Service) -> None:
    service.on("PATCH", _ONE, Reply(200, SNAPSHOT | {"name": "release-1"}))
    assert "release-1" in run("snapshots", "update", "before-tuning", "--name", "release-1").out
    assert service.bodies("PATCH") == [{"name": "release-1"}]
    service.on("DELETE", _ONE, Reply(202, SNAPSHOT | {"state": "deleting"}))
    assert run("snapshots", "delete", "before-tuning").status == 2
    assert service.bodies("DELETE") == []
    run("snapshots", "delete", "before-tuning", "--yes", "--no-wait").shows("deleting")

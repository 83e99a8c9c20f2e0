"""What a customer sees of the commands about partitions, against a real HTTP server."""

from __future__ import annotations

from pathlib import Path

import orjson

from tests.support.filled_in import component
from tests.support.scripted import Reply, Service, problem
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_commands import CLUSTER_ID, OPERATION, serve_cluster

BASE = f"/v1/projects/demo/clusters/{CLUSTER_ID}"
PARTITION = {
    "name": "training",
    "partition_id": "01m7-1-1",
    "state": "active",
    "size": 8,
    "ipus": [{"machine": "m01", "ipu": 3, "domain": 0, "segment": 0, "number": 0}],
}
MAKING = OPERATION | {"kind": "partition.create", "target": {"type": "partition", "id": "partition-1"}}
MADE = MAKING | {"state": "succeeded", "done": True, "progress": 100}
REFUSED = MAKING | {
    "state": "failed",
    "done": True,
    "error": {"code": "partition_refused", "detail": "No aligned block of 8 IPUs is free.", "largest": 4},
}
CONFIG = component("IpuofConfig", {"attributes": {"GCD Id": "1"}, "devices": [{"ip": "10.5.0.1", "device_id": 0}]})


def serve(service: Service) -> None:
    serve_cluster(service)
    service.gives(f"{BASE}/partitions/training", PARTITION)
    service.lists(f"{BASE}/partitions", [PARTITION])


def test_create_waits_and_shows_the_partition(run: Run, service: Service) -> None:
    serve(service)
    service.on("POST", f"{BASE}/partitions", Reply(202, MAKING))
    service.on("GET", "/v1/projects/demo/operations/operation-1", Reply(body=MADE))
    ended = run("partitions", "create", "bert", "training", "--size", "8", "--gcds", "2", "--routing", "dnc", "--json")
    assert ended.status == 0
    assert (ended.json["partition"]["partition_id"], ended.json["operation"]["state"]) == ("01m7-1-1", "succeeded")
    body = service.bodies("POST")[0]
    assert body == {
        "name": "training",
        "size": 8,
        "gcds": 2,
        "routing": "dnc",
        "reconfigurable": False,
        "auto_reset": True,
        "relocatable": False,
    }


def test_a_refusal_of_the_controller_is_told_with_what_would_fit(run: Run, service: Service) -> None:
    serve(service)
    service.on("POST", f"{BASE}/partitions", Reply(202, MAKING))
    service.on("GET", "/v1/projects/demo/operations/operation-1", Reply(body=REFUSED))
    ended = run("partitions", "create", "bert", "training", "--size", "8", "--json")
    assert ended.status == 1
    assert ended.json["error"]["largest"] == 4
    assert "No aligned block of 8 IPUs" in ended.err


def test_list_and_show(run: Run, service: Service) -> None:
    serve(service)
    run("partitions", "list", "bert").shows("training", "01m7-1-1")
    assert [each["name"] for each in run("partitions", "list", "bert", "--json").json] == ["training"]
    run("partitions", "show", "bert", "training").shows("m01")
    assert run("partitions", "show", "bert", "training", "--json").json["size"] == 8


def test_reset_and_remove(run: Run, service: Service) -> None:
    serve(service)
    service.on("POST", f"{BASE}/partitions/training:reset", Reply(202, MAKING | {"kind": "partition.reset"}))
    service.on("DELETE", f"{BASE}/partitions/training", Reply(202, MAKING | {"kind": "partition.remove"}))
    assert run("partitions", "reset", "bert", "training", "--relocatable", "--no-wait").status == 0
    assert service.bodies("POST")[0] == {"relocatable": True}
    run("partitions", "delete", "bert", "training").fails(2, "--yes")
    removed = run("partitions", "delete", "bert", "training", "--yes", "--no-wait", "--json")
    assert removed.json["operation"]["kind"] == "partition.remove"


def test_what_stands_in_the_way_has_its_exit_status(run: Run, service: Service) -> None:
    serve(service)
    service.on("POST", f"{BASE}/partitions", problem(409, "operation_in_progress", "Another operation runs."))
    assert run("partitions", "create", "bert", "training", "--size", "8").status == 5
    service.on("GET", f"{BASE}/partitions/other", problem(404, "not_found", "There is no such object."))
    assert run("partitions", "show", "bert", "other").status == 3


def test_config_is_printed_or_written(run: Run, service: Service, tmp_path: Path) -> None:
    serve(service)
    service.gives(f"{BASE}/partitions/training/ipuof-config", CONFIG)
    ended = run("partitions", "config", "bert", "training", "--gcd", "1")
    assert orjson.loads(ended.out) == CONFIG
    assert service.requests[-1].query == {"gcd": "1"}
    file = tmp_path / "training_ipuof.conf"
    assert run("partitions", "config", "bert", "training", "-o", str(file), "--json").json == {"file": str(file)}
    assert orjson.loads(file.read_bytes()) == CONFIG


def test_topology_and_vipu(run: Run, service: Service, tmp_path: Path) -> None:
    serve(service)
    machine = {"name": "m01", "rack": "p1", "slot": 0, "health": "ok", "ipus": [{"ipu": 0, "partition": "01m7-1-1"}]}
    topology = {
        "racks": [{"name": "p1", "domain": 0, "topology": "torus", "machines": ["m01"]}],
        "machines": [machine],
        "links": [{"kind": "ipu-link", "ends": ["m01", "m02"], "state": "down"}],
        "partitions": [
            {"name": "well", "partition_id": "01m7-1-1", "origin": "api", "state": "active"},
            {
                "name": "training",
                "partition_id": "01m7-1-2",
                "origin": "api",
                "state": "error",
                "controller": {"errors": ["m02 is unreachable"], "auto_resets": 1, "max_auto_resets": 3},
            },
        ],
        "free_ipus": 3,
        "largest_partition": 2,
    }
    service.gives(f"{BASE}/topology", topology)
    ended = run("clusters", "topology", "bert")
    assert "1, 1 of them not up" in ended.out
    assert "m01 – m02" in ended.out
    assert "01m7-1-1 (1 of 1 IPUs)" in ended.out
    assert "error; m02 is unreachable; reset by itself 1 of 3 times" in " ".join(ended.out.split())
    assert "partition well" not in ended.out
    assert run("clusters", "topology", "bert", "--json").json["largest_partition"] == 2
    vipu = {"host": "10.1.5.2", "port": 8090, "authority": "PEM", "environment": {"IPUOF_VIPU_API_HOST": "10.1.5.2"}}
    service.gives(f"{BASE}/vipu", vipu)
    run("clusters", "vipu", "bert", "--partition", "training").shows("IPUOF_VIPU_API_HOST")
    assert service.requests[-1].query == {"partition": "training"}
    saved = tmp_path / "ca.pem"
    assert "VIPU_CLI_API_CA_FILE" in run("clusters", "vipu", "bert", "--save-ca", str(saved)).out
    assert saved.read_text() == "PEM"

"""Names that the service does not know, and names in place of ids."""

from __future__ import annotations

from typing import Any

import pytest

from ipucloud.client.profiles import Profile
from tests.support.scripted import Reply, Service, page, problem
from tests.unit.cli.conftest import Run

ID = "01900000-0000-7000-8000-000000000001"
NOT_FOUND = problem(404, "not_found", "The object does not exist, or this token has no access to it.")


def serve_flavors(service: Service) -> None:
    service.lists("/v1/flavors", [{"name": name} for name in ("bow-pod4", "m2000-pod4", "m2000-pod16", "m2000-pod64")])
    service.on("GET", "/v1/flavors/m2000-pod17", NOT_FOUND)


def test_an_unknown_flavor_lists_the_nearest_ones(run: Run, service: Service) -> None:
    serve_flavors(service)
    ended = run("clusters", "create", "bert", "--flavor", "m2000-pod17")
    assert ended.status == 3
    sentence = "There is no flavor m2000-pod17. Flavors, nearest first: m2000-pod16, m2000-pod4, m2000-pod64, bow-pod4."
    assert sentence in ended.err
    assert run("clusters", "create", "bert", "--flavor", "m2000-pod17", "--json").json["error"]["detail"] == sentence


def test_every_name_that_a_create_got_wrong_is_listed(run: Run, service: Service) -> None:
    serve_flavors(service)
    service.lists("/v1/regions", [{"slug": "luxembourg-2", "number": 2}])
    service.lists("/v1/images", [{"name": "poplar-3.0"}])
    service.lists("/v1/projects/demo/ssh-keys", [{"id": "k", "name": "laptop"}])
    faults = [{"pointer": "/flavor", "code": "unknown_flavor", "detail": "No such flavor."}]
    faults += [{"pointer": "/name", "code": "pattern", "detail": "Too short."}]
    refusal = problem(422, "validation_failed", "Correct the fields named in `errors`.", errors=faults)
    service.on("POST", "/v1/projects/demo/clusters", refusal)
    options = ("--region", "luxemburg-2", "--image", "poplar-3.0", "--ssh-key", "labtop")
    ended = run("clusters", "create", "b", "--flavor", "m2000-pod17", *options)
    assert ended.status == 3
    assert "There is no region luxemburg-2. Regions, nearest first: luxembourg-2." in ended.err
    assert "There is no SSH key labtop in the project. SSH keys, nearest first: laptop." in ended.err
    assert "There is no flavor m2000-pod17." in ended.err
    assert "image" not in ended.err
    assert "NAME: Too short." in ended.err


def test_nothing_more_is_asked_while_nothing_is_wrong(run: Run, service: Service) -> None:
    service.lists("/v1/regions/luxembourg-2/capacity", [])
    assert run("regions", "capacity", "luxembourg-2").status == 0
    assert service.calls() == ["GET /v1/regions/luxembourg-2/capacity"]


def test_a_refusal_for_another_reason_stays_as_it_is(run: Run, service: Service) -> None:
    serve_flavors(service)
    refusal = problem(409, "quota_exceeded", "The quota is used up.")
    service.on("POST", "/v1/projects/demo/clusters", refusal)
    options = ("--region", "r", "--image", "i", "--ssh-key", "k")
    assert "The quota is used up." in run("clusters", "create", "b", "--flavor", "m2000-pod17", *options).err
    assert service.calls() == ["POST /v1/projects/demo/clusters"]


CLUSTER = f"/v1/projects/demo/clusters/{ID}"
IMAGE = {"name": "poplar-3.0", "sdk_version": "3.0.0", "regions": ["amsterdam-2"]}
CREATE = ("clusters", "create", "b", "--flavor", "m2000-pod4", "--ssh-key", "k")


@pytest.mark.parametrize(
    ("words", "refused", "listed", "sentence"),
    [
        (
            ("quotas", "--project", "demmo"),
            "/v1/projects/demmo/quotas",
            {"/v1/projects": [{"slug": "demo"}]},
            "There is no project demmo that this token has access to. Projects, nearest first: demo.",
        ),
        (
            ("partitions", "show", "bert", "trainnig"),
            f"{CLUSTER}/partitions/trainnig",
            {f"{CLUSTER}/partitions": [{"name": "training", "partition_id": "bert-1-t"}]},
            "There is no partition trainnig in the project. Partitions, nearest first: training.",
        ),
        (
            ("clusters", "vipu", ID, "--partition", "trainning"),
            f"{CLUSTER}/vipu",
            {f"{CLUSTER}/partitions": [{"name": "training", "partition_id": "bert-1"}]},
            "There is no partition trainning in the project. Partitions, nearest first: training.",
        ),
        (
            (*CREATE, "--region", "amsterdam"),
            "/v1/regions/amsterdam",
            {"/v1/regions": [{"slug": "amsterdam-2"}], "/v1/images": [IMAGE]},
            "There is no region amsterdam. Regions, nearest first: amsterdam-2.",  # and not one without images
        ),
    ],
)
def test_an_unknown_name_lists_the_nearest_ones(
    run: Run, service: Service, *, words: tuple[str, ...], refused: str, listed: dict[str, list[object]], sentence: str
) -> None:
    service.lists("/v1/projects/demo/clusters", [{"id": ID, "name": "bert"}])
    service.gives(CLUSTER, {"id": ID, "name": "bert"})
    service.on("GET", refused, NOT_FOUND)
    for path, items in listed.items():
        service.lists(path, items)
    run(*words).fails(3, sentence)


def test_an_unknown_cluster_lists_the_nearest_ones(run: Run, service: Service) -> None:
    service.on(
        "GET", "/v1/projects/demo/clusters", page([]), page([{"id": ID, "name": name} for name in ("gpt", "bert")])
    )
    run("clusters", "show", "bret").fails(
        3, "There is no cluster bret in the project. Clusters, nearest first: bert, gpt."
    )


def test_objects_are_addressed_by_name_or_by_id(run: Run, service: Service) -> None:
    path = "/v1/projects/demo/budgets"
    service.lists(path, [{"id": ID, "name": "research", "amount": {"amount": "5.00", "currency": "EUR"}}])
    service.on("DELETE", f"{path}/{ID}", Reply(204))
    assert run("budgets", "delete", "research", "--json").json == {"deleted": ID}
    assert run("budgets", "delete", ID).status == 0
    assert service.calls() == [f"GET {path}", f"DELETE {path}/{ID}", f"DELETE {path}/{ID}"]
    run("budgets", "delete", "reserach").fails(
        3, "There is no budget reserach in the project. Budgets, nearest first: research."
    )


def test_operations_name_their_targets(run: Run, service: Service) -> None:
    cluster, partition, export = (f"01900000-0000-7000-8000-00000000000{n}" for n in (2, 3, 4))
    kinds = {"cluster.create": cluster, "partition.reset": partition, "export.create": export}
    service.lists(
        "/v1/projects/demo/operations",
        [
            {
                "id": ID,
                "kind": kind,
                "target": {"type": kind.split(".")[0], "id": target, "cluster": None if target == export else cluster},
            }
            for kind, target in kinds.items()
        ],
    )
    service.lists("/v1/projects/demo/clusters", [{"id": cluster, "name": "bert"}])
    service.lists(f"/v1/projects/demo/clusters/{cluster}/partitions", [{"id": partition, "name": "training"}])
    service.lists("/v1/projects/demo/billing/exports", [{"id": export, "month": "2026-05"}])
    rows = [line.split()[1:3] for line in run("operations", "list").out.splitlines()[1:]]
    assert rows == [["cluster.create", "bert"], ["partition.reset", "bert/training"], ["export.create", "2026-05"]]


def test_an_operation_is_found_by_its_cluster(run: Run, service: Service) -> None:
    service.on("GET", "/v1/projects/demo/operations/bert", NOT_FOUND)
    service.lists("/v1/projects/demo/clusters", [{"id": ID, "name": "bert"}])
    service.gives(f"/v1/projects/demo/clusters/{ID}", {"id": ID, "name": "bert"})
    service.lists("/v1/projects/demo/operations", [{"id": "newest", "kind": "cluster.suspend"}])
    assert run("operations", "show", "bert", "--json").json["id"] == "newest"
    assert service.requests[-1].query == {"cluster": ID, "limit": "1"}


def test_a_filter_by_a_name_that_does_not_exist_lists_the_nearest_ones(run: Run, service: Service) -> None:
    serve_flavors(service)
    service.lists("/v1/regions", [{"slug": "luxembourg-2", "number": 2}])
    service.lists("/v1/projects/demo/clusters", [])
    ended = run("clusters", "list", "--region", "luxemburg-2", "--flavor", "m2000-pod16")
    assert ended.status == 3
    assert "There is no region luxemburg-2. Regions, nearest first: luxembourg-2." in ended.err
    assert "flavor m2000-pod16" not in ended.err
    assert run("clusters", "list", "--region", "luxembourg-2").status == 0


def test_a_schedule_is_deleted_by_its_name(run: Run, service: Service) -> None:
    path = "/v1/projects/demo/billing/export-schedules"
    service.lists(path, [{"id": ID, "name": "finance.day.cost-and-usage"}])
    service.on("DELETE", f"{path}/{ID}", Reply(204))
    assert run("exports", "schedules", "delete", "finance.day.cost-and-usage").status == 0
    refused = run("exports", "schedules", "delete", "finance")
    assert "Schedules, nearest first: finance.day.cost-and-usage." in refused.err


def test_hardware_that_does_not_exist_lists_the_nearest(run: Run, service: Service) -> None:
    service.on("GET", "/v1/operator/machines/lux2-m70", NOT_FOUND)
    service.lists("/v1/operator/machines", [{"name": "lux2-m01"}, {"name": "lux2-m07"}])
    run("admin", "machines", "show", "lux2-m70").fails(
        3, "There is no machine lux2-m70. Machines, nearest first: lux2-m0"
    )
    service.lists("/v1/regions", [{"slug": "luxembourg-2", "number": 2}])
    service.lists("/v1/operator/hosts", [])
    assert "nearest first: luxembourg-2" in run("admin", "hosts", "list", "--region", "luxembourg").err
    service.lists("/v1/flavors", [{"name": "m2000-pod4", "machine_type": "m2000"}])
    service.on("POST", "/v1/projects/demo/quota-requests", problem(422, "validation_failed", "Correct it."))
    ended = run("quotas", "request", "luxembourg-2", "m200", "8", "A POD")
    assert "There is no machine type m200. Machine types, nearest first: m2000, " in ended.err


def test_a_refusal_names_options_and_no_requests(run: Run, service: Service) -> None:
    faults = [
        {"pointer": "/expires_at", "code": "x", "detail": "Choose a time after `starts_at`."},
        {"pointer": "/tags/team", "code": "x", "detail": "Too long; `GET /v1/tags` lists them."},
        {"pointer": "/ssh_keys/0", "code": "x", "detail": "Leave out `wait_for_capacity`."},
        {"pointer": "/partition/gcds", "code": "x", "detail": "Too many."},
    ]
    refusal = problem(422, "validation_failed", "Some values are not valid.", errors=faults)
    service.on("POST", "/v1/projects/demo/clusters", refusal)
    options = ("--flavor", "f", "--region", "r", "--image", "i", "--ssh-key", "k", "--json")
    ended = run("clusters", "create", "b", *options)
    assert ended.err.splitlines()[1:5] == [
        "  --expires-at: Choose a time after starts at.",
        "  --tag: Too long.",
        "  --ssh-key: Leave out --wait-for-capacity.",
        "  partition gcds: Too many.",
    ]
    assert ended.json["error"]["errors"][0]["pointer"] == "/expires_at"


def test_a_token_that_is_not_accepted_says_how_to_get_one(run: Run, service: Service, monkeypatch: Any) -> None:
    service.on("GET", "/v1/projects/demo/quotas", *[problem(401, "unauthenticated", "A valid token is needed.")] * 2)
    run("quotas").fails(4, "IPUCLOUD_TOKEN", "ipucloud login")
    monkeypatch.setattr("ipucloud.cli.session.of_variables", lambda _: Profile())
    assert run("quotas").err.splitlines()[-1] == "  Log in: ipucloud login"

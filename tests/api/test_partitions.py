"""Partitions, topology and the V-IPU endpoint through the API; what a model documents is what is answered."""

from __future__ import annotations

from uuid import UUID

import orjson
import pytest

from ipucloud.inventory.health.codes import Code
from ipucloud.partitions import requests
from tests.api.support import Api, items, key, ok, pointers_of, problem, walk
from tests.support.feed import settled
from tests.support.partitions import make_partition

pytestmark = pytest.mark.anyio

PARTITION = {"name": "inference", "size": 2, "gcds": 2}


async def in_use(api: Api, flavor: str = "m2000-pod16") -> tuple[UUID, str]:
    """A cluster that a worker has finished, and the path of it."""
    cluster = await api.world.make_active(flavor=flavor)
    return cluster, f"{api.base}/clusters/{cluster}"


async def add_partition(api: Api, cluster: UUID, name: str = "training", **more: object) -> None:
    async with api.world.database.begin() as connection:
        await make_partition(connection, api.world.project.id, cluster, name, **more)  # type: ignore[arg-type]


async def test_a_partition_from_its_request_on(api: Api) -> None:
    _, path = await in_use(api)
    operation = ok(await api.owner.post(f"{path}/partitions", json=PARTITION), 202)
    assert (operation["kind"], operation["target"]["type"]) == ("partition.create", "partition")
    assert [step["name"] for step in operation["steps"]] == ["make_partition"]
    partition = (await api.owner.get(f"{path}/partitions/inference")).json()
    assert (partition["id"], partition["operation"]) == (operation["target"]["id"], operation["id"])
    assert partition | {"state": "creating", "origin": "api", "size": 2, "observed_at": None} == partition
    listed = await items(api.owner, f"{path}/partitions")
    by_id = (await api.owner.get(f"{path}/partitions/{partition['partition_id']}")).json()
    assert by_id == partition == listed[0] | {"ipus": []}
    assert (await api.owner.get(f"{path}/partitions/{partition['id']}")).json() == partition
    await settled(api.world.database)
    events = await items(api.owner, f"{api.base}/events?type=partition.creating")
    assert [each["subject_id"] for each in events] == [partition["id"]]


async def test_one_operation_runs_on_a_partition_and_a_removal_takes_over(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path = await in_use(api)
    making = (await api.owner.post(f"{path}/partitions", json=PARTITION)).json()
    other = (await api.owner.post(f"{path}/partitions", json=PARTITION | {"name": "other"})).json()
    busy = await api.owner.post(f"{path}/partitions/other:reset")
    assert problem(busy, 409, "operation_in_progress")["operation"] == other["id"]
    monkeypatch.setattr(requests, "MAX_OPEN", 2)
    crowded = await api.owner.post(f"{path}/partitions", json=PARTITION | {"name": "third"})
    assert problem(crowded, 409, "operation_in_progress")["operation"] == making["id"]
    assert problem(await api.owner.post(f"{path}:suspend"), 409, "operation_in_progress")["operation"] == making["id"]
    shown = (await api.owner.get(path)).json()
    assert (shown["operation"], shown["stage"], shown["progress"]) == (None, None, 100)
    gone = await api.owner.delete(f"{path}/partitions/inference")
    assert (gone.status_code, gone.json()["kind"]) == (202, "partition.remove")
    assert (await api.owner.delete(f"{path}/partitions/inference")).json()["id"] == gone.json()["id"]
    ended = (await api.owner.get(f"{api.base}/operations/{making['id']}")).json()
    assert (ended["state"], ended["error"]["code"]) == ("failed", "preempted")
    assert (await api.owner.get(f"{path}/partitions/other")).json()["operation"] == other["id"]
    await settled(api.world.database)
    [event] = await items(api.owner, f"{api.base}/events?type=operation.failed")
    assert event["data"] == {"kind": "partition.create", "partition": making["target"]["id"]}


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({"size": 3}, ["/size"]),
        ({"size": 32}, ["/size"]),
        ({"size": 4, "gcds": 3}, ["/gcds", "/replicas"]),
        ({"size": 4, "reconfigurable": True, "sync_type": "pod-native"}, ["/sync_type"]),
        ({"size": 4, "sync_type": "independent-rails"}, ["/sync_type"]),
        ({"size": 4, "routing": 7}, ["/routing"]),
        ({"size": 4, "colour": "red"}, ["/colour"]),
        ({"size": "4"}, ["/size"]),
        ({"size": 4, "name": "-"}, ["/name"]),
    ],
)
async def test_what_can_never_be_right_is_refused_before_anything_is_stored(
    api: Api, body: dict[str, object], pointers: list[str]
) -> None:
    _, path = await in_use(api)
    before = await api.snapshot()
    assert pointers_of(await api.owner.post(f"{path}/partitions", json={"name": "inference"} | body)) == pointers
    assert await api.snapshot() == before


async def test_names_states_and_versions_are_held(api: Api) -> None:
    cluster, path = await in_use(api)
    await add_partition(api, cluster)
    await add_partition(api, cluster, "mine", origin="customer")
    for name in ("training", "mine"):
        problem(await api.owner.post(f"{path}/partitions", json=PARTITION | {"name": name}), 409, "name_taken")
    for method, action in (("DELETE", ""), ("POST", ":reset")):
        own = await api.owner.request(method, f"{path}/partitions/mine{action}", json={} if action else None)
        problem(own, 409, "state_conflict")
    stale = await api.owner.delete(f"{path}/partitions/training", headers={"If-Match": '"99"'})
    current = problem(stale, 412, "precondition_failed")
    assert current["code"] == "precondition_failed"
    tag = (await api.owner.get(f"{path}/partitions/training")).headers["etag"]
    assert stale.headers["etag"] == tag.replace("-gzip", "")
    again = await api.owner.get(f"{path}/partitions/training", headers={"If-None-Match": tag})
    assert again.status_code == 304
    body, headers = {"relocatable": True}, {"If-Match": tag, **key()}
    first = await api.owner.post(f"{path}/partitions/training:reset", json=body, headers=headers)
    assert (first.status_code, first.json()["kind"]) == (202, "partition.reset")
    repeated = await api.owner.post(f"{path}/partitions/training:reset", json=body, headers=headers)
    assert (repeated.text, repeated.headers["idempotent-replayed"]) == (first.text, "true")


async def test_a_reset_needs_no_body(api: Api) -> None:
    cluster, path = await in_use(api)
    await add_partition(api, cluster, "training", number=1)
    null = await api.owner.post(
        f"{path}/partitions/training:reset", content=b"null", headers={"Content-Type": "application/json"}
    )
    problem(null, 422, "validation_failed")
    begun = await api.owner.post(f"{path}/partitions/training:reset")
    assert (begun.status_code, begun.json()["kind"]) == (202, "partition.reset")


async def test_a_configuration_is_a_file_for_each_gcd(api: Api) -> None:
    cluster, path = await in_use(api)
    await add_partition(api, cluster, "one", number=1)
    await add_partition(api, cluster, "two", number=2, gcds=2)
    one = await api.owner.get(f"{path}/partitions/one/ipuof-config")
    assert one.json()["attributes"] == {"GCD Id": "0"}
    assert len(one.json()["devices"]) == 4
    assert one.headers["content-disposition"].endswith('-1_ipuof.conf"')
    second = await api.owner.get(f"{path}/partitions/two/ipuof-config?gcd=1")
    assert second.json()["attributes"] == {"GCD Id": "1"}
    assert second.headers["content-disposition"].endswith('-2_gcd1_ipuof.conf"')
    problem(await api.owner.get(f"{path}/partitions/two/ipuof-config?gcd=2"), 422, "validation_failed")
    problem(await api.owner.get(f"{path}/partitions/three/ipuof-config"), 404, "not_found")
    await api.world.execute("UPDATE partitions SET ipuof = NULL, ipuof_at = NULL")
    problem(await api.owner.get(f"{path}/partitions/one/ipuof-config"), 409, "state_conflict")


async def test_lists_say_whose_a_partition_is(api: Api) -> None:
    cluster, path = await in_use(api)
    await add_partition(api, cluster, "default", origin="cluster")
    await add_partition(api, cluster, "training")
    await add_partition(api, cluster, "mine", origin="customer")
    whole = await items(api.owner, f"{path}/partitions", order="created_at")
    assert [each["origin"] for each in whole] == ["cluster", "api", "customer"]
    assert await walk(api.owner, f"{path}/partitions", order="created_at", limit=2) == whole
    of_customer = await items(api.owner, f"{path}/partitions?origin=customer")
    assert [each["name"] for each in of_customer] == ["mine"]
    assert await items(api.owner, f"{path}/partitions?state=removed") == []


@pytest.mark.acceptance("NET02-02", "STG05-01")
async def test_the_topology_shows_machines_links_and_partitions(api: Api) -> None:
    cluster, path = await in_use(api)
    await add_partition(api, cluster)
    topology = (await api.owner.get(f"{path}/topology")).json()
    assert [len(rack["machines"]) for rack in topology["racks"]] == [4]
    assert [link["state"] for link in topology["links"]] == ["unknown"] * 3
    assert (topology["free_ipus"], topology["largest_partition"]) == (12, 8)
    assert [(each["size"], each["fits"], each["reason"]) for each in topology["partition_sizes"][2:]] == [
        (4, True, None),
        (8, True, None),
        (16, False, "too_few_free"),
    ]
    owners = [ipu["partition"] for machine in topology["machines"] for ipu in machine["ipus"]]
    assert owners.count(None) == 12
    await api.world.fail(cluster, Code.BMC_CRITICAL)
    links = (await api.owner.get(f"{path}/topology")).json()["links"]
    assert [link["state"] for link in links] == ["down", "unknown", "unknown"]
    assert {link["observed_at"] for link in links} == {None}
    ends = sorted(links[0]["ends"])
    await api.world.execute(
        "INSERT INTO vipu_links (cluster_id, project_id, links) VALUES (:cluster, :project, CAST(:links AS jsonb))",
        cluster=cluster,
        project=api.world.project.id,
        links=orjson.dumps([["next", ends, "degraded"], ["next", sorted(links[1]["ends"]), "up"]]).decode(),
    )
    links = (await api.owner.get(f"{path}/topology")).json()["links"]
    assert [link["state"] for link in links] == ["degraded", "up", "unknown"]
    assert [link["observed_at"] is None for link in links] == [False, False, True]


async def test_the_end_point_of_the_controller(api: Api) -> None:
    cluster, path = await in_use(api)
    await add_partition(api, cluster)
    controller = (await api.owner.get(f"{path}/vipu")).json()
    assert controller["environment"]["IPUOF_VIPU_API_HOST"] == controller["host"]
    assert controller["environment"]["IPUOF_VIPU_API_PARTITION_ID"] == controller["partition"]
    await add_partition(api, cluster, "second", number=2)
    assert (await api.owner.get(f"{path}/vipu")).json()["partition"] is None
    assert (await api.owner.get(f"{path}/vipu?partition=second")).json()["partition"].endswith("-2")
    problem(await api.owner.get(f"{path}/vipu?partition=third"), 404, "not_found")


async def test_an_access_key_is_shown_once_and_stored_nowhere(api: Api) -> None:
    _, path = await in_use(api)
    problem(await api.owner.post(f"{path}/vipu:rotate-key", json={}), 409, "no_vipu")
    await api.world.execute("UPDATE vipu_controllers SET secure = true")
    assert (await api.owner.get(f"{path}/vipu")).json()["access_key"] is None
    headers = key()
    accepted = await api.owner.post(f"{path}/vipu:rotate-key", json={}, headers=headers)
    created = accepted.json()
    assert accepted.status_code == 202
    assert created["access_key"].startswith("vipu_")
    assert accepted.headers["location"].endswith(created["operation"]["id"])
    assert [step["name"] for step in created["operation"]["steps"]] == ["replace_access_key"]
    again = await api.owner.post(f"{path}/vipu:rotate-key", json={}, headers=headers)
    assert again.json() == created | {"access_key": None}
    assert await api.stores(created["access_key_id"]) == ["idempotency_keys", "vipu_access_keys"]
    assert await api.stores(created["access_key"]) == []
    controller = (await api.owner.get(f"{path}/vipu")).json()
    assert (controller["user"], controller["access_key"]["id"]) == (created["user"], created["access_key_id"])
    assert controller["environment"]["VIPU_CLI_API_USER_ID"] == created["user"]
    problem(await api.owner.post(f"{path}/vipu:rotate-key", json={}), 409, "operation_in_progress")


async def test_clusters_without_v_ipu_say_so(api: Api) -> None:
    cluster, path = await in_use(api)
    await api.world.execute("UPDATE clusters SET allocated_through = 'host-devices' WHERE id = :id", id=cluster)
    for answer in (
        await api.owner.get(f"{path}/partitions"),
        await api.owner.post(f"{path}/partitions", json=PARTITION),
        await api.owner.delete(f"{path}/partitions/training"),
        await api.owner.get(f"{path}/topology"),
        await api.owner.get(f"{path}/vipu"),
    ):
        problem(answer, 409, "no_vipu")


async def test_a_cluster_that_is_not_in_use_has_nothing_to_change(api: Api) -> None:
    accepted = await api.world.create()
    path = f"{api.base}/clusters/{accepted.target_id}"
    problem(await api.owner.post(f"{path}/partitions", json=PARTITION), 409, "state_conflict")
    assert await items(api.owner, f"{path}/partitions") == []
    problem(await api.owner.get(f"{api.base}/clusters/{api.world.project.id}/partitions"), 404, "not_found")

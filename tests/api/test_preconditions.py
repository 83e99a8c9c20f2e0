"""Entity tags: who has the newest needs no copy, who has an old one changes nothing."""

from __future__ import annotations

import pytest

from ipucloud.identity.roles import Role
from tests.api.support import Api, cluster_id, cluster_json, ok, problem

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("stopped_clock")]

STALE = ['"1"', '"1-0123456789abcdef"', 'W/"2"', '"two"', "2", '""']


async def test_who_has_the_newest_gets_no_copy(api: Api) -> None:
    path = f"{api.base}/clusters/{cluster_id(await api.make_cluster())}"
    first = await api.owner.get(path)
    tag = first.headers["etag"]
    for known in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        again = await api.owner.get(path, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert (await api.owner.get(path, headers={"If-None-Match": '"1"'})).status_code == 200
    await api.owner.patch(path, json={"tags": {"team": "nlp"}})
    changed = await api.owner.get(path, headers={"If-None-Match": tag})
    assert (changed.status_code, changed.json()["tags"]) == (200, {"team": "nlp"})


async def test_a_compressed_answer_is_the_same_object_with_a_tag_of_its_own(api: Api) -> None:
    path = f"{api.base}/clusters/{cluster_id(await api.make_cluster())}"
    plain = await api.owner.get(path, headers={"Accept-Encoding": "identity"})
    packed = await api.owner.get(path, headers={"Accept-Encoding": "br, gzip;q=0.5"})
    assert (packed.json(), packed.headers["content-encoding"]) == (plain.json(), "gzip")
    assert "content-encoding" not in plain.headers
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 2
    tag = plain.headers["etag"]
    assert packed.headers["etag"] == f'{tag[:-1]}-gzip"'
    for known in (tag, packed.headers["etag"]):
        again = await api.owner.get(path, headers={"Accept-Encoding": "gzip", "If-None-Match": known})
        assert (again.status_code, again.headers["etag"]) == (304, packed.headers["etag"])
        assert again.headers["vary"] == packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    ok(await api.owner.patch(path, json={"tags": {}}, headers={"If-Match": packed.headers["etag"]}))


async def test_what_is_small_or_secret_or_not_asked_for_is_not_compressed(api: Api) -> None:
    path = f"{api.base}/clusters/{cluster_id(await api.make_cluster())}"
    for refusal in ("gzip;q=0", "*;q=0", "gzip; q=0.000, *", "br", ""):
        answer = await api.owner.get(path, headers={"Accept-Encoding": refusal})
        assert "content-encoding" not in answer.headers
    for answer in (
        await api.owner.get(f"{api.base}/ssh-keys"),
        await api.owner.post(f"{api.base}/clusters:estimate", json=cluster_json("ernie")),
        await api.owner.patch(path, json={"tags": {"team": "nlp"}}),
        await api.owner.get(f"{api.base}/events/stream", params={"after": "0-0", "wait": 0}),
    ):
        assert answer.is_success
        assert "content-encoding" not in answer.headers
    listed = await api.owner.get(f"{api.base}/clusters", headers={"Accept-Encoding": "*"})
    assert listed.headers["content-encoding"] == "gzip"
    head = await api.owner.head(f"{api.base}/clusters", headers={"Accept-Encoding": "*"})
    assert head.headers["content-length"] == listed.headers["content-length"]


async def test_a_tag_changes_with_whatever_the_body_shows(api: Api) -> None:
    operation = await api.make_cluster()
    path = f"{api.base}/clusters/{cluster_id(operation)}"
    tag = (await api.owner.get(path)).headers["etag"]
    await api.world.execute("UPDATE operations SET state = 'running', progress = 40")
    assert (await api.owner.get(path, headers={"If-None-Match": tag})).json()["progress"] == 40
    # What has moved is no conflict: nobody else changed the cluster.
    ok(await api.owner.patch(path, json={"tags": {"a": "b"}}, headers={"If-Match": tag}))


async def test_the_tag_of_an_answer_is_that_of_a_read(api: Api) -> None:
    path = f"{api.base}/clusters/{cluster_id(await api.make_cluster())}"
    tag = (await api.owner.patch(path, json={"name": "ernie"})).headers["etag"]
    assert (await api.owner.get(path, headers={"If-None-Match": tag})).status_code == 304


@pytest.mark.parametrize("tag", STALE)
async def test_a_stale_tag_changes_nothing(api: Api, tag: str) -> None:
    path = f"{api.base}/clusters/{cluster_id(await api.make_cluster())}"
    await api.owner.patch(path, json={"tags": {"team": "nlp"}})
    current = (await api.owner.get(path)).headers["etag"]
    before = await api.snapshot()
    for answer in (
        await api.owner.patch(path, json={"tags": {}}, headers={"If-Match": tag}),
        await api.owner.delete(path, headers={"If-Match": tag}),
    ):
        problem(answer, 412, "precondition_failed")
        assert answer.headers["etag"] == current.replace("-gzip", "")
    assert await api.snapshot() == before


async def test_the_current_version_is_enough(api: Api) -> None:
    path = f"{api.base}/clusters/{cluster_id(await api.make_cluster())}"
    for tag in ('"1"', "*"):
        answer = await api.owner.patch(path, json={"delete_protection": tag == "*"}, headers={"If-Match": tag})
        assert answer.status_code == 200
    problem(await api.owner.delete(path, headers={"If-Match": '"2"'}), 409, "delete_protected")
    several = '"1", "2", W/"3", "other"'
    answer = await api.owner.patch(path, json={"delete_protection": False}, headers={"If-Match": several})
    assert answer.json()["version"] == 3
    problem(await api.owner.patch(path, json={}, headers={"If-Match": several}), 412, "precondition_failed")


async def test_a_whole_document_is_replaced_by_those_who_read_it(api: Api) -> None:
    admin, path = await api.caller(Role.ADMIN), f"{api.base}/quotas"
    body = {"items": [{"region": "luxembourg-2", "machine_type": "m2000", "limit": 8}]}
    before = await api.snapshot()
    problem(await admin.put(path, json=body), 428, "precondition_required")
    problem(await admin.put(path, json=body, headers={"If-Match": '"7"'}), 412, "precondition_failed")
    assert await api.snapshot() == before
    tag = (await api.owner.get(path)).headers["etag"]
    await api.make_cluster()  # the limits are what may conflict, not their use
    stored = await admin.put(path, json=body, headers={"If-Match": tag})
    assert [(quota["limit"], quota["used"]) for quota in stored.json()["items"]] == [(0, 0), (8, 1)]
    problem(await admin.put(path, json=body, headers={"If-Match": tag}), 412, "precondition_failed")
    low = {"items": [{"region": "luxembourg-2", "machine_type": "m2000", "limit": 0}]}
    problem(await admin.put(path, json=low, headers={"If-Match": stored.headers["etag"]}), 409, "state_conflict")
    assert (await api.owner.get(path)).json() == stored.json()


async def test_limits_are_set_for_what_there_is(api: Api) -> None:
    admin, path = await api.caller(Role.ADMIN), f"{api.base}/quotas"
    tag = (await admin.get(path)).headers["etag"]
    item = {"region": "luxembourg-2", "machine_type": "m2000", "limit": 1}
    for items in ([item | {"machine_type": "bow-2000"}], [item | {"region": "mars-1"}], [item, item]):
        answer = await admin.put(path, json={"items": items}, headers={"If-Match": tag})
        assert problem(answer, 422, "validation_failed")["errors"][0]["pointer"].startswith("/items/")

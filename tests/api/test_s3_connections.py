"""S3 connections over the API: changed, tested, attached to clusters, and refused where they are in use."""

from __future__ import annotations

import pytest

from tests.api.support import Api, cluster_json, codes_of, key, ok, problem, s3_connection_json

pytestmark = pytest.mark.anyio


async def test_a_connection_is_changed_and_its_test_says_what_fails(api: Api) -> None:
    path = f"{api.base}/s3-connections"
    created = await api.owner.post(
        path, json=s3_connection_json(endpoint="https://no-such-host.invalid"), headers=key()
    )
    one = created.headers["location"]
    assert (created.json()["test"], created.json()["attachable"]) == (None, False)
    tested = ok(await api.owner.post(f"{one}:test", headers=key()))
    assert tested["test"]["failed"] == "name"
    assert tested["test"] == (await api.owner.get(one)).json()["test"]
    before = await api.world.column("SELECT secret FROM s3_connections")
    body = {"secret": "another-secret", "access_key_id": "OTHER", "attachable": True}
    changed = await api.owner.patch(one, json=body)
    assert changed.status_code == 200, changed.text
    assert (changed.json()["access_key_id"], changed.json()["attachable"]) == ("OTHER", True)
    assert changed.json()["test"] is None, "what was tested is not what is there now"
    assert "another-secret" not in changed.text
    assert await api.world.column("SELECT secret FROM s3_connections") != before
    problem(await api.owner.patch(one, json={"endpoint": "http://s3.example"}), 422, "validation_failed")
    problem(await api.owner.patch(f"{path}/nothing", json={"prefix": "x"}), 404, "not_found")


async def test_clusters_get_only_attachable_connections_and_keep_them(api: Api) -> None:
    path, clusters = f"{api.base}/s3-connections", f"{api.base}/clusters"
    connection = await api.owner.post(path, json=s3_connection_json("lake"), headers=key())
    body = cluster_json("bert") | {"s3_connections": ["lake"]}
    assert codes_of(await api.owner.post(clusters, json=body, headers=key())) == ["not_attachable"]
    both = ["unknown_s3_connection", "not_attachable"]
    for names, codes in ((["lake"], ["not_attachable"]), (["sea", "lake"], both)):
        estimated = await api.owner.post(f"{clusters}:estimate", json=body | {"s3_connections": names})
        faults = problem(estimated, 422, "validation_failed")["errors"]
        assert [(each["pointer"], each["code"]) for each in faults] == [
            (f"/s3_connections/{place}", code) for place, code in enumerate(codes)
        ], "as a create would refuse it"
    await api.owner.patch(connection.headers["location"], json={"attachable": True})
    assert (await api.owner.post(f"{clusters}:estimate", json=body)).status_code == 200
    ok(await api.owner.post(clusters, json=body, headers=key()), 202)
    shown = (await api.owner.get(f"{clusters}/bert")).json()
    assert shown["s3_connections"] == ["lake"]
    assert [each["s3_access"] for each in shown["poplar_servers"]] == [None]
    problem(await api.owner.delete(f"{path}/lake"), 409, "in_use")
    problem(await api.owner.patch(f"{path}/lake", json={"attachable": False}), 409, "in_use")
    unknown = await api.owner.patch(f"{clusters}/bert", json={"s3_connections": ["sea"]})
    assert problem(unknown, 422, "validation_failed")["errors"][0]["code"] == "unknown_s3_connection"
    detached = await api.owner.patch(f"{clusters}/bert", json={"s3_connections": []})
    assert detached.json()["s3_connections"] == []
    again = await api.owner.patch(f"{clusters}/bert", json={"s3_connections": []})
    assert again.json()["version"] == detached.json()["version"]
    assert (await api.owner.delete(f"{path}/lake")).status_code == 204

"""SSH keys of running clusters over the API: what is refused, and that a refusal changes nothing."""

from __future__ import annotations

import pytest

from tests.api.support import Api, cluster_id, faults_of, items, problem
from tests.support.factories import make_ssh_key

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("stopped_clock")]


async def test_keys_are_changed_and_refusals_change_nothing(api: Api) -> None:
    bert = await api.world.make_active()
    async with api.world.database.begin() as connection:
        await make_ssh_key(connection, api.world.project.id, "ci")
    path = f"{api.base}/clusters/{bert}"
    read = await api.owner.get(path)
    before = read.json()
    assert before["ssh_keys"] == ["laptop"]
    unknown = await api.owner.patch(path, json={"ssh_keys": ["ci", "another"]})
    assert faults_of(unknown) == [("/ssh_keys/1", "unknown_ssh_key")]
    assert faults_of(await api.owner.patch(path, json={"ssh_keys": []})) == [("/ssh_keys", "last_ssh_key")]
    wrong: list[object] = [None, "ci", [""], [1], ["ci"] * 51]
    for keys in wrong:
        problem(await api.owner.patch(path, json={"ssh_keys": keys}), 422, "validation_failed")
    stale = await api.owner.patch(path, json={"ssh_keys": ["ci"]}, headers={"If-Match": '"1"'})
    problem(stale, 412, "precondition_failed")
    assert (await api.owner.get(path)).json() | {"billing": before["billing"]} == before

    keys = await items(api.owner, f"{api.base}/ssh-keys")
    by_id = next(key["id"] for key in keys if key["name"] == "ci")
    changed = await api.owner.patch(
        path, json={"ssh_keys": [by_id], "tags": {"team": "nlp"}}, headers={"If-Match": read.headers["ETag"]}
    )
    shown = changed.json()
    assert (changed.status_code, shown["ssh_keys"], shown["tags"]) == (200, ["ci"], {"team": "nlp"})
    assert (shown["state"], shown["operation"]["kind"]) == ("active", "cluster.update-keys")
    assert shown["billing"]["status"] == "running"
    other = problem(await api.owner.patch(path, json={"ssh_keys": ["laptop"]}), 409, "operation_in_progress")
    assert other["operation"] == shown["operation"]["id"]
    repeated = await api.owner.patch(path, json={"ssh_keys": ["ci"]})
    assert (repeated.status_code, repeated.json()["operation"]["id"]) == (200, other["operation"])
    # Settings are no work on the servers, and do not wait for it.
    assert (await api.owner.patch(path, json={"delete_protection": True})).status_code == 200
    creating = cluster_id(await api.make_cluster(name="gpt"))
    answer = await api.owner.patch(f"{api.base}/clusters/{creating}", json={"ssh_keys": ["ci"]})
    problem(answer, 409, "operation_in_progress")


async def test_a_key_that_the_project_has_deleted_can_stay(api: Api) -> None:
    bert = await api.world.make_active()
    async with api.world.database.begin() as connection:
        await make_ssh_key(connection, api.world.project.id, "ci")
    assert (await api.owner.delete(f"{api.base}/ssh-keys/laptop")).status_code == 204
    path = f"{api.base}/clusters/{bert}"
    shown = (await api.owner.patch(path, json={"ssh_keys": ["laptop", "ci"]})).json()
    assert (shown["ssh_keys"], shown["operation"]["kind"]) == (["laptop", "ci"], "cluster.update-keys")

"""What is set of a cluster: SSH keys, schedule, idle stop, repairs; what is refused, and that nothing changes then."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ipucloud.inventory.health.codes import Code
from ipucloud.policies.repairs import arrange
from tests.api.support import Api, cluster_id, cluster_json, faults_of, items, problem
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


async def test_allowed_sources_are_normalised_and_changed_beside_operations(api: Api) -> None:
    given = ["203.0.113.7", "10.0.0.0/255.0.0.0", "2001:DB8::/32", "::ffff:192.0.2.0/120", "203.0.113.7/32"]
    operation = await api.make_cluster("bert", allowed_sources=given)
    path = f"{api.base}/clusters/{operation['target']['id']}"
    shown = (await api.owner.get(path)).json()
    assert shown["allowed_sources"] == ["203.0.113.7/32", "10.0.0.0/8", "2001:db8::/32", "192.0.2.0/24"]
    assert shown["operation"]["kind"] == "cluster.create", "it is still being created"
    changed = (await api.owner.patch(path, json={"allowed_sources": []})).json()
    assert (changed["allowed_sources"], changed["version"]) == ([], shown["version"] + 1)
    events = await items(api.owner, f"{api.base}/events?type=cluster.updated")
    assert [each["data"]["fields"] for each in events] == [["allowed_sources"]]
    again = await api.owner.patch(path, json={"allowed_sources": []})
    assert again.json()["version"] == changed["version"]


@pytest.mark.parametrize(
    ("sources", "pointer", "code", "says"),
    [
        (["10.0.0.0/8", "10.1.2.3/8"], "/allowed_sources/1", "host_bits_set", "write 10.0.0.0/8 for the network"),
        (["2001:db8::1/32"], "/allowed_sources/0", "host_bits_set", "2001:db8::1 for this address only"),
        (["example.com"], "/allowed_sources/0", "not_a_network", "203.0.113.0/24"),
        (["10.0.0.0/33"], "/allowed_sources/0", "not_a_network", ""),
        (["fe80::1%eth0"], "/allowed_sources/0", "not_a_network", "zone"),
        ([""], "/allowed_sources/0", "not_a_network", ""),
        ([1], "/allowed_sources/0", "string_type", ""),
        (["10.0.0.0/8"] * 33, "/allowed_sources", "too_long", "32"),
    ],
)
async def test_sources_that_are_no_networks_are_refused(
    api: Api, sources: list[object], pointer: str, code: str, says: str
) -> None:
    await api.make_cluster("bert", allowed_sources=["192.0.2.0/24"])
    refused = await api.owner.patch(f"{api.base}/clusters/bert", json={"allowed_sources": sources})
    assert faults_of(refused) == [(pointer, code)]
    assert says in refused.json()["errors"][0]["detail"]
    assert (await api.owner.get(f"{api.base}/clusters/bert")).json()["allowed_sources"] == ["192.0.2.0/24"]
    created = await api.owner.post(f"{api.base}/clusters", json=cluster_json("gpt", allowed_sources=sources))
    assert faults_of(created) == [(pointer, code)]


PERIOD = {"days": ["mon"], "starts_at": "08:00", "ends_at": "20:00"}
WORK = {"time_zone": "Europe/Luxembourg", "periods": [PERIOD], "holidays": ["2026-12-25"]}


async def test_a_schedule_is_set_read_and_removed(api: Api) -> None:
    operation = await api.make_cluster("bert", schedule=WORK, idle_suspend_minutes=60)
    path = f"{api.base}/clusters/{operation['target']['id']}"
    cluster = (await api.owner.get(path)).json()
    assert {name: cluster["schedule"][name] for name in WORK} == WORK
    assert cluster["schedule"]["next_action"] in {"resume", "suspend"}
    assert (cluster["schedule"]["due"], cluster["idle_suspend_minutes"], cluster["idle"]) == (None, 60, None)
    changed = await api.owner.patch(f"{api.base}/clusters/bert", json={"schedule": None, "idle_suspend_minutes": None})
    assert (changed.json()["schedule"], changed.json()["idle_suspend_minutes"]) == (None, None)


@pytest.mark.parametrize(
    ("change", "pointer", "code", "says"),
    [
        (
            {"schedule": WORK | {"time_zone": "Europe/Luxemburg"}},
            "/schedule/time_zone",
            "unknown_time_zone",
            "Luxembourg",
        ),
        ({"schedule": WORK | {"periods": []}}, "/schedule/periods", "too_short", ""),
        ({"schedule": WORK | {"periods": [PERIOD, PERIOD]}}, "/schedule", "overlapping_periods", "mon 08:00-20:00"),
        ({"schedule": WORK | {"holidays": [1]}}, "/schedule/holidays/0", "date_form", "2026-12-25"),
        ({"schedule": WORK | {"until": "then"}}, "/schedule/until", "extra_forbidden", ""),
        ({"idle_suspend_minutes": 4}, "/idle_suspend_minutes", "greater_than_equal", "5"),
        ({"idle_suspend_minutes": "60"}, "/idle_suspend_minutes", "int_type", ""),
    ],
)
async def test_what_cannot_be_followed_is_refused(
    api: Api, change: dict[str, Any], pointer: str, code: str, says: str
) -> None:
    await api.make_cluster("bert")
    before = (await api.owner.get(f"{api.base}/clusters/bert")).json()
    refused = await api.owner.patch(f"{api.base}/clusters/bert", json=change)
    assert faults_of(refused) == [(pointer, code)]
    assert says in refused.json()["errors"][0]["detail"]
    after = (await api.owner.get(f"{api.base}/clusters/bert")).json()
    assert (after["version"], after["schedule"]) == (before["version"], None)


async def test_a_create_with_a_schedule_of_an_unknown_zone_makes_nothing(api: Api) -> None:
    body = cluster_json(schedule=WORK | {"time_zone": "Europe/Luxemburg"})
    refused = await api.owner.post(f"{api.base}/clusters", json=body)
    assert faults_of(refused) == [("/schedule/time_zone", "unknown_time_zone")]
    assert await api.count("clusters") == 0


WINDOW = {"days": ["sun", "sat"], "starts_at": "02:00", "minutes": 180, "time_zone": "Europe/Luxembourg"}


def text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


async def test_a_window_is_kept_as_it_was_sent_and_can_be_removed(api: Api) -> None:
    path = f"{api.base}/clusters/{cluster_id(await api.make_cluster(repair_window=WINDOW, auto_repair=False))}"
    cluster = (await api.owner.get(path)).json()
    assert cluster["repair_window"] == WINDOW | {"days": ["sat", "sun"]}
    assert (cluster["auto_repair"], cluster["scheduled_repair"]) == (False, None)
    same = await api.owner.patch(path, json={"repair_window": WINDOW})
    assert same.json()["version"] == cluster["version"]
    changed = (await api.owner.patch(path, json={"repair_window": None, "auto_repair": True})).json()
    assert (changed["repair_window"], changed["auto_repair"]) == (None, True)
    wrong = WINDOW | {"time_zone": "Mars/Olympus"}
    [fault] = problem(await api.owner.patch(path, json={"repair_window": wrong}), 422, "validation_failed")["errors"]
    assert (fault["pointer"], fault["code"]) == ("/repair_window/time_zone", "unknown_time_zone")
    assert (await api.owner.get(path)).json()["version"] == changed["version"]


async def test_a_repair_is_rescheduled_within_its_limits(api: Api) -> None:
    bert = await api.world.make_active()
    path = f"{api.base}/clusters/{bert}"
    later = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=3)
    ask = {"starts_at": text(later)}
    problem(await api.owner.post(f"{path}:reschedule-repair", json=ask), 409, "state_conflict")
    await api.world.fail(bert, Code.BMC_CRITICAL)
    async with api.world.database.begin() as connection:
        await arrange(connection, api.world.project.id, bert, api.world.settings)
    before = (await api.owner.get(path)).json()
    for starts_at, code in (
        ("2020-01-01T00:00:00Z", "not_in_future"),
        (text(later + timedelta(days=30)), "too_late"),
    ):
        refused = await api.owner.post(f"{path}:reschedule-repair", json={"starts_at": starts_at})
        assert faults_of(refused) == [("/starts_at", code)]
    for body in ({}, {"starts_at": "soon"}, {"starts_at": None}, ask | {"window": 3}):
        problem(await api.owner.post(f"{path}:reschedule-repair", json=body), 422, "validation_failed")
    stale = await api.owner.post(f"{path}:reschedule-repair", json=ask, headers={"If-Match": '"1"'})
    problem(stale, 412, "precondition_failed")
    assert (await api.owner.get(path)).json() | {"billing": before["billing"]} == before
    answer = await api.owner.post(f"{path}:reschedule-repair", json=ask)
    assert answer.json()["scheduled_repair"]["starts_at"] == text(later).replace("Z", ".000000Z")
    assert (await api.owner.get(path)).headers["etag"].replace("-gzip", "") == answer.headers["etag"]

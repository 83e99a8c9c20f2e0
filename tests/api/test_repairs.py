"""Repairs over the API: settings of a cluster, and another time for the scheduled one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ipucloud.inventory.health.codes import Code
from ipucloud.policies.repairs import arrange
from tests.api.support import Api, cluster_id, faults_of, problem

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("stopped_clock")]

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

"""Schedules, idle stop and expiry over HTTP: what is shown, and what is refused without a change."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.support import Api, cluster_json, problem

pytestmark = pytest.mark.anyio

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
    problem(refused, 422, "validation_failed")
    [fault] = refused.json()["errors"]
    assert (fault["pointer"], fault["code"], says in fault["detail"]) == (pointer, code, True)
    after = (await api.owner.get(f"{api.base}/clusters/bert")).json()
    assert (after["version"], after["schedule"]) == (before["version"], None)


async def test_a_create_with_a_schedule_of_an_unknown_zone_makes_nothing(api: Api) -> None:
    before = await api.snapshot()
    body = cluster_json(schedule=WORK | {"time_zone": "Europe/Luxemburg"})
    [fault] = problem(await api.owner.post(f"{api.base}/clusters", json=body), 422, "validation_failed")["errors"]
    assert (fault["pointer"], fault["code"]) == ("/schedule/time_zone", "unknown_time_zone")
    assert "Europe/Luxembourg" in fault["detail"]
    assert await api.snapshot() == before

"""A project at a glance: what it says is what the lists say."""

from __future__ import annotations

import pytest

from ipucloud.inventory.health.codes import Code
from tests.api.support import Api, items
from tests.support.feed import settled

pytestmark = pytest.mark.anyio


@pytest.mark.usefixtures("stopped_clock")
async def test_the_overview_says_what_the_lists_say(api: Api) -> None:
    building, degraded = await api.make_cluster("building"), await api.world.make_active("hurt", "m2000-pod16")
    await api.world.make_active("used")
    await api.world.fail(degraded, Code.BMC_CRITICAL)
    budget = {"name": "all", "amount": {"amount": "9", "currency": "EUR"}, "thresholds": [{"percent": 100}]}
    assert (await api.owner.post(f"{api.base}/budgets", json=budget)).status_code == 201
    await settled(api.world.database)
    overview = (await api.owner.get(f"{api.base}/overview")).json()
    by_state = {each["state"]: (each["clusters"], each["ipus"]) for each in overview["clusters"]}
    assert by_state == {"active": (1, 4), "creating": (1, 4), "degraded": (1, 16)}
    assert overview["ipus_in_use"] == 24
    assert overview["quotas"] == await items(api.owner, f"{api.base}/quotas")
    assert [(each["name"], each["state"]) for each in overview["attention"]] == [("hurt", "degraded")]
    assert (overview["attention_count"], overview["open_fault_reports"]) == (1, 0)
    assert [each["id"] for each in overview["operations"]] == [building["id"]]
    assert overview["operation_count"] == 1
    assert overview["events"] == await items(api.owner, f"{api.base}/events?limit=10")
    summary = (await api.owner.get(f"{api.base}/billing/summary")).json()
    assert overview["spending"] == {
        name: summary[name] for name in ("month", "accrued", "per_hour", "forecast", "budgets")
    }

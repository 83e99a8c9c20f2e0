"""Budgets as callers see them: made, changed, reached, and refusing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from ipucloud.billing.budgets.evaluate import evaluate_budgets
from ipucloud.identity.roles import Role
from tests.api.support import Api, cluster_json, codes_of, euros, items, ok, problem
from tests.support.feed import settled
from tests.support.postgres import Database as Scratch
from tests.support.world.clock import start_clock, stop_clock

pytestmark = pytest.mark.anyio

NOW = datetime.fromisoformat("2026-05-05T10:00:00Z")
BUDGET = {
    "name": "NLP team",
    "amount": {"amount": "5", "currency": "EUR"},
    "thresholds": [{"on": "actual", "percent": 50, "action": "refuse_creates"}, {"on": "forecast", "percent": 100}],
}


@pytest.fixture
async def clock(api: Api, database: Scratch) -> AsyncIterator[Scratch]:
    """A day in May, from which what is created is never finished."""
    api.world.broken_on_purpose.update({"operation_ends_in_time", "operation_makes_progress"})
    stop_clock(database.owner_url, NOW)
    yield database
    start_clock(database.owner_url)


async def use(api: Api, clock: Scratch, name: str = "bert", **changes: Any) -> None:
    """An hour of one machine: 3.75 EUR; then the budgets are looked at."""
    await api.world.make_active(name, **changes)
    stop_clock(clock.owner_url, NOW + timedelta(hours=1))
    await evaluate_budgets(api.world.database)


async def test_a_summary_has_the_budgets_of_its_month(api: Api, clock: Scratch) -> None:
    of_tag = BUDGET | {"name": "of a tag", "tag": {"key": "team", "value": "nlp"}}
    for body in (BUDGET, of_tag):
        assert (await api.owner.post(f"{api.base}/budgets", json=body)).status_code == 201
    await use(api, clock, tags={"team": "nlp"})
    may, june = await figures(api, "2026-05"), datetime.fromisoformat("2026-06-01T01:00:00Z")
    assert may == {"NLP team": ("2026-05", "3.75", True), "of a tag": ("2026-05", "3.75", True)}
    stop_clock(clock.owner_url, june)
    later = BUDGET | {"name": "later", "amount": {"amount": "5000", "currency": "EUR"}}
    assert (await api.owner.post(f"{api.base}/budgets", json=later)).status_code == 201
    await evaluate_budgets(api.world.database)
    past = await figures(api, "2026-05")
    assert past["NLP team"] == past["of a tag"] == ("2026-05", "2392.50", True)
    assert set(past) == set(may)
    assert await figures(api, "2026-06") == {
        "NLP team": ("2026-06", "3.75", True),
        "of a tag": ("2026-06", "3.75", True),
        "later": ("2026-06", "3.75", False),
    }


async def figures(api: Api, month: str) -> dict[str, tuple[str, str, bool]]:
    """Month and cost of each budget in a month's summary, and whether its first threshold was reached."""
    answer = ok(await api.owner.get(f"{api.base}/billing/summary", params={"month": month}))
    return {
        each["name"]: (each["month"], each["actual"]["amount"], each["thresholds"][0]["reached_at"] is not None)
        for each in answer["budgets"]
    }


async def test_a_budget_that_is_reached_refuses_creates_until_it_is_raised(api: Api, clock: Scratch) -> None:
    path = f"{api.base}/budgets"
    created = await api.owner.post(path, json=BUDGET)
    assert created.status_code == 201, created.text
    budget = created.json()
    assert (budget["scope"], budget["actual"], budget["refuses_creates"]) == ("project", None, False)
    await use(api, clock)
    refusal = problem(await api.owner.post(f"{api.base}/clusters", json=cluster_json("ernie")), 409, "budget_reached")
    assert refusal["budget"]["name"] == "NLP team"
    assert refusal["budget"]["actual"] == {"amount": "3.75", "currency": "EUR"}
    read = (await api.owner.get(created.headers["location"])).json()
    assert (read["refuses_creates"], read["month"], read["actual"]["amount"]) == (True, "2026-05", "3.75")
    assert [each["on"] for each in read["thresholds"] if each["reached_at"]] == ["actual", "forecast"]
    await settled(api.world.database)
    events = await items(api.owner, f"{api.base}/events?type=budget.threshold_reached")
    reached = {"name": "NLP team", "month": "2026-05", "percent": 50, "action": "refuse_creates"}
    assert [each["data"] for each in events] == [reached | {"amount": euros("5.00"), "figure": euros("3.75")}]
    one, version = created.headers["location"], {"If-Match": created.headers["etag"]}
    assert ok(await api.owner.patch(one, json={"amount": euros("8")}, headers=version))["refuses_creates"] is False
    await api.make_cluster("ernie")
    problem(await api.owner.delete(one, headers=version), 412, "precondition_failed")
    assert (await api.owner.delete(one)).status_code == 204
    assert await items(api.owner, path) == []
    problem(await api.owner.get(one), 404, "not_found")


async def test_a_budget_that_is_reached_refuses_to_grow_a_cluster(api: Api, clock: Scratch) -> None:
    assert (await api.owner.post(f"{api.base}/budgets", json=BUDGET)).status_code == 201
    await use(api, clock, flavor="m2000-pod8")
    path = f"{api.base}/clusters/bert:resize"
    before = await api.snapshot()
    for options in ({}, {"wait_for_capacity": True}):
        refusal = problem(await api.owner.post(path, json={"flavor": "m2000-pod16"} | options), 409, "budget_reached")
        assert refusal["budget"]["name"] == "NLP team"
        assert "NLP team" in refusal["detail"]
    assert await api.snapshot() == before
    shrinks = await api.owner.post(path, json={"flavor": "m2000-pod4"})
    assert (shrinks.status_code, shrinks.json()["kind"]) == (202, "cluster.resize")


async def test_a_tags_budget_refuses_clusters_with_the_tag_only(api: Api, clock: Scratch) -> None:
    suspends = [{"on": "actual", "percent": 50, "action": "suspend"}]
    body = BUDGET | {"tag": {"key": "team", "value": "nlp"}, "thresholds": suspends}
    budget = (await api.owner.post(f"{api.base}/budgets", json=body)).json()
    assert (budget["scope"], budget["thresholds"]) == ("tag", [suspends[0] | {"reached_at": None}])
    await use(api, clock, "other")
    await api.world.make_active("tagged", tags={"team": "nlp"})
    stop_clock(clock.owner_url, NOW + timedelta(hours=2))
    await evaluate_budgets(api.world.database)
    refusing = cluster_json("again", tags={"team": "nlp", "more": "x"})
    problem(await api.owner.post(f"{api.base}/clusters", json=refusing), 409, "budget_reached")
    await api.make_cluster("vision", tags={"team": "vision"})


async def test_an_accounts_budget_refuses_in_every_project_it_pays_for(api: Api, clock: Scratch) -> None:
    admin = await api.caller(Role.ADMIN)
    account = f"/v1/billing/accounts/{api.world.project.id}/budgets"
    created = await admin.post(account, json=BUDGET)
    assert (created.status_code, created.json()["scope"]) == (201, "account")
    problem(await admin.post(account, json=BUDGET), 409, "name_taken")
    problem(await admin.post(f"/v1/billing/accounts/{UUID(int=5)}/budgets", json=BUDGET), 404, "not_found")
    await use(api, clock)
    problem(await api.owner.post(f"{api.base}/clusters", json=cluster_json("ernie")), 409, "budget_reached")
    assert await items(api.owner, f"{api.base}/budgets") == []
    renamed = await admin.patch(created.headers["location"], json={"name": "All", "thresholds": BUDGET["thresholds"]})
    assert [(await items(admin, account))[0]["name"], renamed.status_code] == ["All", 200]
    assert (await admin.get(created.headers["location"])).json()["name"] == "All"
    assert (await admin.delete(created.headers["location"])).status_code == 204
    await api.make_cluster("ernie")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"thresholds": [{"percent": 10}, {"percent": 10}]}, "twice"),
        ({"amount": {"amount": "5", "currency": "USD"}}, "other_currency"),
        ({"amount": {"amount": "0.001", "currency": "EUR"}}, "not_payable"),
    ],
)
async def test_what_makes_no_sense_is_refused(api: Api, changes: dict[str, object], code: str) -> None:
    before = await api.snapshot()
    assert codes_of(await api.owner.post(f"{api.base}/budgets", json=BUDGET | changes)) == [code]
    assert await api.snapshot() == before

"""Accounts that pay ahead, as callers see them."""

from __future__ import annotations

from uuid import UUID

import httpx
import pytest

from ipucloud.identity.roles import Role
from tests.api.support import Api, cluster_json, euros, key, ok, pointers_of, problem

pytestmark = pytest.mark.anyio


@pytest.mark.usefixtures("stopped_clock")
async def test_an_account_that_pays_ahead_must_have_the_first_hour(api: Api, admin: httpx.AsyncClient) -> None:
    path = f"/v1/billing/accounts/{api.world.project.id}/prepaid"
    for wrong in ({"when_empty": "delete"}, {"when_empty": "warn", "warn_hours": [0]}):
        problem(await admin.put(path, json=wrong), 422, "validation_failed")
    assert (await api.owner.get(f"{api.base}/billing/funds")).json()["when_empty"] is None
    for policy in ("suspend", "refuse_creates"):
        answer = await admin.put(path, json={"when_empty": policy})
        assert (answer.status_code, answer.json()["state"], answer.json()["when_empty"]) == (200, "empty", policy)
        refusal = problem(await api.owner.post(f"{api.base}/clusters", json=cluster_json()), 409, "funds_exhausted")
        assert refusal["funds"]["needed"] == {"amount": "3.75", "currency": "EUR"}
        assert refusal["funds"]["available"] == {"amount": "0.00", "currency": "EUR"}
    assert await api.count("clusters") == 0
    assert answer.json()["state_entered_at"] is None, "not reported yet"
    changed = (await admin.put(path, json={"when_empty": "warn", "warn_hours": [8, 48]})).json()
    assert (changed["when_empty"], changed["warn_hours"]) == ("warn", [48, 8])
    unwarned = await admin.put(path, json={"when_empty": "warn", "warn_hours": []})
    assert (unwarned.status_code, unwarned.json()["warn_hours"]) == (200, [])
    await api.make_cluster()
    assert (await api.owner.get(f"{api.base}/billing/funds")).json() == (await admin.get(path)).json()
    assert (await admin.delete(path)).status_code == 204
    problem(await admin.delete(path), 404, "not_found")
    nobody = f"/v1/billing/accounts/{UUID(int=5)}/prepaid"
    problem(await admin.get(nobody), 404, "not_found")
    problem(await admin.put(nobody, json={"when_empty": "warn"}), 404, "not_found")


@pytest.mark.usefixtures("stopped_clock")
async def test_a_cluster_grows_only_with_funds_for_the_first_hour_of_its_new_size(api: Api) -> None:
    bert = await api.world.make_active(flavor="m2000-pod8")
    admin = await api.caller(Role.ADMIN)
    path = f"/v1/billing/accounts/{api.world.project.id}/prepaid"
    assert (await admin.put(path, json={"when_empty": "refuse_creates"})).status_code == 200
    before = await api.snapshot()
    for options in ({}, {"wait_for_capacity": True}):
        grows = await api.owner.post(
            f"{api.base}/clusters/{bert}:resize", json={"flavor": "m2000-pod16"} | options, headers=key()
        )
        refusal = problem(grows, 409, "funds_exhausted")
        assert refusal["funds"]["needed"] == euros("15.00")
        assert refusal["funds"]["available"] == euros("0.00")
    assert await api.snapshot() == before
    ok(await api.owner.post(f"{api.base}/clusters/{bert}:resize", json={"flavor": "m2000-pod4"}, headers=key()), 202)


@pytest.mark.usefixtures("stopped_clock")
async def test_an_account_is_topped_up_by_its_policy(api: Api, admin: httpx.AsyncClient) -> None:
    account = f"/v1/billing/accounts/{api.world.project.id}"
    path, ten, five = f"{account}/prepaid/top-up", euros("10.00"), euros("5.00")
    order = {"amount": ten, "below": five, "month_limit": ten}
    problem(await admin.put(path, json=order), 409, "state_conflict")
    await admin.put(f"{account}/prepaid", json={"when_empty": "warn"})
    for wrong, pointer in (
        ({"below_hours": 4}, "/below"),
        ({"below": None}, "/below"),
        ({"month_limit": five}, "/month_limit/amount"),
        ({"below": five | {"currency": "USD"}}, "/below/currency"),
    ):
        assert pointers_of(await admin.put(path, json=order | wrong)) == [pointer]
    funds = (await admin.put(path, json=order)).json()
    shown = {"amount": ten, "below": five, "below_hours": None, "month_limit": ten, "this_month": euros("0.00")}
    assert funds["top_up"] == shown | {"paused_at": None, "pause_reason": None, "reference": None}
    assert (await api.owner.get(f"{api.base}/billing/funds")).json() == funds
    announced = await api.owner.post(f"{api.base}/billing/top-ups", json={"amount": ten}, headers=key())
    failing = f"{account}/payments/{announced.json()['id']}:fail"
    failed = (await admin.post(failing, json={"reason": "card expired"})).json()
    assert (failed["state"], failed["failure"], failed["automatic"]) == ("failed", "card expired", False)
    problem(await admin.post(failing, json={"reason": "another"}), 409, "state_conflict")
    unknown = f"{account}/payments/{UUID(int=5)}:fail"
    problem(await admin.post(unknown, json={"reason": "card expired"}), 404, "not_found")
    assert (await admin.delete(path)).status_code == 204
    problem(await admin.delete(path), 404, "not_found")
    assert (await api.owner.get(f"{api.base}/billing/funds")).json()["top_up"] is None


async def test_an_account_has_a_dunning_policy(api: Api, admin: httpx.AsyncClient) -> None:
    path = f"/v1/billing/accounts/{api.world.project.id}/dunning"
    none = (await admin.get(path)).json()
    assert (none["remind_after"], none["suspend_after"], none["overdue"]) == ([], None, euros("0.00"))
    assert pointers_of(await admin.put(path, json={"refuse_creates_after": 14, "suspend_after": 7})) == [
        "/suspend_after"
    ]
    problem(await admin.put(path, json={"remind_after": [0]}), 422, "validation_failed")
    policy = (await admin.put(path, json={"remind_after": [9, 2, 9], "suspend_after": 30})).json()
    shown = (policy["remind_after"], policy["refuse_creates_after"], policy["suspend_after"], policy["restriction"])
    assert shown == ([2, 9], None, 30, None)
    assert (await admin.get(path)).json() == policy
    assert (await admin.delete(path)).status_code == 204
    problem(await admin.delete(path), 404, "not_found")
    problem(await admin.put(f"/v1/billing/accounts/{UUID(int=5)}/dunning", json={}), 404, "not_found")

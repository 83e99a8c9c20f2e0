"""Accounts that pay ahead, as callers see them."""

from __future__ import annotations

from uuid import UUID

import pytest

from ipucloud.identity.roles import Role
from tests.api.support import Api, cluster_json, problem

pytestmark = pytest.mark.anyio


async def test_an_account_that_pays_ahead_must_have_the_first_hour(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    path = f"/v1/billing/accounts/{api.world.project.id}/prepaid"
    for wrong in ({"when_empty": "delete"}, {"when_empty": "warn", "warn_hours": [0]}):
        problem(await admin.put(path, json=wrong), 422, "validation_failed")
    assert (await api.owner.get(f"{api.base}/billing/funds")).json()["when_empty"] is None
    for policy in ("suspend", "refuse_creates"):
        made = await admin.put(path, json={"when_empty": policy})
        assert (made.status_code, made.json()["state"], made.json()["when_empty"]) == (200, "funded", policy)
        refusal = problem(await api.owner.post(f"{api.base}/clusters", json=cluster_json()), 409, "funds_exhausted")
        assert refusal["funds"]["needed"] == {"amount": "3.75", "currency": "EUR"}
        assert refusal["funds"]["available"] == {"amount": "0.00", "currency": "EUR"}
    assert await api.count("clusters") == 0
    changed = (await admin.put(path, json={"when_empty": "warn", "warn_hours": [8, 48]})).json()
    assert (changed["when_empty"], changed["warn_hours"]) == ("warn", [48, 8])
    await api.make_cluster()
    assert (await api.owner.get(f"{api.base}/billing/funds")).json() == (await admin.get(path)).json()
    assert (await admin.delete(path)).status_code == 204
    problem(await admin.delete(path), 404, "not_found")
    nobody = f"/v1/billing/accounts/{UUID(int=5)}/prepaid"
    problem(await admin.get(nobody), 404, "not_found")
    problem(await admin.put(nobody, json={"when_empty": "warn"}), 404, "not_found")

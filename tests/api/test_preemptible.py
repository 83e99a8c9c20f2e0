"""Preemptible clusters over the API: what a customer sees of a notice."""

from __future__ import annotations

import pytest

from ipucloud.policies.preemption import follow_preemptions
from ipucloud.policies.waiting import serve_waiting
from tests.api.support import Api, cluster_json, items, key, ok, problem
from tests.support.preemptible import offer_preemptible

pytestmark = pytest.mark.anyio


async def test_a_notice_is_seen_and_the_property_stays(api: Api) -> None:
    async with api.world.database.begin() as connection:
        await offer_preemptible(connection)
    path = f"{api.base}/clusters/{await api.world.make_active(flavor='m2000-pod64', preemptible=True)}"
    problem(await api.owner.patch(path, json={"preemptible": False}), 422, "validation_failed")
    small = cluster_json("ernie", flavor="m2000-pod16")
    answer = await api.owner.post(f"{api.base}/clusters", json=small, headers=key())
    refused = problem(answer, 409, "capacity_exhausted")
    assert refused["preemption_minutes"] == 10
    estimated = (await api.owner.post(f"{api.base}/clusters:estimate", json=small, headers=key())).json()
    assert estimated["capacity"]["preemption_minutes"] == 10
    ok(await api.owner.post(f"{api.base}/clusters", json=small | {"wait_for_capacity": True}, headers=key()), 202)
    await serve_waiting(api.world.settings, api.world.database)
    await follow_preemptions(api.world.settings, api.world.database)
    cluster = (await api.owner.get(path)).json()
    assert cluster["preemptible"]
    assert cluster["preempt_at"] is not None
    log = await items(api.owner, f"{api.base}/events", type="cluster.preemption_scheduled")
    assert [each["data"] for each in log] == [{"preempt_at": cluster["preempt_at"]}]
    listed = await items(api.owner, f"{api.base}/clusters", name="bert")
    assert [each["preempt_at"] for each in listed] == [cluster["preempt_at"]]

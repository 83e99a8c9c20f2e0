"""What operators ask a simulated site to break, over HTTP."""

from __future__ import annotations

import pytest

from ipucloud.identity.roles import Role
from tests.api.support import Api, items, pointers_of, problem

pytestmark = pytest.mark.anyio

PATH = "/v1/operator/simulated-faults"
HOST = {"kind": "host", "name": "luxembourg-2-m2000-host-000"}


async def test_a_fault_is_asked_for_listed_and_ended(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    problem(await admin.post(PATH, json=HOST), 409, "state_conflict")
    await api.world.execute("UPDATE site_regions SET simulated = true WHERE region = 'luxembourg-2'")
    assert (await admin.get("/v1/operator/regions/luxembourg-2/capacity")).json()["simulated"] is True
    answer = await admin.post(PATH, json=HOST)
    fault = answer.json()
    assert (answer.status_code, fault["state"], fault["region"]) == (202, "requested", "luxembourg-2")
    assert fault["id"] in problem(await admin.post(PATH, json=HOST), 409, "state_conflict")["detail"]
    for _ in range(2):
        ending = await admin.post(f"{PATH}/{fault['id']}:end", json={})
        assert (ending.status_code, ending.json()["state"]) == (202, "ending")
    assert [each["id"] for each in await items(admin, PATH, ended="false")] == [fault["id"]]
    assert await items(admin, PATH, ended="true") == []
    assert await items(admin, PATH, region="amsterdam-2") == []
    await api.world.execute("UPDATE simulated_faults SET state = 'ended'")
    problem(await admin.post(f"{PATH}/{fault['id']}:end", json={}), 409, "state_conflict")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"kind": "host", "name": "nowhere"}, "/name"),
        ({"kind": "flood", "name": "luxembourg-2"}, "/kind"),
        (HOST | {"link": "next"}, "/link"),
        (HOST | {"link": "usb"}, "/link"),
        ({"kind": "host"}, "/name"),
    ],
)
async def test_only_what_makes_sense_is_asked_for(api: Api, body: dict[str, str], pointer: str) -> None:
    admin = await api.caller(Role.ADMIN)
    assert pointers_of(await admin.post(PATH, json=body)) == [pointer]
    assert await api.world.value("SELECT count(*) FROM simulated_faults") == 0

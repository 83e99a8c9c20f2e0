"""Serial consoles over HTTP: which boot is shown, and to whom."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.api.support import Api, problem

pytestmark = pytest.mark.anyio

BOOTED = """
INSERT INTO console_boots (project_id, server_id, boot_id, number, started_at, ended_at, text, dropped, written,
                           observed_at)
SELECT project_id, id, 'boot-' || boot, boot, app_now(), CASE WHEN boot < 9 THEN app_now() END,
       'boot ' || boot || E'\\x1b[31m', 0, boot, app_now()
  FROM poplar_servers, generate_series(7, 9) AS boot
"""


async def read(api: Api, cluster: UUID, **query: Any) -> Any:
    server = await api.world.value("SELECT name FROM poplar_servers")
    answer = await api.owner.get(f"{api.base}/clusters/{cluster}/poplar-servers/{server}/console", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_boot_is_named_by_its_number_or_counted_from_the_newest(api: Api) -> None:
    cluster = await api.world.make_active()
    empty = await read(api, cluster)
    assert (empty["boots"], empty["boot"], empty["text"]) == ([], None, None)
    await api.world.execute(BOOTED)
    newest = await read(api, cluster)
    assert (newest["boot"], newest["text"]) == (9, "boot 9\x1b[31m")
    assert [each["number"] for each in newest["boots"]] == [7, 8, 9]
    assert [each["ended_at"] is None for each in newest["boots"]] == [False, False, True]
    assert [(await read(api, cluster, boot=boot))["boot"] for boot in (-2, -3, -4, 7, 8, 6, 0)] == [
        8,
        7,
        None,
        7,
        8,
        None,
        None,
    ]


async def test_a_console_is_its_projects_alone(api: Api) -> None:
    cluster = await api.world.make_active()
    await api.world.execute(BOOTED)
    server = await api.world.value("SELECT id FROM poplar_servers")
    path = f"clusters/{cluster}/poplar-servers/{server}/console"
    other = await api.other_project()
    stranger = api.client(other.token.secret)
    problem(await stranger.get(f"{api.base}/{path}"), 404, "not_found")
    problem(await stranger.get(f"/v1/projects/{other.id}/{path}"), 404, "not_found")
    problem(await api.owner.get(f"{api.base}/clusters/{cluster}/poplar-servers/none/console"), 404, "not_found")
    problem(await api.owner.get(f"{api.base}/{path}", params={"boot": -11}), 422, "validation_failed")
    assert (await api.owner.get(f"{api.base}/{path}")).status_code == 200

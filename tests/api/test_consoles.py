"""Serial consoles over HTTP: which boot is shown."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.api.support import Api, ok, problem

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
    return ok(await api.owner.get(f"{api.base}/clusters/{cluster}/poplar-servers/{server}/console", params=query))


async def test_a_boot_is_named_by_its_number_or_counted_from_the_newest(api: Api) -> None:
    cluster = await api.world.make_active()
    empty = await read(api, cluster)
    assert (empty["boots"], empty["boot"], empty["text"]) == ([], None, None)
    await api.world.execute(BOOTED)
    newest = await read(api, cluster)
    assert (newest["boot"], newest["text"]) == (9, "boot 9\x1b[31m")
    assert [each["number"] for each in newest["boots"]] == [7, 8, 9]
    assert [each["ended_at"] is None for each in newest["boots"]] == [False, False, True]
    for boot, number in {-2: 8, -3: 7, -4: None, 7: 7, 8: 8, 6: None, 0: None}.items():
        assert (await read(api, cluster, boot=boot))["boot"] == number
    servers = f"{api.base}/clusters/{cluster}/poplar-servers"
    problem(await api.owner.get(f"{servers}/none/console"), 404, "not_found")
    server = await api.world.value("SELECT id FROM poplar_servers")
    by_id = f"{servers}/{server}/console"
    problem(await api.owner.get(by_id, params={"boot": -11}), 422, "validation_failed")
    assert (await api.owner.get(by_id)).status_code == 200

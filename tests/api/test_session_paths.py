"""A browser's session by plain HTTP: cookies know no ports, so that its own goes to a path that no other port knows."""

from __future__ import annotations

import httpx
import pytest

from tests.api.support import Api, problem
from tests.support.api_process import api_process
from tests.support.neighbour import neighbour
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

SESSION = "/v1/session"


async def test_a_program_at_another_port_gets_no_cookie_of_a_session(api: Api, database: Scratch) -> None:
    """With a client whose cookies are a browser's: of a host, with a path, for all its ports."""
    with api_process(url=database.app_url) as server, neighbour() as other:
        browser = httpx.AsyncClient(trust_env=False)
        ours = f"http://127.0.0.1:{server.port}"
        body = {"token": api.world.project.token.secret}
        path = (await browser.post(f"{ours}{SESSION}", json=body)).raise_for_status().json()["path"]
        assert (await browser.get(f"{ours}{path}/v1/whoami")).json()["role"] == "owner"
        assert (await browser.get(f"{ours}/v1/whoami")).status_code == 401, "a browser sends its cookie there no more"
        for where in ("/", "/v1/whoami", SESSION, "/s/", "/s/AAAAAAAAAAAAAAAAAAAAAA/v1/whoami"):
            (await browser.get(f"{other.url}{where}")).raise_for_status()
        assert [cookies for _, cookies in other.cookies if "session" in cookies] == []
        assert other.cookies[1][1] == "neighbour=was-here", "cookies of the host are sent to it"
        same_origin = {"Sec-Fetch-Site": "same-origin"}
        assert (await browser.delete(f"{ours}{path}{SESSION}", headers=same_origin)).status_code == 204
        assert [each.name for each in browser.cookies.jar] == ["neighbour"], "and signing out removes it"
        await browser.aclose()


async def test_a_session_s_cookie_counts_before_any_other_of_its_name(api: Api) -> None:
    """A program at another port can set one for all paths, and a version before this one did."""
    with api_process(url=api.world.database.url) as server:
        browser = httpx.AsyncClient(trust_env=False, base_url=f"http://127.0.0.1:{server.port}")
        browser.cookies.set("ipucloud-session", "planted", domain="127.0.0.1", path="/")
        body = {"token": api.world.project.token.secret}
        path = (await browser.post(SESSION, json=body)).raise_for_status().json()["path"]
        assert (await browser.get(f"{path}/v1/whoami")).json()["role"] == "owner"
        await browser.aclose()


async def test_each_session_has_a_path_of_its_own(api: Api) -> None:
    body = {"token": api.world.project.token.secret}
    paths = {(await api.client().post(SESSION, json=body)).json()["path"] for _ in range(20)}
    assert len(paths) == 20


@pytest.mark.parametrize("path", ["/s/short/v1/whoami", "/s/" + "A" * 22, f"/s/{'A' * 22}/s/{'A' * 22}/v1/whoami"])
async def test_other_paths_are_not_of_the_api(api: Api, path: str) -> None:
    assert (await api.owner.get(path)).status_code == 404


async def test_problems_and_locations_do_not_repeat_the_path(api: Api) -> None:
    browser = api.client(**{"Sec-Fetch-Site": "same-origin"})
    await browser.post(SESSION, json={"token": api.world.project.token.secret})
    assert browser.base_url.path.startswith("/s/")
    missing = problem(await browser.get(f"{api.base}/clusters/none"), 404, "not_found")
    assert missing["instance"] == f"{api.base}/clusters/none"
    created = await browser.post(f"{api.base}/webhooks", json={"url": "https://hooks.example.com/"})
    assert created.headers["location"].startswith("/v1/projects/")

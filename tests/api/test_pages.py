"""What the service tells people who open it in a browser, and programs that ask the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from ipucloud.api.panel import Panel
from ipucloud.kernel.errors import REGISTRY
from tests.api.support import Api, problem
from tests.support.cases import all_cases

pytestmark = pytest.mark.anyio

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


async def test_a_person_finds_the_reference_and_a_program_its_path(
    shared_api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a panel, and told why."""
    (tmp_path / "why.txt").write_text("no npm registry answers.\n")
    monkeypatch.setitem(shared_api.app.state._state, "panel", Panel(tmp_path))
    visitor = shared_api.client()
    problem(await visitor.get("/clusters", headers=BROWSER), 404, "not_found")
    page = await visitor.get("/", headers=BROWSER)
    assert "no npm registry answers" in page.text
    assert page.headers["content-type"].startswith("text/html")
    links = (await visitor.get("/", headers={"Accept": "application/json"})).json()
    assert "no npm registry answers" in links["panel"]
    for path in (links["documentation"], links["openapi"], links["errors"], links["status"]):
        assert f'href="{path}"' in page.text
        assert (await visitor.get(path)).status_code == 200


async def test_the_panel_is_served_beside_the_api(
    shared_api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assets").mkdir()
    for name in ("index.html", "why.txt", "assets/app-1.js", "assets/app-1.js.br", "assets/app-1.js.gz"):
        (tmp_path / name).write_text(f"<p>{name}")
    monkeypatch.setitem(shared_api.app.state._state, "panel", Panel(tmp_path))
    visitor = shared_api.client()
    for path in ("/", "/clusters", "/clusters/create", "/sign-in"):
        page = await visitor.get(path, headers=BROWSER)
        assert (page.text, page.headers["cache-control"]) == ("<p>index.html", "no-cache")
        assert "require-trusted-types-for 'script'" in page.headers["content-security-policy"]
        assert page.headers["x-content-type-options"] == "nosniff"
        unchanged = await visitor.get(path, headers=BROWSER | {"If-None-Match": page.headers["etag"]})
        assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert (await visitor.head("/clusters", headers=BROWSER)).headers["etag"] == page.headers["etag"]
    for accepted, suffix in (("gzip, br", ".br"), ("gzip;q=1, gzip", ".gz"), ("identity", "")):
        async with visitor.stream("GET", "/assets/app-1.js", headers={"Accept-Encoding": accepted}) as script:
            raw = b"".join([chunk async for chunk in script.aiter_raw()])
        assert raw == f"<p>assets/app-1.js{suffix}".encode()
        assert "immutable" in script.headers["cache-control"]
        assert script.headers["content-type"].startswith("text/javascript")
    for path in (
        "/assets/none.js",
        "/why.txt",
        "/assets/app-1.js.br",
        "/..%2fetc/passwd.txt",
        "/v1/none",
        "/docs/none",
    ):
        problem(await visitor.get(path, headers=BROWSER), 404, "not_found")
    problem(await visitor.get("/clusters"), 404, "not_found")  # a program is not shown a page
    assert (await visitor.get("/", headers={"Accept": "application/json"})).json()["panel"] == "/"


async def test_the_type_of_a_problem_is_a_page_about_it(shared_api: Api) -> None:
    visitor = shared_api.client()
    with all_cases() as case:
        for code, kind in REGISTRY.items():
            with case(code):
                page = await visitor.get(kind.page, headers=BROWSER)
                assert f"<code>{code}</code>" in page.text
                text = await visitor.get(kind.page)
                assert text.headers["content-type"].startswith("text/markdown")
                assert f"`{code}`, status {kind.status}" in text.text
                assert text.headers["vary"] == "Accept"
                assert "**What to do:**" in text.text
    problem(await visitor.get("/errors/nonsense"), 404, "not_found")

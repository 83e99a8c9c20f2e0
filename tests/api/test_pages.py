"""What the service tells people who open it in a browser, and programs that ask the same."""

from __future__ import annotations

import pytest

from ipucloud.kernel.errors import REGISTRY
from tests.api.support import Api, problem

pytestmark = pytest.mark.anyio

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


async def test_a_person_finds_the_reference_and_a_program_its_path(shared_api: Api) -> None:
    visitor = shared_api.client()
    page = await visitor.get("/", headers=BROWSER)
    assert page.headers["content-type"].startswith("text/html")
    links = (await visitor.get("/", headers={"Accept": "application/json"})).json()
    for path in (links["documentation"], links["openapi"], links["errors"], links["status"]):
        assert f'href="{path}"' in page.text
        assert (await visitor.get(path)).status_code == 200


@pytest.mark.parametrize("code", sorted(REGISTRY))
async def test_the_type_of_a_problem_is_a_page_about_it(shared_api: Api, code: str) -> None:
    visitor = shared_api.client()
    page = await visitor.get(REGISTRY[code].page, headers=BROWSER)
    assert f"<code>{code}</code>" in page.text
    text = await visitor.get(REGISTRY[code].page)
    assert text.headers["content-type"].startswith("text/markdown")
    assert f"`{code}`, status {REGISTRY[code].status}" in text.text
    assert text.headers["vary"] == "Accept"


async def test_a_problem_leads_to_its_page(shared_api: Api) -> None:
    refusal = problem(await shared_api.owner.get(f"{shared_api.base}/clusters/none"), 404, "not_found")
    page = await shared_api.client().get(refusal["type"])
    assert "**What to do:**" in page.text
    problem(await shared_api.client().get("/errors/nonsense"), 404, "not_found")

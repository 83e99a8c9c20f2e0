"""A whole system with its panel, and a real browser that looks at it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect, sync_playwright

from tests.support.chromium import FLAGS, find_chromium
from tests.support.machine import Need, need
from tests.support.plain import NOBODY
from tests.support.processes import Up, ipucloud_processes, up
from tests.support.waiting import PATIENCE, eventually

pytest.register_assert_rewrite(
    *(f"tests.panel.{name}_tests" for name in ("address", "capacity", "money", "service", "topology", "volume"))
)
ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src" / "ipucloud" / "panel" / "static"
SCREENSHOTS = Path(os.environ.get("IPUCLOUD_SCREENSHOTS", ROOT / "dist" / "screenshots"))
"""Where pictures of pages are kept."""
FAILED = ROOT / ".tools" / "screenshots"
"""Where what a test saw last is kept when it fails."""
AXE = ROOT / ".tools" / "panel" / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE_MS = 120_000
"""How long a busy machine may take to show something."""
LOADING = re.compile("^(Loading|Wird geladen)$")
READY_MS = 180_000
"""How long a simulated cluster may take on a busy machine."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium for the tests of a module. Playwright's event loop counts as running for as long as Playwright does, and
    tests that await something cannot have one of their own meanwhile: it must end before other modules begin."""
    need(Need.BROWSER)
    chromium = find_chromium()
    assert chromium is not None
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        environment: dict[str, str | float | bool] = {**os.environ, **chromium.environment}
        browser = playwright.chromium.launch(executable_path=chromium.program, args=FLAGS, env=environment)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def system(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A running `ipucloud up` that the tests of a module share, with the module's `UP_OPTIONS`."""
    need(Need.PANEL)
    options: tuple[str, ...] = getattr(request.module, "UP_OPTIONS", ())
    folder = tmp_path_factory.mktemp("system")
    with ipucloud_processes(folder) as started, up(started, folder / "data", *options) as running:
        yield running


class Watched:
    """A page, and what went wrong on it: nothing may be said in its console, and no script may fail."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.problems: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.problems.append(str(error)))

    def _heard(self, message: ConsoleMessage) -> None:
        # A browser writes every answer that is an error to the console, also those a page asks for on purpose.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.problems.append(message.text)


_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
    return report


@pytest.fixture
def open_page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Callable[..., Page]]:
    """Opens a page of a browser profile of its own; takes what `Browser.new_context` does."""
    watched: list[Watched] = []

    def opened(base_url: str, **options: Any) -> Page:
        usual = {
            "viewport": {"width": 1440, "height": 1000},
            "reduced_motion": "reduce",
        }  # nothing is looked at half faded in
        context = browser.new_context(base_url=base_url, **{**usual, **options})
        watched.append(Watched(context.new_page()))
        return watched[-1].page

    yield opened
    for number, each in enumerate(watched):
        if request.node.stash.get(_FAILED, False):
            each.page.screenshot(path=FAILED / f"{request.node.name}-{number}.png")
        each.page.context.close()
    assert [problem for each in watched for problem in each.problems] == []


@pytest.fixture
def page(system: Up, open_page: Callable[..., Page]) -> Page:
    """A page of a new visitor."""
    return open_page(system.facts["url"])


def signed_in(
    system: Up, open_page: Callable[..., Page], path: str, profile: str | None = None, **options: Any
) -> Page:
    """A page of a browser that signed in by a link of its own, as the project's owner or by a profile of `up`."""
    token = system.facts["token"]
    if profile is not None:
        token = json.loads((system.data / "client" / "config.json").read_text())["profiles"][profile]["token"]
    return arrived(system, open_page, path, token, **options)


def operator_page(system: Up, open_page: Callable[..., Page], path: str, **options: Any) -> Page:
    """A page of a browser in which the administrator signed in."""
    return arrived(system, open_page, path, system.facts["admin_token"], **options)


def arrived(
    system: Up, open_page: Callable[..., Page], path: str, token: str, base: str | None = None, **options: Any
) -> Page:
    """A page of a browser that a link signed in for this token; `ipucloud panel` makes the same.
    `base`: where the browser reaches the service, if not at its own address."""
    address = system.facts["url"]
    api = {"Authorization": f"Bearer {token}"}
    link = httpx.post(f"{address}/v1/session/links", headers=api, timeout=PATIENCE, trust_env=False, verify=NOBODY)
    assert link.is_success, link.text
    page = open_page(base or address, **options)
    page.goto(f"/sign-in?next={path}#code={link.json()['code']}")
    page.wait_for_url(lambda url: "/sign-in" not in url)
    return page


def ask(page: Page, action: str, of: str) -> None:
    """Choose an action of a row."""
    page.get_by_role("button", name=f"Actions for {of}").click()
    page.get_by_role("menuitem", name=action, exact=True).click()


def choose(page: Page, dialog: Locator, field: str, option: str) -> None:
    """Choose one of a list, unless it is chosen already."""
    button = dialog.get_by_role("button", name=re.compile(f"^{field}"))
    if option not in button.inner_text():
        button.click()
        page.get_by_role("option", name=re.compile(option)).first.click()


def public_key() -> str:
    key = Ed25519PrivateKey.generate().public_key()
    return key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def fits(page: Page) -> None:
    """Nothing but what scrolls by itself is wider than the page.

    Playwright's own waiting evaluates its condition again in the page, whose policy forbids that.
    """
    eventually(lambda: page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page fits its width")


def screenshot(page: Page, name: str) -> None:
    """Keep what the page looks like."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    size = page.viewport_size
    if size is None:
        raise TypeError("the tests' pages have a size")
    # Made as high as its content first: while a browser does that for a picture by itself, the page may be narrow.
    content = int(page.evaluate("document.documentElement.scrollHeight"))
    page.set_viewport_size({"width": size["width"], "height": max(size["height"], content)})
    page.screenshot(path=SCREENSHOTS / f"{name}.png", animations="disabled")
    page.set_viewport_size(size)


_AXE = """
([rules, shell]) => {
  const dialogs = [...document.querySelectorAll("[role=dialog]")];
  const open = dialogs.filter((each) => each.checkVisibility() && each.clientWidth >= innerWidth);
  const around = ["#top", "nav"].filter((each) => document.querySelector(each));
  const about = open.length ? {include: open} : shell ? document : {exclude: around};
  return axe.run(about, {runOnly: rules, resultTypes: ["violations"], preload: false});
}
"""
"""Of an open dialog only the dialog is looked at, and of a page what is its own, unless the shell around it is wanted:
looking at everything takes most of the tests' time. Only violations are described, no style sheet is fetched again."""


def violations(page: Page, *rules: str, shell: bool = False) -> list[str]:
    """What axe finds against WCAG 2.2 AA and its best practices, or only against these of its rules.
    `shell`: the top bar and the navigation, which all pages have, are looked at, too."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    results = page.evaluate(_AXE, [list(rules) or tags, shell])
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in results["violations"]]


_HIDDEN_COLUMNS = """
() => innerWidth < 1440 ? [] : [...document.querySelectorAll("table")].filter((each) => each.offsetParent)
  .filter(({parentElement: box}) => box.scrollWidth > box.clientWidth + 1)
  .map((each) => `columns beside the window: ${each.querySelector("thead")?.innerText}`)
"""
"""Tables that a window of a usual screen cannot show as a whole."""


def inspect(page: Page, name: str) -> None:
    """Keep what the page looks like, in which axe finds nothing wrong."""
    screenshot(page, name)
    assert violations(page) == []


def flaws(page: Page, paths: Iterable[str], picture: str = "") -> dict[str, list[str]]:
    """What axe finds on these pages in the browser's mode and in the other one, and which are wider than the browser.
    `picture`: how the names of their pictures begin, if they are kept."""
    by_path = {path: _flaws(page, path, picture, shell=number == 0) for number, path in enumerate(paths)}
    return {path: each for path, each in by_path.items() if each}


def _flaws(page: Page, path: str, picture: str, *, shell: bool) -> list[str]:
    page.goto(path)
    expect(page.get_by_role("heading").filter(visible=True), path).not_to_have_count(0)
    expect(page.get_by_text(LOADING), path).to_have_count(0)
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    problems = [*violations(page, shell=shell), *([f"{wide} pixels too wide"] if wide > 0 else [])]
    problems += page.evaluate(_HIDDEN_COLUMNS)
    if picture:
        screenshot(page, f"{picture}{path.replace('/', '-').rstrip('-')}")
    page.evaluate("document.body.classList.toggle('awsui-dark-mode')")
    return problems + [f"in the other mode: {each}" for each in violations(page, "color-contrast", shell=shell)]

"""The control panel in a real browser: what a page loads, when it shows its data, how fast the next one is there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from playwright.sync_api import Browser, BrowserContext, Page, StorageState, sync_playwright

from bench.finding import Finding, at_most
from bench.rounds import Rates, alternate
from bench.servers import HOST, serving_product
from bench.stage import Stage
from tests.support.chromium import FLAGS, find_chromium
from tests.support.machine import Need
from tests.support.postgres import Database as Scratch
from tests.support.world import World, open_world

NEEDS = (Need.BROWSER, Need.PANEL)
AT_ONCE = 8
PAGES = (
    *("/", "/clusters", "/clusters/create", "/reservations", "/volumes", "/volumes/snapshots", "/s3-connections"),
    *("/addresses", "/catalogue", "/events", "/quotas"),
    *("/ssh-keys", "/members", "/tokens", "/webhooks", "/audit-log", "/billing"),
    *(f"/billing/{tab}" for tab in ("budgets", "invoices", "funds", "exports")),
)
TABS = ("overview", "topology", "partitions", "repairs", "schedule", "jobs", "services", "console", "usage", "activity")


@dataclass(frozen=True, slots=True)
class Size:
    """`few`, `many`: clusters in the projects of the two sides. `pages`: how many are loaded, and tabs of a cluster.

    `settled_ms`: how long nothing more may come until a page counts as loaded.
    """

    few: int = 50
    many: int = 5_000
    pages: int = len(PAGES)
    tabs: int = len(TABS)
    settled_ms: int = 1_500


SMALLEST = Size(few=1, many=2, pages=1, tabs=1, settled_ms=100)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who is signed in, and a cluster of theirs."""

    browser: Browser
    base_url: str
    session: StorageState
    cluster: str
    settled_ms: int

    @contextmanager
    def page(self) -> Iterator[Page]:
        """A page of a browser that has loaded nothing yet."""
        context: BrowserContext = self.browser.new_context(base_url=self.base_url, storage_state=self.session)
        try:
            yield context.new_page()
        finally:
            context.close()

    def loaded(self, path: str) -> float:
        """The kilobytes that come over the wire for a page: files as they are compressed, fonts, answers."""
        with self.page() as page:
            client = page.context.new_cdp_session(page)
            client.send("Network.enable")
            sizes: list[float] = []
            client.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
            page.goto(path)
            page.get_by_role("heading").first.wait_for()
            page.wait_for_timeout(self.settled_ms)
            return sum(sizes) / 1000

    def cold(self) -> float:
        """How often a second the list of clusters could be opened: from nothing to its first row."""
        with self.page() as page:
            page.goto("/clusters", wait_until="commit")
            _first_row(page)
            return 1000 / float(page.evaluate("performance.now()"))

    def navigation(self) -> float:
        """How often a second one could go to the list of clusters from another page."""
        with self.page() as page:
            page.goto("/events")
            page.get_by_role("heading", name="Events").first.wait_for()
            page.wait_for_timeout(self.settled_ms)
            before = float(page.evaluate("performance.now()"))
            page.get_by_role("link", name="Clusters", exact=True).click()
            _first_row(page)
            return 1000 / (float(page.evaluate("performance.now()")) - before)


def run(stage: Stage, size: Size) -> list[Finding]:
    with ExitStack() as stack:
        browser = stack.enter_context(_browser())
        few, many = (_visitor(stage, stack, browser, count, size.settled_ms) for count in (size.few, size.many))
        paths = [*PAGES[: size.pages], *(f"/clusters/{many.cluster}?tab={tab}" for tab in TABS[: size.tabs])]
        sizes = {path.replace(f"/{many.cluster}", ""): many.loaded(path) for path in paths}
        cold = alternate({"many": many.cold, "few": few.cold}, stage.rounds)
        navigation = alternate({"many": many.navigation, "few": few.navigation}, stage.rounds)
        return [
            Finding("the largest page, cold", max(sizes.values()), "kB", at_most(460), numbers=sizes),
            _seconds(f"cold, to the first of {size.many:,} clusters", cold, 1.0),
            _longer(f"the same, over that with {size.few} clusters", cold),
            _seconds(f"from another page, to the first of {size.many:,} clusters", navigation, 0.5),
            _longer(f"the same, over that with {size.few} clusters", navigation),
        ]


def _seconds(what: str, rates: Rates, most: float) -> Finding:
    return Finding(what, 1 / rates.median("many"), "s", at_most(most))


def _longer(what: str, rates: Rates) -> Finding:
    return Finding(what, 1 / rates.ratio("many", "few"), "", at_most(1.3), numbers=rates.numbers("many", "few"))


def _first_row(page: Page) -> None:
    page.locator("tbody tr").first.locator("a").first.wait_for()


@contextmanager
def _browser() -> Iterator[Browser]:
    chromium = find_chromium()
    assert chromium is not None
    with sync_playwright() as playwright:
        environment: dict[str, str | float | bool] = {**os.environ, **chromium.environment}
        browser = playwright.chromium.launch(executable_path=chromium.program, args=FLAGS, env=environment)
        yield browser
        browser.close()


def _visitor(stage: Stage, stack: ExitStack, browser: Browser, clusters: int, settled_ms: int) -> Visitor:
    urls = stack.enter_context(stage.database())
    token, cluster = _apart(urls, clusters)
    server = stack.enter_context(serving_product(stage.folder, urls.app_url))
    base_url = f"http://{HOST}:{server.port}"
    context = browser.new_context(base_url=base_url)
    page = context.new_page()
    page.goto("/sign-in")
    page.get_by_label("API token").fill(token)
    page.get_by_label("API token").press("Enter")
    page.get_by_role("link", name="SSH keys").wait_for()
    session = context.storage_state()
    context.close()
    return Visitor(browser, base_url, session, cluster, settled_ms)


def _apart(urls: Scratch, clusters: int) -> tuple[str, str]:
    """In a thread of its own: Playwright's event loop counts as running in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, _prepare(urls, clusters)).result()


async def _prepare(urls: Scratch, clusters: int) -> tuple[str, str]:
    """A project with clusters in use; its token, and one of them."""
    pods = clusters // 16 + 1
    async with open_world(urls.app_url, pods=pods, hosts=clusters, pool_size=AT_ONCE, sound=False) as world:
        await world.execute("UPDATE quotas SET machine_limit = :clusters", clusters=clusters)
        first = await world.make_active("cluster-0")
        waiting = iter(range(1, clusters))
        await asyncio.gather(*(_some(world, waiting) for _ in range(AT_ONCE)))
        await world.execute("ANALYZE")
        return world.project.token.secret, str(first)


async def _some(world: World, numbers: Iterator[int]) -> None:
    for number in numbers:
        await world.make_active(f"cluster-{number}")

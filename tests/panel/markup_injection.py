"""An API whose every text wants to be markup."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable
from typing import Any

from playwright.sync_api import Dialog, Page, Route, expect

_NAMES = """
name description reason detail message title label state_reason blocked_by answer reference fingerprint command
host user host_key_fingerprint image flavor rack holder period_name last_used_by product item bucket prefix sku
region number machine tag text directory poplar_server actor agent address operation
fabric notes ipu_link_bandwidth exchange_bandwidth host_interface
"""
TEXTS = frozenset(_NAMES.split())
"""Fields of the API's answers that are text to read."""
MAPS, LISTS = (
    frozenset({"tags", "environment", "objects"}),
    frozenset({"ssh_keys", "command", "environment", "details"}),
)
"""Those whose members are."""


class MarkupInjector:
    """Writes a script into every text of the API's answers. `written`: the field by the number in its script."""

    def __init__(self) -> None:
        self.written: dict[int, str] = {}
        self._numbers = itertools.count(1000)
        self._known: dict[str, int] = {}

    def __call__(self, route: Route) -> None:
        answer = route.fetch()
        if "json" not in answer.headers.get("content-type", ""):
            route.fulfill(response=answer)
            return
        where = re.sub(r"[0-9a-f-]{36}", "*", route.request.url.split("/v1/")[1].split("?")[0])
        route.fulfill(response=answer, body=json.dumps(self._injected(answer.json(), where)))

    def _injected(self, value: Any, field: str) -> Any:
        if isinstance(value, list):
            return [self._injected(each, field) for each in value]
        if not isinstance(value, dict):
            return value
        return {name: self._member(name, member, f"{field}.{name}") for name, member in value.items()}

    def _member(self, name: str, value: Any, field: str) -> Any:
        if name in MAPS and isinstance(value, dict):
            return {self._script(f"{field}.key"): self._script(f"{field}.value") for _ in value}
        if name in TEXTS and isinstance(value, str):
            return self._script(field)
        if name in LISTS and isinstance(value, list):
            return [self._script(field) for _ in value]
        return self._injected(value, field)

    def _script(self, field: str) -> str:
        number = self._known.setdefault(field, next(self._numbers))
        self.written[number] = field
        return f"\"'><img src=x onerror=alert({number})>"


def fields_shown(page: Page, paths: Iterable[str]) -> set[str]:
    """Which fields of the API's answers are to be read on these pages, each with a script in it. None may run."""
    injector = MarkupInjector()
    dialogs: list[str] = []

    def heard(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", heard)
    page.add_init_script("addEventListener('securitypolicyviolation', (e) => console.error('CSP', e.blockedURI))")
    page.route(re.compile(r"/v1/(?!.*/stream)"), injector)
    shown = set[str]()
    for path in paths:
        page.goto(path)
        page.get_by_role("main").get_by_role("heading").first.wait_for()
        expect(page.get_by_text("Loading", exact=True)).to_have_count(0)
        numbers = re.findall(r"alert\((\d+)\)", page.locator("body").inner_text())
        shown |= {injector.written[int(number)] for number in numbers}
        assert page.locator("img[src=x]").count() == 0
    assert dialogs == []
    return shown

"""The operations of the committed document, by the module of the code that serves them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

from ipucloud.api.app import create_app
from ipucloud.api.nouns import every_route
from ipucloud.api.routing import ApiRoute
from ipucloud.config import Settings
from tests.api.policy import POLICY
from tests.support.filled_in import openapi

IN_BODY = {
    "createExportSchedule": "connection",
    "createAccountExportSchedule": "connection",
    "createSnapshot": "volume",
    "attachVolume": "using",
    "attachAddress": "using",
}
"""What the body of an operation names."""


@dataclass(frozen=True)
class Documented:
    """One operation of the OpenAPI document."""

    id: str
    method: str
    path: str
    success: int
    key_required: bool

    @property
    def scoped(self) -> bool:
        return "{project}" in self.path

    @property
    def of_account(self) -> bool:
        return "{account}" in self.path

    @property
    def named(self) -> frozenset[str]:
        """What its path and its body name."""
        return frozenset(re.findall(r"{(\w+)}", self.path)) | ({IN_BODY[self.id]} if self.id in IN_BODY else set())

    @property
    def module(self) -> str:
        """The module of its route, and whether it is about a project or a billing account."""
        return _MODULES[self.id] + (" of a project" if self.scoped else " of an account" if self.of_account else "")


def documented() -> list[Documented]:
    return [
        Documented(
            operation["operationId"],
            method.upper(),
            path,
            min(int(status) for status in operation["responses"]),
            any(each.get("name") == "Idempotency-Key" and each["required"] for each in operation.get("parameters", ())),
        )
        for path, methods in openapi()["paths"].items()
        for method, operation in methods.items()
    ]


APP = create_app(Settings.model_construct())
_MODULES = {
    route.operation_id: route.endpoint.__module__ for route in every_route(APP.routes) if isinstance(route, ApiRoute)
}
OPERATIONS = {operation.id: operation for operation in documented()}
AUTHORISED = [OPERATIONS[name] for name in POLICY]


def by_module(operations: list[Documented]) -> dict[str, list[Documented]]:
    """Those of a module that name most are the first: what is made for them serves the others."""
    ordered = sorted(operations, key=lambda each: (each.module, -len(each.named)))
    return {module: list(group) for module, group in groupby(ordered, lambda each: each.module)}

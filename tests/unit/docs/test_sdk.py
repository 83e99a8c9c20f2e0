"""docs/sdk.md names every module of the SDK, and their functions have the same names for the same things."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

import pytest

import ipucloud.client
from ipucloud.client import Call

PAGE = Path(__file__).parents[3] / "docs" / "sdk.md"


def _nouns(package: ModuleType) -> dict[str, ModuleType]:
    return {name: module for name in package.__all__ if isinstance(module := getattr(package, name), ModuleType)}


NOUNS = {name: module for name, module in _nouns(ipucloud.client).items() if name != "models"}
OPERATORS = _nouns(NOUNS["operator"])
MODULES = {name: module for name, module in NOUNS.items() if name != "operator"} | {
    f"operator.{name}": module for name, module in OPERATORS.items()
}


def test_the_page_names_every_module() -> None:
    assert [name for name in (*NOUNS, *OPERATORS) if f"`{name}`" not in PAGE.read_text()] == []


@pytest.mark.parametrize("name", MODULES)
def test_a_module_has_one_verb_for_one_thing(name: str) -> None:
    functions = {
        verb: str(inspect.signature(function).return_annotation)
        for verb, function in inspect.getmembers(MODULES[name], inspect.isfunction)
        if not verb.startswith("_") and function.__module__ == MODULES[name].__name__
    }
    assert {returned.partition("[")[0] for returned in functions.values()} == {Call.__name__}
    assert functions.keys() & {"page", "items", "add", "read", "change", "remove", "revoke"} == set()
    assert functions.get("list", "Call[Page[").startswith("Call[Page[")

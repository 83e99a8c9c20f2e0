"""docs/sdk.md names every noun of the SDK, and their functions have the same names for the same things."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

import ipucloud.client
from ipucloud.client import Call
from tests.support.cases import all_cases

PAGE = Path(__file__).parents[3] / "docs" / "sdk.md"


def _nouns(package: ModuleType) -> dict[str, ModuleType | type]:
    """Modules, and classes with the functions of a noun."""
    values = {name: getattr(package, name) for name in package.__all__ if name.islower()}
    return {name: value for name, value in values.items() if isinstance(value, ModuleType | type)}


NOUNS = {name: module for name, module in _nouns(ipucloud.client).items() if name != "models"}
OPERATORS = _nouns(ipucloud.client.operator)
MODULES = {name: module for name, module in NOUNS.items() if name != "operator"} | {
    f"operator.{name}": module for name, module in OPERATORS.items()
}


def test_the_page_names_every_noun() -> None:
    assert [name for name in (*NOUNS, *OPERATORS) if f"`{name}`" not in PAGE.read_text()] == []


def test_a_noun_has_one_verb_for_one_thing() -> None:
    with all_cases() as case:
        for name, module in MODULES.items():
            functions = {
                verb: str(inspect.signature(function).return_annotation)
                for verb, function in inspect.getmembers(module, inspect.isfunction)
                if not verb.startswith("_") and function.__module__ == getattr(module, "__module__", module.__name__)
            }
            with case(name):
                assert {returned.partition("[")[0] for returned in functions.values()} == {Call.__name__}
                assert functions.keys() & {"page", "items", "add", "read", "change", "remove", "revoke"} == set()
                assert functions.get("list", "Call[Page[").startswith("Call[Page[")

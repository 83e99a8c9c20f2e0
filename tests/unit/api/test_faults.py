"""Faults of bodies and queries: where they point, and what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from ipucloud.api.app import create_app
from ipucloud.api.nouns import every_route
from ipucloud.api.problems import body_errors, query_errors
from ipucloud.api.routing import ApiRoute
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterCreate, ClusterPatch
from tests.api.bodies import BODIES
from tests.support.pointers import resolves

LONG = "x" * 100


def _models() -> Iterator[tuple[str, type[BaseModel]]]:
    """The model of every body, by operation."""
    for route in every_route(create_app(Settings.model_construct()).routes):
        if isinstance(route, ApiRoute) and route.arguments.body is not None:
            yield route.operation_id, route.arguments.body


def names(model: type[BaseModel]) -> set[str]:
    """Every member that the model or one within it has."""
    schemas = model.model_json_schema()
    members = set(schemas.get("properties", ()))
    return members.union(*(schema.get("properties", ()) for schema in schemas.get("$defs", {}).values()))


def anything(keys: set[str]) -> st.SearchStrategy[Any]:
    """JSON of any form, with members that a model may know."""
    strange = [*"~/", "a b", "", "[key]", "none", "str", "dict[constrained-str,constrained-str]", LONG]
    key = st.sampled_from(sorted(keys | set(strange)))
    leaf = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
    return st.recursive(leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(key, inner, max_size=5))


def spoiled(document: Any, junk: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The document with any of its values replaced, left out or joined by others."""
    if isinstance(document, dict):
        members = {name: junk | spoiled(value, junk) for name, value in document.items()}
        more = st.dictionaries(st.sampled_from([*"~/", "a b", "none", LONG]), junk, max_size=2)
        return st.builds(lambda known, unknown: known | unknown, st.fixed_dictionaries({}, optional=members), more)
    if isinstance(document, list):
        return st.lists(st.one_of(junk, *(spoiled(each, junk) for each in document)), max_size=4)
    return st.just(document)


@pytest.mark.sample(3)
@pytest.mark.parametrize(("operation", "model"), list(_models()))
@settings(max_examples=20)
@given(data=st.data())
def test_a_fault_points_into_what_was_sent(operation: str, model: type[BaseModel], data: st.DataObject) -> None:
    junk = anything(names(model))
    usual = BODIES[operation](1) if operation in BODIES else {}
    body = data.draw(spoiled(usual, junk) | junk)
    try:
        model.model_validate(body)
    except ValidationError as error:
        faults = body_errors(error.errors(), body)
        assert faults
        for fault in faults:
            assert resolves(fault.pointer, body), (fault, body)
            assert LONG not in fault.pointer


def test_a_pattern_is_told_in_words() -> None:
    with pytest.raises(ValidationError) as refused:
        ClusterPatch.model_validate({"name": "B", "tags": {"a b": "x", "team": "\n"}})
    sentences = [fault.detail for fault in body_errors(refused.value.errors(), {"name": "B"})]
    assert [each.split(",")[0] for each in sentences] == [
        "It must have lower-case letters",
        "It must have letters",
        "It must be one line without control characters.",
    ]


@pytest.mark.parametrize(
    ("model", "body", "faults"),
    [
        (
            ClusterPatch,
            {"tags": {"a b": 1, "ok": "\n"}, "name": "B"},
            [
                ("/name", "string_pattern_mismatch"),
                ("/tags/a b", "string_pattern_mismatch"),
                ("/tags/a b", "string_type"),
                ("/tags/ok", "string_pattern_mismatch"),
            ],
        ),
        (ClusterPatch, {"tags": None}, [("/tags", "value_error")]),
        (
            ClusterPatch,
            {"tags": {"a/b~": 7}, "~": 1},
            [("/tags/a~1b~0", "string_pattern_mismatch"), ("/tags/a~1b~0", "string_type"), ("/~0", "extra_forbidden")],
        ),
        (ClusterPatch, {LONG: 1}, [("", "extra_forbidden")]),
        (ClusterPatch, [], [("", "model_type")]),
        (
            ClusterCreate,
            {"ssh_keys": ["a", 7], "name": "b", "region": "r", "flavor": "f"},
            [("/image", "missing"), ("/ssh_keys/1", "string_type")],
        ),
    ],
)
def test_pointers_name_members_and_no_types(model: type[BaseModel], body: Any, faults: list[tuple[str, str]]) -> None:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(body)
    reported = [(fault.pointer, fault.code) for fault in body_errors(refused.value.errors(), body)]
    assert sorted(reported) == sorted(faults)


def test_a_parameter_is_named_and_its_value_is_not_repeated() -> None:
    errors: list[dict[str, Any]] = [
        {"loc": ("state", 0), "type": "enum", "msg": "Input should be 'active'"},
        {"loc": ("at",), "type": "datetime_parsing", "msg": "invalid character in year: `canary`"},
    ]
    reported = query_errors(errors)
    assert [error.pointer for error in reported] == ["?state", "?at"]
    assert "canary" not in reported[1].detail

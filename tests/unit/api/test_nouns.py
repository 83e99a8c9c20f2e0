"""Every module of routes is a noun, whose paths are those of its routes."""

from __future__ import annotations

import re
from pathlib import Path

from ipucloud.api import v1
from ipucloud.api.app import create_app
from ipucloud.api.nouns import Noun, every_route
from ipucloud.api.v1.all import NOUNS
from ipucloud.config import Settings
from ipucloud.parts import PARTS

APART = {"ipucloud.api.v1.terminals"}
"""Of WebSockets."""


def test_every_module_of_routes_is_a_noun() -> None:
    folder = Path(v1.__path__[0])
    modules = {
        ".".join(("ipucloud.api.v1", *file.relative_to(folder).with_suffix("").parts))
        for file in folder.rglob("*.py")
        if re.search(r"^routes = ", file.read_text(), re.MULTILINE)
    }
    assert [noun.module for noun in NOUNS] == list(dict.fromkeys(noun.module for noun in NOUNS))
    modules |= {part.module(noun) for part in PARTS for noun in part.nouns}
    assert {noun.module for noun in NOUNS} == modules - APART


def test_a_noun_covers_its_routes_and_no_path_in_vain() -> None:
    for noun in NOUNS:
        paths = [re.sub(r"\{[^}]+\}", "x", route.path_format) for route in noun.routes()]
        assert [path for path in paths if not noun.covers(path)] == []
        for path in noun.paths:
            assert [each for each in paths if Noun("", path).covers(each)], path


def test_only_nouns_that_a_path_may_belong_to_are_asked() -> None:
    routes = create_app(Settings.model_construct()).routes
    at = {getattr(route, "path", "") for route in every_route(routes, "/v1/recipes/bert:try")}
    assert {"/v1/recipes", "/v1/recipes/{recipe}"} <= at
    assert not {path for path in at if path.startswith("/v1") and "recipes" not in path and "terminal" not in path}

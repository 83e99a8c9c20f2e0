"""The SDK's models are those of docs/openapi.json."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from ipucloud.client import models
from tests.support.filled_in import component
from tests.support.own_process import own_process

PROJECT = Path(__file__).parents[3]
MODELS = PROJECT / "src" / "ipucloud" / "client" / "models" / "generated"
GENERATOR = runpy.run_path(str(PROJECT / "docs" / "generate_models.py"))


def generated() -> dict[str, str]:
    modules: dict[str, str] = GENERATOR["modules"]()
    return modules


def test_the_committed_models_are_the_generated_ones() -> None:
    committed = {path.name: path.read_text() for path in MODELS.glob("*.py")}
    with own_process() as call:
        assert committed == call(generated), "run: ./dev openapi"


@pytest.mark.parametrize(("short", "whole"), GENERATOR["SHORT_FORMS"].items())
def test_a_short_form_is_read_as_the_whole(short: str, whole: str) -> None:
    model: type[models.Answer] = getattr(models, GENERATOR["_model"](whole))
    answer = component(short, {})
    assert isinstance(answer, dict)
    assert model.model_validate(answer).model_dump(mode="json").items() >= answer.items()

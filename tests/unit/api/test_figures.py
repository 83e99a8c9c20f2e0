"""Each figure that operators read names its source and the time as of which it holds."""

from __future__ import annotations

import importlib
import pkgutil
import typing

from pydantic.fields import FieldInfo

import ipucloud.contract
from ipucloud.contract.fields import Answer

PLACES = {"slot", "slots", "position", "within_seconds"}
"""Numbers that say which, not how many."""
AROUND = {
    "ExpiriesOut": "RegionCapacityOut",
    "TypeCapacityOut": "RegionCapacityOut",
    "ClusterMoveOut": "DefragmentationOut",
}
"""The answers that have the time of those inside of them."""


def operators_answers() -> dict[str, type[Answer]]:
    modules = [
        each.name for each in pkgutil.iter_modules(ipucloud.contract.__path__) if each.name.startswith("operator_")
    ]
    values = [each for name in modules for each in vars(importlib.import_module(f"ipucloud.contract.{name}")).values()]
    return {
        each.__name__: each
        for each in values
        if isinstance(each, type) and issubclass(each, Answer) and "operator_" in each.__module__
    }


def counts(field: FieldInfo) -> bool:
    annotation = field.annotation
    parts = {annotation, *typing.get_args(annotation)}
    return bool(parts & {int, float}) and typing.get_origin(annotation) is not list


def test_each_figure_names_its_source_and_time() -> None:
    answers, figures = operators_answers(), 0
    for name, answer in answers.items():
        around = answers[AROUND.get(name, name)]
        for key, field in answer.model_fields.items():
            if not counts(field) or key in PLACES or key not in vars(answer)["__annotations__"]:
                continue
            figures += 1
            extra = field.json_schema_extra
            assert isinstance(extra, dict), f"{name}.{key} does not say where it comes from: use `figure`"
            assert extra["x-source"] in {"observed", "recorded", "computed"}
            assert extra["x-time"] is None or extra["x-time"] in {*answer.model_fields, *around.model_fields}, (
                name,
                key,
            )
    assert figures > 20

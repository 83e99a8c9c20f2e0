"""Names of the OpenAPI document's components, from which clients are generated.

In the code, the model of an object has the suffix `Out`; in the document the object has the plain name.
"""

from __future__ import annotations

from typing import Any

_SECTIONS = ("schemas", "examples")
_NAMES = {
    "BudgetTag": "BudgetTagCreate",
    "BudgetThreshold": "BudgetThresholdCreate",
    "ClusterItemOut": "ClusterSummary",
    "ClusterScheduleOut": "ClusterScheduleState",
    "NewKeyOut": "NewVipuKey",
    "PartitionDetailOut": "PartitionDetails",
    "PartitionItemOut": "PartitionSummary",
    "StatusOut": "Readiness",
    "SumsOut": "ReportSums",
    "TryOut": "DeliveryAttempt",
}


def public(model: str) -> str:
    """The component's name for the name of its model."""
    return _NAMES.get(model, model.removesuffix("Out"))


def rename(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the public names. Raises ValueError when two components would have one name."""
    components = document["components"]
    names = {
        f"#/components/{section}/{model}": f"#/components/{section}/{public(model)}"
        for section in _SECTIONS
        for model in components[section]
    }
    if len(set(names.values())) < len(names):
        raise ValueError("two components would have one name: name one of them in _NAMES")
    for section in _SECTIONS:
        components[section] = {public(model): value for model, value in components[section].items()}
    for schema in components["schemas"].values():
        schema.pop("title", None)  # the name of its model
    renamed: dict[str, Any] = _replaced(document, names)
    return renamed


def _replaced(node: Any, names: dict[str, str]) -> Any:
    if isinstance(node, dict):
        return {key: _replaced(value, names) for key, value in node.items()}
    if isinstance(node, list):
        return [_replaced(value, names) for value in node]
    return names.get(node, node) if isinstance(node, str) else node

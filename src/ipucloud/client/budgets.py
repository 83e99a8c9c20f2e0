"""Calls for budgets of the project and of its tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, given, nothing, segment
from ipucloud.client.models import Budget, Money, Page


def list() -> Call[Page[Budget]]:
    """The project's budgets, oldest first."""
    return request.get("budgets", Page[Budget])


def get(budget: Ref) -> Call[Budget]:
    """One budget, by name or id."""
    return request.get(f"budgets/{segment(budget)}", Budget)


def create(
    name: str, amount: Money, thresholds: Sequence[Mapping[str, object]], *, tag: tuple[str, str] | None = None
) -> Call[Budget]:
    """Create a monthly budget. Thresholds as in the API: `{"on": "actual", "percent": 80}`."""
    body = given(
        name=name,
        amount=amount.model_dump(mode="json"),
        thresholds=[*thresholds],
        tag=None if tag is None else {"key": tag[0], "value": tag[1]},
    )
    return request.post("budgets", Budget, body)


def update(
    budget: Ref,
    *,
    name: str | None = None,
    amount: Money | None = None,
    thresholds: Sequence[Mapping[str, object]] | None = None,
    if_match: str | None = None,
) -> Call[Budget]:
    """Change the given fields; `thresholds` replaces all thresholds."""
    body = given(
        name=name,
        amount=None if amount is None else amount.model_dump(mode="json"),
        thresholds=None if thresholds is None else [*thresholds],
    )
    return request.patch(f"budgets/{segment(budget)}", Budget, body, if_match=if_match)


def delete(budget: Ref, *, if_match: str | None = None) -> Call[None]:
    return request.delete(f"budgets/{segment(budget)}", nothing, if_match=if_match)

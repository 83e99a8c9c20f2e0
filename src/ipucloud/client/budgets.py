"""Calls for budgets: of the project and of its tags, or of a billing account, which needs a platform token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, nothing, segment, without_none
from ipucloud.client.models import Budget, Money, Page


def list(
    *, name: str | None = None, q: str | None = None, order: str | None = None, account: Ref | None = None
) -> Call[Page[Budget]]:
    """The budgets of the project or of the account, oldest first; `q`: those with this in their name."""
    query = {"name": name, "q": q, "order": order}
    return request.get(_path(account), Page[Budget], query, scoped=account is None)


def get(budget: Ref, *, account: Ref | None = None) -> Call[Budget]:
    """One budget, by name or id."""
    return request.get(_path(account, budget), Budget, scoped=account is None)


def create(
    name: str,
    amount: Money,
    thresholds: Sequence[Mapping[str, object]],
    *,
    tag: tuple[str, str] | None = None,
    account: Ref | None = None,
) -> Call[Budget]:
    """Create a monthly budget. Thresholds as in the API: `{"on": "actual", "percent": 80}`.

    `tag`: only for the project's clusters with it; an account's budget has none.
    """
    body = without_none(
        name=name,
        amount=amount.model_dump(mode="json"),
        thresholds=[*thresholds],
        tag=None if tag is None else {"key": tag[0], "value": tag[1]},
    )
    return request.post(_path(account), Budget, body, scoped=account is None)


def update(
    budget: Ref,
    *,
    name: str | None = None,
    amount: Money | None = None,
    thresholds: Sequence[Mapping[str, object]] | None = None,
    account: Ref | None = None,
    if_match: str | None = None,
) -> Call[Budget]:
    """Change the given fields; `thresholds` replaces all thresholds."""
    body = without_none(
        name=name,
        amount=None if amount is None else amount.model_dump(mode="json"),
        thresholds=None if thresholds is None else [*thresholds],
    )
    return request.patch(_path(account, budget), Budget, body, scoped=account is None, if_match=if_match)


def delete(budget: Ref, *, account: Ref | None = None, if_match: str | None = None) -> Call[None]:
    return request.delete(_path(account, budget), nothing, scoped=account is None, if_match=if_match)


def _path(account: Ref | None, *budget: Ref) -> str:
    owner = [] if account is None else ["billing", "accounts", segment(account)]
    return "/".join([*owner, "budgets", *map(segment, budget)])

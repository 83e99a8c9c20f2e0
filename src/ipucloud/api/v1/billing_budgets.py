"""Budgets of a project, of a tag in a project, and of a billing account."""

from __future__ import annotations

from functools import partial
from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import changed_since, expected_version, tag, tagged
from ipucloud.api.idempotency import Answer
from ipucloud.api.owners import Owner, OwnerRouter, Twin, actor_of, lock, path_of
from ipucloud.api.paging import only_page
from ipucloud.api.problems import invalid
from ipucloud.api.routing import operation
from ipucloud.api.shapes import IF_MATCH, IF_NONE_MATCH, NAMED
from ipucloud.api.v1.money import currency_of, payer_of
from ipucloud.billing.accounts.store import refuse_other_currency
from ipucloud.billing.budgets import store
from ipucloud.billing.budgets.store import NewBudget, Threshold
from ipucloud.contract.budgets import (
    AccountBudgetCreate,
    BudgetCreate,
    BudgetList,
    BudgetOut,
    BudgetPage,
    BudgetPatch,
    BudgetThreshold,
)
from ipucloud.identity.members import Home
from ipucloud.identity.roles import Permission
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import NAME_TAKEN, PRECONDITION_FAILED, STATE_CONFLICT, FieldError
from ipucloud.kernel.money import Money

owned = OwnerRouter()
routes = owned.routes

BudgetId = Annotated[UUID, Field(description="Name or id of the budget.", examples=["NLP team"]), NAMED]
_BY_OPERATORS = partial(Twin, permission=Permission.PLATFORM_WRITE)


@owned.get(
    "/budgets",
    Twin("listAccountBudgets", "List an account's budgets"),
    **operation("listBudgets", "List budgets", Permission.USAGE_READ, gives=BudgetPage),
)
async def list_budgets(owner: Owner, query: BudgetList) -> Response:
    """List the budgets that match every filter, a project's with those of its tags; at most 100."""
    async with owner.reading() as (connection, home):
        return only_page(await store.list_budgets(connection, _stored(home), query))


@owned.post(
    "/budgets",
    _BY_OPERATORS("createAccountBudget", "Create an account's budget", AccountBudgetCreate),
    **operation(
        "createBudget",
        "Create a budget",
        Permission.BUDGET_WRITE,
        gives=BudgetOut,
        status=201,
        description="Created",
        errors=(NAME_TAKEN, STATE_CONFLICT),
    ),
)
async def create_budget(owner: Owner, body: BudgetCreate) -> Response:
    """Create a monthly budget for a project, for its clusters with a tag, or for everything that an account pays for.

    It is evaluated every minute. Events of an account's budget go to each of these projects.
    """
    new = _checked(body)

    async def effect(connection: AsyncConnection, home: Home) -> Answer:
        await lock(connection, home)
        await _refuse_other(owner.request, connection, home, body.amount)
        budget_id = await store.create(connection, _stored(home), new, _actor(owner.request, home))
        document, version = await store.budget_document(connection, _stored(home), budget_id)
        headers = {"Location": f"{path_of(home)}/budgets/{budget_id}", "ETag": tag(version, document)}
        return Answer(201, document, headers, budget_id)

    return await owner.change(effect)


@owned.get(
    "/budgets/{budget:ref}",
    Twin("getAccountBudget", "Read an account's budget"),
    **operation("getBudget", "Read a budget", Permission.USAGE_READ, gives=BudgetOut, headers=(IF_NONE_MATCH,)),
)
async def get_budget(owner: Owner, budget: BudgetId) -> Response:
    """Return a budget."""
    async with owner.reading() as (connection, home):
        document, version = await store.budget_document(connection, _stored(home), budget)
    return tagged(owner.request, document, version)


@owned.patch(
    "/budgets/{budget:ref}",
    _BY_OPERATORS("updateAccountBudget", "Change an account's budget"),
    **operation(
        "updateBudget",
        "Change a budget",
        Permission.BUDGET_WRITE,
        gives=BudgetOut,
        errors=(NAME_TAKEN, PRECONDITION_FAILED),
        headers=(IF_MATCH,),
    ),
)
async def update_budget(owner: Owner, budget: BudgetId, body: BudgetPatch) -> Response:
    """Change name, amount or thresholds. A threshold reported this month is not reported again."""
    _check(body.thresholds or [])
    thresholds = None if body.thresholds is None else _thresholds(body.thresholds)

    async def effect(connection: AsyncConnection, home: Home) -> Answer:
        await _refuse_other(owner.request, connection, home, body.amount)
        await _lock_budget(owner.request, connection, home, budget)
        await store.update(
            connection,
            _stored(home),
            budget,
            name=body.name,
            amount=body.amount,
            thresholds=thresholds,
            actor=_actor(owner.request, home),
        )
        document, version = await store.budget_document(connection, _stored(home), budget)
        return Answer(200, document, {"ETag": tag(version, document)}, budget)

    return await owner.change(effect)


@owned.delete(
    "/budgets/{budget:ref}",
    _BY_OPERATORS("deleteAccountBudget", "Delete an account's budget"),
    **operation(
        "deleteBudget",
        "Delete a budget",
        Permission.BUDGET_WRITE,
        status=204,
        description="Deleted",
        errors=(PRECONDITION_FAILED,),
        headers=(IF_MATCH,),
    ),
)
async def delete_budget(owner: Owner, budget: BudgetId) -> Response:
    """Delete a budget. Requests that it refused are allowed again immediately."""

    async def effect(connection: AsyncConnection, home: Home) -> Answer:
        await _lock_budget(owner.request, connection, home, budget)
        await store.end(connection, budget, _actor(owner.request, home))
        return Answer(204)

    return await owner.change(effect)


def _stored(home: Home) -> store.Owner:
    return store.Owner("account" if home.project_id is None else "project", home.id)


def _actor(request: Request, home: Home) -> Actor | None:
    """Who changes it, for its event; an account's budget has none of these."""
    actor = actor_of(request, home)
    return actor if isinstance(actor, Actor) else None


async def _lock_budget(request: Request, connection: AsyncConnection, home: Home, budget: UUID) -> None:
    """Raises `Problem` not_found, precondition_failed."""
    expected = expected_version(request)
    if expected not in {None, await store.lock(connection, _stored(home), budget)}:
        document, version = await store.budget_document(connection, _stored(home), budget)
        raise changed_since(version, document)


async def _refuse_other(request: Request, connection: AsyncConnection, home: Home, amount: Money | None) -> None:
    """Raise `Problem` validation_failed for another currency; a patch may leave the amount as it is."""
    if home.project_id is None:
        currency = await currency_of(request, connection, home.id)
    else:
        currency = (await payer_of(request, connection, home.id)).currency
    if amount is not None:
        refuse_other_currency(amount.currency, currency)


def _checked(body: BudgetCreate) -> NewBudget:
    """Raises `Problem` validation_failed."""
    _check(body.thresholds)
    of = (body.tag.key, body.tag.value) if isinstance(body, BudgetCreate) and body.tag is not None else None
    return NewBudget(body.name, body.amount, of, _thresholds(body.thresholds))


def _thresholds(thresholds: list[BudgetThreshold]) -> list[Threshold]:
    return [Threshold(each.on, each.percent, each.action) for each in thresholds]


def _check(thresholds: list[BudgetThreshold]) -> None:
    faults, pairs = [], set()
    for place, threshold in enumerate(thresholds):
        if (threshold.on, threshold.percent) in pairs:
            faults.append(FieldError(f"/thresholds/{place}/percent", "twice", "List each threshold only once."))
        pairs.add((threshold.on, threshold.percent))
    if faults:
        raise invalid(faults)

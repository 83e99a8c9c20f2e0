"""Budgets of a project, of a tag in a project, and of a billing account."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import changed_since, expected_version, tag, tagged
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import only_page
from ipucloud.api.problems import invalid
from ipucloud.api.reads import reading, reading_account
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import IF_MATCH, IF_NONE_MATCH, NAMED, AccountId, ProjectRef
from ipucloud.api.v1.money import currency_of, payer_of
from ipucloud.api.writes import actor, change, change_platform
from ipucloud.billing.accounts.store import refuse_other_currency
from ipucloud.billing.budgets import store
from ipucloud.billing.budgets.store import NewBudget, Owner, Threshold
from ipucloud.billing.invoices.payer import lock_payer
from ipucloud.contract.budgets import (
    AccountBudgetCreate,
    BudgetCreate,
    BudgetList,
    BudgetOut,
    BudgetPage,
    BudgetPatch,
    BudgetThreshold,
)
from ipucloud.db.statements import Statements
from ipucloud.identity import projects
from ipucloud.identity.access import Principal, Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import NAME_TAKEN, PRECONDITION_FAILED, STATE_CONFLICT, FieldError
from ipucloud.kernel.money import Money

routes = router()

BudgetId = Annotated[UUID, Field(description="Name or id of the budget.", examples=["NLP team"]), NAMED]


@routes.get(
    "/v1/projects/{project}/budgets",
    **operation("listBudgets", "List budgets", Permission.USAGE_READ, gives=BudgetPage),
)
async def list_budgets(request: Request, project: ProjectRef, query: BudgetList) -> Response:
    """List the project's budgets that match every filter, including those of tags; at most 100."""
    async with reading(request, project) as (connection, scope):
        return only_page(await store.list_budgets(connection, Owner("project", scope.project_id), query))


@routes.post(
    "/v1/projects/{project}/budgets",
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
async def create_budget(request: Request, project: ProjectRef, body: BudgetCreate) -> Response:
    """Create a monthly budget for the project or for its clusters with a tag. It is evaluated every minute."""
    new = _checked(body, None if body.tag is None else (body.tag.key, body.tag.value))

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await projects.lock(connection, scope.project_id)
        _refuse_other(body.amount, (await payer_of(request, connection, scope.project_id)).currency)
        owner = Owner("project", scope.project_id)
        return await _created(connection, owner, new, actor(request, scope), f"/v1/projects/{scope.project_id}/budgets")

    return await change(request, project, effect)


@routes.get(
    "/v1/projects/{project}/budgets/{budget:ref}",
    **operation("getBudget", "Read a budget", Permission.USAGE_READ, gives=BudgetOut, headers=(IF_NONE_MATCH,)),
)
async def get_budget(request: Request, project: ProjectRef, budget: BudgetId) -> Response:
    """Return a budget."""
    async with reading(request, project) as (connection, scope):
        return await _shown(request, connection, Owner("project", scope.project_id), budget)


@routes.patch(
    "/v1/projects/{project}/budgets/{budget:ref}",
    **operation(
        "updateBudget",
        "Change a budget",
        Permission.BUDGET_WRITE,
        gives=BudgetOut,
        errors=(NAME_TAKEN, PRECONDITION_FAILED),
        headers=(IF_MATCH,),
    ),
)
async def update_budget(request: Request, project: ProjectRef, budget: BudgetId, body: BudgetPatch) -> Response:
    """Change name, amount or thresholds. A threshold reported this month is not reported again."""
    _check(body.thresholds or [])

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        owner = Owner("project", scope.project_id)
        _refuse_other(body.amount, (await payer_of(request, connection, scope.project_id)).currency)
        return await _updated(request, connection, owner, budget, body, by=actor(request, scope))

    return await change(request, project, effect)


@routes.delete(
    "/v1/projects/{project}/budgets/{budget:ref}",
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
async def delete_budget(request: Request, project: ProjectRef, budget: BudgetId) -> Response:
    """Delete a budget. Requests that it refused are allowed again immediately."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        return await _deleted(request, connection, Owner("project", scope.project_id), budget, actor(request, scope))

    return await change(request, project, effect)


@routes.get(
    "/v1/billing/accounts/{account:ref}/budgets",
    **operation("listAccountBudgets", "List an account's budgets", Permission.ACCOUNT_READ, gives=BudgetPage),
)
async def list_account_budgets(request: Request, account: AccountId, query: BudgetList) -> Response:
    """List the account's budgets that match every filter. They cover everything it pays for."""
    async with reading_account(request, account) as connection:
        return only_page(await store.list_budgets(connection, Owner("account", account), query))


@routes.post(
    "/v1/billing/accounts/{account:ref}/budgets",
    **operation(
        "createAccountBudget",
        "Create an account's budget",
        Permission.PLATFORM_WRITE,
        gives=BudgetOut,
        status=201,
        description="Created",
        errors=(NAME_TAKEN, STATE_CONFLICT),
    ),
)
async def create_account_budget(request: Request, account: AccountId, body: AccountBudgetCreate) -> Response:
    """Create a monthly budget for everything the account pays for. Its events go to each of these projects."""
    new = _checked(body, None)

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        await lock_payer(connection, account)
        _refuse_other(body.amount, await currency_of(request, connection, account))
        return await _created(
            connection, Owner("account", account), new, None, f"/v1/billing/accounts/{account}/budgets"
        )

    return await change_platform(request, effect)


@routes.get(
    "/v1/billing/accounts/{account:ref}/budgets/{budget:ref}",
    **operation(
        "getAccountBudget",
        "Read an account's budget",
        Permission.ACCOUNT_READ,
        gives=BudgetOut,
        headers=(IF_NONE_MATCH,),
    ),
)
async def get_account_budget(request: Request, account: AccountId, budget: BudgetId) -> Response:
    """Return a budget."""
    async with reading_account(request, account) as connection:
        return await _shown(request, connection, Owner("account", account), budget)


@routes.patch(
    "/v1/billing/accounts/{account:ref}/budgets/{budget:ref}",
    **operation(
        "updateAccountBudget",
        "Change an account's budget",
        Permission.PLATFORM_WRITE,
        gives=BudgetOut,
        errors=(NAME_TAKEN, PRECONDITION_FAILED),
        headers=(IF_MATCH,),
    ),
)
async def update_account_budget(request: Request, account: AccountId, budget: BudgetId, body: BudgetPatch) -> Response:
    """Change name, amount or thresholds."""
    _check(body.thresholds or [])

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        _refuse_other(body.amount, await currency_of(request, connection, account))
        return await _updated(request, connection, Owner("account", account), budget, body, by=None)

    return await change_platform(request, effect)


@routes.delete(
    "/v1/billing/accounts/{account:ref}/budgets/{budget:ref}",
    **operation(
        "deleteAccountBudget",
        "Delete an account's budget",
        Permission.PLATFORM_WRITE,
        status=204,
        description="Deleted",
        errors=(PRECONDITION_FAILED,),
        headers=(IF_MATCH,),
    ),
)
async def delete_account_budget(request: Request, account: AccountId, budget: BudgetId) -> Response:
    """Delete a budget. Requests that it refused are allowed again immediately."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        return await _deleted(request, connection, Owner("account", account), budget, None)

    return await change_platform(request, effect)


async def _shown(request: Request, connection: Statements, owner: Owner, budget: UUID) -> Response:
    document, version = await store.budget_document(connection, owner, budget)
    return tagged(request, document, version)


async def _created(connection: AsyncConnection, owner: Owner, new: NewBudget, by: Actor | None, path: str) -> Answer:
    budget_id = await store.create(connection, owner, new, by)
    document, version = await store.budget_document(connection, owner, budget_id)
    return Answer(201, document, {"Location": f"{path}/{budget_id}", "ETag": tag(version, document)}, budget_id)


async def _updated(
    request: Request, connection: AsyncConnection, owner: Owner, budget: UUID, body: BudgetPatch, *, by: Actor | None
) -> Answer:
    await _locked(request, connection, owner, budget)
    thresholds = None if body.thresholds is None else _thresholds(body.thresholds)
    await store.update(connection, owner, budget, name=body.name, amount=body.amount, thresholds=thresholds, actor=by)
    document, version = await store.budget_document(connection, owner, budget)
    return Answer(200, document, {"ETag": tag(version, document)}, budget)


async def _deleted(
    request: Request, connection: AsyncConnection, owner: Owner, budget: UUID, by: Actor | None
) -> Answer:
    await _locked(request, connection, owner, budget)
    await store.end(connection, budget, by)
    return Answer(204)


async def _locked(request: Request, connection: AsyncConnection, owner: Owner, budget: UUID) -> None:
    """Raises `Problem` not_found, precondition_failed."""
    expected = expected_version(request)
    if expected not in {None, await store.lock(connection, owner, budget)}:
        document, version = await store.budget_document(connection, owner, budget)
        raise changed_since(version, document)


def _checked(body: AccountBudgetCreate, of: tuple[str, str] | None) -> NewBudget:
    """Raises `Problem` validation_failed."""
    _check(body.thresholds)
    return NewBudget(body.name, body.amount, of, _thresholds(body.thresholds))


def _thresholds(thresholds: list[BudgetThreshold]) -> list[Threshold]:
    return [Threshold(each.on, each.percent, each.action) for each in thresholds]


def _refuse_other(amount: Money | None, currency: str) -> None:
    """A patch may leave the amount as it is. Raises `Problem` validation_failed."""
    if amount is not None:
        refuse_other_currency(amount.currency, currency)


def _check(thresholds: list[BudgetThreshold]) -> None:
    faults, pairs = [], set()
    for place, threshold in enumerate(thresholds):
        if (threshold.on, threshold.percent) in pairs:
            faults.append(FieldError(f"/thresholds/{place}/percent", "twice", "List each threshold only once."))
        pairs.add((threshold.on, threshold.percent))
    if faults:
        raise invalid(faults)

"""Budgets in the database: create, read, change, delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.budgets.suspending import REFUSES
from ipucloud.billing.reports.summary import MAX_CLUSTERS
from ipucloud.contract.budgets import BudgetList, BudgetOut
from ipucloud.contract.event_types.money import BUDGET_CREATED, BUDGET_DELETED, BUDGET_UPDATED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.lists import NamedOrder
from ipucloud.contract.reports import SpendingOut, TagSpendingOut
from ipucloud.db.documents import OF_NAME, Document, clauses, filters_of, money, rfc3339, sorting
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.events.log import record
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import NAME_TAKEN, STATE_CONFLICT, Problem, not_found
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money

LIMIT = 100
"""Budgets of one project or account."""

_DOCUMENTS = clauses(
    "SELECT json_build_object(",
    """
      'id', b.id, 'name', b.name,
      'scope', CASE WHEN b.account_id IS NOT NULL THEN 'account' WHEN b.tag_key IS NOT NULL THEN 'tag'
                    ELSE 'project' END,
      'tag', CASE WHEN b.tag_key IS NOT NULL THEN json_build_object('key', b.tag_key, 'value', b.tag_value) END,
      'thresholds', (SELECT json_agg(json_build_object(
                              'on', t.measure, 'percent', t.percent, 'action', t.action,
    """,
    f"'reached_at', {rfc3339('a.fired_at')}) ORDER BY t.measure, t.percent)",
    """
                       FROM budget_thresholds t
                       LEFT JOIN budget_alerts a
                              ON (a.budget_id, a.measure, a.percent) = (t.budget_id, t.measure, t.percent)
                             AND a.month = coalesce(CAST(:month AS date),
                                                    date_trunc('month', app_now() AT TIME ZONE 'UTC')::date)
                      WHERE t.budget_id = b.id),
      'month', to_char(b.month, 'YYYY-MM'),
    """,
    f"'amount', {money('b.amount', 'b.currency')}, 'actual', {money('b.actual', 'b.currency')},",
    f"'forecast', {money('b.forecast', 'b.currency')}, 'evaluated_at', {rfc3339('b.evaluated_at')},",
    f"'refuses_creates', {REFUSES}, 'created_at', {rfc3339('b.created_at')}, 'version', b.version)::text",
    "AS document, b.version",
    "FROM budgets b WHERE b.deleted_at IS NULL",
)
_CREATE = sa.text(
    """
    INSERT INTO budgets (id, project_id, account_id, tag_key, tag_value, name, amount, currency)
    VALUES (:id, :project_id, :account_id, :tag_key, :tag_value, :name, :amount, :currency)
    ON CONFLICT (project_id, account_id, name) WHERE deleted_at IS NULL DO NOTHING
    """
)
_UPDATE = sa.text(
    """
    UPDATE budgets SET name = coalesce(:name, name), amount = coalesce(CAST(:amount AS numeric), amount),
                       version = version + 1
     WHERE id = :id
    """
).bindparams(sa.bindparam("name", type_=sa.Text))
_END = sa.text("UPDATE budgets SET deleted_at = app_now(), version = version + 1 WHERE id = :id")
_FORGET_THRESHOLDS = sa.text("DELETE FROM budget_thresholds WHERE budget_id = :id")
_THRESHOLD = sa.text(
    "INSERT INTO budget_thresholds (budget_id, measure, percent, action) VALUES (:id, :measure, :percent, :action)"
).bindparams(sa.bindparam("action", type_=sa.Text))


@dataclass(frozen=True, slots=True)
class _Statements:
    """For budgets of one kind of owner: a project's own account has the project's id."""

    list: Mapping[NamedOrder, Query[Document]]
    read: Query[Document]
    count: Query[int]
    lock: Query[int]
    name_exists: Query[bool]


def _statements(column: str) -> _Statements:
    of_owner = f"b.{column} = :owner AND b.deleted_at IS NULL"
    return _Statements(
        list={
            order: Query(clauses(_DOCUMENTS, "AND", of_owner, OF_NAME, "ORDER BY", sorting(order)), Document)
            for order in NamedOrder
        },
        read=Query(clauses(_DOCUMENTS, "AND", of_owner, "AND b.id = :id"), Document),
        count=Query(f"SELECT count(*) FROM budgets b WHERE {of_owner}", int),  # noqa: S608  # our own text
        lock=Query(f"SELECT version FROM budgets b WHERE {of_owner} AND b.id = :id FOR NO KEY UPDATE", int),  # noqa: S608
        name_exists=Query(
            f"SELECT EXISTS (SELECT FROM budgets b WHERE {of_owner} AND b.name = :name AND b.id <> :id)",  # noqa: S608
            bool,
        ),
    )


_OF = {"project": _statements("project_id"), "account": _statements("account_id")}


@dataclass(frozen=True, slots=True)
class Owner:
    """Owner of budgets: a project, including its tags, or an account."""

    kind: Literal["project", "account"]
    id: UUID


@dataclass(frozen=True, slots=True)
class Threshold:
    """A percentage of the amount, for actual or forecast cost."""

    measure: Literal["actual", "forecast"]
    percent: int
    action: Literal["refuse_creates", "suspend"] | None


@dataclass(frozen=True, slots=True)
class NewBudget:
    """An amount a month; with `tag` of the project's clusters that have it."""

    name: str
    amount: Money
    tag: tuple[str, str] | None
    thresholds: Sequence[Threshold]


async def list_budgets(
    connection: Statements, owner: Owner, query: BudgetList | None = None, *, month: date | None = None
) -> list[str]:
    """Each budget's JSON; by default of all, oldest first. `month`: of reached thresholds; None: this one."""
    listing = query or BudgetList()
    parameters = {"owner": owner.id, "month": month, **filters_of(listing)}
    return [each.document for each in await _OF[owner.kind].list[listing.order].all(connection, parameters)]


async def budgets_of_month(connection: Statements, owner: Owner, spent: SpendingOut) -> list[BudgetOut]:
    """The budgets created before the month's end, with present amounts: as evaluated, or with a past month's cost."""
    documents = await list_budgets(connection, owner, month=spent.since.date())
    budgets = [BudgetOut.model_validate_json(each) for each in documents]
    if spent.observed_at < spent.until:
        return budgets
    return [_of_past_month(each, spent) for each in budgets if each.created_at < spent.until]


def _of_past_month(budget: BudgetOut, spent: SpendingOut) -> BudgetOut:
    """The budget with the figures of the month; None: its tag may be beyond the listed ones."""
    if budget.amount.currency != spent.accrued.currency:
        return budget
    parts: list[SpendingOut | TagSpendingOut] = [spent]
    if budget.tag is not None:
        parts = [each for each in spent.tags if (each.key, each.value) == (budget.tag.key, budget.tag.value)]
    nothing = Money.of(0, spent.accrued.currency) if len(spent.tags) < MAX_CLUSTERS else None
    actual, forecast = (parts[0].accrued, parts[0].forecast) if parts else (nothing, nothing)
    figures = {"actual": actual, "forecast": forecast, "month": spent.month, "evaluated_at": spent.observed_at}
    return budget.model_copy(update=figures)


async def budget_document(connection: Statements, owner: Owner, budget: UUID) -> tuple[bytes, int]:
    """The budget's JSON and version. Raises `Problem` not_found."""
    row = await _OF[owner.kind].read.one_or_none(connection, {"owner": owner.id, "id": budget, "month": None})
    if row is None:
        raise not_found()
    return row.encoded()


async def create(connection: AsyncConnection, owner: Owner, new: NewBudget, actor: Actor | None) -> UUID:
    """Create a budget, evaluated from the next turn on. The caller holds the owner's lock.

    Raises `Problem` name_taken, and state_conflict for one too many.
    """
    budget_id = new_id()
    if await _OF[owner.kind].count.one(connection, {"owner": owner.id}) >= LIMIT:
        raise Problem(STATE_CONFLICT, f"There are {LIMIT} budgets already. Delete one first.")
    key, value = new.tag or (None, None)
    inserted = await connection.execute(
        _CREATE,
        {
            "id": budget_id,
            "project_id": owner.id if owner.kind == "project" else None,
            "account_id": owner.id if owner.kind == "account" else None,
            "tag_key": key,
            "tag_value": value,
            "name": new.name,
            "amount": new.amount.amount,
            "currency": new.amount.currency,
        },
    )
    if inserted.rowcount == 0:
        raise _name_taken()
    await _write_thresholds(connection, budget_id, new.thresholds)
    await _note(connection, actor, BUDGET_CREATED, budget_id)
    return budget_id


async def lock(connection: AsyncConnection, owner: Owner, budget: UUID) -> int:
    """Lock the budget; returns its version. Raises `Problem` not_found."""
    version = await _OF[owner.kind].lock.one_or_none(connection, {"owner": owner.id, "id": budget})
    if version is None:
        raise not_found()
    return version


async def update(
    connection: AsyncConnection,
    owner: Owner,
    budget: UUID,
    *,
    name: str | None,
    amount: Money | None,
    thresholds: Sequence[Threshold] | None,
    actor: Actor | None,
) -> None:
    """Change a locked budget; None leaves a field unchanged. A threshold that fired this month stays fired.

    Raises `Problem` name_taken.
    """
    same_name = {"owner": owner.id, "name": name, "id": budget}
    if name is not None and await _OF[owner.kind].name_exists.one(connection, same_name):
        raise _name_taken()
    await connection.execute(_UPDATE, {"id": budget, "name": name, "amount": None if amount is None else amount.amount})
    if thresholds is not None:
        await connection.execute(_FORGET_THRESHOLDS, {"id": budget})
        await _write_thresholds(connection, budget, thresholds)
    await _note(connection, actor, BUDGET_UPDATED, budget)


async def end(connection: AsyncConnection, budget: UUID, actor: Actor | None) -> None:
    """Delete a locked budget; its alerts stay on record."""
    await connection.execute(_END, {"id": budget})
    await _note(connection, actor, BUDGET_DELETED, budget)


async def _write_thresholds(connection: AsyncConnection, budget: UUID, thresholds: Sequence[Threshold]) -> None:
    rows: list[Mapping[str, object]] = [
        {"id": budget, "measure": each.measure, "percent": each.percent, "action": each.action} for each in thresholds
    ]
    if rows:
        await connection.execute(_THRESHOLD, rows)


async def _note(connection: AsyncConnection, actor: Actor | None, type_: EventType, budget: UUID) -> None:
    """Only a project has an event log; an account's budgets are the operator's own."""
    if actor is not None:
        await record(
            connection,
            type_,
            project_id=actor.project_id,
            subject_id=budget,
            request_id=actor.request_id,
        )


def _name_taken() -> Problem:
    return Problem(NAME_TAKEN, "There is a budget with this name. Choose another name, or change that budget.")

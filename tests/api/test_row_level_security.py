"""Row-level security against a defect of the product: its statements forget that they are about one project."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from ipucloud.db import driver, reader, statements
from ipucloud.identity.roles import Role
from tests.api.policy import POLICY
from tests.api.tenancy import OPERATIONS, Tenancy
from tests.api.test_policy import same_but_for_the_request, tenancy
from tests.support.factories import Project, make_token

__all__ = ["tenancy"]
pytestmark = pytest.mark.anyio

FILTER = re.compile(
    rb"\b(\w+\.)?(?:project_id|account_id|owner_account_id|owner_id) ="
    rb" (CAST\()?(\(SELECT project_id FROM project\)|\$\d+)( AS uuid\))?"
)
CHANGED = re.compile(
    r"\b(\w+\.)?(?:project_id|account_id) (?:=|IS NOT DISTINCT FROM)"
    r" (CAST\()?(\(SELECT project_id FROM project\)|%\(\w+\)s)(::\w+)?( AS uuid\))?"
)
CHANGES = [name for name in POLICY if OPERATIONS[name].method != "GET" and OPERATIONS[name].scoped]
READS = [name for name in POLICY if OPERATIONS[name].method == "GET" and OPERATIONS[name].scoped]
PAYERS = [name for name in POLICY if "{account}" in OPERATIONS[name].path and Role.PAYER in POLICY[name]]
OF_ACCOUNTS = [name for name in PAYERS if OPERATIONS[name].method == "GET"]
CHANGES_OF_ACCOUNTS = [
    name for name in PAYERS if OPERATIONS[name].method != "GET" and OPERATIONS[name].path.count("{") > 1
]

WITHOUT_FILTER = {
    *("getBalance", "getExportLimit", "getInvoiceDraft", "getProjectAccount", "getProjectFunds", "listCredits"),
    *("getProject", "getSshAuthority", "streamEvents", "withdrawQuotaRequest"),
    *("getAccountExportLimit", "getBillingAccount", "getDunning", "getPrepaid", "streamAccountEvents"),
}
"""Operations about the account, or by an id, whose project is compared after the read: their statements do not have the
condition."""


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """Statements read without the filter; those that had one are in the list."""
    changed: list[bytes] = []

    def query(statement: sa.TextClause) -> driver.Query:
        compiled = driver.query(statement)
        text, found = FILTER.subn(rb"CAST(\3 AS uuid) IS NOT NULL", compiled.text)
        if found:
            changed.append(text)
        return replace(compiled, text=text)

    with monkeypatch.context() as patch:
        patch.setattr(reader, "query", query)
        patch.setattr(statements, "query", query)
        yield changed


@contextmanager
def forgotten_changes() -> Iterator[list[str]]:
    """Statements of transactions have no filter meanwhile; those that had one are in the list."""
    changed: list[str] = []

    def forget(_connection: object, _cursor: object, statement: str, parameters: object, *_: object) -> tuple[str, Any]:
        text, found = CHANGED.subn(r"CAST(\3 AS uuid) IS NOT NULL", statement)
        if found:
            changed.append(text)
        return text, parameters

    sa.event.listen(sa.Engine, "before_cursor_execute", forget, retval=True)
    try:
        yield changed
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", forget)


@pytest.mark.parametrize("name", [name for name in CHANGES if OPERATIONS[name].path.count("{") > 1])
async def test_objects_of_another_project_cannot_be_changed(
    tenancy: Tenancy, name: str, forgotten: list[bytes]
) -> None:
    operation, mine = OPERATIONS[name], await tenancy.api.other_project()
    foreign = await tenancy.target(operation, tenancy.api.world.project) | {"project": mine.slug}
    unknown = dict.fromkeys(foreign, "01890000-0000-7000-8000-000000000000") | {"project": mine.slug}
    caller = tenancy.api.client(mine.token.secret)
    before = await tenancy.api.snapshot()
    forgotten.clear()
    with forgotten_changes() as changed:
        answers = [await tenancy.ask(operation, caller, names) for names in (foreign, unknown)]
    assert changed or forgotten or name in WITHOUT_FILTER
    assert same_but_for_the_request(*answers)
    assert await tenancy.api.snapshot() == before


async def of_payer(tenancy: Tenancy) -> tuple[Project, httpx.AsyncClient]:
    """A project whose billing account has nothing, and its payer."""
    mine = await tenancy.api.other_project()
    async with tenancy.api.world.database.begin() as connection:
        token = await make_token(connection, None, Role.PAYER, account_id=mine.id)
    return mine, tenancy.api.client(token.secret)


@pytest.mark.parametrize("name", CHANGES_OF_ACCOUNTS)
async def test_objects_of_another_account_cannot_be_changed(
    tenancy: Tenancy, name: str, forgotten: list[bytes]
) -> None:
    operation = OPERATIONS[name]
    mine, caller = await of_payer(tenancy)
    foreign = await tenancy.target(operation, tenancy.api.world.project) | {"account": str(mine.id)}
    unknown = dict.fromkeys(foreign, "01890000-0000-7000-8000-000000000000") | {"account": str(mine.id)}
    before = await tenancy.api.snapshot()
    forgotten.clear()
    with forgotten_changes() as changed:
        answers = [await tenancy.ask(operation, caller, names) for names in (foreign, unknown)]
    assert changed or forgotten
    assert same_but_for_the_request(*answers)
    assert await tenancy.api.snapshot() == before


@pytest.mark.parametrize("name", [name for name in OF_ACCOUNTS if OPERATIONS[name].path.count("{") > 1])
async def test_objects_of_another_account_stay_hidden(tenancy: Tenancy, name: str, forgotten: list[bytes]) -> None:
    operation = OPERATIONS[name]
    mine, caller = await of_payer(tenancy)
    foreign = await tenancy.target(operation, tenancy.api.world.project) | {"account": str(mine.id)}
    unknown = dict.fromkeys(foreign, "01890000-0000-7000-8000-000000000000") | {"account": str(mine.id)}
    forgotten.clear()
    answers = [await tenancy.ask(operation, caller, names) for names in (foreign, unknown)]
    assert forgotten
    assert same_but_for_the_request(*answers)


@pytest.mark.parametrize("name", [name for name in OF_ACCOUNTS if OPERATIONS[name].path.count("{") == 1])
async def test_reads_of_an_account_show_what_is_its_own(tenancy: Tenancy, name: str, forgotten: list[bytes]) -> None:
    """Of an account that has nothing, beside one that has one of everything."""
    operation = OPERATIONS[name]
    await tenancy.target(operation, tenancy.api.world.project)
    mine, caller = await of_payer(tenancy)
    names = await tenancy.target(operation, mine)
    forgotten.clear()
    answer = await tenancy.ask(operation, caller, names)
    assert forgotten or name in WITHOUT_FILTER
    assert answer.status_code == operation.success
    assert str(tenancy.api.world.project.id) not in answer.text
    assert tenancy.api.world.project.slug not in answer.text


@pytest.mark.parametrize("name", [name for name in READS if OPERATIONS[name].path.count("{") > 1])
async def test_objects_of_another_project_stay_hidden(tenancy: Tenancy, name: str, forgotten: list[bytes]) -> None:
    operation, mine = OPERATIONS[name], await tenancy.api.other_project()
    foreign = await tenancy.target(operation, tenancy.api.world.project) | {"project": mine.slug}
    unknown = dict.fromkeys(foreign, "01890000-0000-7000-8000-000000000000") | {"project": mine.slug}
    caller = tenancy.api.client(mine.token.secret)
    answers = [await tenancy.ask(operation, caller, names) for names in (foreign, unknown)]
    assert forgotten or name in WITHOUT_FILTER
    assert same_but_for_the_request(*answers)


@pytest.mark.parametrize("name", [name for name in READS if OPERATIONS[name].path.count("{") == 1])
async def test_lists_have_the_project_s_own_rows(tenancy: Tenancy, name: str, forgotten: list[bytes]) -> None:
    """Of a project that has nothing, beside one that has one of everything."""
    operation, mine = OPERATIONS[name], await tenancy.api.other_project()
    names = await tenancy.target(operation, mine)
    answer = await tenancy.ask(operation, tenancy.api.client(mine.token.secret), names)
    assert forgotten or name in WITHOUT_FILTER
    assert answer.status_code == operation.success
    assert str(tenancy.api.world.project.id) not in answer.text
    assert tenancy.api.world.project.slug not in answer.text

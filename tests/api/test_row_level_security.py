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
from tests.api.operations import AUTHORISED, Documented, by_module
from tests.api.policy import POLICY
from tests.api.tenancy import Attempt, Tenancy, by_operation, same_but_for_the_request, tenancy, unknown
from tests.support.cases import all_cases
from tests.support.factories import Project

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
        text, count = FILTER.subn(rb"CAST(\3 AS uuid) IS NOT NULL", compiled.text)
        if count:
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
        text, count = CHANGED.subn(r"CAST(\3 AS uuid) IS NOT NULL", statement)
        if count:
            changed.append(text)
        return text, parameters

    sa.event.listen(sa.Engine, "before_cursor_execute", forget, retval=True)
    try:
        yield changed
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", forget)


def of_tenants() -> list[Documented]:
    """Operations of a project, and those of a billing account that its payer may request."""
    return [each for each in AUTHORISED if each.scoped or (each.of_account and Role.PAYER in POLICY[each.id])]


async def owning_nothing(tenancy: Tenancy) -> tuple[Project, httpx.AsyncClient, httpx.AsyncClient]:
    """A project, its owner, and the payer of its billing account."""
    project = await tenancy.api.other_project()
    return project, tenancy.api.client(project.token.secret), await tenancy.api.caller(Role.PAYER, project)


async def test_objects_of_others_can_be_neither_read_nor_changed(tenancy: Tenancy, forgotten: list[bytes]) -> None:
    project, owner, payer = await owning_nothing(tenancy)

    def attempts(operation: Documented, names: dict[str, str]) -> dict[str, Attempt]:
        async def hidden() -> None:
            own = {"project": project.slug} if operation.scoped else {"account": str(project.id)}
            targets = [each | own for each in (names, unknown(names))]
            forgotten.clear()
            with forgotten_changes() as changed:
                answers = [await tenancy.ask(operation, owner if operation.scoped else payer, each) for each in targets]
            assert forgotten or (changed and operation.method != "GET") or operation.id in WITHOUT_FILTER
            same_but_for_the_request(*answers)

        return {"without its filter": hidden}

    await by_operation([each for each in of_tenants() if each.path.count("{") > 1], tenancy, attempts)


async def test_reads_show_the_tenant_s_own_rows(tenancy: Tenancy, forgotten: list[bytes]) -> None:
    """Of a project and an account that have nothing, beside those that have one of everything."""
    project, owner, payer = await owning_nothing(tenancy)
    with all_cases() as case:
        for group in by_module(of_tenants()).values():
            await tenancy.targets(group)
            for operation in (each for each in group if each.method == "GET" and each.path.count("{") == 1):
                with case(operation.id):
                    names = await tenancy.target(operation, project)
                    forgotten.clear()
                    answer = await tenancy.ask(operation, owner if operation.scoped else payer, names)
                    assert forgotten or operation.id in WITHOUT_FILTER
                    assert answer.status_code == operation.success
                    assert str(tenancy.project.id) not in answer.text
                    assert tenancy.project.slug not in answer.text

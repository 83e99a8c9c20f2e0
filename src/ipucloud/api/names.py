"""Objects addressed by name: where a path has the name of an object instead of its id, the id is looked up first.

Several tokens, or several billing accounts, may have one name; it then finds none of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request

from ipucloud.api.reads import read, read_platform
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.identity.access import PRINCIPAL, authenticated, is_project_id
from ipucloud.kernel.errors import NOT_FOUND, Problem


class _Ref(Convertor[UUID | str]):
    """One segment of a path, up to a verb such as `:suspend`."""

    regex = "[^/:]+"

    def convert(self, value: str) -> UUID | str:
        return UUID(value) if is_project_id(value) else value

    def to_string(self, value: UUID | str) -> str:
        return str(value)


register_url_convertor("ref", _Ref())


_TOKENS = "tokens WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > app_now())"


class _InProject(NamedTuple):
    role: str | None
    project_id: UUID | None
    ids: list[UUID]


class _OfPlatform(NamedTuple):
    role: str | None
    ids: list[UUID]


def _in_project(living: str) -> Query[_InProject]:
    return authenticated(
        clauses(
            "SELECT (SELECT role FROM principal) AS role, (SELECT project_id FROM project) AS project_id,",
            "ARRAY(SELECT id FROM",
            living,
            "AND project_id = (SELECT project_id FROM project) AND name = :name LIMIT 2) AS ids",
        ),
        _InProject,
    )


def _of_platform(living: str) -> Query[_OfPlatform]:
    select = "SELECT (SELECT role FROM principal) AS role, ARRAY(SELECT id FROM"
    return Query(clauses("WITH", PRINCIPAL, select, living, "AND name = :name LIMIT 2) AS ids"), _OfPlatform)


_IN_PROJECT = {
    "budget": _in_project("budgets WHERE deleted_at IS NULL"),
    "cluster": _in_project("clusters WHERE deleted_at IS NULL"),
    "connection": _in_project("s3_connections WHERE deleted_at IS NULL"),
    "key": _in_project("ssh_keys WHERE true"),
    "token": _in_project(_TOKENS),
}
_OF_PLATFORM = {
    "account": _of_platform("billing_accounts WHERE true"),
    "budget": _of_platform("budgets WHERE deleted_at IS NULL AND account_id = :account"),
    "token": _of_platform(f"{_TOKENS} AND project_id IS NULL"),
}


async def resolve(request: Request) -> None:
    """Replace the names in the request's path by ids. Raises `Problem` 401, 403 or 404."""
    path: dict[str, Any] = request.path_params
    project = path.get("project")
    known = _OF_PLATFORM if project is None else _IN_PROJECT
    for parameter, name in list(path.items()):  # in the path's order: an owner stands before what it owns
        if parameter not in known or isinstance(name, UUID):
            continue
        if project is None:
            owner = {"account": path["account"]} if parameter == "budget" else {}
            ids = (await read_platform(request, _OF_PLATFORM[parameter], name=name, **owner)).ids
        else:
            ids = (await read(request, _IN_PROJECT[parameter], project, name=name)).ids
        if len(ids) != 1:
            raise Problem(NOT_FOUND, f"No {parameter} has this name, or several have it; use its id.")
        [path[parameter]] = ids

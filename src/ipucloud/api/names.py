"""Objects addressed by name: where a path has the name of an object instead of its id, the id is looked up first.

Several tokens, schedules or billing accounts may have one name; it then finds none of them. What does not exist is
named in the refusal as the path has it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import HTTPConnection

from ipucloud.api.reads import read, read_platform
from ipucloud.billing.accounts.store import VISIBLE_ACCOUNTS
from ipucloud.billing.exports.tables import NAMED_SCHEDULES
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.identity.access import PRINCIPAL, authenticated, is_project_id
from ipucloud.kernel.errors import ABSENT, NOT_FOUND, Problem, not_found
from ipucloud.resources.tables import ResourceKind


class _Ref(Convertor[UUID | str]):
    """One segment of a path, up to a verb such as `:suspend`."""

    regex = "[^/:]+"

    def convert(self, value: str) -> UUID | str:
        return UUID(value) if is_project_id(value) else value

    def to_string(self, value: UUID | str) -> str:
        return str(value)


register_url_convertor("ref", _Ref())


_NOUNS = {
    "account": "billing account",
    "connection": "S3 connection",
    "item": "work item",
    "key": "SSH key",
    "number": "invoice or credit note",
}
_TOKENS = "tokens WHERE kind <> 'member' AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > app_now())"


class _InProject(NamedTuple):
    rights: str | None
    project_id: UUID | None
    ids: list[UUID]


class _OfPlatform(NamedTuple):
    rights: str | None
    ids: list[UUID]


def _in_project(living: str) -> Query[_InProject]:
    return authenticated(
        clauses(
            "SELECT (SELECT rights FROM principal) AS rights, (SELECT project_id FROM project) AS project_id,",
            "ARRAY(SELECT id FROM",
            living,
            "AND project_id = (SELECT project_id FROM project) AND name = :name LIMIT 2) AS ids",
        ),
        _InProject,
    )


def _of_platform(living: str) -> Query[_OfPlatform]:
    select = "SELECT (SELECT rights FROM principal) AS rights, ARRAY(SELECT id FROM"
    return Query(clauses("WITH", PRINCIPAL, select, living, "AND name = :name LIMIT 2) AS ids"), _OfPlatform)


_IN_PROJECT = {
    "budget": _in_project("budgets WHERE deleted_at IS NULL"),
    "cluster": _in_project("clusters WHERE deleted_at IS NULL"),
    "connection": _in_project("s3_connections WHERE deleted_at IS NULL"),
    "key": _in_project("ssh_keys WHERE true"),
    "schedule": _in_project(f"{NAMED_SCHEDULES} WHERE true"),
    "token": _in_project(_TOKENS),
    **{
        str(kind): _in_project(f"resources WHERE kind = '{kind}' AND deleted_at IS NULL")
        for kind in (ResourceKind.ADDRESS, ResourceKind.SNAPSHOT, ResourceKind.VOLUME)
    },
}
_OF_ACCOUNT = "AND account_id = :account AND EXISTS (SELECT FROM principal WHERE platform OR account = :account)"
_OF_PLATFORM = {
    "account": _of_platform(clauses("billing_accounts", VISIBLE_ACCOUNTS)),
    "budget": _of_platform("budgets WHERE deleted_at IS NULL AND account_id = :account"),
    "connection": _of_platform(f"s3_connections WHERE deleted_at IS NULL {_OF_ACCOUNT}"),
    "schedule": _of_platform(f"{NAMED_SCHEDULES} WHERE true {_OF_ACCOUNT}"),
    "token": _of_platform(f"{_TOKENS} AND project_id IS NULL"),
}


_OWNED = frozenset({"budget", "connection", "schedule"})
"""Whose names are those of their billing account."""


async def resolve(request: HTTPConnection) -> None:
    """Replace the names in the request's path by ids. Raises `Problem` 401, 403 or 404."""
    path: dict[str, Any] = request.path_params
    project = path.get("project")
    known = _OF_PLATFORM if project is None else _IN_PROJECT
    for parameter, name in list(path.items()):  # in the path's order: an owner stands before what it owns
        if parameter not in known or isinstance(name, UUID):
            continue
        if project is None:
            owner = {"account": path["account"]} if parameter in _OWNED else {}
            ids = (await read_platform(request, _OF_PLATFORM[parameter], name=name, **owner)).ids
        else:
            ids = (await read(request, _IN_PROJECT[parameter], project, name=name)).ids
        if len(ids) > 1:
            raise Problem(NOT_FOUND, f"Several objects have the name of the {noun(parameter)}; use its id.")
        if not ids:
            raise not_found()
        [path[parameter]] = ids


def named(refusal: Problem, path: dict[str, object]) -> Problem:
    """The refusal with its object named as in the request's path: "the partition p1 of the cluster bert"."""
    objects = [f"{noun(each)} {value}" for each, value in reversed(path.items()) if each != "project" or len(path) == 1]
    if not objects or not refusal.detail.startswith(f"{ABSENT} "):
        return refusal
    return replace(refusal, detail=refusal.detail.replace(ABSENT, "The " + " of the ".join(objects), 1))


def noun(parameter: str) -> str:
    """What a parameter of a path names, in words."""
    return _NOUNS.get(parameter, parameter.replace("_", " "))

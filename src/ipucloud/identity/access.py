"""Authentication and the project of a request, in one common table expression.

A statement that reads for a customer is made by `authenticated(…)` and selects
`(SELECT rights FROM principal) AS rights`, `(SELECT project_id FROM project) AS project_id`, and then the data, so that
authentication costs no extra round trip; `admit` turns the two into 401, 404 or 403. Other requests call `authorize`
first, on the connection of their own transaction.

The law: an unknown project and another customer's project give the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple, NoReturn
from uuid import UUID

from ipucloud.db.rows import Query, Row
from ipucloud.db.statements import Statements
from ipucloud.db.tenancy import ENTERED, REACHED
from ipucloud.identity.roles import ACCOUNT_ROLES, PERMISSIONS, PLATFORM_ROLES, Permission, Rights, Role, allowed
from ipucloud.kernel.actor import Origin
from ipucloud.kernel.errors import PERMISSION_DENIED, SOURCE_NOT_ALLOWED, UNAUTHENTICATED, Problem, not_found
from ipucloud.kernel.networks import allows

PRINCIPAL = """
principal AS (
  SELECT tokens.id AS token_id, tokens.role AS role, tokens.project_id AS home, tokens.account_id AS account,
         tokens.project_id IS NULL AND tokens.account_id IS NULL AS platform, tokens.clusters AS clusters,
         array_to_string(tokens.role || tokens.scopes, ' ')
           || coalesce(' #' || array_to_string(tokens.clusters, ','), '')
           || CASE WHEN tokens.allowed_sources = '{}' THEN ''
           ELSE ' @' || array_to_string(tokens.allowed_sources, ',') || CASE WHEN tokens.kind IN ('member', 'login')
             THEN ' Your membership' ELSE ' The token ' || tokens.name END END AS rights
  FROM tokens
  WHERE tokens.secret_hash = coalesce((
      SELECT signed_in.secret_hash FROM browser_sessions JOIN tokens AS signed_in ON signed_in.id = token_id
       WHERE browser_sessions.secret_hash = :token_hash AND idle_until > app_now()
         AND browser_sessions.expires_at > app_now()), :token_hash)
    AND tokens.revoked_at IS NULL AND (tokens.expires_at IS NULL OR tokens.expires_at > app_now())
)"""
"""CTE `principal` (token_id, role, home, account, platform, clusters, rights): a row for a live token or session.

`:token_hash` is the hash of the token or of the browser session's secret; the two never have the same text.

It is of the project `home`, of the billing account `account`, or of the `platform`, and limited to `clusters` unless
these are NULL. Its `rights` are for `rights_at`.
"""

PROJECT = """
project AS (
  SELECT principal.token_id, principal.role, projects.id AS project_id, projects.slug, projects.number,
         principal.rights AS written
  FROM projects JOIN principal ON principal.home = projects.id OR principal.platform
  WHERE projects.deleted_at IS NULL
    AND (projects.id = CAST(:project_id AS uuid) OR projects.number = CAST(:project_number AS bigint)
      OR projects.slug = CAST(:project_slug AS text))
)"""
"""CTE `project` (token_id, role, project_id, slug, number, written): one row when the principal has access to it."""

AUTHENTICATE = f"{PRINCIPAL},{PROJECT}"
"""Both CTEs; parameters `:token_hash` and those of `project_parameters`."""

_CANONICAL_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)


def authenticated(rest: str, row: type[Row]) -> Query[Row]:
    """The statement `WITH principal AS (…), project AS (…) <rest>`; `rest` may start with more CTEs and a comma."""
    return Query(f"WITH {AUTHENTICATE}\n{rest}", row)


class Principal(NamedTuple):
    """A live token of a project (`home`), of a billing account, or with neither of the platform.

    `written`: its rights. `actor`: the e-mail of the person whose it is, or the token's name.
    """

    written: str
    role: Role
    token_id: UUID
    home: UUID | None
    account: UUID | None
    actor: str | None

    @property
    def rights(self) -> Rights:
        return Rights.of(self.written)


class Scope(NamedTuple):
    """A live token acting in a project that it has access to."""

    token_id: UUID
    role: Role
    project_id: UUID
    slug: str
    number: int
    written: str

    @property
    def rights(self) -> Rights:
        return Rights.of(self.written)


class _Admission(NamedTuple):
    """`changed`: the project, from now on the only one whose rows the transaction can change; of its clusters only
    those of `reached`, if the token is limited to some.
    """

    rights: str
    actor: str | None
    changed: str
    reached: str
    scope: Scope | None


class _Entered(NamedTuple):
    tenant: str
    token: str
    reached: str
    role: str


_ACTOR = """
set_config('ipucloud.actor', (
  SELECT CASE WHEN concat(
           set_config('ipucloud.actor_kind', CASE
             WHEN tokens.owner_id IS NOT NULL THEN 'user'
             WHEN tokens.project_id IS NULL AND tokens.account_id IS NULL THEN 'operator'
             ELSE 'token' END, true),
           set_config('ipucloud.actor_home', coalesce(tokens.project_id, tokens.account_id)::text, true),
           set_config('ipucloud.address', :address, true),
           set_config('ipucloud.agent', :agent, true)) IS NOT NULL
         THEN coalesce(users.email, tokens.name) END
    FROM tokens LEFT JOIN users ON users.id = tokens.owner_id
   WHERE tokens.id = principal.token_id), true) AS actor
"""
"""Who acts, of which project or account, and from where, kept for the transaction: its events, operations and jobs
record that. Parameters: those of an `Origin`.
"""
IDENTIFY = Query(
    f"WITH {PRINCIPAL} SELECT rights AS written, role, token_id, home, account, {_ACTOR} FROM principal",  # noqa: S608  # our own text
    Principal,
)
"""The live token of `:token_hash`, or no row. The other parameters: those of an `Origin`."""

_AUTHORIZE = authenticated(
    f"SELECT principal.rights, {_ACTOR},"  # noqa: S608  # our own text
    " set_config('ipucloud.changed_project', coalesce(project.project_id::text, ''), true) AS changed,"
    f" {REACHED} AS reached, project.* FROM principal LEFT JOIN project ON true",
    _Admission,
)

_CHANGE_ACCOUNT = Query("SELECT set_config('ipucloud.changed_account', CAST(:account AS text), true)", str)

AS_TENANT = Query(f"WITH {AUTHENTICATE} SELECT {ENTERED}", _Entered)
"""Makes the rest of the transaction that of a reader of the project; parameters as for `AUTHENTICATE`.

Without a live token, or a project that it has access to, no row of a tenant is visible but the token's own.
"""


def is_project_id(ref: str) -> bool:
    """True when `ref` is read as an id; a slug must not look like one."""
    return _CANONICAL_UUID.fullmatch(ref) is not None


def project_parameters(ref: str) -> dict[str, UUID | int | str | None]:
    """The parameters of `PROJECT` for a project written as id, number or slug."""
    parameters: dict[str, UUID | int | str | None] = {"project_id": None, "project_number": None, "project_slug": None}
    if is_project_id(ref):
        parameters["project_id"] = UUID(ref)
    elif _NUMBER.fullmatch(ref):
        parameters["project_number"] = int(ref)
    elif "\x00" not in ref:  # PostgreSQL's text cannot contain it, so no slug does
        parameters["project_slug"] = ref
    return parameters


def unauthenticated() -> Problem:
    """401 with the challenge; the same for a missing, malformed, unknown, expired and revoked token."""
    return Problem(
        UNAUTHENTICATED,
        "A valid token is needed: this one is missing, mistyped, expired or revoked.",
        headers={"WWW-Authenticate": 'Bearer realm="ipucloud"'},
    )


def rights_at(origin: Origin, written: str | None) -> Rights:
    """The rights of the principal, for a request from there.

    Raises `Problem` 401 without a live token, 403 when it may not be used from there.
    """
    if written is None:
        raise unauthenticated()
    rights = Rights.of(written)
    if not allows(rights.sources, origin.address):
        raise Problem(
            SOURCE_NOT_ALLOWED,
            f"{rights.limited} may not be used from {origin.address or 'an unknown address'}, where this request comes"
            " from. Send it from one of its allowed sources, use another token, or have an owner change them.",
        )
    return rights._replace(about=origin.about)


def admit(rights: str | None, project_id: UUID | None, permission: Permission, origin: Origin) -> Role:
    """Check the result of a statement that starts with `AUTHENTICATE`; the caller's role.

    Raises `Problem`: 401 without a live token, 404 without a project that it has access to, 403 when its role or
    its scopes lack `permission`, or it may not be used from there. For a token that is limited to clusters also 404 for
    another cluster, and 403 for what is not about a cluster.
    """
    held = rights_at(origin, rights)
    if project_id is None:
        raise not_found()
    require(held, permission)
    return held.role


async def identify(
    connection: Statements, token_hash: bytes, permission: Permission | None, origin: Origin
) -> Principal:
    """The live token with this SHA-256, for requests outside any project. Raises `Problem` 401 or 403.

    `permission` None: for what every live token may, about itself. `origin`: where the request came from; the events of
    the transaction have it.
    """
    principal = await IDENTIFY.one_or_none(connection, {"token_hash": token_hash, **origin._asdict()})
    if principal is None:
        raise unauthenticated()
    rights = rights_at(origin, principal.written)
    if permission is not None:
        require(rights, permission)
    return principal


async def change_only(connection: Statements, account: UUID) -> None:
    """From now on, the transaction can change no rows of other billing accounts."""
    await _CHANGE_ACCOUNT.one(connection, {"account": str(account)})


async def authorize(
    connection: Statements,
    token_hash: bytes,
    project_ref: str,
    permission: Permission,
    origin: Origin,
) -> Scope:
    """The live token acting in the project; `origin` as for `identify`.

    Raises `Problem` 401, 404 or 403, as `admit` does.
    """
    parameters = {"token_hash": token_hash, **origin._asdict(), **project_parameters(project_ref)}
    row = await _AUTHORIZE.one_or_none(connection, parameters)
    if row is None:
        raise unauthenticated()
    rights = rights_at(origin, row.rights)
    if row.scope is None:
        raise not_found()
    require(rights, permission)
    return row.scope


def require(rights: Rights, permission: Permission) -> None:
    """Raises `Problem` 403 if the token lacks the permission; its member `roles` lists the roles that have it.

    404 if it has it, but not for the cluster that the request is about.
    """
    if rights.allow(permission):
        return
    role, roles = rights.role, PERMISSIONS[permission]
    if permission in rights.scopes:
        _refuse_beyond_clusters(rights)
    if allowed(role, permission):
        raise Problem(
            PERMISSION_DENIED,
            f"This needs the scope {permission}. The role {role} has it, but this token was narrowed to"
            f" {listed(rights.scopes)}. Use a token that has the scope {permission}, or that was not narrowed.",
            extra={"roles": sorted(roles), "scope": permission},
        )
    of_project = " or ".join(sorted(roles - PLATFORM_ROLES - ACCOUNT_ROLES))
    least = Role.SUPPORT if Role.SUPPORT in roles else Role.ADMIN
    if of_project:
        way = f"Ask an owner of the project for a token with the role {of_project}."
    elif roles & ACCOUNT_ROLES:
        way = (
            "Ask a platform administrator for a token of the billing account:"
            " ipucloud tokens create NAME --account ACCOUNT."
        )
    else:
        way = (
            f"A platform administrator has to act, with a token of the role {' or '.join(sorted(roles))}, or to give"
            f" you one: ipucloud tokens create NAME --platform --role {least}."
        )
    raise Problem(
        PERMISSION_DENIED,
        f"This needs the permission {permission}, which the role {role} does not have. {way}",
        extra={"roles": sorted(roles)},
    )


def _refuse_beyond_clusters(rights: Rights) -> NoReturn:
    if rights.about is not None:
        raise not_found()
    raise Problem(
        PERMISSION_DENIED,
        "This token is limited to clusters, and this is not about one of them. Use a token of the project that is not"
        " limited.",
    )


def listed(scopes: Iterable[str]) -> str:
    """Scopes in a sentence."""
    return ", ".join(sorted(scopes)) or "no scope that its role has"

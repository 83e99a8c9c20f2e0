"""Roles, what each may do, and what a token may: all that its role does, or the scopes that it was narrowed to."""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import NamedTuple
from uuid import UUID


class Role(StrEnum):
    """A token's role: four within a project, two of the platform, one of a billing account."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    BILLING = "billing"
    OWNER = "owner"
    ADMIN = "admin"
    SUPPORT = "support"
    PAYER = "payer"


PLATFORM_ROLES = frozenset({Role.ADMIN, Role.SUPPORT})
ACCOUNT_ROLES = frozenset({Role.PAYER})


class Permission(StrEnum):
    """The permissions; each route requires exactly one."""

    CATALOGUE_READ = "catalogue:read"
    PROJECT_READ = "project:read"
    CLUSTER_READ = "cluster:read"
    CLUSTER_WRITE = "cluster:write"
    KEY_WRITE = "ssh-key:write"
    TOKEN_READ = "token:read"
    TOKEN_WRITE = "token:write"
    MEMBER_READ = "member:read"
    MEMBER_WRITE = "member:write"
    AUDIT_READ = "audit-log:read"
    USAGE_READ = "usage:read"
    BILLING_READ = "billing:read"
    BILLING_WRITE = "billing:write"
    BUDGET_WRITE = "budget:write"
    ACCOUNT_READ = "account:read"
    ACCOUNT_WRITE = "account:write"
    PLATFORM_READ = "platform:read"
    PLATFORM_WRITE = "platform:write"
    WEBHOOK_WRITE = "webhook:write"
    S3_WRITE = "s3-connection:write"
    PERSON_PROVISION = "person:provision"


_ALL_READ = frozenset({Role.VIEWER, Role.OPERATOR, Role.BILLING, Role.OWNER, Role.ADMIN, Role.SUPPORT})
PERMISSIONS: dict[Permission, frozenset[Role]] = {
    Permission.CATALOGUE_READ: frozenset(Role),
    Permission.PROJECT_READ: _ALL_READ,
    Permission.CLUSTER_READ: _ALL_READ,
    Permission.CLUSTER_WRITE: frozenset({Role.OPERATOR, Role.OWNER, Role.ADMIN}),
    Permission.KEY_WRITE: frozenset({Role.OPERATOR, Role.OWNER, Role.ADMIN}),
    Permission.TOKEN_READ: frozenset({Role.OWNER, Role.ADMIN, Role.SUPPORT}),
    Permission.TOKEN_WRITE: frozenset({Role.OWNER, Role.ADMIN}),
    Permission.MEMBER_READ: _ALL_READ,
    Permission.MEMBER_WRITE: frozenset({Role.OWNER, Role.ADMIN}),
    Permission.AUDIT_READ: frozenset({Role.OWNER, Role.ADMIN, Role.SUPPORT}),
    Permission.USAGE_READ: _ALL_READ,
    Permission.BILLING_READ: frozenset({Role.BILLING, Role.OWNER, Role.ADMIN, Role.SUPPORT}),
    Permission.BILLING_WRITE: frozenset({Role.BILLING, Role.OWNER, Role.ADMIN}),
    Permission.BUDGET_WRITE: frozenset({Role.BILLING, Role.OWNER, Role.ADMIN}),
    Permission.ACCOUNT_READ: PLATFORM_ROLES | ACCOUNT_ROLES,
    Permission.ACCOUNT_WRITE: frozenset({Role.ADMIN, Role.PAYER}),
    Permission.PLATFORM_READ: PLATFORM_ROLES,
    Permission.PLATFORM_WRITE: frozenset({Role.ADMIN}),
    Permission.WEBHOOK_WRITE: frozenset({Role.OPERATOR, Role.OWNER, Role.ADMIN}),
    Permission.S3_WRITE: frozenset({Role.BILLING, Role.OWNER, Role.ADMIN}),
    Permission.PERSON_PROVISION: frozenset({Role.ADMIN}),
}


def within(role: Role) -> frozenset[Role]:
    """The roles that may do nothing that this one may not."""
    beyond = {each for able in PERMISSIONS.values() if role not in able for each in able}
    return frozenset(Role) - beyond


def allowed(role: Role, permission: Permission) -> bool:
    return role in PERMISSIONS[permission]


@cache
def scopes_of(role: Role) -> frozenset[Permission]:
    """All that the role may do."""
    return frozenset(permission for permission in Permission if allowed(role, permission))


class Rights(NamedTuple):
    """What a token may do. `narrowed_to`: the scopes that it was given; None: whatever the role has.

    Of these only what the role has now counts: a role that changes takes rights from a token, and never adds any.
    `sources`: the networks from which it may be used; none: from everywhere. `limited`: what has them, as a sentence
    begins. `clusters`: those that it is limited to; None: it is not. It then does only what is about one of them, or
    shows nothing but them: whatever does not say so in `about` (as in an `Origin`) is refused.
    """

    role: Role
    narrowed_to: frozenset[str] | None = None
    sources: tuple[str, ...] = ()
    limited: str = ""
    clusters: frozenset[UUID] | None = None
    about: UUID | str | None = None

    @classmethod
    def of(cls, written: str) -> Rights:
        """Those of the column `rights` of `identity.access.PRINCIPAL`: the role, the scopes of a narrowed token, its
        clusters after `#`, and the sources of a limited one, and what it is.
        """
        able, _, limit = written.partition(" @")
        able, of_clusters, ids = able.partition(" #")
        role, *scopes = able.split()
        sources, _, name = limit.partition(" ")
        clusters = frozenset(UUID(each) for each in ids.split(",") if each) if of_clusters else None
        return cls(Role(role), frozenset(scopes) or None, tuple(sources.split(",")) if sources else (), name, clusters)

    @property
    def narrowed(self) -> bool:
        return self.narrowed_to is not None

    @property
    def scopes(self) -> frozenset[Permission]:
        """The permissions that it has."""
        having = scopes_of(self.role)
        return having if self.narrowed_to is None else having & self.narrowed_to

    def allow(self, permission: Permission) -> bool:
        return permission in self.scopes and self.reach

    @property
    def reach(self) -> bool:
        """Whether the request is about what it is limited to, if it is. Row-level security finds by name."""
        return self.clusters is None or isinstance(self.about, str) or self.about in self.clusters

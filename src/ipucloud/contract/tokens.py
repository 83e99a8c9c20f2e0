"""Tokens of a project and of the platform."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from ipucloud.contract.fields import Answer, Body, Instant, KeyName, KeyRef, to_pay
from ipucloud.contract.lists import NamedListed, Page
from ipucloud.contract.projects import ProjectOut
from ipucloud.contract.sources import Sources
from ipucloud.kernel.money import Money


class TokenClusterOut(Answer):
    """A cluster that a token is limited to."""

    id: UUID
    name: str
    deleted: bool = Field(description="Whether it is deleted; another of its name is not it.", examples=[False])


class TokenOut(Answer):
    """A token without its secret."""

    id: UUID
    name: str
    role: str = Field(examples=["operator"])
    scopes: list[str] = Field(
        description="What it may do: all that the role has, or of a narrowed token those of its scopes that the role"
        " has.",
        examples=[["billing:read", "cluster:read"]],
    )
    narrowed: bool = Field(description="Whether it was narrowed to `scopes`; false: it has all of its role.")
    allowed_sources: list[str] = Field(
        description="Networks from which it may be used; empty: from everywhere.", examples=[["203.0.113.0/24"]]
    )
    clusters: list[TokenClusterOut] | None = Field(
        description="Clusters that it is limited to; null: it is not limited.", examples=[None]
    )
    display_prefix: str = Field(description="First characters of the secret, to tell tokens apart.")
    created_by: UUID | None = Field(description="Id of the token that created it.")
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="When it was last used, to the hour.")
    account_id: UUID | None = Field(description="Billing account of a token with the role `payer`; null for others.")
    kind: str = Field(
        description="`service`: nobody's. `personal`, `login`: a person's, and ends with the membership; `login` is of"
        " `ipucloud login`. `member`: the membership itself, of a person who is signed in to the panel.",
        examples=["service"],
    )
    owner: str | None = Field(
        description="E-mail of the person whose it is; null for a service token.", examples=["ann@example.com"]
    )
    cost_limit: Money | None = Field(description="What the clusters that it begins may cost together; null: no limit.")
    cost: Money | None = Field(
        description="What they have cost so far, for a token with a limit: each from when the token created, resumed or"
        " enlarged it, until the limit suspended it."
    )


class NewTokenOut(TokenOut):
    """A new token."""

    token: str | None = Field(description="The secret, shown only once; null in a replayed response.")


class TokenPage(Page[TokenOut]):
    pass


TokenName = Annotated[KeyName, Field(examples=["ci"])]


def _each_once(scopes: list[str]) -> list[str]:
    """Raises PydanticCustomError."""
    twice = sorted({each for each in scopes if scopes.count(each) > 1})
    if twice:
        raise PydanticCustomError("duplicate", "Name each scope once: {twice}.", {"twice": ", ".join(twice)})
    return scopes


Scopes = Annotated[
    list[Annotated[str, Field(max_length=64)]],
    Field(min_length=1, max_length=64, examples=[["billing:read", "cluster:read"]]),
    AfterValidator(_each_once),
]
ClusterRefs = Annotated[list[KeyRef], Field(min_length=1, max_length=32, examples=[["bert"]])]
_NARROWING = (
    "Scopes that the token is narrowed to: some of those that its role has, and that the caller's token has too. Null:"
    " all that the role has, also what it is given later; a narrowed token cannot create such a token."
)


_SOURCES = (
    "Networks (CIDR) from which it may be used; a single address is one, too. Empty: from everywhere. A token that has"
    " some creates only tokens within them."
)


_CLUSTERS = (
    "Ids or names of clusters that it is limited to: it finds no others, and may do nothing that is not about one of"
    " them, whatever its role. When all are deleted, it expires an hour later. Null: it is not limited."
)


class TokenList(NamedListed):
    """Tokens that match the filter."""

    active: bool | None = Field(
        None, description="Only those that work now, or only revoked and expired ones; null: all."
    )


class TokenCreate(Body):
    """A token for one project. Its role says what it may do, or `scopes` less of that."""

    name: TokenName
    role: Literal["viewer", "operator", "billing", "owner"] = Field(examples=["operator"])
    expires_at: Instant | None = Field(None, description="When it expires; null: never.")
    scopes: Scopes | None = Field(None, description=_NARROWING)
    allowed_sources: Sources = Field(default_factory=list, description=_SOURCES)
    clusters: ClusterRefs | None = Field(None, description=_CLUSTERS, examples=[None])
    service: bool = Field(
        False,
        description="Whether a token that a person creates is nobody's, and outlives the membership. What a token"
        " without an owner creates has none either.",
    )
    cost_limit: Annotated[Money, to_pay(10**9)] | None = Field(
        None,
        description="What the clusters that it creates, resumes or enlarges may cost together, in the currency of the"
        " account that pays; only for the role `operator`. Null: no limit.",
        examples=[{"amount": "20.00", "currency": "EUR"}],
    )

    @model_validator(mode="after")
    def _operators(self) -> Self:
        if self.cost_limit is not None and self.role != "operator":
            raise PydanticCustomError("not_an_operator", "Only a token of the role operator has a cost limit.")
        return self


class TokenRotate(Body):
    """How to replace a token."""

    keep_previous_seconds: int = Field(
        0, ge=0, le=604_800, description="How long the replaced token keeps working, in seconds."
    )
    expires_at: Instant | None = Field(
        None, description="When the new token expires; null: when the replaced one would have."
    )


class PlatformTokenCreate(Body):
    """A token for the whole platform (`admin` changes it, `support` reads it) or for a billing account (`payer`)."""

    name: TokenName
    role: Literal["admin", "support", "payer"]
    account_id: Annotated[UUID, Field(strict=False)] | None = Field(
        None, description="Billing account whose money a `payer` reads; required for that role, and only for it."
    )
    expires_at: Instant | None = Field(None, description="When it expires; null: never.")
    scopes: Scopes | None = Field(None, description=_NARROWING)
    allowed_sources: Sources = Field(default_factory=list, description=_SOURCES)


class WhoamiOut(Answer):
    """The caller's token, role and project."""

    token: TokenOut
    role: str = Field(examples=["owner"])
    scopes: list[str] = Field(
        description="What the caller may do; fewer than the role has if its token was narrowed.",
        examples=[["cluster:read", "cluster:write"]],
    )
    project: ProjectOut | None = Field(description="Project of the token; null for others.")

"""Projects."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import NAME_PATTERN, Answer, Body
from ipucloud.contract.lists import NamedListed, Page

DisplayName = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f]+$")]


class ProjectOut(Answer):
    """A project. Paths accept its `id`, `number` or `slug`."""

    id: UUID
    number: int
    slug: str = Field(examples=["research"])
    name: str
    created_at: datetime
    version: int


class ProjectPage(Page[ProjectOut]):
    pass


class ProjectList(NamedListed):
    """Projects that match every filter."""

    name: str | None = Field(None, description="Only projects with exactly this name or slug.")
    q: str | None = Field(None, description="Only projects with this in their name or slug, in upper or lower case.")


class ProjectCreate(Body):
    """A project without clusters, quotas and members."""

    slug: str = Field(
        pattern=NAME_PATTERN, examples=["research"], description="Short name in paths; never changed and never reused."
    )
    name: DisplayName = Field(examples=["Research"])


class ProjectPatch(Body):
    """What can be changed of a project."""

    name: DisplayName

"""Calls for projects."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, nothing, segment
from ipucloud.client.models import Overview, Page, Project


def list(
    *, name: str | None = None, q: str | None = None, order: str | None = None, limit: int | None = None
) -> Call[Page[Project]]:
    """The projects visible to the token; `name`: with exactly this name or slug, `q`: with this in one of them."""
    query = {"name": name, "q": q, "order": order, "limit": limit}
    return request.get("projects", Page[Project], query, scoped=False)


def get(project: str) -> Call[Project]:
    """One project, by id, number or slug."""
    return request.get(f"projects/{segment(project)}", Project, scoped=False)


def overview() -> Call[Overview]:
    """The project at a glance: clusters by state, quotas, running operations, latest events, this month's cost."""
    return request.get("overview", Overview)


def metrics() -> Call[bytes]:
    """What was observed last of each cluster in use, in the text format of Prometheus."""
    return request.get("metrics", bytes)


def create(slug: str, name: str) -> Call[Project]:
    """Create a project. Needs a platform token."""
    return request.post("projects", Project, {"slug": slug, "name": name}, scoped=False)


def update(project: str, *, name: str, if_match: str | None = None) -> Call[Project]:
    """Rename a project; its slug never changes. Needs a platform token."""
    return request.patch(f"projects/{segment(project)}", Project, {"name": name}, scoped=False, if_match=if_match)


def delete(project: str) -> Call[None]:
    """Delete a project that holds no machines, and revoke its tokens. Needs a platform token."""
    return request.delete(f"projects/{segment(project)}", nothing, scoped=False)

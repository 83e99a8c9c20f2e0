"""Clusters that a request names by id or name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import VALIDATION_FAILED, FieldError, Problem
from ipucloud.kernel.suggestions import nearest


class _Living(NamedTuple):
    id: UUID
    name: str


# Shared locks: none of them is deleted before the transaction ends.
_FIND = Query(
    """
    SELECT id, name FROM clusters
     WHERE project_id = :project_id AND deleted_at IS NULL AND (name = ANY (:refs) OR id::text = ANY (:refs))
     ORDER BY id FOR SHARE
    """,
    _Living,
)
_NAMES = Query("SELECT name FROM clusters WHERE project_id = :project_id AND deleted_at IS NULL", str)


async def chosen(connection: Statements, project_id: UUID, refs: Sequence[str]) -> set[UUID]:
    """The project's clusters of these names or ids, which are locked. Raises `Problem` validation_failed."""
    refs = [each.lower() for each in refs]
    found = await _FIND.all(connection, {"project_id": project_id, "refs": refs})
    known = {ref: each.id for each in found for ref in (each.name, str(each.id))}
    unknown = [(place, ref) for place, ref in enumerate(refs) if ref not in known]
    if unknown:
        names = await _NAMES.all(connection, {"project_id": project_id})
        faults = [
            FieldError(
                f"/clusters/{place}",
                "unknown_cluster",
                f"The project has no cluster {ref}. The names most like it: {nearest(ref, names)}.",
            )
            for place, ref in unknown
        ]
        raise Problem(VALIDATION_FAILED, "Some values are not valid.", faults)
    return {known[ref] for ref in refs}

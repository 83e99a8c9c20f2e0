"""Snapshots of servers as images: new servers are written with what was on the disk of the one that was copied.

A cluster's `image` is the name of one of the catalogue, or the name by which the site knows such a snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import Catalogue
from ipucloud.contract.snapshots import SnapshotState
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import STATE_CONFLICT, FieldError, Problem

_OFFERED = "`GET /v1/images` lists those that are, `GET …/snapshots` the project's own."


class OwnImage(NamedTuple):
    """`image`: of the catalogue, which the server had whose disk was copied; None: it is a snapshot of a volume."""

    external_name: str
    name: str
    region: str
    image: str | None
    state: SnapshotState


_FIND = Query(
    """
    SELECT external_name, name, region, image, state FROM snapshots
     WHERE project_id = :project_id AND state <> 'deleted' AND :ref IN (name, id::text, external_name)
     ORDER BY name = :ref DESC LIMIT 1
    """,
    OwnImage,
)
_HOLD = Query(
    "SELECT state FROM snapshots WHERE project_id = :project_id AND external_name = :image FOR SHARE", SnapshotState
)
_NAME = Query("SELECT name FROM snapshots WHERE project_id = :project_id AND external_name = :image", str)


def shown_image(cluster: str) -> str:
    """SQL of the name of a cluster's image, as its project knows it."""
    return (
        f"coalesce((SELECT own.name FROM snapshots AS own WHERE own.project_id = {cluster}.project_id"  # noqa: S608
        f" AND own.external_name = {cluster}.image), {cluster}.image)"
    )


async def find_own_image(
    connection: Statements, catalogue: Catalogue, ref: str | None, *, project_id: UUID
) -> OwnImage | None:
    """The project's snapshot of that name or id; None: there is none, or the catalogue has an image of that name.

    Raises `Problem` state_conflict for one that is not `available`.
    """
    if ref is None or catalogue.find_image(ref) is not None:
        return None
    image = await _FIND.one_or_none(connection, {"project_id": project_id, "ref": ref})
    if image is not None and image.state is not SnapshotState.AVAILABLE:
        raise _not_available(image.name, image.state)
    return image


def image_faults(name: str, region: str | None, catalogue: Catalogue, own: OwnImage | None) -> Iterator[FieldError]:
    """Why servers in the region cannot have the image of that name; `own`: the project's, if it is one.

    `region` None: it is not known, and does not matter.
    """
    offered = catalogue.find_image(name)
    if own is not None and own.image is None:
        sentence = f"{own.name} is a snapshot of a volume, from which volumes are made. Choose one of a server."
        yield FieldError("/image", "not_of_server", sentence)
    elif own is not None and region not in {None, own.region}:
        sentence = f"Snapshot {own.name} is in {own.region}, and servers are made from it there only. Choose another."
        yield FieldError("/image", "not_in_region", sentence)
    elif own is None and offered is None:
        yield FieldError("/image", "unknown_image", f"This image does not exist. {_OFFERED}")
    elif own is None and offered is not None and region not in {None, *offered.regions}:
        yield FieldError("/image", "not_in_region", f"The image is not offered in {region}. {_OFFERED}")


async def hold_image(connection: AsyncConnection, image: str, *, project_id: UUID) -> None:
    """Keep a snapshot that servers are to be written with from being deleted until this transaction has recorded that.

    One of the catalogue is not held. Raises `Problem` state_conflict for a snapshot that is being deleted.
    """
    state = await _HOLD.one_or_none(connection, {"project_id": project_id, "image": image})
    if state not in {None, SnapshotState.AVAILABLE}:
        raise _not_available(image, state)


async def image_name(connection: AsyncConnection, image: str, *, project_id: UUID) -> str:
    """The name of a cluster's image, as its project knows it."""
    return await _NAME.one_or_none(connection, {"project_id": project_id, "image": image}) or image


def _not_available(name: str, state: SnapshotState | None) -> Problem:
    return Problem(
        STATE_CONFLICT,
        f"Snapshot {name} is `{state}`, and servers are made from one that is `available`. Wait, or choose another"
        " image.",
    )

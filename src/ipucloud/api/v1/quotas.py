"""Quotas of a project, in machines per region and type, of storage and of addresses; administrators set them."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import changed_since, required_version, tag, tagged
from ipucloud.api.idempotency import Answer
from ipucloud.api.problems import invalid
from ipucloud.api.reads import reading
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of, services_of
from ipucloud.api.shapes import IF_NONE_MATCH, REQUIRED_IF_MATCH, ProjectRef
from ipucloud.api.v1.catalogue import region_slug
from ipucloud.api.writes import actor, change
from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.addresses.record import ADDRESS_QUOTA
from ipucloud.clusters.volumes.record import VOLUME_QUOTA
from ipucloud.contract.event_types.projects import QUOTA_UPDATED
from ipucloud.contract.quotas import QuotaLimits, QuotaList, QuotaPage
from ipucloud.db.statements import Statements
from ipucloud.events.log import record
from ipucloud.identity import projects
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import PRECONDITION_FAILED, PRECONDITION_REQUIRED, STATE_CONFLICT, FieldError
from ipucloud.quotas.counted import COUNTED_UNITS, DefaultLimits, not_sold, slug_of
from ipucloud.quotas.store import Quota, list_quotas, set_limit

routes = router()

_COUNTED = {quota.sku: quota for quota in (VOLUME_QUOTA, ADDRESS_QUOTA)}


@routes.get(
    "/v1/projects/{project}/quotas",
    **operation("listQuotas", "Read quotas", Permission.PROJECT_READ, gives=QuotaPage, headers=(IF_NONE_MATCH,)),
)
async def list_project_quotas(request: Request, project: ProjectRef, query: QuotaList) -> Response:
    """List the quotas that are set and match every filter. Without a quota of machines, no cluster can be created.

    Those of volumes and snapshots, in GiB, have the type `volume-gib`, and those of addresses `address`; where none was
    set, they have the default limit. They are one document with one ETag, which PUT replaces as a whole: one page.
    """
    async with reading(request, project) as (connection, scope):
        quotas = await _quotas(connection, request, scope)
    region = region_slug(request, query.region)
    shown = [
        quota for quota in quotas if region in {None, quota.region} and query.machine_type in {None, quota.machine_type}
    ]
    by = attrgetter(query.order.removeprefix("-"), "region", "machine_type")
    ordered = sorted(shown, key=by, reverse=query.order.startswith("-"))
    return tagged(request, _document(ordered), _version(quotas))


@routes.put(
    "/v1/projects/{project}/quotas",
    **operation(
        "replaceQuotas",
        "Set quotas",
        Permission.PLATFORM_WRITE,
        gives=QuotaPage,
        errors=(PRECONDITION_FAILED, PRECONDITION_REQUIRED, STATE_CONFLICT),
        headers=(REQUIRED_IF_MATCH,),
    ),
)
async def replace_quotas(request: Request, project: ProjectRef, body: QuotaLimits) -> Response:
    """Replace all limits of the project. A limit cannot be below current use.

    An omitted one becomes 0; one of storage, which has the type `volume-gib`, or of addresses, which has the type
    `address`, the default.
    """
    if_version = required_version(request)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await projects.lock(connection, scope.project_id)
        quotas = await _quotas(connection, request, scope)
        before = {(quota.region, quota.machine_type): 0 for quota in quotas}
        requested = _requested(body, catalogue_of(request), before.keys())
        limits = {key: limit for key, limit in (before | requested).items() if key[1] not in _COUNTED}
        if _version(quotas) != if_version:
            raise changed_since(_version(quotas), _document(quotas))
        await _set_counted(connection, request, scope, quotas, requested)
        for (region, machine_type), machines in sorted(limits.items()):
            await set_limit(
                connection,
                project_id=scope.project_id,
                region=region,
                machine_type=machine_type,
                machines=machines,
            )
        await record(
            connection,
            QUOTA_UPDATED,
            project_id=scope.project_id,
            subject_id=scope.project_id,
            request_id=actor(request, scope).request_id,
        )
        stored = await _quotas(connection, request, scope)
        document = _document(stored)
        return Answer(200, document, {"ETag": tag(_version(stored), document)})

    return await change(request, project, effect)


async def _quotas(connection: Statements, request: Request, scope: Scope) -> list[Quota]:
    """Those of machines, of storage and of addresses."""
    defaults = DefaultLimits.of(services_of(request).settings)
    quotas = await list_quotas(connection, project_id=scope.project_id)
    for sku, counted in _COUNTED.items():
        quotas += await counted.list(connection, project_id=scope.project_id, default=defaults.of_type(sku))
    return sorted(quotas)


async def _set_counted(
    connection: AsyncConnection,
    request: Request,
    scope: Scope,
    quotas: Sequence[Quota],
    requested: Mapping[tuple[str, str], int],
) -> None:
    """Set the limits of storage and addresses that differ from the present ones. Raises `Problem` state_conflict."""
    defaults = DefaultLimits.of(services_of(request).settings)
    present = {(quota.region, quota.machine_type): quota.limit for quota in quotas}
    for key in sorted(each for each in present.keys() | requested.keys() if each[1] in _COUNTED):
        region, kind = key
        default = defaults.of_type(kind)
        if requested.get(key, default) == present.get(key, default):
            continue
        await _COUNTED[kind].change(
            connection, project_id=scope.project_id, region=region, limit=requested.get(key), default=default
        )


def _requested(
    body: QuotaLimits, catalogue: Catalogue, limited: Collection[tuple[str, str]]
) -> dict[tuple[str, str], int]:
    """The limits by (region, machine type): types that are sold, or already in `limited`.

    Raises `Problem` validation_failed.
    """
    requested: dict[tuple[str, str], int] = {}
    faults = []
    for place, item in enumerate(body.items):
        slug = slug_of(catalogue, item.region)
        wrong = not_sold(catalogue, item.region, item.machine_type)
        if wrong is not None and (slug, item.machine_type) not in limited:
            faults.append(FieldError(f"/items/{place}", "not_sold", wrong.detail))
            continue
        if (slug, item.machine_type) in requested:
            faults.append(FieldError(f"/items/{place}", "repeated", "List each region and machine type only once."))
        requested[slug, item.machine_type] = item.limit
    if faults:
        raise invalid(faults)
    return requested


def _document(quotas: Sequence[Quota]) -> bytes:
    items = [
        {
            "region": quota.region,
            "machine_type": quota.machine_type,
            "unit": COUNTED_UNITS.get(quota.machine_type, "machine"),
            "limit": quota.limit,
            "used": quota.used,
        }
        for quota in quotas
    ]
    return orjson.dumps({"items": items, "next_cursor": None})


def _version(quotas: Sequence[Quota]) -> int:
    """Changes with the limits, not with their use."""
    return zlib.crc32(orjson.dumps([[quota.region, quota.machine_type, quota.limit] for quota in quotas]))

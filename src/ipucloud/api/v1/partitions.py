"""Partitions of a cluster's IPUs, and their IPUoF configurations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON, current_tag, expected_version, tagged
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import behind, page
from ipucloud.api.problems import invalid
from ipucloud.api.reads import read, read_one
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import IF_NONE_MATCH, ClusterId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.operations import ACCEPTED, accepted, begins
from ipucloud.api.writes import actor, change
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.operations import OperationOut
from ipucloud.contract.partitions import (
    IpuofConfigOut,
    OneGcd,
    PartitionCreate,
    PartitionDetailOut,
    PartitionList,
    PartitionPage,
    PartitionReset,
)
from ipucloud.db.documents import list_parameters
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import (
    NAME_TAKEN,
    NO_VIPU,
    OPERATION_IN_PROGRESS,
    STATE_CONFLICT,
    FieldError,
    Problem,
    not_found,
)
from ipucloud.operations.store import Accepted
from ipucloud.partitions.queries import (
    GET_IPUOF,
    GET_PARTITION,
    LIST_PARTITIONS,
    partition_document,
)
from ipucloud.partitions.requests import create, no_vipu, remove, reset


class _Name(Convertor[str]):
    """A partition's name or its id at the controller; no colon, which starts the name of an action."""

    regex = "[A-Za-z0-9._-]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("partition", _Name())

routes = router()

_AS_IT_IS_SET = PartitionReset(relocatable=False)

PartitionRef = Annotated[
    str,
    Field(
        description="Name or id of the partition, or its id at the controller.",
        pattern=r"^[A-Za-z0-9._-]+$",
        examples=["training"],
    ),
]
_BUSY = (NO_VIPU, STATE_CONFLICT, OPERATION_IN_PROGRESS)
_ONE = "/v1/projects/{project}/clusters/{cluster:ref}/partitions/{partition:partition}"


@routes.get(
    "/v1/projects/{project}/clusters/{cluster:ref}/partitions",
    **operation(
        "listPartitions", "List a cluster's partitions", Permission.CLUSTER_READ, gives=PartitionPage, errors=(NO_VIPU,)
    ),
)
async def list_partitions(request: Request, project: ProjectRef, cluster: ClusterId, query: PartitionList) -> Response:
    """List the cluster's partitions: those at its controller and those requested here. `origin` is who created it."""
    trace_of(request).concerns(cluster_id=cluster)
    parameters = list_parameters(query, behind(query, request))
    row = await read(request, LIST_PARTITIONS[query.order], project, cluster_id=cluster, **parameters)
    if row.allocated_through is None:
        raise not_found()
    if row.allocated_through is not AllocatedThrough.V_IPU:
        raise no_vipu()
    return page(query, request, row.page())


@routes.post(
    "/v1/projects/{project}/clusters/{cluster:ref}/partitions",
    **operation(
        "createPartition",
        "Create a partition",
        Permission.CLUSTER_WRITE,
        gives=OperationOut,
        status=202,
        description=ACCEPTED,
        errors=(*_BUSY, NAME_TAKEN),
    ),
)
async def create_partition(
    request: Request, project: ProjectRef, cluster: ClusterId, body: PartitionCreate
) -> Response:
    """Create a partition of free IPUs of the cluster.

    A partition that these machines can never hold is refused immediately. If there is no room at present, the
    operation fails, and its `error` has the free blocks and what would fit. The partition created with the cluster
    has all IPUs: remove it first.
    """
    trace_of(request).concerns(cluster_id=cluster)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        creation = await create(
            connection, actor(request, scope), cluster, body, settings=services_of(request).settings
        )
        return await accepted(connection, scope, creation.operation_id, cluster)

    return await change(request, project, effect)


@routes.get(
    _ONE,
    **operation(
        "getPartition",
        "Read a partition",
        Permission.CLUSTER_READ,
        gives=PartitionDetailOut,
        headers=(IF_NONE_MATCH,),
    ),
)
async def get_partition(request: Request, project: ProjectRef, cluster: ClusterId, partition: PartitionRef) -> Response:
    """Return a partition with its IPUs, as reported by the controller at `observed_at`."""
    trace_of(request).concerns(cluster_id=cluster)
    document, version = await read_one(request, GET_PARTITION, project, cluster_id=cluster, ref=partition)
    return tagged(request, document, version)


@routes.delete(
    _ONE,
    **begins("removePartition", "Remove a partition", *_BUSY),
)
async def remove_partition(
    request: Request, project: ProjectRef, cluster: ClusterId, partition: PartitionRef
) -> Response:
    """Remove a partition that was requested here or created with the cluster. Programs that use it are disconnected.

    An open operation on the partition fails with `preempted`. A repeated request returns the running removal.
    """
    return await _begun(request, project, cluster, partition, remove)


@routes.post(
    _ONE + ":reset",
    **begins("resetPartition", "Reset a partition", *_BUSY),
)
async def reset_partition(
    request: Request,
    project: ProjectRef,
    cluster: ClusterId,
    partition: PartitionRef,
    body: PartitionReset = _AS_IT_IS_SET,
) -> Response:
    """Reset the IPUs of a partition, ending programs that use it. The reset is complete when the operation is done."""
    return await _begun(request, project, cluster, partition, partial(reset, body=body))


@routes.get(
    _ONE + "/ipuof-config",
    **operation(
        "getPartitionConfig",
        "Download an IPUoF configuration",
        Permission.CLUSTER_READ,
        gives=IpuofConfigOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def get_partition_config(
    request: Request,
    project: ProjectRef,
    cluster: ClusterId,
    partition: PartitionRef,
    query: OneGcd,
) -> Response:
    """Return the controller's file that lets programs of one GCD connect to the partition's IPUs."""
    trace_of(request).concerns(cluster_id=cluster)
    row = await read(request, GET_IPUOF, project, cluster_id=cluster, ref=partition, gcd=query.gcd)
    if row.external_name is None:
        raise not_found()
    if row.gcds is None:
        raise Problem(
            STATE_CONFLICT, "The controller has not provided a configuration yet. Wait until the partition is active."
        )
    if row.document is None:
        raise invalid([FieldError("?gcd", "unknown_gcd", f"The partition has GCDs 0 to {row.gcds - 1}.")])
    middle = "" if row.gcds == 1 else f"_gcd{query.gcd}"
    name = f"{row.external_name}{middle}_ipuof.conf"
    return Response(row.document, media_type=JSON, headers={"Content-Disposition": f'attachment; filename="{name}"'})


async def _begun(
    request: Request, project: str, cluster: UUID, partition: str, begin: Callable[..., Awaitable[Accepted]]
) -> Response:
    """202 with the operation on the partition that `begin` opened or found open."""
    trace_of(request).concerns(cluster_id=cluster)
    if_match, settings = expected_version(request), services_of(request).settings

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        read = partial(partition_document, connection, project_id=scope.project_id, cluster_id=cluster, ref=partition)
        async with current_tag(read):
            opened = await begin(
                connection, actor(request, scope), cluster, partition, if_match=if_match, settings=settings
            )
        return await accepted(connection, scope, opened.operation_id, cluster)

    return await change(request, project, effect)

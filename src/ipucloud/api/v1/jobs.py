"""Jobs: programs that the service runs on Poplar servers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.idempotency import Answer
from ipucloud.api.programs import listed, printed, shown
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import ClusterId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.writes import actor, change
from ipucloud.contract.jobs import JobCreate, JobList, JobLogOut, JobLogQuery, JobOut, JobPage
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import NO_CONTAINERS, STATE_CONFLICT
from ipucloud.programs.jobs.queries import JOB_DOCUMENTS
from ipucloud.programs.jobs.store import create, stop


class _Number(Convertor[str]):
    """A job's number or its id; no colon, which starts the name of an action."""

    regex = "[0-9A-Fa-f-]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("job", _Number())

routes = router()

JobRef = Annotated[
    str,
    Field(
        description="Number of the job in its cluster, or its id.",
        pattern=r"^[0-9A-Fa-f-]+$",
        max_length=40,
        examples=["1"],
    ),
]
_ALL = "/v1/projects/{project}/clusters/{cluster:ref}/jobs"
_ONE = _ALL + "/{job:job}"


@routes.get(_ALL, **operation("listJobs", "List a cluster's jobs", Permission.CLUSTER_READ, gives=JobPage))
async def list_jobs(request: Request, project: ProjectRef, cluster: ClusterId, query: JobList) -> Response:
    """List the jobs of a cluster, newest first. They stay when the cluster is deleted."""
    return await listed(request, JOB_DOCUMENTS, project, cluster, query)


@routes.post(
    _ALL,
    **operation(
        "createJob",
        "Run a program",
        Permission.CLUSTER_WRITE,
        gives=JobOut,
        status=201,
        errors=(STATE_CONFLICT, NO_CONTAINERS),
    ),
)
async def create_job(request: Request, project: ProjectRef, cluster: ClusterId, body: JobCreate) -> Response:
    """Run a program on a Poplar server of a cluster in use, independent of any login.

    Jobs of a server run one after another, in the order in which they were requested. The program has the files of the
    server, which are brought there over SSH, and no input. It is started at most once, unless `retries` asks for more.
    """
    trace_of(request).concerns(cluster_id=cluster)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        job = await create(
            connection, actor(request, scope), cluster, body, services_of(request).settings.sealing_keys()
        )
        document = await JOB_DOCUMENTS.read(
            connection, project_id=scope.project_id, cluster_id=cluster, ref=str(job.number)
        )
        location = f"/v1/projects/{scope.project_id}/clusters/{cluster}/jobs/{job.number}"
        return Answer(201, document.encode(), {"Location": location}, job.id)

    return await change(request, project, effect)


@routes.get(_ONE, **operation("getJob", "Read a job", Permission.CLUSTER_READ, gives=JobOut))
async def get_job(request: Request, project: ProjectRef, cluster: ClusterId, job: JobRef) -> Response:
    """Return a job, as the site showed it at `observed_at`."""
    return await shown(request, JOB_DOCUMENTS, project, cluster, job)


@routes.post(_ONE + ":stop", **operation("stopJob", "Stop a job", Permission.CLUSTER_WRITE, gives=JobOut))
async def stop_job(request: Request, project: ProjectRef, cluster: ClusterId, job: JobRef) -> Response:
    """End a job: its program gets SIGTERM, and SIGKILL ten seconds later. One that has not begun does not begin.

    A job that has ended stays as it is; read the answer.
    """
    trace_of(request).concerns(cluster_id=cluster)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        stopped = await stop(connection, actor(request, scope), cluster, job)
        document = await JOB_DOCUMENTS.read(connection, project_id=scope.project_id, cluster_id=cluster, ref=job)
        return Answer(200, document.encode(), {}, stopped)

    return await change(request, project, effect)


@routes.get(_ONE + "/log", **operation("getJobLog", "Read a job's output", Permission.CLUSTER_READ, gives=JobLogOut))
async def get_job_log(
    request: Request, project: ProjectRef, cluster: ClusterId, job: JobRef, query: JobLogQuery
) -> Response:
    """Return what the program wrote, in parts. To follow it, repeat with `after` = `next` until `complete`."""
    return await printed(request, JOB_DOCUMENTS, project, cluster, job, query=query)

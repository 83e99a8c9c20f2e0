"""Tools that change something: each returns a preview first, and acts when it is called again with its confirmation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

from ipucloud.client import clusters, jobs, operations, tokens
from ipucloud.client.aio import AsyncClient
from ipucloud.client.call import Call
from ipucloud.client.clusters import NewCluster
from ipucloud.client.jobs import NewJob
from ipucloud.client.models import Operation
from ipucloud.extras.mcp.confirming import Confirmations
from ipucloud.extras.mcp.reading import Cluster, Image, Job
from ipucloud.extras.mcp.results import Result, answer_of, readable, run, shown

Confirmation = Annotated[
    str | None, Field(description="What the preview returned, once the user has agreed; omit it for a preview.")
]
_SHOWN = ("id", "name", "state", "region", "flavor", "ipus", "created_at", "tags", "delete_protection")


class Changing:
    """The tools of a session that change something."""

    def __init__(self, client: AsyncClient, confirmations: Confirmations) -> None:
        self._client = client
        self._confirmations = confirmations

    def tools(self) -> list[Callable[..., Any]]:
        return [
            self.create_cluster,
            self.resume_cluster,
            self.resize_cluster,
            self.suspend_cluster,
            self.reboot_cluster,
            self.delete_cluster,
            self.run_job,
            self.stop_job,
            self.cancel_operation,
        ]

    async def create_cluster(
        self,
        *,
        name: Annotated[str, Field(description="Name of the cluster, unique in the project.")],
        region: Annotated[str, Field(description="Slug of the region.")],
        flavor: Annotated[str, Field(description="Name of the flavor.")],
        image: Image,
        ssh_keys: Annotated[list[str], Field(description="Names of the project's keys that may log in.")],
        volumes: Annotated[
            list[str] | None, Field(description="Names of available volumes for its first server.")
        ] = None,
        preemptible: Annotated[bool, Field(description="Whether it may be suspended when others need it.")] = False,
        confirmation: Confirmation = None,
    ) -> Result:
        """Create a cluster, which costs money by the minute until it is suspended or deleted."""
        arguments = {
            "name": name,
            "region": region,
            "flavor": flavor,
            "image": image,
            "ssh_keys": ssh_keys,
            "volumes": volumes or [],
            "preemptible": preemptible,
        }
        new_cluster = NewCluster(
            name, region, flavor, image, ssh_keys=ssh_keys, volumes=volumes or (), preemptible=preemptible
        )
        if confirmation is None:
            estimate = await answer_of(self._client, clusters.estimate(new_cluster))
            effect = f"creates the cluster {name}, which costs money from when it is ready"
            return self._confirmations.preview("create_cluster", arguments, await self._with_limit(estimate), effect)
        self._confirmations.redeem(confirmation, "create_cluster", arguments)
        return await self._begin(clusters.create(new_cluster))

    async def resume_cluster(self, cluster: Cluster, confirmation: Confirmation = None) -> Result:
        """Resume a suspended cluster, which costs money by the minute from when it is ready."""
        arguments = {"cluster": cluster}
        if confirmation is None:
            return await self._preview(
                "resume_cluster", arguments, cluster, "resumes the cluster; it costs money again"
            )
        tag = self._confirmations.redeem(confirmation, "resume_cluster", arguments)
        return await self._begin(clusters.resume(cluster, if_match=tag))

    async def resize_cluster(
        self,
        cluster: Cluster,
        flavor: Annotated[str, Field(description="Name of the new flavor.")],
        confirmation: Confirmation = None,
    ) -> Result:
        """Give a cluster more or fewer machines. Its servers restart: programs on them end."""
        arguments = {"cluster": cluster, "flavor": flavor}
        if confirmation is None:
            estimate = await answer_of(self._client, clusters.estimate_resize(cluster, flavor))
            effect = f"resizes the cluster to {flavor}; programs on it end, and its price changes"
            return await self._preview("resize_cluster", arguments, cluster, effect, {"estimate": estimate})
        tag = self._confirmations.redeem(confirmation, "resize_cluster", arguments)
        return await self._begin(clusters.resize(cluster, flavor, if_match=tag))

    async def suspend_cluster(self, cluster: Cluster, confirmation: Confirmation = None) -> Result:
        """Suspend a cluster: its machines are released, programs on it end, and it costs nothing. Disks are kept."""
        arguments = {"cluster": cluster}
        if confirmation is None:
            effect = "suspends the cluster; programs on it end, disks are kept"
            return await self._preview("suspend_cluster", arguments, cluster, effect)
        tag = self._confirmations.redeem(confirmation, "suspend_cluster", arguments)
        return await self._begin(clusters.suspend(cluster, if_match=tag))

    async def reboot_cluster(self, cluster: Cluster, confirmation: Confirmation = None) -> Result:
        """Restart a cluster's Poplar servers: programs on them end."""
        arguments = {"cluster": cluster}
        if confirmation is None:
            effect = "restarts the Poplar servers; programs on them end"
            return await self._preview("reboot_cluster", arguments, cluster, effect)
        tag = self._confirmations.redeem(confirmation, "reboot_cluster", arguments)
        return await self._begin(clusters.reboot(cluster, if_match=tag))

    async def delete_cluster(self, cluster: Cluster, confirmation: Confirmation = None) -> Result:
        """Delete a cluster with its servers and everything on their disks. This cannot be undone."""
        arguments = {"cluster": cluster}
        if confirmation is None:
            effect = "deletes the cluster and everything on its servers' disks, for ever"
            return await self._preview("delete_cluster", arguments, cluster, effect)
        tag = self._confirmations.redeem(confirmation, "delete_cluster", arguments)
        return await self._begin(clusters.delete(cluster, if_match=tag))

    async def run_job(
        self,
        *,
        cluster: Cluster,
        command: Annotated[list[str], Field(description="The program and its arguments.", min_length=1)],
        directory: Annotated[str | None, Field(description="Where it runs on the server.")] = None,
        max_minutes: Annotated[int | None, Field(description="Stop it so long after its start.", ge=1)] = None,
        image: Annotated[str | None, Field(description="Public container image that it runs in.")] = None,
        confirmation: Confirmation = None,
    ) -> Result:
        """Run a program on a cluster's Poplar server."""
        job = NewJob(command, directory=directory, max_minutes=max_minutes, image=image)
        arguments = {"cluster": cluster} | job.body()
        if confirmation is None:
            effect = "runs this program on the cluster, with what its user may do there"
            return await self._preview("run_job", arguments, cluster, effect, {"command": command, "image": image})
        self._confirmations.redeem(confirmation, "run_job", arguments)
        return {"done": True, "job": await answer_of(self._client, jobs.create(cluster, job))}

    async def stop_job(self, cluster: Cluster, job: Job, confirmation: Confirmation = None) -> Result:
        """End a job's program, or keep it from beginning."""
        arguments = {"cluster": cluster, "job": job}
        if confirmation is None:
            current = await answer_of(self._client, jobs.get(cluster, job))
            return self._confirmations.preview("stop_job", arguments, {"job": current}, "ends the program")
        self._confirmations.redeem(confirmation, "stop_job", arguments)
        return {"done": True, "job": await answer_of(self._client, jobs.stop(cluster, job))}

    async def cancel_operation(
        self,
        operation: Annotated[str, Field(description="Id of the operation.")],
        confirmation: Confirmation = None,
    ) -> Result:
        """Cancel an operation that runs: what it did is undone."""
        arguments = {"operation": operation}
        if confirmation is None:
            current = await answer_of(self._client, operations.get(operation))
            effect = "cancels the operation and undoes what it did; a cluster that is being created is removed"
            return self._confirmations.preview("cancel_operation", arguments, {"operation": current}, effect)
        self._confirmations.redeem(confirmation, "cancel_operation", arguments)
        return await self._begin(operations.cancel(operation))

    async def _preview(
        self, tool: str, arguments: Result, cluster: str, effect: str, more: Result | None = None
    ) -> Result:
        """A preview of what happens to a cluster; the confirmation is for the cluster as it is now."""
        current = await readable(self._client.run_tagged(clusters.get(cluster)))
        document = shown(current.value)
        facts = {name: document.get(name) for name in _SHOWN}
        preview = await self._with_limit({"cluster": facts, **(more or {})})
        return self._confirmations.preview(tool, arguments, preview, effect, if_match=current.etag)

    async def _with_limit(self, preview: Result) -> Result:
        token = (await run(self._client, tokens.whoami())).token
        return preview | {"session": {"cost_limit": shown(token.cost_limit), "cost": shown(token.cost)}}

    async def _begin(self, call: Call[Operation]) -> Result:
        return {"done": True, "operation": await answer_of(self._client, call)}

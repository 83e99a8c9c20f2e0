"""The kinds of trial in which a program runs on a cluster: it runs once, whatever dies meanwhile."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from ipucloud.contract.jobs import JobCreate
from ipucloud.contract.services import ServiceCreate
from ipucloud.programs.jobs.store import create, stop
from ipucloud.programs.services.store import create as create_service
from ipucloud.programs.services.store import stop as stop_service
from tests.crash.kinds import Beside, Expectation
from tests.crash.lab import Lab
from tests.crash.victims import Victim
from tests.support.machine import Need, need
from tests.support.waiting import until

_LAST = "SELECT id FROM jobs WHERE cluster_id = :id ORDER BY number DESC LIMIT 1"


class RunJob(Beside):
    name = "run-job"
    state: ClassVar[str] = "succeeded"
    ending: ClassVar[str] = "true"
    wrote: ClassVar[tuple[str, ...]] = ("1",)
    """What the program may have written: it ran once."""

    async def start(self, lab: Lab, cluster: UUID) -> None:
        need(Need.SANDBOX)
        file = f"runs-{lab.fresh()}"
        script = f"echo ran >> {file}; wc -l < {file}; {self.ending}"
        async with lab.database.begin() as connection:
            await create(connection, lab.project.actor, cluster, JobCreate(command=["sh", "-c", script]), None)

    async def complete(self, lab: Lab, cluster: UUID) -> None:
        ended = "SELECT ended_at IS NOT NULL FROM jobs WHERE id = :id"
        job = await self.last(lab, cluster)
        await until(lambda: lab.value(ended, id=job), "the job ends")

    async def check(self, lab: Lab, cluster: UUID) -> None:
        job = await self.last(lab, cluster)
        state = await lab.value("SELECT state FROM jobs WHERE id = :id", id=job)
        assert state == self.state, f"the job is {state}"
        wrote = "".join(await lab.column("SELECT text FROM job_logs WHERE job_id = :id ORDER BY number", id=job))
        assert wrote.strip() in self.wrote, f"it wrote {wrote!r}"

    async def last(self, lab: Lab, cluster: UUID) -> UUID:
        job: UUID = await lab.value(_LAST, id=cluster)
        return job


class StopJob(RunJob):
    """A program that ends only because it is stopped, perhaps before it began."""

    name, state = "stop-job", "stopped"
    ending = "exec sleep 100000"
    wrote = ("", "1")

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await victim.reached("site.after:hosts.put_job")
        await super().drive(lab, expectation, victim)

    async def complete(self, lab: Lab, cluster: UUID) -> None:
        async with lab.database.begin() as connection:
            await stop(connection, lab.project.actor, cluster, str(await self.last(lab, cluster)))
        await super().complete(lab, cluster)


class RunService(Beside):
    """A program that is kept running, and that ends with its service."""

    name = "run-service"

    async def start(self, lab: Lab, cluster: UUID) -> None:
        need(Need.SANDBOX)
        script = 'echo x >> "$0"; wc -l < "$0"; exec sleep 100000'
        command = ["sh", "-c", script, f"starts-{lab.fresh()}"]
        body = ServiceCreate(name="chat", command=command, port=8000)
        async with lab.database.begin() as connection:
            await create_service(connection, lab.project.actor, cluster, body, None)

    async def complete(self, lab: Lab, cluster: UUID) -> None:
        service = (await self._last(lab, cluster)).id
        runs = "SELECT log_bytes > 0 OR ended_at IS NOT NULL FROM services WHERE id = :id"
        await until(lambda: lab.value(runs, id=service), "the service runs")
        async with lab.database.begin() as connection:
            await stop_service(connection, lab.project.actor, cluster, str(service))
        ended = "SELECT ended_at IS NOT NULL FROM services WHERE id = :id"
        await until(lambda: lab.value(ended, id=service), "the service ends")

    async def check(self, lab: Lab, cluster: UUID) -> None:
        last = await self._last(lab, cluster)
        logs = "SELECT text FROM service_logs WHERE service_id = :id ORDER BY number"
        wrote = "".join(await lab.column(logs, id=last.id))
        assert (last.attempt, wrote.strip()) == (1, "1"), f"start {last.attempt} wrote {wrote!r}"

    async def _last(self, lab: Lab, cluster: UUID) -> Any:
        return await lab.one("SELECT * FROM services WHERE cluster_id = :id ORDER BY id DESC LIMIT 1", id=cluster)


JOB_KINDS = (RunJob(), StopJob(), RunService())

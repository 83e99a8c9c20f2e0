"""The kinds of trial in which a program runs on a cluster: it runs once, whatever dies meanwhile."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from ipucloud.contract.jobs import JobCreate
from ipucloud.contract.services import ServiceCreate
from ipucloud.programs.jobs.store import create, stop
from ipucloud.programs.services.store import create as create_service
from ipucloud.programs.services.store import stop as stop_service
from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.victims import Victim
from tests.support.machine import Need, need
from tests.support.waiting import until

_LAST = "SELECT id FROM jobs WHERE cluster_id = :id ORDER BY number DESC LIMIT 1"


class RunJob(Kind):
    name = "run-job"
    state: ClassVar[str] = "succeeded"
    ending: ClassVar[str] = "true"

    async def ask(self, lab: Lab) -> Expectation:
        need(Need.SANDBOX)
        cluster = await lab.an_active_cluster()
        file = f"runs-{lab.fresh()}"
        script = f"echo ran >> {file}; wc -l < {file}; {self.ending}"
        async with lab.database.begin() as connection:
            await create(connection, lab.project.actor, cluster, JobCreate(command=["sh", "-c", script]), None)
        creation = await lab.creation(cluster)
        return Expectation(cluster, creation, "succeeded", "active")

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await self._ended(lab, expectation)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.survivor():
            await self._ended(lab, expectation)
        job = await self._last(lab, expectation)
        state = await lab.value("SELECT state FROM jobs WHERE id = :id", id=job)
        assert state == self.state, f"the job is {state}"
        wrote = "".join(await lab.column("SELECT text FROM job_logs WHERE job_id = :id ORDER BY number", id=job))
        assert wrote.strip() in self.wrote(), f"it wrote {wrote!r}"

    def wrote(self) -> tuple[str, ...]:
        """What the program may have written: it ran once."""
        return ("1",)

    async def _last(self, lab: Lab, expectation: Expectation) -> UUID:
        job: UUID = await lab.value(_LAST, id=expectation.cluster)
        return job

    async def _ended(self, lab: Lab, expectation: Expectation) -> None:
        job = await self._last(lab, expectation)

        async def over() -> bool:
            return bool(await lab.value("SELECT ended_at IS NOT NULL FROM jobs WHERE id = :id", id=job))

        await until(over, "the job ends")


class StopJob(RunJob):
    """A program that ends only because it is stopped, perhaps before it began."""

    name = "stop-job"
    state = "stopped"
    ending = "exec sleep 100000"

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await victim.reached("site.after:hosts.put_job")
        await self._stop(lab, expectation)
        await super().drive(lab, expectation, victim)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        await self._stop(lab, expectation)
        await super().recover(lab, expectation)

    def wrote(self) -> tuple[str, ...]:
        return ("", "1")

    async def _stop(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.database.begin() as connection:
            await stop(connection, lab.project.actor, expectation.cluster, str(await self._last(lab, expectation)))


class RunService(Kind):
    """A program that is kept running, and that ends with its service."""

    name = "run-service"

    async def ask(self, lab: Lab) -> Expectation:
        need(Need.SANDBOX)
        cluster = await lab.an_active_cluster()
        script = 'echo x >> "$0"; wc -l < "$0"; exec sleep 100000'
        command = ["sh", "-c", script, f"starts-{lab.fresh()}"]
        body = ServiceCreate(name="chat", command=command, port=8000)
        async with lab.database.begin() as connection:
            await create_service(connection, lab.project.actor, cluster, body, None)
        creation = await lab.creation(cluster)
        return Expectation(cluster, creation, "succeeded", "active")

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await self._runs_and_ends(lab, expectation)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.survivor():
            await self._runs_and_ends(lab, expectation)
        service = await self._last(lab, expectation)
        starts = await lab.value("SELECT attempt FROM services WHERE id = :id", id=service)
        wrote = "".join(
            await lab.column("SELECT text FROM service_logs WHERE service_id = :id ORDER BY number", id=service)
        )
        assert (starts, wrote.strip()) == (1, "1"), f"start {starts} wrote {wrote!r}"

    async def _last(self, lab: Lab, expectation: Expectation) -> UUID:
        service: UUID = await lab.value(
            "SELECT id FROM services WHERE cluster_id = :id ORDER BY id DESC LIMIT 1", id=expectation.cluster
        )
        return service

    async def _runs_and_ends(self, lab: Lab, expectation: Expectation) -> None:
        service = await self._last(lab, expectation)

        async def wrote() -> bool:
            printed = await lab.value(
                "SELECT log_bytes > 0 OR ended_at IS NOT NULL FROM services WHERE id = :id", id=service
            )
            return bool(printed)

        async def over() -> bool:
            return bool(await lab.value("SELECT ended_at IS NOT NULL FROM services WHERE id = :id", id=service))

        await until(wrote, "the service runs")
        async with lab.database.begin() as connection:
            await stop_service(connection, lab.project.actor, expectation.cluster, str(service))
        await until(over, "the service ends")


JOB_KINDS: tuple[Kind, ...] = (RunJob(), StopJob(), RunService())

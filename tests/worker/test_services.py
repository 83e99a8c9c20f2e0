"""Services: their programs are kept running at the simulated site, one at a time, whatever ends them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from ipucloud.contract.services import ServiceCreate, ServiceDeploy
from ipucloud.kernel.errors import STATE_CONFLICT
from ipucloud.programs.services.releases import deploy, rollback
from ipucloud.programs.services.store import LOCK, MOST_SERVICES, create, program_ended, stop
from tests.support.machine import Need, needs
from tests.support.waiting import until
from tests.support.world import SiteWorld
from tests.worker import test_jobs as jobs
from tests.worker.customers import refused

pytestmark = [pytest.mark.anyio, needs(Need.SANDBOX)]

SERVE = ["sh", "-c", "echo $PORT >> starts; echo up; exec sleep 100000"]


async def serve(world: SiteWorld, cluster: UUID, command: list[str] = SERVE, **more: Any) -> UUID:
    spec: dict[str, Any] = {"name": "chat", "port": 8000} | more
    async with world.database.begin() as connection:
        return await create(connection, world.project.actor, cluster, ServiceCreate(command=command, **spec), None)


async def halt(world: SiteWorld, cluster: UUID, service: UUID) -> None:
    async with world.database.begin() as connection:
        await stop(connection, world.project.actor, cluster, str(service))


async def row(world: SiteWorld, service: UUID) -> Any:
    return await world.one("SELECT * FROM services WHERE id = :id", id=service)


async def became(world: SiteWorld, service: UUID, state: str, *, attempt: int = 1) -> Any:
    is_so = "SELECT state = :state AND attempt >= :attempt FROM services WHERE id = :id"
    await until(lambda: world.value(is_so, id=service, state=state, attempt=attempt), f"the service becomes {state}")
    return await row(world, service)


async def printed(world: SiteWorld, service: UUID, expected: str) -> None:
    is_so = "SELECT string_agg(text, '' ORDER BY number) = :text FROM service_logs WHERE service_id = :id"
    await until(lambda: world.value(is_so, id=service, text=expected), f"the service has printed {expected!r}")


async def events(world: SiteWorld, service: UUID) -> list[str]:
    return await world.column("SELECT type FROM events WHERE subject_id = :id ORDER BY id", id=service)


async def job_prints(world: SiteWorld, cluster: UUID, command: list[str]) -> str:
    job = await jobs.run(world, cluster, command)
    await jobs.ended(world, job)
    return await jobs.text(world, job)


async def test_a_program_that_is_killed_runs_again_and_jobs_run_beside_it(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        service = await serve(world, cluster)
        await became(world, service, "running")
        await printed(world, service, "up\n")
        await job_prints(world, cluster, ["pkill", "-9", "-x", "sleep"])
        again = await became(world, service, "running", attempt=2)
        assert (again.failures, again.exit_status) == (1, 137)
        await printed(world, service, "up\nup\n")
        assert await job_prints(world, cluster, ["cat", "starts"]) == "8000\n8000\n"
        await halt(world, cluster, service)
        done = await became(world, service, "stopped")
        assert (done.ended_by, done.exit_status, done.state_reason) == ("request", 143, "stopped by request")
        life = ("created", "started", "restarted", "started", "stopped")
        assert await events(world, service) == [f"service.{what}" for what in life]


async def test_a_release_follows_when_the_program_before_has_ended(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        first = await serve(world, cluster)
        await became(world, first, "running")
        other = ServiceDeploy(command=["sh", "-c", "echo second; exec sleep 100000"])
        async with world.database.begin() as connection:
            await deploy(connection, world.project.actor, cluster, "chat", body=other, keys=None)
        assert (await became(world, first, "stopped")).ended_by == "request"
        [second] = await world.column("SELECT id FROM services WHERE ended_at IS NULL")
        await became(world, second, "running")
        await printed(world, second, "second\n")
        async with world.database.begin() as connection:
            await rollback(connection, world.project.actor, cluster, "chat", keys=None)
        await became(world, second, "stopped")
        [third] = await world.column("SELECT id FROM services WHERE ended_at IS NULL")
        await became(world, third, "running")
        assert (await row(world, third)).command == SERVE
        assert await events(world, third) == ["service.created", "service.started"]


async def test_a_program_that_ends_again_and_again_is_given_up(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        service = await serve(world, cluster, ["sh", "-c", "exit 3"], max_restarts=1)
        done = await became(world, service, "failed")
        assert (done.attempt, done.ended_by, done.exit_status, done.failures) == (2, "program", 3, 2)
        assert done.state_reason == "exit status 3; started 2 times in a row"
        missing = await serve(world, cluster, ["no-such-program"], max_restarts=0)
        assert (await became(world, missing, "failed")).ended_by == "program"


HEALTHY = """
import http.server, os, pathlib

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503 if pathlib.Path("broken").exists() else 204)
        self.end_headers()

print("up", flush=True)
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""
SERVE_HTTP = ["python3", "-c", HEALTHY]
CHECK = {"path": "/healthz", "interval_seconds": 1, "timeout_seconds": 5, "failures": 2}


async def checked(world: SiteWorld, service: UUID, *, failed: bool) -> Any:
    is_so = "SELECT checked_at IS NOT NULL AND (checks_failed > 0) = :failed FROM services WHERE id = :id"
    await until(lambda: world.value(is_so, id=service, failed=failed), "the service is checked")
    return await row(world, service)


async def test_a_program_that_runs_and_does_not_work_is_started_again(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        service = await serve(world, cluster, SERVE_HTTP, health_check=CHECK)
        assert (await checked(world, service, failed=False)).state == "running"
        await job_prints(world, cluster, ["touch", "broken"])
        again = await became(world, service, "starting", attempt=2)
        why = "health checks in a row did not pass, the last one: GET /healthz: status 503; start 2 follows"
        many, _, rest = again.state_reason.partition(" ")
        assert (int(many) >= 2, rest) == (True, why), again.state_reason
        assert (again.failures, again.checked_at, again.checks_failed, again.unhealthy_at) == (1, None, 0, None)
        await job_prints(world, cluster, ["rm", "broken"])
        await became(world, service, "running", attempt=2)
        await checked(world, service, failed=False)
        await halt(world, cluster, service)
        ended = await became(world, service, "stopped")
        assert ended.ended_by == "request"
    assert (await events(world, service)).count("service.restarted") >= 1


async def test_a_program_that_is_still_starting_is_left_alone(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        service = await serve(world, cluster, health_check=CHECK | {"failures": 1, "start_seconds": 3600})
        service_row = await checked(world, service, failed=True)
        assert (service_row.state, service_row.attempt, service_row.unhealthy_at) == ("running", 1, None)
        assert service_row.check_detail == "nothing listens on port 8000"
        await world.execute("UPDATE services SET started_at = started_at - interval '1 hour'")
        await became(world, service, "starting", attempt=2)
        await halt(world, cluster, service)
        await became(world, service, "stopped")


async def test_pauses_grow_and_a_program_that_ran_for_a_minute_begins_anew(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        service = await serve(world, cluster, name="slow")
        await became(world, service, "running")
    pause = "SELECT extract(epoch FROM next_start_at - observed_at)::int FROM services WHERE id = :id"
    for began, failures, seconds in (("0 seconds", 10, 60), ("61 seconds", 1, 1)):
        await world.execute(
            "UPDATE services SET state = 'running', failures = 9, sent_at = app_now(),"
            " started_at = app_now() - CAST(:began AS interval) WHERE id = :id",
            began=began,
            id=service,
        )
        await _end_program(world, cluster, service)
        assert (await row(world, service)).failures == failures
        assert await world.value(pause, id=service) == seconds


async def _end_program(world: SiteWorld, cluster: UUID, service: UUID) -> None:
    """What a worker writes when the site shows that the program has ended."""
    scope = {"project_id": world.project.id, "cluster_id": cluster}
    async with world.database.begin() as connection:
        [locked] = [each for each in await LOCK.all(connection, scope) if each.id == service]
        await program_ended(connection, locked, "exit status 1", 1)


@pytest.mark.parametrize("action", ["drop_answer", "status_after", "status", "duplicate"])
async def test_an_unknown_outcome_starts_nothing_twice(world: SiteWorld, action: str) -> None:
    async with world.worker():
        cluster = await world.build()
        world.fault(call="hosts.put_job", action=action, times=2)
        world.fault(call="hosts.get_job", action=action, times=1)
        service = await serve(world, cluster)
        await printed(world, service, "up\n")
        assert (await row(world, service)).attempt == 1
        world.clear_faults()
        assert await job_prints(world, cluster, ["cat", "starts"]) == "8000\n"


async def test_a_suspended_cluster_starts_it_again_once_it_is_resumed(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        service = await serve(world, cluster)
        await became(world, service, "running")
        await world.succeeded(await world.suspend(cluster))
        waiting = await became(world, service, "starting", attempt=2)
        assert waiting.failures == 0
        assert (await refused(serve(world, cluster, name="other", port=8001))).kind is STATE_CONFLICT
        await world.succeeded(await world.resume(cluster))
        await became(world, service, "running", attempt=2)
        await world.succeeded(await world.delete(cluster))
        assert (await became(world, service, "stopped")).ended_by == "cluster"


async def test_a_cluster_has_so_many_services_at_the_most(world: SiteWorld) -> None:
    cluster = await world.make_active()
    for number in range(MOST_SERVICES):
        await serve(world, cluster, name=f"s{number}", port=8000 + number)
    assert (await refused(serve(world, cluster, name="more", port=9000))).kind is STATE_CONFLICT
    assert await world.value("SELECT count(*) FROM services") == MOST_SERVICES


async def test_a_service_whose_image_cannot_be_had_says_why(world: SiteWorld) -> None:
    login = {"username": "ci", "password": "hunter2-hunter2"}
    async with world.worker():
        cluster = await world.build()
        service = await serve(world, cluster, image="127.0.0.1:1/none", registry=login, max_restarts=0)
        failed = await became(world, service, "failed")
    assert failed.state_reason == (
        "could not be started: the image 127.0.0.1:1/none could not be fetched: the registry 127.0.0.1:1 is, or refers"
        " to, an address that is not public; started 1 time in a row"
    )
    assert (failed.registry_username, failed.registry_password) == ("ci", None)
    event_data = await world.column("SELECT data::text FROM events WHERE subject_id = :id", id=service)
    assert not [each for each in event_data if "hunter2" in each]

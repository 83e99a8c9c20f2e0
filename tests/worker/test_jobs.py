"""Jobs: their programs run at the simulated site, at most once, whatever is lost, late or refused."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from pydantic import SecretStr

from ipucloud.contract.jobs import JobCreate
from ipucloud.kernel.errors import STATE_CONFLICT
from ipucloud.kernel.money import Money
from ipucloud.kernel.sealing import new_key, read_keys, stored_plain
from ipucloud.programs.environment import password_place
from ipucloud.programs.jobs.store import MAX_UNFINISHED, create, stop
from ipucloud.worker.reencryption import reencrypt
from tests.support.machine import Need, needs
from tests.support.waiting import until
from tests.support.world import SECRETS_KEY, SiteWorld
from tests.worker.customers import refused
from tests.worker.test_observation import observe

pytestmark = [pytest.mark.anyio, needs(Need.SANDBOX)]

ONCE = ["sh", "-c", "echo ran >> runs; wc -l < runs"]
FOREVER = ["sh", "-c", "echo up; exec sleep 100000"]


async def run(world: SiteWorld, cluster: UUID, command: list[str], **more: Any) -> UUID:
    body, keys = JobCreate(command=command, **more), read_keys(SECRETS_KEY)
    async with world.database.begin() as connection:
        return (await create(connection, world.project.actor, cluster, body, keys)).id


async def halt(world: SiteWorld, cluster: UUID, job: UUID) -> None:
    async with world.database.begin() as connection:
        await stop(connection, world.project.actor, cluster, str(job))


async def row(world: SiteWorld, job: UUID) -> Any:
    return await world.one("SELECT * FROM jobs WHERE id = :id", id=job)


async def text(world: SiteWorld, job: UUID) -> str:
    return "".join(await world.column("SELECT text FROM job_logs WHERE job_id = :id ORDER BY number", id=job))


async def became(world: SiteWorld, job: UUID, *states: str) -> Any:
    is_so = "SELECT state = ANY (:states) FROM jobs WHERE id = :id"
    await until(lambda: world.value(is_so, id=job, states=[*states]), f"the job becomes {states}")
    return await row(world, job)


async def ended(world: SiteWorld, job: UUID) -> Any:
    return await became(world, job, "succeeded", "failed", "stopped")


async def events(world: SiteWorld, job: UUID) -> list[str]:
    return await world.column("SELECT type FROM events WHERE subject_id = :id ORDER BY id", id=job)


async def test_a_program_runs_and_its_output_and_status_are_kept(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        job = await run(
            world, cluster, ["sh", "-c", "echo $SEED; printf '\\303\\244\\n'; pwd"], environment={"SEED": "7"}
        )
        done = await ended(world, job)
        assert (done.state, done.ended_by, done.exit_status, done.number) == ("succeeded", "program", 0, 1)
        assert await text(world, job) == "7\nä\n/home/ubuntu\n"
        assert done.created_at <= done.started_at <= done.ended_at
        assert done.cost is not None
        assert await events(world, job) == ["job.queued", "job.started", "job.succeeded"]
        second = await run(world, cluster, ["sh", "-c", "exit 3"])
        failed = await ended(world, second)
        assert (failed.state, failed.exit_status, failed.state_reason) == ("failed", 3, "exit status 3")
        assert failed.number == 2


async def test_a_worker_without_the_key_of_its_variables_waits_for_it(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
    job = await run(world, cluster, ["sh", "-c", "echo $SEED"], environment={"SEED": "v1.7"})
    assert "v1.7" not in str((await row(world, job)).environment)
    says_why = "SELECT state_reason LIKE '%IPUCLOUD_SECRETS_KEY%' FROM jobs WHERE id = :id"
    async with world.worker(secrets_key=SecretStr(new_key())):
        await until(lambda: world.value(says_why, id=job), "the job says what it waits for")
    newer = new_key()
    await reencrypt(world.database, read_keys(f"{newer},{SECRETS_KEY}"))
    async with world.worker(secrets_key=SecretStr(newer)):
        await ended(world, job)
    assert await text(world, job) == "v1.7\n"


async def test_variables_of_before_there_was_a_key_are_encrypted(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
    job = await run(world, cluster, ["sh", "-c", "echo $SEED $OTHER"], environment={"OTHER": "b"})
    plain = "UPDATE jobs SET environment = environment || jsonb_build_object('SEED', 'plain-text') WHERE id = :id"
    await world.execute(plain, id=job)
    await reencrypt(world.database, read_keys(SECRETS_KEY))
    stored = (await row(world, job)).environment
    assert ("plain-text" in str(stored), sorted(stored)) == (False, ["OTHER", "SEED"])
    async with world.worker():
        await ended(world, job)
    assert await text(world, job) == "plain-text b\n"


async def test_a_registrys_password_is_encrypted_anew(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
    login = {"username": "ci", "password": "hunter2-hunter2"}
    job = await run(world, cluster, ["true"], image="registry.example.com/a", registry=login)
    assert "hunter2" not in (before := (await row(world, job)).registry_password)
    newer = new_key()
    await reencrypt(world.database, read_keys(f"{newer},{SECRETS_KEY}"))
    after = (await row(world, job)).registry_password
    place = password_place("jobs", job, world.project.id)
    assert (after != before, stored_plain(read_keys(newer), after, place)) == (True, "hunter2-hunter2")
    await halt(world, cluster, job)
    assert (await row(world, job)).registry_password is None


async def test_a_job_that_holds_ipus_shows_in_the_metrics_of_its_cluster(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        await observe(world)
        idle = await world.one("SELECT * FROM cluster_samples")
        job = await run(world, cluster, ["ipu-run", "--", "sh", "-c", "echo up; exec sleep 100000"])
        printed = "SELECT count(*) > 0 FROM job_logs WHERE job_id = :id"
        await until(lambda: world.value(printed, id=job), "the program runs")
        await world.execute("DELETE FROM cluster_samples")
        await observe(world)
        busy = await world.one("SELECT * FROM cluster_samples")
        await halt(world, cluster, job)
        await ended(world, job)
    assert (idle.utilisation, idle.attached_ipus, busy.attached_ipus) == (0.0, 0, 4)
    assert (busy.machines, busy.machines_answered, busy.partitions, busy.partitions_active) == (1, 1, 1, 1)
    assert busy.utilisation > 50.0
    assert busy.power > idle.power > 0
    assert busy.temperature > idle.temperature
    assert busy.memory_used > 0
    assert busy.memory >= busy.memory_used
    assert busy.cpu is not None
    assert busy.link_errors == 0


@pytest.mark.parametrize("action", ["drop_answer", "status_after", "status", "duplicate"])
async def test_an_unknown_outcome_starts_nothing_twice(world: SiteWorld, action: str) -> None:
    async with world.worker():
        cluster = await world.build()
        world.fault(call="hosts.put_job", action=action, times=2)
        world.fault(call="hosts.get_job", action=action, times=1)
        job = await run(world, cluster, ONCE)
        assert (await ended(world, job)).state == "succeeded"
        assert (await text(world, job)).strip() == "1"


async def test_workers_that_end_leave_the_program_running(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        job = await run(
            world, cluster, ["sh", "-c", "echo begun >> runs; while [ ! -e go ]; do sleep 0.05; done; cat runs"]
        )
        await became(world, job, "running")
    async with world.worker():
        other = await run(world, cluster, ["touch", "go"])
        assert (await row(world, other)).state == "queued", "jobs of a server run one after another"
        await halt(world, cluster, other)
        stopped = await ended(world, other)
        assert (stopped.ended_by, stopped.started_at) == ("request", None)
        assert stopped.state_reason == "stopped by request before it began"
        await halt(world, cluster, job)
        assert (await ended(world, job)).state == "stopped"
        # SIGTERM, or SIGKILL if the machine was too busy for the program to end within ten seconds.
        assert (await row(world, job)).exit_status in {143, 137}


async def test_limits_of_time_and_cost_stop_a_program(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        timed = await run(world, cluster, FOREVER, max_minutes=1)
        await became(world, timed, "running")
        await world.execute("UPDATE jobs SET started_at = started_at - interval '2 minutes' WHERE id = :id", id=timed)
        done = await ended(world, timed)
        assert (done.state, done.ended_by) == ("stopped", "time_limit")
        assert done.state_reason == "stopped after 1 minute, its limit"
        priced = await run(world, cluster, FOREVER, max_cost=Money.of("0.01", "EUR"))
        await became(world, priced, "running")
        await world.execute("UPDATE jobs SET started_at = started_at - interval '1 hour' WHERE id = :id", id=priced)
        done = await ended(world, priced)
        assert (done.state, done.ended_by) == ("stopped", "cost_limit")
        assert done.cost >= done.max_cost


async def test_a_failed_program_is_started_again_and_a_refused_one_is_not(
    world: SiteWorld,
) -> None:
    async with world.worker():
        cluster = await world.build()
        job = await run(world, cluster, ["sh", "-c", "echo ran >> runs; [ $(wc -l < runs) = 2 ]"], retries=3)
        done = await ended(world, job)
        assert (done.state, done.attempt) == ("succeeded", 2)
        assert await events(world, job) == ["job.queued", "job.started", "job.retried", "job.started", "job.succeeded"]
        hopeless = await run(world, cluster, ["false"], retries=1)
        done = await ended(world, hopeless)
        assert (done.state, done.attempt, done.exit_status) == ("failed", 2, 1)
        world.fault(call="hosts.put_job", action="status", status=422, times=1)
        done = await ended(world, await run(world, cluster, ["true"], retries=2))
        assert (done.state, done.ended_by, done.started_at) == ("failed", "site", None)


async def test_a_suspension_interrupts_and_queued_jobs_wait_and_a_delete_ends_both(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        job, waiting = await run(world, cluster, FOREVER), await run(world, cluster, ["true"])
        await became(world, job, "running")
        await world.succeeded(await world.suspend(cluster))
        done = await ended(world, job)
        assert (done.state, done.ended_by) == ("failed", "server")
        assert (await row(world, waiting)).state == "queued"
        problem = await refused(run(world, cluster, ["true"]))
        assert (problem.kind, "this one is suspended" in problem.detail) == (STATE_CONFLICT, True)
        await world.succeeded(await world.resume(cluster))
        assert (await ended(world, waiting)).state == "succeeded"
        job, waiting = await run(world, cluster, FOREVER), await run(world, cluster, ["true"])
        await became(world, job, "running")
        await world.succeeded(await world.delete(cluster))
        for each in (job, waiting):
            done = await ended(world, each)
            assert (done.state, done.ended_by) == ("stopped", "cluster")


async def test_a_cluster_has_so_many_unfinished_jobs_at_the_most(world: SiteWorld) -> None:
    cluster = await world.make_active()
    for _ in range(MAX_UNFINISHED):
        await run(world, cluster, ["true"])
    assert (await refused(run(world, cluster, ["true"]))).kind is STATE_CONFLICT
    assert await world.value("SELECT count(*) FROM jobs") == MAX_UNFINISHED

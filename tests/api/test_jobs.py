"""Jobs over HTTP: what is recorded, shown and refused. What becomes of them: tests/worker/test_jobs.py."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.api.support import Api, key, ok, problem

pytestmark = pytest.mark.anyio

PROGRAM = {"command": ["python3", "train.py"]}


def path(api: Api, cluster: UUID) -> str:
    return f"{api.base}/clusters/{cluster}/jobs"


async def create_job(api: Api, cluster: UUID, **changes: Any) -> dict[str, Any]:
    return ok(await api.owner.post(path(api, cluster), json=PROGRAM | changes), 201)


async def read(api: Api, cluster: UUID, job: object) -> dict[str, Any]:
    return ok(await api.owner.get(f"{path(api, cluster)}/{job}"))


async def test_a_job_is_recorded_shown_and_listed(api: Api) -> None:
    cluster = await api.world.make_active()
    fields = {
        "directory": "model",
        "environment": {"SEED": "7"},
        "retries": 2,
        "max_minutes": 90,
        "max_cost": {"amount": "20.00", "currency": "EUR"},
    }
    job = await create_job(api, cluster, **fields)
    assert {name: job[name] for name in fields} == fields | {"environment": ["SEED"]}
    assert (job["number"], job["state"], job["attempt"], job["cluster"]) == (1, "queued", 1, str(cluster))
    assert (job["requested_by"]["kind"], job["requested_by"]["token_id"]) == ("token", job["created_by"])
    assert (job["cost"], job["started_at"], job["exit_status"], job["ended_by"]) == (None, None, None, None)
    assert await read(api, cluster, 1) == await read(api, cluster, job["id"]) == job
    other = await create_job(api, cluster)
    listed = (await api.owner.get(path(api, cluster))).json()["items"]
    assert [each["number"] for each in listed] == [other["number"], 1]
    assert (await api.owner.get(path(api, cluster), params={"state": "running"})).json()["items"] == []
    kinds = [
        each["type"]
        for each in (await api.owner.get(f"{api.base}/events", params={"subject": job["id"]})).json()["items"]
    ]
    assert kinds == ["job.queued"]


async def test_a_repeated_request_makes_one_job(api: Api) -> None:
    cluster = await api.world.make_active()
    same = key()
    answers = [await api.owner.post(path(api, cluster), json=PROGRAM, headers=same) for _ in range(3)]
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert answers[0].headers["location"].endswith(f"/clusters/{cluster}/jobs/1")


async def test_a_job_that_has_not_begun_is_stopped_at_once(api: Api) -> None:
    cluster = await api.world.make_active()
    await create_job(api, cluster)
    answers = [await api.owner.post(f"{path(api, cluster)}/1:stop") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
    job = answers[0].json()
    assert (job["state"], job["ended_by"], job["state_reason"]) == (
        "stopped",
        "request",
        "stopped by request before it began",
    )


async def test_what_a_program_wrote_is_read_in_parts(api: Api) -> None:
    cluster = await api.world.make_active()
    job = await create_job(api, cluster)
    await api.world.execute(
        "INSERT INTO job_logs (project_id, job_id, number, attempt, text)"
        " SELECT project_id, id, part, 1, part || E'\\n' FROM jobs, generate_series(1, 20) AS part"
    )
    await api.world.execute("UPDATE jobs SET log_parts = 20, log_bytes = 51")

    async def log(after: int) -> dict[str, Any]:
        answer = await api.owner.get(f"{path(api, cluster)}/{job['id']}/log", params={"after": after})
        document: dict[str, Any] = answer.json()
        return document

    first = await log(0)
    assert ("".join(each["text"] for each in first["items"]), first["next"]) == (
        "".join(f"{n}\n" for n in range(1, 17)),
        16,
    )
    rest = await log(first["next"])
    assert (len(rest["items"]), rest["next"], rest["complete"], rest["state"]) == (4, 20, False, "queued")
    await api.owner.post(f"{path(api, cluster)}/1:stop")
    assert await log(20) == {"items": [], "next": 20, "complete": True, "state": "stopped"}


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"command": []}, "/command"),
        ({"command": "train.py"}, "/command"),
        ({"command": [""]}, "/command"),
        ({"command": ["x" * 20_000, "x" * 20_000]}, "/command"),
        ({"environment": {"1X": "a"}}, "/environment/1X"),
        ({"directory": ""}, "/directory"),
        ({"retries": 11}, "/retries"),
        ({"max_minutes": 0}, "/max_minutes"),
        ({"max_cost": {"amount": "0", "currency": "EUR"}}, "/max_cost"),
        ({"max_cost": {"amount": "5", "currency": "JPY"}}, "/max_cost/currency"),
        ({"poplar_server": "nobody's"}, "/poplar_server"),
        ({"image": "Example/Train"}, "/image"),
        ({"image": "train:"}, "/image"),
        ({"image": "--privileged"}, "/image"),
        ({"image": "train", "registry": {"username": "ci"}}, "/registry/password"),
        ({"image": "train", "registry": {"username": "ci", "password": ""}}, "/registry/password"),
        ({"registry": {"username": "ci", "password": "secret"}}, ""),
        ({"shell": True}, "/shell"),
    ],
)
async def test_bad_requests_are_refused_and_change_nothing(api: Api, change: dict[str, Any], pointer: str) -> None:
    cluster = await api.world.make_active()
    answer = await api.owner.post(path(api, cluster), json=PROGRAM | change)
    assert pointer in [each["pointer"] for each in problem(answer, 422, "validation_failed")["errors"]]
    assert await api.world.value("SELECT count(*) FROM jobs") == 0


async def test_jobs_need_a_cluster_in_use(api: Api) -> None:
    created = await api.world.create("bert")
    answer = await api.owner.post(path(api, created.target_id), json=PROGRAM)
    assert "this one is creating" in problem(answer, 409, "state_conflict")["detail"]
    missing: list[tuple[str, httpx.Response]] = [
        (each, await api.owner.get(f"{path(api, created.target_id)}/{each}")) for each in ("1", "f" * 8, "0" * 36)
    ]
    for _, absent in missing:
        problem(absent, 404, "not_found")
    problem(await api.owner.post(f"{path(api, created.target_id)}/1:stop"), 404, "not_found")


LOGIN = {"image": "ghcr.io/example/train:1.2", "registry": {"username": "ci", "password": "hunter2-hunter2"}}


async def test_an_image_is_shown_and_its_registrys_password_kept_until_the_job_has_ended(api: Api) -> None:
    cluster = await api.world.make_active()
    job = await create_job(api, cluster, **LOGIN)
    assert (job["image"], job["registry_username"]) == ("ghcr.io/example/train:1.2", "ci")
    assert "registry" not in job
    assert "hunter2" not in str(job)
    kept = await api.world.value("SELECT registry_password FROM jobs")
    assert kept.startswith("v1.")
    await api.owner.post(f"{path(api, cluster)}/1:stop")
    assert await api.world.value("SELECT registry_password FROM jobs") is None
    assert (await read(api, cluster, 1))["registry_username"] == "ci"
    plain = await create_job(api, cluster)
    assert (plain["image"], plain["registry_username"]) == (None, None)


@pytest.mark.parametrize("noun", ["jobs", "services"])
async def test_an_image_is_refused_where_the_site_has_no_container_runtime(api: Api, noun: str) -> None:
    cluster = await api.world.make_active()
    await api.world.execute("UPDATE site_regions SET containers = false")
    body = PROGRAM | LOGIN | ({} if noun == "jobs" else {"name": "chat", "port": 8000})
    refused = problem(await api.owner.post(f"{api.base}/clusters/{cluster}/{noun}", json=body), 409, "no_containers")
    assert refused["detail"].startswith("The Poplar servers of ")
    assert " are in luxembourg-2, whose site has no container runtime. Omit the image" in refused["detail"]
    assert "hunter2" not in str(refused)
    assert await api.world.value(f"SELECT count(*) FROM {noun}") == 0  # noqa: S608  # one of ours

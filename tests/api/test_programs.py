"""Jobs and services over HTTP: what is recorded, shown and refused. What becomes of them: tests/worker/."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from ipucloud.identity.roles import Role
from tests.api.support import Api, items, key, ok, pointers_of, problem

pytestmark = pytest.mark.anyio

JOB = {"command": ["python3", "train.py"]}
SERVICE = {"name": "chat", "command": ["python3", "app.py"], "port": 8000}


def path(api: Api, cluster: UUID, noun: str = "jobs") -> str:
    return f"{api.base}/clusters/{cluster}/{noun}"


def services(api: Api, cluster: UUID) -> str:
    return path(api, cluster, "services")


async def create_job(api: Api, cluster: UUID, **changes: Any) -> dict[str, Any]:
    return ok(await api.owner.post(path(api, cluster), json=JOB | changes), 201)


async def create_service(api: Api, cluster: UUID, **changes: Any) -> dict[str, Any]:
    return ok(await api.owner.post(services(api, cluster), json=SERVICE | changes), 201)


async def read(api: Api, cluster: UUID, job: object) -> dict[str, Any]:
    return ok(await api.owner.get(f"{path(api, cluster)}/{job}"))


@pytest.mark.parametrize("noun", ["job", "service"])
async def test_what_a_program_wrote_is_read_in_parts(api: Api, noun: str) -> None:
    cluster = await api.world.make_active()
    program = await (create_job if noun == "job" else create_service)(api, cluster)
    one = f"{path(api, cluster, f'{noun}s')}/{program['id']}"
    await api.world.execute(
        f"INSERT INTO {noun}_logs (project_id, {noun}_id, number, attempt, text)"  # noqa: S608  # one of ours
        f" SELECT project_id, id, part, 1, part || E'\\n' FROM {noun}s, generate_series(1, 20) AS part"
    )
    await api.world.execute(f"UPDATE {noun}s SET log_parts = 20, log_bytes = 51")  # noqa: S608  # one of ours

    async def log(after: int) -> tuple[str, dict[str, Any]]:
        answer = ok(await api.owner.get(f"{one}/log", params={"after": after}))
        return "".join(each["text"] for each in answer.pop("items")), answer

    state = program["state"]
    first = "".join(f"{number}\n" for number in range(1, 17))
    assert await log(0) == (first, {"next": 16, "complete": False, "state": state})
    assert await log(16) == ("17\n18\n19\n20\n", {"next": 20, "complete": False, "state": state})
    await api.owner.post(f"{one}:stop")
    assert await log(20) == ("", {"next": 20, "complete": True, "state": "stopped"})


OF_BOTH: list[tuple[dict[str, Any], str]] = [
    ({"command": []}, "/command"),
    ({"command": ["x" * 20_000, "x" * 20_000]}, "/command"),
    ({"environment": {"1X": "a"}}, "/environment/1X"),
    ({"poplar_server": "nobody's"}, "/poplar_server"),
    ({"shell": True}, "/shell"),
]


@pytest.mark.parametrize(
    ("noun", "change", "pointer"),
    [
        *((noun, *case) for noun in ("jobs", "services") for case in OF_BOTH),
        ("jobs", {"command": "train.py"}, "/command"),
        ("jobs", {"command": [""]}, "/command"),
        ("jobs", {"directory": ""}, "/directory"),
        ("jobs", {"retries": 11}, "/retries"),
        ("jobs", {"max_minutes": 0}, "/max_minutes"),
        ("jobs", {"max_cost": {"amount": "0", "currency": "EUR"}}, "/max_cost"),
        ("jobs", {"max_cost": {"amount": "5", "currency": "JPY"}}, "/max_cost/currency"),
        ("jobs", {"image": "Example/Train"}, "/image"),
        ("jobs", {"image": "train:"}, "/image"),
        ("jobs", {"image": "--privileged"}, "/image"),
        ("jobs", {"image": "train", "registry": {"username": "ci"}}, "/registry/password"),
        ("jobs", {"image": "train", "registry": {"username": "ci", "password": ""}}, "/registry/password"),
        ("jobs", {"registry": {"username": "ci", "password": "secret"}}, ""),
        ("services", {"name": "Chat"}, "/name"),
        ("services", {"name": "a.b"}, "/name"),
        ("services", {"port": 80}, "/port"),
        ("services", {"port": 65_536}, "/port"),
        ("services", {"max_restarts": -1}, "/max_restarts"),
        ("services", {"health_check": {}}, "/health_check/path"),
        ("services", {"health_check": {"path": "healthz"}}, "/health_check/path"),
        ("services", {"health_check": {"path": "/a b"}}, "/health_check/path"),
        ("services", {"health_check": {"path": "/", "interval_seconds": 0}}, "/health_check/interval_seconds"),
        ("services", {"health_check": {"path": "/", "timeout_seconds": 61}}, "/health_check/timeout_seconds"),
        ("services", {"health_check": {"path": "/", "failures": 0}}, "/health_check/failures"),
        ("services", {"health_check": {"path": "/", "port": 22}}, "/health_check/port"),
    ],
)
async def test_bad_requests_are_refused_and_change_nothing(
    api: Api, noun: str, change: dict[str, Any], pointer: str
) -> None:
    cluster = await api.world.make_active()
    body = (JOB if noun == "jobs" else SERVICE) | change
    assert pointer in pointers_of(await api.owner.post(path(api, cluster, noun), json=body))
    assert await api.count(noun) == 0


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
    assert await items(api.owner, path(api, cluster), state="running") == []
    kinds = [each["type"] for each in await items(api.owner, f"{api.base}/events", subject=job["id"])]
    assert kinds == ["job.queued"]


async def test_a_repeated_request_makes_one_job(api: Api) -> None:
    cluster = await api.world.make_active()
    same = key()
    answers = [await api.owner.post(path(api, cluster), json=JOB, headers=same) for _ in range(3)]
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
    assert (job["state"], job["ended_by"]) == ("stopped", "request")
    assert job["state_reason"] == "stopped by request before it began"


async def test_jobs_need_a_cluster_in_use(api: Api) -> None:
    created = await api.world.create("bert")
    answer = await api.owner.post(path(api, created.target_id), json=JOB)
    assert "this one is creating" in problem(answer, 409, "state_conflict")["detail"]
    for absent in ("1", "f" * 8, "0" * 36):
        problem(await api.owner.get(f"{path(api, created.target_id)}/{absent}"), 404, "not_found")
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
    body = (JOB if noun == "jobs" else SERVICE) | LOGIN
    refused = problem(await api.owner.post(path(api, cluster, noun), json=body), 409, "no_containers")
    assert refused["detail"].startswith("The Poplar servers of ")
    assert " are in luxembourg-2, whose site has no container runtime. Omit the image" in refused["detail"]
    assert "hunter2" not in str(refused)
    assert await api.count(noun) == 0


async def test_a_service_is_recorded_shown_and_stopped(api: Api) -> None:
    cluster = await api.world.make_active()
    fields = {"directory": "model", "environment": {"MODEL": "large"}, "max_restarts": 3}
    service = await create_service(api, cluster, **fields)
    assert {name: service[name] for name in fields} == fields | {"environment": ["MODEL"]}
    assert (service["state"], service["attempt"], service["port"]) == ("starting", 1, 8000)
    assert service["health"] is None
    for ref in ("chat", service["id"]):
        assert (await api.owner.get(f"{services(api, cluster)}/{ref}")).json() == service
    answers = [await api.owner.post(f"{services(api, cluster)}/chat:stop") for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    stopped = answers[0].json()
    assert (stopped["state"], stopped["ended_by"]) == ("stopped", "request")
    again = await create_service(api, cluster)
    assert (await api.owner.get(f"{services(api, cluster)}/chat")).json()["id"] == again["id"]
    listed = (await api.owner.get(services(api, cluster))).json()["items"]
    assert [each["id"] for each in listed] == [again["id"], service["id"]]
    only = await items(api.owner, services(api, cluster), state="stopped")
    assert [each["id"] for each in only] == [service["id"]]


async def test_a_release_replaces_a_service_and_is_taken_back(api: Api) -> None:
    cluster = await api.world.make_active()
    one = f"{services(api, cluster)}/chat"
    first = await create_service(api, cluster, environment={"MODEL": "large"}, max_restarts=3)
    await api.world.execute("UPDATE services SET sent_at = app_now()")
    answer = await api.owner.post(f"{one}:deploy", json={"command": ["serve", "2"], "port": 8001})
    assert (answer.status_code, answer.json()["id"]) == (202, first["id"])
    successor = answer.json()["successor"]
    assert successor not in {None, first["id"]}
    taken = await api.owner.post(services(api, cluster), json=SERVICE | {"name": "other", "port": 8001})
    assert "chat has port 8001" in problem(taken, 409, "state_conflict")["detail"]
    stopped = (await api.owner.post(f"{one}:stop")).json()
    assert (stopped["id"], stopped["successor"]) == (first["id"], None)
    await api.world.execute("UPDATE services SET sent_at = NULL")  # so that it ends at once
    second = (await api.owner.post(f"{one}:deploy", json={"command": ["serve", "2"], "port": 8001})).json()
    assert (second["state"], second["ended_by"], second["successor"]) == ("stopped", "request", None)
    now = (await api.owner.get(one)).json()
    fields = ("state", "command", "port", "environment", "max_restarts", "created_by")
    expected = ["starting", ["serve", "2"], 8001, ["MODEL"], 3, first["created_by"]]
    assert [now[name] for name in fields] == expected
    assert now["requested_by"] == first["requested_by"]
    assert (await api.owner.post(f"{one}:rollback")).status_code == 202
    back = (await api.owner.get(one)).json()
    assert [back[name] for name in ("command", "port", "environment")] == [SERVICE["command"], 8000, ["MODEL"]]
    assert len({first["id"], now["id"], back["id"]}) == 3


async def test_what_cannot_be_released_is_refused(api: Api) -> None:
    cluster = await api.world.make_active()
    one = f"{services(api, cluster)}/chat"
    for verb in ("deploy", "rollback"):
        problem(await api.owner.post(f"{one}:{verb}", json={} if verb == "deploy" else None), 404, "not_found")
    login = {"username": "ci", "password": "hunter2-of-ci"}
    await create_service(api, cluster, image="example/app", registry=login)
    nothing = problem(await api.owner.post(f"{one}:rollback"), 409, "state_conflict")
    assert "has no release before" in nothing["detail"]
    for body, pointer in (({"command": []}, "/command"), ({"port": None}, "/port"), ({"name": "x"}, "/name")):
        refused = problem(await api.owner.post(f"{one}:deploy", json=body), 422, "validation_failed")
        assert pointer in [each["pointer"] for each in refused["errors"]]
    without = problem(
        await api.owner.post(f"{one}:deploy", json={"image": None, "registry": login}), 422, "validation_failed"
    )
    assert without["errors"][0]["pointer"] == "/registry"
    assert (await api.owner.post(f"{one}:deploy", json={"image": None})).status_code == 202
    kept = problem(await api.owner.post(f"{one}:rollback"), 409, "state_conflict")
    assert "password of ci" in kept["detail"]


async def test_names_ports_and_clusters_that_are_not_free_are_refused(api: Api) -> None:
    cluster = await api.world.make_active()
    await create_service(api, cluster)
    same = await api.owner.post(services(api, cluster), json=SERVICE | {"port": 8001})
    assert "a service chat" in problem(same, 409, "name_taken")["detail"]
    port = await api.owner.post(services(api, cluster), json=SERVICE | {"name": "other"})
    assert "chat has port 8000" in problem(port, 409, "state_conflict")["detail"]
    created = await api.world.create("ernie")
    early = await api.owner.post(services(api, created.target_id), json=SERVICE)
    assert "this one is creating" in problem(early, 409, "state_conflict")["detail"]
    problem(await api.owner.get(f"{services(api, created.target_id)}/chat"), 404, "not_found")
    problem(await api.owner.post(f"{services(api, created.target_id)}/chat:stop"), 404, "not_found")


async def test_requests_to_programs_that_do_not_run_say_so(api: Api) -> None:
    cluster = await api.world.make_active()
    await create_service(api, cluster)
    proxy = f"{services(api, cluster)}/chat/proxy/"
    assert "service chat" in problem(await api.owner.get(proxy), 503, "service_not_running")["detail"]
    await api.owner.post(f"{services(api, cluster)}/chat:stop")
    assert "service chat" in problem(await api.owner.post(proxy, content=b"x"), 409, "state_conflict")["detail"]
    assert await api.world.value("SELECT count(*) FROM terminals") == 0


async def test_requests_to_programs_need_a_token_of_the_project_that_may_use_it(api: Api) -> None:
    cluster = await api.world.make_active()
    await create_service(api, cluster)
    await api.world.execute(
        "UPDATE services SET state = 'running', sent_at = app_now(), started_at = app_now(), observed_at = app_now()"
    )
    proxy = f"{services(api, cluster)}/chat/proxy/a"
    problem(await api.client().get(proxy), 401, "unauthenticated")
    token = api.world.project.token.secret
    session = await api.client().post("/v1/session", json={"token": token}, headers={"Origin": "http://api"})
    cookie = {"Cookie": session.headers["Set-Cookie"].partition(";")[0]}
    problem(await api.client(**cookie).get(proxy), 401, "unauthenticated")
    problem(await (await api.caller(Role.VIEWER)).get(proxy), 403, "permission_denied")
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket"}
    refused = problem(await api.owner.get(proxy, headers=upgrade), 400, "upgrade_unsupported")
    assert "--forward 8000" in refused["detail"]
    stranger = api.client((await api.other_project()).token.secret)
    nowhere = proxy.replace(str(cluster), str(uuid4()))
    same = {"Request-Id": "one-for-both-requests"}
    foreign, unknown = [await stranger.get(each, headers=same) for each in (proxy, nowhere)]
    assert foreign.status_code == unknown.status_code == 404
    assert foreign.text == unknown.text.replace(nowhere.split("/")[5], str(cluster))
    problem(await api.owner.get(proxy.replace("/chat/", "/none/")), 404, "not_found")
    problem(await api.owner.request("TRACE", proxy), 405, "method_not_allowed")

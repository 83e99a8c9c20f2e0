"""Services over HTTP: what is recorded, shown and refused. What becomes of them: tests/worker/test_services.py."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from ipucloud.identity.roles import Role
from tests.api.support import Api, problem

pytestmark = pytest.mark.anyio

PROGRAM = {"name": "chat", "command": ["python3", "app.py"], "port": 8000}


def path(api: Api, cluster: UUID) -> str:
    return f"{api.base}/clusters/{cluster}/services"


async def create_service(api: Api, cluster: UUID, **changes: Any) -> dict[str, Any]:
    answer = await api.owner.post(path(api, cluster), json=PROGRAM | changes)
    assert answer.status_code == 201, answer.text
    service: dict[str, Any] = answer.json()
    return service


async def test_a_service_is_recorded_shown_and_stopped(api: Api) -> None:
    cluster = await api.world.make_active()
    fields = {"directory": "model", "environment": {"MODEL": "large"}, "max_restarts": 3}
    service = await create_service(api, cluster, **fields)
    assert {name: service[name] for name in fields} == fields | {"environment": ["MODEL"]}
    assert (service["state"], service["attempt"], service["port"]) == ("starting", 1, 8000)
    assert service["health"] is None
    for ref in ("chat", service["id"]):
        assert (await api.owner.get(f"{path(api, cluster)}/{ref}")).json() == service
    answers = [await api.owner.post(f"{path(api, cluster)}/chat:stop") for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    stopped = answers[0].json()
    assert (stopped["state"], stopped["ended_by"]) == ("stopped", "request")
    again = await create_service(api, cluster)
    assert (await api.owner.get(f"{path(api, cluster)}/chat")).json()["id"] == again["id"]
    listed = (await api.owner.get(path(api, cluster))).json()["items"]
    assert [each["id"] for each in listed] == [again["id"], service["id"]]
    only = (await api.owner.get(path(api, cluster), params={"state": "stopped"})).json()["items"]
    assert [each["id"] for each in only] == [service["id"]]


async def test_a_release_replaces_a_service_and_is_taken_back(api: Api) -> None:
    cluster = await api.world.make_active()
    one = f"{path(api, cluster)}/chat"
    first = await create_service(api, cluster, environment={"MODEL": "large"}, max_restarts=3)
    await api.world.execute("UPDATE services SET sent_at = app_now()")
    answer = await api.owner.post(f"{one}:deploy", json={"command": ["serve", "2"], "port": 8001})
    assert (answer.status_code, answer.json()["id"]) == (202, first["id"])
    successor = answer.json()["successor"]
    assert successor not in {None, first["id"]}
    taken = await api.owner.post(path(api, cluster), json=PROGRAM | {"name": "other", "port": 8001})
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
    assert [back[name] for name in ("command", "port", "environment")] == [PROGRAM["command"], 8000, ["MODEL"]]
    assert len({first["id"], now["id"], back["id"]}) == 3


async def test_what_cannot_be_released_is_refused(api: Api) -> None:
    cluster = await api.world.make_active()
    one = f"{path(api, cluster)}/chat"
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


async def test_what_a_program_wrote_is_read_in_parts(api: Api) -> None:
    cluster = await api.world.make_active()
    await create_service(api, cluster)
    await api.world.execute(
        "INSERT INTO service_logs (project_id, service_id, number, attempt, text)"
        " SELECT project_id, id, part, 1, part || E'\\n' FROM services, generate_series(1, 20) AS part"
    )
    await api.world.execute("UPDATE services SET log_parts = 20, log_bytes = 51")
    log = f"{path(api, cluster)}/chat/log"
    first = (await api.owner.get(log)).json()
    assert (len(first["items"]), first["next"], first["complete"]) == (16, 16, False)
    rest = (await api.owner.get(log, params={"after": 16})).json()
    assert ("".join(each["text"] for each in rest["items"]), rest["next"]) == ("17\n18\n19\n20\n", 20)
    await api.owner.post(f"{path(api, cluster)}/chat:stop")
    assert (await api.owner.get(log, params={"after": 20})).json() == {
        "items": [],
        "next": 20,
        "complete": True,
        "state": "stopped",
    }


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"name": "Chat"}, "/name"),
        ({"name": "a.b"}, "/name"),
        ({"command": []}, "/command"),
        ({"command": ["x" * 20_000, "x" * 20_000]}, "/command"),
        ({"port": 80}, "/port"),
        ({"port": 65_536}, "/port"),
        ({"environment": {"1X": "a"}}, "/environment/1X"),
        ({"max_restarts": -1}, "/max_restarts"),
        ({"health_check": {}}, "/health_check/path"),
        ({"health_check": {"path": "healthz"}}, "/health_check/path"),
        ({"health_check": {"path": "/a b"}}, "/health_check/path"),
        ({"health_check": {"path": "/", "interval_seconds": 0}}, "/health_check/interval_seconds"),
        ({"health_check": {"path": "/", "timeout_seconds": 61}}, "/health_check/timeout_seconds"),
        ({"health_check": {"path": "/", "failures": 0}}, "/health_check/failures"),
        ({"health_check": {"path": "/", "port": 22}}, "/health_check/port"),
        ({"poplar_server": "nobody's"}, "/poplar_server"),
        ({"shell": True}, "/shell"),
    ],
)
async def test_bad_requests_are_refused_and_change_nothing(api: Api, change: dict[str, Any], pointer: str) -> None:
    cluster = await api.world.make_active()
    answer = await api.owner.post(path(api, cluster), json=PROGRAM | change)
    assert pointer in [each["pointer"] for each in problem(answer, 422, "validation_failed")["errors"]]
    assert await api.world.value("SELECT count(*) FROM services") == 0


async def test_names_ports_and_clusters_that_are_not_free_are_refused(api: Api) -> None:
    cluster = await api.world.make_active()
    await create_service(api, cluster)
    same = await api.owner.post(path(api, cluster), json=PROGRAM | {"port": 8001})
    assert "a service chat" in problem(same, 409, "name_taken")["detail"]
    port = await api.owner.post(path(api, cluster), json=PROGRAM | {"name": "other"})
    assert "chat has port 8000" in problem(port, 409, "state_conflict")["detail"]
    created = await api.world.create("ernie")
    early = await api.owner.post(path(api, created.target_id), json=PROGRAM)
    assert "this one is creating" in problem(early, 409, "state_conflict")["detail"]
    problem(await api.owner.get(f"{path(api, created.target_id)}/chat"), 404, "not_found")
    problem(await api.owner.post(f"{path(api, created.target_id)}/chat:stop"), 404, "not_found")


async def test_requests_to_programs_that_do_not_run_say_so(api: Api) -> None:
    cluster = await api.world.make_active()
    await create_service(api, cluster)
    proxy = f"{path(api, cluster)}/chat/proxy/"
    assert "service chat" in problem(await api.owner.get(proxy), 503, "service_not_running")["detail"]
    await api.owner.post(f"{path(api, cluster)}/chat:stop")
    assert "service chat" in problem(await api.owner.post(proxy, content=b"x"), 409, "state_conflict")["detail"]
    assert await api.world.value("SELECT count(*) FROM terminals") == 0


async def test_requests_to_programs_need_a_token_of_the_project_that_may_use_it(api: Api) -> None:
    cluster = await api.world.make_active()
    await create_service(api, cluster)
    await api.world.execute(
        "UPDATE services SET state = 'running', sent_at = app_now(), started_at = app_now(), observed_at = app_now()"
    )
    proxy = f"{path(api, cluster)}/chat/proxy/a"
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

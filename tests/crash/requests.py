"""Trials with requests: an API process is killed while it answers, and the caller asks another one the same again."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from uuid import UUID, uuid4

import httpx

from ipucloud.kernel.errors import IDEMPOTENCY_IN_PROGRESS
from ipucloud.kernel.failpoints import Action, Trap
from tests.api.support import cluster_json
from tests.crash.kinds import Expectation
from tests.crash.lab import FLAVOR, Lab
from tests.crash.trials import Outcome, settled
from tests.crash.victims import Victim
from tests.support.ports import free_ports
from tests.support.waiting import PATIENCE


@dataclass(frozen=True)
class ApiRequest:
    """A request that can be sent again."""

    method: str
    path: str
    body: Mapping[str, object] | None = None
    key: str | None = None

    async def send(self, client: httpx.AsyncClient, address: str = "http://api") -> httpx.Response:
        headers = {} if self.key is None else {"Idempotency-Key": self.key}
        return await client.request(self.method, f"{address}{self.path}", json=self.body, headers=headers)


@dataclass(frozen=True)
class RequestKind:
    """A request whose operation has to end as `ends`, and its cluster as `state`; `prepare` makes what it is about."""

    name: str
    prepare: Callable[[Lab], Awaitable[ApiRequest]]
    ends: str = "succeeded"
    state: str = "active"


def to_a_cluster(verb: str, body: Mapping[str, object] | None = None) -> Callable[[Lab], Awaitable[ApiRequest]]:
    """Without a key: asked again, it answers with the operation that runs."""

    async def prepare(lab: Lab) -> ApiRequest:
        return ApiRequest("POST", f"{lab.base}/clusters/{await lab.an_active_cluster()}:{verb}", body)

    return prepare


async def create(lab: Lab, **more: object) -> ApiRequest:
    body = cluster_json(lab.fresh(), flavor=FLAVOR, **more)
    return ApiRequest("POST", f"{lab.base}/clusters", body, str(uuid4()))


async def _delete(lab: Lab) -> ApiRequest:
    return ApiRequest("DELETE", f"{lab.base}/clusters/{await lab.an_active_cluster()}")


async def _cancel(lab: Lab) -> ApiRequest:
    creation = await lab.create_fresh()
    return ApiRequest("POST", f"{lab.base}/operations/{creation.operation_id}:cancel", None, str(uuid4()))


POST_CREATE = RequestKind("post-create", create)
POST_DELETE = RequestKind("post-delete", _delete, state="deleted")
POST_CANCEL = RequestKind("post-cancel", _cancel, "cancelled", "deleted")
REQUEST_KINDS = (POST_CREATE, POST_DELETE, POST_CANCEL)


@dataclass(frozen=True)
class RequestCase:
    """The victim dies at the `hit`-th time that it reaches `point`; it gets as many requests."""

    kind: RequestKind
    point: str
    hit: int = 1

    def __str__(self) -> str:
        return f"{self.kind.name}-{self.point}-{self.hit}"


async def attempt_request(lab: Lab, case: RequestCase) -> Outcome:
    """Send requests to a victim until it dies, then the last one to another process; see its expectation kept, once."""
    requests = [await case.kind.prepare(lab) for _ in range(case.hit)]
    [port] = free_ports(1)
    victim = await lab.victim(Trap(case.point, case.hit, Action.KILL), role="api", changes={"port": port})
    address = f"http://{lab.settings.host}:{port}"
    await _listens(lab.caller, address)
    for request in requests:
        await _sent(request, lab.caller, address, victim)
    died = await _dies(victim)
    answers = [await _resend(request, lab.second_api) for request in requests]
    faults = [f"asked again: {answer.status_code} {answer.text}" for answer in answers if answer.status_code != 202]
    if faults:
        return Outcome(died, tuple(victim.points), tuple(faults))
    expectations = [await _expectation(lab, case.kind, answer) for answer in answers]
    for request, expectation in zip(requests, expectations, strict=True):
        faults += await _effects(lab, request, expectation.cluster)
    faults += await settled(lab, *expectations)
    return Outcome(died, tuple(victim.points), tuple(faults))


async def _expectation(lab: Lab, kind: RequestKind, answer: httpx.Response) -> Expectation:
    operation = UUID(answer.json()["id"])
    cluster: UUID = await lab.value("SELECT cluster_id FROM operations WHERE id = :id", id=operation)
    return Expectation(cluster, operation, kind.ends, kind.state)


async def _effects(lab: Lab, request: ApiRequest, cluster: UUID) -> list[str]:
    """What there is more, or less, than one effect of."""
    name = None if request.body is None else request.body.get("name")
    row = await lab.one(
        "SELECT (SELECT count(*) FROM clusters c WHERE c.id = :id OR c.name = :name) AS clusters,"
        " (SELECT count(*) FROM operations o WHERE o.cluster_id = :id AND o.finished_at IS NULL) AS open,"
        " (SELECT count(*) FROM operations o WHERE o.cluster_id = :id AND o.kind = 'cluster.create') AS creates",
        id=cluster,
        name=name,
    )
    return [] if tuple(row) == (1, 1, 1) else [f"effects: {row}"]


async def _resend(request: ApiRequest, client: httpx.AsyncClient) -> httpx.Response:
    """As a caller does it who is asked to come again, while the server has not noticed yet that the victim is gone."""
    async with asyncio.timeout(PATIENCE):
        while (answer := await request.send(client)).status_code == 503 or _under_way(answer):
            await asyncio.sleep(0.1)
    return answer


def _under_way(answer: httpx.Response) -> bool:
    return answer.status_code == 409 and bool(answer.json()["code"] == IDEMPOTENCY_IN_PROGRESS.code)


async def _sent(request: ApiRequest, client: httpx.AsyncClient, address: str, victim: Victim) -> None:
    """The victim answers, or dies over it."""
    try:
        (await request.send(client, address)).raise_for_status()
    except httpx.TransportError:
        await victim.end()


async def _dies(victim: Victim) -> bool:
    """Whether it was killed by its trap; what it does after its answer gets a moment."""
    try:
        async with asyncio.timeout(1.0):
            await victim.end()
    except TimeoutError:
        await victim.kill()
        return False
    return victim.ended.result() == -signal.SIGKILL


async def _listens(client: httpx.AsyncClient, address: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await client.get(f"{address}/livez")
            except httpx.ConnectError:
                await asyncio.sleep(0.005)
            else:
                return

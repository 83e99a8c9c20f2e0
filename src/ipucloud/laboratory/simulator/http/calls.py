"""What surrounds every call: the token, fault rules, refusals as problem documents, durability before the answer."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ipucloud.laboratory.simulator.faults import CALM, FaultBook, Plan
from ipucloud.laboratory.simulator.http.protocol import break_connection, silence
from ipucloud.laboratory.simulator.refusal import Refusal, invalid
from ipucloud.wire.faults import FaultAction

Act = Callable[[Request], Awaitable[BaseModel | None]]
Body = TypeVar("Body", bound=BaseModel)


class Surrounded(Protocol):
    """What a call needs of the site around it."""

    @property
    def faults(self) -> FaultBook: ...

    async def settled(self) -> None: ...


@dataclass(frozen=True)
class Calls:
    """Makes routes of calls. Fault rules match a call's name, and its first path parameter as the target.

    `answered` is what was answered to reading requests while rules were in force.
    """

    site: Surrounded
    token: str
    late: set[asyncio.Task[None]] = field(default_factory=set)
    answered: dict[str, Response] = field(default_factory=dict)

    def route(self, method: str, path: str, name: str, act: Act, *, status: int = 200) -> Route:
        """A route that answers what `act` returns with `status`, and nothing with 204 when it returns None."""

        async def handle(request: Request) -> Response:
            if not self._authenticated(request):
                headers = {"WWW-Authenticate": "Bearer"}
                return problem(401, "the site token is missing or wrong", headers=headers)
            return await self._through_faults(name, act, status, request)

        return Route(path, handle, methods=[method], name=name)

    def stream(self, path: str, name: str, stream: Callable[[], AsyncIterator[bytes]]) -> Route:
        """A route that answers with server-sent events. A fault rule breaks the connection at the next event."""

        async def lines(request: Request) -> AsyncIterator[bytes]:
            async for line in stream():
                if self.site.faults.plan(name, "").rule is not None:
                    await break_connection(request)
                    return
                yield line

        async def handle(request: Request) -> Response:
            if not self._authenticated(request):
                return problem(401, "the site token is missing or wrong", headers={"WWW-Authenticate": "Bearer"})
            return StreamingResponse(lines(request), media_type="text/event-stream")

        return Route(path, handle, methods=["GET"], name=name)

    def _authenticated(self, request: Request) -> bool:
        authorization = request.headers.get("authorization", "")
        return secrets.compare_digest(authorization.encode(), f"Bearer {self.token}".encode())

    async def _through_faults(self, name: str, act: Act, status: int, request: Request) -> Response:
        plan = self.site.faults.plan(name, next(iter(request.path_params.values()), ""))
        if plan is CALM:
            return await self._answer(act, status, request)
        await asyncio.sleep(plan.latency)
        instead = await self._instead(plan, request)
        if instead is not None:
            return instead
        return await self._afterwards(plan, await self._answer(act, status, request), act, request)

    async def _instead(self, plan: Plan, request: Request) -> Response | None:
        """What a fault answers to a call that has no effect."""
        if plan.rule is None:
            return None
        if plan.action is FaultAction.STATUS:
            return problem(plan.rule.status, f"fault rule {plan.rule.id}")
        if plan.action is FaultAction.STALL:
            return await silence(request)
        return self.answered.get(str(request.url)) if plan.action is FaultAction.STALE else None

    async def _afterwards(self, plan: Plan, response: Response, act: Act, request: Request) -> Response:
        """What a fault makes of the answer to a call that had its effect."""
        if plan.rule is None:
            if request.method == "GET":
                self.answered[str(request.url)] = response
        elif plan.action is FaultAction.STATUS_AFTER:
            return problem(plan.rule.status, f"fault rule {plan.rule.id}")
        elif plan.action is FaultAction.DROP_ANSWER:
            await asyncio.sleep(plan.rule.seconds)
            return await break_connection(request)
        elif plan.action is FaultAction.DUPLICATE:
            self._again(plan.rule.seconds, act, request)
        return response

    def _again(self, seconds: float, act: Act, request: Request) -> None:
        async def effect() -> None:
            await asyncio.sleep(seconds)
            await self._answer(act, 200, request)

        task = asyncio.create_task(effect())
        self.late.add(task)
        task.add_done_callback(self.late.discard)

    async def _answer(self, act: Act, status: int, request: Request) -> Response:
        """The answer of a call once the state is on disk."""
        try:
            answer = await act(request)
        except Refusal as refusal:
            return problem(refusal.reason.http_status, refusal.sentence)
        finally:
            await self.site.settled()
        if answer is None:
            return Response(status_code=204)
        return Response(answer.model_dump_json(by_alias=True), status, media_type="application/json")


async def body_of(request: Request, model: type[Body]) -> Body:
    """The request's body. Refuses one that is not a `model`, and says where."""
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "body"
        raise invalid(f"{where}: {first['msg']}") from error


def problem(status: int, sentence: str, *, headers: dict[str, str] | None = None) -> JSONResponse:
    """A refusal or fault as `application/problem+json`."""
    content = {"status": status, "detail": sentence}
    return JSONResponse(content, status, headers, media_type="application/problem+json")

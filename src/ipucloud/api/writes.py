"""Changes: one transaction authorises, looks up a stored response, applies the change and stores its response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer, KeyedRequest, Moves, keyed
from ipucloud.api.reads import permission_of
from ipucloud.api.services import services_of
from ipucloud.api.trace import origin_of, trace_of
from ipucloud.idempotency.store import PLATFORM
from ipucloud.identity.access import Principal, Scope, authorize, change_only, identify
from ipucloud.kernel.actor import AccountActor, Actor
from ipucloud.kernel.errors import not_found
from ipucloud.kernel.failpoints import failpoint

_KEYED = frozenset({"POST", "PATCH"})

Change = Callable[[AsyncConnection, Scope], Awaitable[Answer]]
PlatformChange = Callable[[AsyncConnection, Principal], Awaitable[Answer]]


async def change(request: Request, project: str, effect: Change, *, moves: Moves | None = None) -> Response:
    """Run `effect` in a transaction of the project and return its response.

    It is repeated after a serialization failure or deadlock, so it must change nothing else. Raises `Problem` 401, 404
    or 403 before it runs, and what it raises itself; then nothing has changed.

    With `moves` the request moves money: it must have a key, and `effect` answers with the row's id as `subject_id`.
    """
    trace = trace_of(request)
    services = services_of(request)
    key = await _key(request, moves)

    async def work(connection: AsyncConnection) -> Answer:
        scope = await authorize(connection, trace.credential(), project, permission_of(request), origin_of(request))
        trace.admit(scope.role, project_id=scope.project_id, token_id=scope.token_id)
        failpoint("request.authorized")
        answer = await _once(connection, scope.project_id, key, moves, lambda: effect(connection, scope))
        failpoint("request.before_commit")
        return answer

    answer = await services.database.transact(work)
    failpoint("request.committed")
    services.notifier.poke()
    return _response(request, answer)


async def change_platform(
    request: Request, effect: PlatformChange, *, moves: Moves | None = None, own: bool = False, itself: bool = False
) -> Response:
    """As `change`, outside any project. With `own`, keys belong to the token instead of the platform.

    `itself`: for what every live token may, whatever its scopes are.
    """
    trace = trace_of(request)
    key, needed = await _key(request, moves), None if itself else permission_of(request)

    async def work(connection: AsyncConnection) -> Answer:
        principal = await identify(connection, trace.credential(), needed, origin_of(request))
        trace.admit(token_id=principal.token_id)
        return await _once(
            connection, principal.token_id if own else PLATFORM, key, moves, lambda: effect(connection, principal)
        )

    return _response(request, await services_of(request).database.transact(work))


async def change_account(
    request: Request, account: UUID, effect: Callable[[AsyncConnection], Awaitable[Answer]]
) -> Response:
    """As `change`, of a billing account; to a payer, another account is one that does not exist."""
    trace = trace_of(request)
    key = await _key(request, None)

    async def work(connection: AsyncConnection) -> Answer:
        principal = await identify(connection, trace.credential(), permission_of(request), origin_of(request))
        trace.admit(token_id=principal.token_id)
        if principal.account not in {None, account}:
            raise not_found()
        await change_only(connection, account)
        return await _once(connection, account, key, None, lambda: effect(connection))

    answer = await services_of(request).database.transact(work)
    services_of(request).notifier.poke()
    return _response(request, answer)


def account_actor(request: Request, account: UUID) -> AccountActor:
    """The same of a billing account, inside `change_account`."""
    trace = trace_of(request)
    return AccountActor(account, UUID(trace.ids["token_id"]), trace.request_id)


def actor(request: Request, scope: Scope) -> Actor:
    """The recorded origin of a change."""
    return Actor(scope.project_id, scope.token_id, trace_of(request).request_id)


async def _key(request: Request, moves: Moves | None) -> KeyedRequest | None:
    return await keyed(request, required=moves is not None) if request.method in _KEYED else None


async def _once(
    connection: AsyncConnection,
    scope: UUID,
    key: KeyedRequest | None,
    moves: Moves | None,
    effect: Callable[[], Awaitable[Answer]],
) -> Answer:
    if key is None:
        return await effect()
    earlier = await key.earlier_answer(connection, scope)
    if earlier is None and moves is not None:
        earlier = await key.earlier_money(connection, scope, moves)
    if earlier is not None:
        return earlier
    answer = await effect()
    if moves is not None and answer.subject_id is not None:
        await key.keep_money(connection, scope, moves, answer.subject_id)
    await key.keep(connection, scope, answer)
    failpoint("request.answer_kept")
    return answer


def _response(request: Request, answer: Answer) -> Response:
    headers = dict(answer.headers)
    if answer.replayed:
        headers["Idempotent-Replayed"] = "true"
        services_of(request).metrics.replays.inc()
    return Response(answer.body, answer.status, headers, JSON if answer.body else None)

"""What a project and a billing account have alike, such as webhooks: one handler for both, at a path of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from inspect import signature
from typing import Any, Generic, NamedTuple, TypeAlias, Unpack
from uuid import UUID

from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import list_of, list_of_account
from ipucloud.api.reads import read_one, read_one_of_account, reading, reading_account
from ipucloud.api.routing import PERMISSION, AnyEndpoint, Decorator, Endpoint, Operation, Router, declared, parameter
from ipucloud.api.shapes import AccountId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.writes import account_actor, change, change_account
from ipucloud.billing.invoices.payer import lock_payer
from ipucloud.contract.lists import Listed, Order
from ipucloud.db.documents import DocumentPage, OneDocument, clauses
from ipucloud.db.rows import Query, Row
from ipucloud.db.statements import Statements
from ipucloud.identity import projects
from ipucloud.identity.access import Scope, authenticated
from ipucloud.identity.members import OF_ACCOUNT, OWNED, Home
from ipucloud.identity.roles import Permission
from ipucloud.kernel.actor import AccountActor, Actor

Effect: TypeAlias = Callable[[AsyncConnection, Home], Awaitable[Answer]]


class Statement(NamedTuple, Generic[Row]):
    """A read of what an owner has."""

    of_project: Query[Row]
    of_account: Query[Row]


def statement(text: str, row: type[Row], *, account_column: str = "account_id") -> Statement[Row]:
    """`text` continues `identity.access.authenticated`, with OWNED as the condition that a row is the owner's."""
    of_account = text.replace(OWNED, f"{account_column} = :account_id")
    return Statement(
        authenticated(text.replace(OWNED, "project_id = (SELECT project_id FROM project)"), row),
        Query(clauses(OF_ACCOUNT, of_account), row),
    )


class Owner(ABC):
    """The project or the billing account in a request's path. Every method raises `Problem` 401, 403, 404."""

    def __init__(self, request: Request) -> None:
        self.request = request

    @abstractmethod
    async def change(self, effect: Effect) -> Response:
        """As `writes.change`."""

    @abstractmethod
    async def read_one(self, read: Statement[OneDocument], **parameters: object) -> tuple[bytes, int]:
        """As `reads.read_one`."""

    @abstractmethod
    async def list_of(
        self, reads: Mapping[Order, Statement[DocumentPage]], query: Listed, **parameters: object
    ) -> Response:
        """As `paging.list_of`."""

    @abstractmethod
    def reading(self) -> AbstractAsyncContextManager[tuple[Statements, Home]]:
        """As `reads.reading`."""


class _Project(Owner):
    def __init__(self, request: Request, project: str) -> None:
        super().__init__(request)
        self._project = project

    async def change(self, effect: Effect) -> Response:
        async def of_scope(connection: AsyncConnection, scope: Scope) -> Answer:
            return await effect(connection, self._home(scope))

        return await change(self.request, self._project, of_scope)

    async def read_one(self, read: Statement[OneDocument], **parameters: object) -> tuple[bytes, int]:
        return await read_one(self.request, read.of_project, self._project, **parameters)

    async def list_of(
        self, reads: Mapping[Order, Statement[DocumentPage]], query: Listed, **parameters: object
    ) -> Response:
        statements = {query.order: reads[query.order].of_project}
        return await list_of(self.request, self._project, statements, query, **parameters)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[tuple[Statements, Home]]:
        async with reading(self.request, self._project) as (connection, scope):
            yield connection, self._home(scope)

    def _home(self, scope: Scope) -> Home:
        return Home(scope.project_id, None, trace_of(self.request).request_id)


class _Account(Owner):
    def __init__(self, request: Request, account: UUID) -> None:
        super().__init__(request)
        self._home = Home(None, account, trace_of(request).request_id)

    async def change(self, effect: Effect) -> Response:
        return await change_account(self.request, self._home.id, lambda connection: effect(connection, self._home))

    async def read_one(self, read: Statement[OneDocument], **parameters: object) -> tuple[bytes, int]:
        return await read_one_of_account(self.request, read.of_account, self._home.id, **parameters)

    async def list_of(
        self, reads: Mapping[Order, Statement[DocumentPage]], query: Listed, **parameters: object
    ) -> Response:
        statements = {query.order: reads[query.order].of_account}
        return await list_of_account(self.request, self._home.id, statements, query, **parameters)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[tuple[Statements, Home]]:
        async with reading_account(self.request, self._home.id) as connection:
            yield connection, self._home


async def lock(connection: AsyncConnection, home: Home) -> None:
    """Block other changes of what the owner has until this transaction ends. Raises `Problem` not_found."""
    if home.project_id is None:
        await lock_payer(connection, home.id)
    else:
        await projects.lock(connection, home.project_id)


def actor_of(request: Request, home: Home) -> Actor | AccountActor:
    """The recorded origin of a change, inside `Owner.change`."""
    actor = account_actor(request, home.id)
    return actor if home.project_id is None else Actor(home.id, actor.token_id, actor.request_id)


def path_of(home: Home, below: str = "") -> str:
    """The path of the owner. `below`: as in `OwnerRouter`."""
    return f"/v1/billing/accounts/{home.id}" if home.project_id is None else f"/v1/projects/{home.id}{below}"


class Twin(NamedTuple):
    """How the operation of an account differs from that of a project.

    `body`: the model of its body, if it is another one. The handler does not read what that one lacks. `permission`:
    who may do it, if not those who may read or change an account.
    """

    operation_id: str
    summary: str
    body: type[BaseModel] | None = None
    permission: Permission | None = None


class OwnerRouter:
    """Routes of a module, each at a path of a project and at one of a billing account.

    `below`: what stands between the project and the rest of its path.
    """

    def __init__(self, below: str = "") -> None:
        self.routes = Router()
        self._below = below

    def get(self, path: str, twin: Twin, **description: Unpack[Operation]) -> Decorator:
        return self._both("get", path, twin, description, Permission.ACCOUNT_READ)

    def post(self, path: str, twin: Twin, **description: Unpack[Operation]) -> Decorator:
        return self._both("post", path, twin, description, Permission.ACCOUNT_WRITE)

    def put(self, path: str, twin: Twin, **description: Unpack[Operation]) -> Decorator:
        return self._both("put", path, twin, description, Permission.ACCOUNT_WRITE)

    def patch(self, path: str, twin: Twin, **description: Unpack[Operation]) -> Decorator:
        return self._both("patch", path, twin, description, Permission.ACCOUNT_WRITE)

    def delete(self, path: str, twin: Twin, **description: Unpack[Operation]) -> Decorator:
        return self._both("delete", path, twin, description, Permission.ACCOUNT_WRITE)

    def _both(self, method: str, path: str, twin: Twin, description: Operation, permission: Permission) -> Decorator:
        extra = {**description["openapi_extra"], PERMISSION: twin.permission or permission}
        of_account = Operation(
            **{**description, "operation_id": twin.operation_id, "summary": twin.summary, "openapi_extra": extra}
        )

        def register(endpoint: AnyEndpoint) -> AnyEndpoint:
            add = getattr(self.routes, method)
            add(f"/v1/projects/{{project}}{self._below}{path}", **description)(
                _endpoint(endpoint, _Project, "project", ProjectRef)
            )
            add(f"/v1/billing/accounts/{{account:ref}}{path}", **of_account)(
                _endpoint(endpoint, _Account, "account", AccountId, body=twin.body)
            )
            return endpoint

        return register


def _endpoint(
    handler: Endpoint,
    kind: Callable[[Request, Any], Owner],
    name: str,
    annotation: object,
    *,
    body: type[BaseModel] | None = None,
) -> Endpoint:
    """The handler for one kind of owner, with a signature that says so."""

    async def endpoint(request: Request, **arguments: Any) -> Response:
        return await handler(kind(request, arguments.pop(name)), **arguments)

    _, *others = signature(handler, eval_str=True).parameters.values()
    return declared(
        endpoint,
        parameter(name, annotation),
        *(each.replace(annotation=body) if body is not None and each.name == "body" else each for each in others),
        name=handler.__name__,
        module=handler.__module__,
        description=handler.__doc__,
    )

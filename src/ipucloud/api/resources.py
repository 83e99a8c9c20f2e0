"""The routes that nouns of what projects hold have alike, such as volumes and addresses (`clusters.resources`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Annotated, Any, TypeAlias
from uuid import UUID

from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import list_of
from ipucloud.api.reads import read_one
from ipucloud.api.routing import Decorator, Endpoint, Operation, Router, declared, operation, parameter
from ipucloud.api.shapes import ProjectRef
from ipucloud.api.writes import actor, change
from ipucloud.clusters.resources.attachable import Attachables
from ipucloud.clusters.resources.resource import Resources
from ipucloud.contract.lists import Listed
from ipucloud.identity.access import Scope
from ipucloud.identity.documents import Documents
from ipucloud.identity.roles import Permission
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import (
    BUDGET_REACHED,
    COST_LIMIT_REACHED,
    IN_USE,
    NAME_TAKEN,
    PAYMENT_OVERDUE,
    QUOTA_EXCEEDED,
    STATE_CONFLICT,
    ErrorCode,
)

COSTS = (BUDGET_REACHED, COST_LIMIT_REACHED, PAYMENT_OVERDUE, QUOTA_EXCEEDED, STATE_CONFLICT)
"""Errors of a request for what is billed."""
Create: TypeAlias = Callable[[AsyncConnection, Actor], Awaitable[UUID]]
Change: TypeAlias = Callable[[AsyncConnection, Actor], Awaitable[None]]


class ResourceRoutes:
    """Adds routes of a noun to those of its module. `gives`: the model of one.

    A `description` is that of the operation in the OpenAPI document.
    """

    def __init__(
        self, routes: Router, module: str, resources: Resources[Any], documents: Documents, gives: type[BaseModel]
    ) -> None:
        self._routes, self._module = routes, module
        self._resources, self._documents, self._gives = resources, documents, gives
        self._noun, self._nouns = resources.noun, resources.nouns
        self._all = f"/v1/projects/{{project}}/{self._nouns}"
        self._one = f"{self._all}/{{{self._noun}:ref}}"
        self._phrase = f"{'an' if self._noun[0] in 'aeiou' else 'a'} {self._noun}"

    def create(self, summary: str) -> Decorator:
        """For a handler that answers with `created`."""
        return self._routes.post(self._all, **self._changing("create", summary, errors=(NAME_TAKEN, *COSTS)))

    def action(self, verb: str, summary: str, *, errors: Iterable[ErrorCode]) -> Decorator:
        """For a handler that answers with `changed`, at `:<verb>` of one."""
        return self._routes.post(f"{self._one}:{verb}", **self._changing(verb, summary, errors=errors))

    def list(self, query: type[Listed], page: type[BaseModel]) -> None:
        async def endpoint(request: Request, project: str, query: Listed) -> Response:
            return await list_of(request, project, self._documents.list, query)

        name, summary = f"list{self._nouns.capitalize()}", f"List {self._nouns}"
        described = operation(name, summary, Permission.CLUSTER_READ, gives=page)
        self._routes.get(self._all, **described)(
            declared(
                endpoint,
                parameter("project", ProjectRef),
                parameter("query", query),
                name=f"list_{self._nouns}",
                module=self._module,
                description=f"List the project's {self._nouns}, newest first. Deleted ones are listed where `state`"
                " asks for them.",
            )
        )

    def get(self, description: str) -> None:
        async def endpoint(request: Request, project: str, **path: UUID) -> Response:
            document, _ = await read_one(request, self._documents.get, project, resource_id=path[self._noun])
            return Response(document, media_type=JSON)

        name, summary = f"get{self._noun.capitalize()}", f"Read {self._phrase}"
        described = operation(name, summary, Permission.CLUSTER_READ, gives=self._gives)
        self._routes.get(self._one, **described)(self._declared(endpoint, "get", description))

    def patch(self, body: type[BaseModel], description: str) -> None:
        async def endpoint(request: Request, project: str, body: Any, **path: UUID) -> Response:
            ref = path[self._noun]
            return await self.changed(
                request, project, ref, lambda on, by: self._resources.change(on, by, ref, body), status=200
            )

        described = self._changing("update", f"Change {self._phrase}", status=200, errors=(NAME_TAKEN, STATE_CONFLICT))
        self._routes.patch(self._one, **described)(self._declared(endpoint, "update", description, body))

    def delete(self, description: str) -> None:
        async def endpoint(request: Request, project: str, **path: UUID) -> Response:
            ref = path[self._noun]
            return await self.changed(request, project, ref, lambda on, by: self._resources.delete(on, by, ref))

        described = self._changing("delete", f"Delete {self._phrase}", errors=(IN_USE, STATE_CONFLICT))
        self._routes.delete(self._one, **described)(self._declared(endpoint, "delete", description))

    async def created(self, request: Request, project: str, effect: Create) -> Response:
        """Record a new one; the answer shows it."""

        async def create(connection: AsyncConnection, scope: Scope) -> Answer:
            new = await effect(connection, actor(request, scope))
            location = f"/v1/projects/{scope.project_id}/{self._nouns}/{new}"
            return await self._answer(connection, scope, new, 202, {"Location": location})

        return await change(request, project, create)

    async def changed(
        self, request: Request, project: str, ref: UUID, effect: Change, *, status: int = 202
    ) -> Response:
        """Change one; the answer shows it afterwards."""

        async def changed(connection: AsyncConnection, scope: Scope) -> Answer:
            await effect(connection, actor(request, scope))
            return await self._answer(connection, scope, ref, status, {})

        return await change(request, project, changed)

    async def _answer(
        self, connection: AsyncConnection, scope: Scope, ref: UUID, status: int, headers: dict[str, str]
    ) -> Answer:
        document = await self._documents.read(connection, project_id=scope.project_id, resource_id=ref)
        return Answer(status, document.encode(), headers, ref)

    def _changing(self, verb: str, summary: str, *, status: int = 202, errors: Iterable[ErrorCode]) -> Operation:
        name = f"{verb}{self._noun.capitalize()}"
        return operation(name, summary, Permission.CLUSTER_WRITE, gives=self._gives, status=status, errors=errors)

    def _declared(
        self, endpoint: Endpoint, verb: str, description: str, body: type[BaseModel] | None = None
    ) -> Endpoint:
        ref = Annotated[UUID, Field(description=f"Id of the {self._noun}, or its name.")]
        parameters = [parameter("project", ProjectRef), parameter(self._noun, ref)]
        if body is not None:
            parameters.append(parameter("body", body))
        name = f"{verb}_{self._noun}"
        return declared(endpoint, *parameters, name=name, module=self._module, description=description)


class AttachableRoutes(ResourceRoutes):
    """Those of a noun of which a Poplar server can have some."""

    def __init__(
        self, routes: Router, module: str, resources: Attachables[Any], documents: Documents, gives: type[BaseModel]
    ) -> None:
        super().__init__(routes, module, resources, documents, gives)
        self._attachables = resources

    def attach(self, body: type[BaseModel], description: str) -> None:
        async def endpoint(request: Request, project: str, body: Any, **path: UUID) -> Response:
            ref = path[self._noun]
            return await self.changed(request, project, ref, lambda on, by: self._attachables.attach(on, by, ref, body))

        add = self.action("attach", f"Attach {self._phrase}", errors=(STATE_CONFLICT,))
        add(self._declared(endpoint, "attach", description, body))

    def detach(self, description: str) -> None:
        async def endpoint(request: Request, project: str, **path: UUID) -> Response:
            ref = path[self._noun]
            return await self.changed(request, project, ref, lambda on, by: self._attachables.detach(on, by, ref))

        add = self.action("detach", f"Detach {self._phrase}", errors=(STATE_CONFLICT,))
        add(self._declared(endpoint, "detach", description))

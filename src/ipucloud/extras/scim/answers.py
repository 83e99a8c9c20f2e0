"""What the routes below `/scim/v2` answer.

Imported with their first request: to build the protocol's models takes half a second.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from scim2_models import (
    Context,
    Error,
    ListResponse,
    PatchOp,
    Resource,
    ResourceType,
    ResponseParameters,
    Schema,
    SCIMException,
    SearchRequest,
)
from scim2_models.path import CompareOperator, Comparison
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.responses import Response

from ipucloud.api.links import inviting_of, mail_again, own_url
from ipucloud.api.services import services_of
from ipucloud.api.trace import origin_of, trace_of
from ipucloud.extras.scim import shapes
from ipucloud.extras.scim.errors import MEDIA_TYPE, refused
from ipucloud.extras.scim.routing import ScimRequest, ScimRoute
from ipucloud.extras.scim.shapes import MOST_RESULTS, POLICY, User, profile_of, user_of, with_active
from ipucloud.identity import provisioning
from ipucloud.identity.access import identify
from ipucloud.identity.provisioning import Person
from ipucloud.kernel.errors import NOT_FOUND, PERMISSION_DENIED, Problem

_LONGEST_FILTER = 1024
_MOST_OPERATIONS = 100
_USUAL_RESULTS = 100
_SCHEMA = str(User.__schema__)
_LONGEST_SENTENCE = 300
Answering = Callable[[ScimRequest], Awaitable[Response]]


async def answer(name: str, request: ScimRequest) -> Response:
    """The answer of the route with this name. Raises `Problem` malformed_request for what a model does not accept."""
    if request.method != "DELETE":  # every other answer has links: they are refused before anything is changed
        own_url(request)
    try:
        return await ANSWERS[name](request)
    except (SCIMException, ValidationError) as error:
        raise _of_model(error) from error


async def service_provider_config(request: ScimRequest) -> Response:
    return _json(shapes.config(_base(request)).model_dump_json())


async def resource_types(request: ScimRequest) -> Response:
    return _described(request, ListResponse[ResourceType], shapes.resource_types(_base(request)))


async def resource_type(request: ScimRequest) -> Response:
    return _one(request, shapes.resource_types(_base(request)))


async def schemas(request: ScimRequest) -> Response:
    return _described(request, ListResponse[Schema], shapes.schemas(_base(request)))


async def schema(request: ScimRequest) -> Response:
    return _one(request, shapes.schemas(_base(request)))


async def list_groups(request: ScimRequest) -> Response:  # noqa: ARG001  # there are none, whatever is asked
    """Some providers look for groups even when they provision none, and stop if that is an error."""
    return _json(ListResponse[User](total_results=0, start_index=1, items_per_page=0, resources=[]).model_dump_json())


async def list_users(request: ScimRequest) -> Response:
    return await _search(request, SearchRequest[User].model_validate(_query(request), scim_policy=POLICY))


async def search_users(request: ScimRequest) -> Response:
    body = await request.json()
    _check_filter(body.get("filter") if isinstance(body, dict) else None)
    context = Context.SEARCH_REQUEST
    return await _search(request, SearchRequest[User].model_validate(body, scim_ctx=context, scim_policy=POLICY))


async def _search(request: ScimRequest, search: SearchRequest[User]) -> Response:
    count = min(_USUAL_RESULTS if search.count is None else search.count, MOST_RESULTS)
    chosen = _chosen(search)
    async with services_of(request).database.read() as connection:
        total = await provisioning.COUNT.one(connection, chosen)
        page = {"offset": search.start_index_0 or 0, "limit": count}
        rows = await provisioning.LIST.all(connection, {**chosen, **page}) if count else []
    base = _base(request)
    listed = ListResponse[User](
        total_results=total,
        start_index=search.start_index or 1,
        items_per_page=len(rows),
        resources=[user_of(each, base) for each in rows],
    )
    return _json(listed.model_dump_json(scim_ctx=Context.RESOURCE_QUERY_RESPONSE, response_parameters=search))


async def get_user(request: ScimRequest) -> Response:
    parameters = _parameters(request)
    row = await services_of(request).reader.one(provisioning.FIND, {"id": _id(request)})
    if row is None:
        raise provisioning.no_person()
    return _user(request, row, parameters)


async def create_user(request: ScimRequest) -> Response:
    parameters = _parameters(request)
    body = with_active(await request.json(), active=True)
    profile = profile_of(User.model_validate(body, scim_ctx=Context.RESOURCE_CREATION_REQUEST, scim_policy=POLICY))

    async def work(connection: AsyncConnection) -> Person:
        await _identified(request, connection)
        return await provisioning.create(connection, profile)

    person = await services_of(request).database.transact(work)
    trace_of(request).concerns(user_id=person.id)
    return _user(request, person, parameters, 201)


async def replace_user(request: ScimRequest) -> Response:
    body = await request.json()

    def replaced(before: User) -> User:
        document = with_active(body, active=bool(before.active))
        user = User.model_validate(document, scim_ctx=Context.RESOURCE_REPLACEMENT_REQUEST, scim_policy=POLICY)
        user.replace(before)
        return user

    return await _changed(request, replaced)


async def patch_user(request: ScimRequest) -> Response:
    body = await request.json()
    _check_size(body)

    def patched(before: User) -> User:
        patch = PatchOp[User].model_validate(body, scim_ctx=Context.RESOURCE_PATCH_REQUEST, scim_policy=POLICY)
        patch.patch(before, scim_policy=POLICY)
        return before

    return await _changed(request, patched)


async def delete_user(request: ScimRequest) -> Response:
    user_id = _id(request)

    async def work(connection: AsyncConnection) -> None:
        await _identified(request, connection)
        await provisioning.delete(connection, user_id, trace_of(request).request_id)

    await services_of(request).database.transact(work)
    services_of(request).notifier.poke()
    return Response(status_code=204)


async def _changed(request: ScimRequest, change: Callable[[User], User]) -> Response:
    parameters, user_id, base = _parameters(request), _id(request), _base(request)

    async def work(connection: AsyncConnection) -> Person:
        await _identified(request, connection)
        before = await provisioning.locked(connection, user_id)
        profile = profile_of(change(user_of(before, base)))
        changed, again = await provisioning.update(connection, before, profile, inviting_of(request))
        if not before.verified:
            trace_of(request).concerns(verified_user_id=before.id)
        await mail_again(request, connection, again)
        return changed

    person = await services_of(request).database.transact(work)
    services_of(request).notifier.poke()
    return _user(request, person, parameters)


async def _identified(request: ScimRequest, connection: AsyncConnection) -> None:
    """What the transaction records names the caller. Raises `Problem` 401 or 403."""
    trace = trace_of(request)
    await identify(connection, trace.credential(), ScimRoute.permission, origin_of(request))


def _id(request: ScimRequest) -> UUID:
    try:
        user_id = UUID(request.path_params["user"])
    except ValueError:
        raise provisioning.no_person() from None
    trace_of(request).concerns(user_id=user_id)
    return user_id


def _query(request: ScimRequest) -> dict[str, str]:
    query = dict(request.query_params)
    if len(query) < len(request.query_params.multi_items()):
        raise refused("invalidValue", "Send each parameter of the query once.")
    _check_filter(query.get("filter"))
    return query


def _check_filter(text: object) -> None:
    """Raises `Problem` malformed_request before a filter is parsed that is too long to be one of these."""
    if isinstance(text, str) and len(text) > _LONGEST_FILTER:
        raise refused("invalidFilter", f"A filter has at most {_LONGEST_FILTER} characters.")


def _parameters(request: ScimRequest) -> ResponseParameters[User]:
    return ResponseParameters[User].model_validate(_query(request), scim_policy=POLICY)


def _chosen(search: SearchRequest[User]) -> dict[str, str | None]:
    """The parameters of a list. Raises `Problem` malformed_request for another filter than those two."""
    chosen: dict[str, str | None] = {"email": None, "external_id": None}
    if search.filter is None:
        return chosen
    expression = search.filter.ast
    if isinstance(expression, Comparison) and expression.op is CompareOperator.eq and isinstance(expression.value, str):
        attribute = str(expression.attr_path).lower().removeprefix(f"{_SCHEMA}:".lower())
        if attribute == "username" and _storable(expression.value):
            return chosen | {"email": expression.value.lower()}
        if attribute == "externalid" and _storable(expression.value):
            return chosen | {"external_id": expression.value}
    raise refused("invalidFilter", 'The filters are userName eq "ann@example.com" and externalId eq "00u1a2b3c4".')


def _storable(text: str) -> bool:
    """Whether PostgreSQL has such a text: escapes in a filter can write what UTF-8 cannot."""
    return "\x00" not in text and not any("\ud800" <= each <= "\udfff" for each in text)


def _check_size(body: object) -> None:
    """Raises `Problem` malformed_request before paths are parsed one by one."""
    operations = body.get("Operations") if isinstance(body, dict) else None
    if not isinstance(operations, list):
        return
    if len(operations) > _MOST_OPERATIONS:
        raise refused("tooMany", f"A PATCH has at most {_MOST_OPERATIONS} operations. Send several.")
    paths = (each.get("path") for each in operations if isinstance(each, dict))
    if any(isinstance(path, str) and len(path) > _LONGEST_FILTER for path in paths):
        raise refused("invalidPath", f"A path has at most {_LONGEST_FILTER} characters.")


def _described(request: ScimRequest, kind: type[ListResponse[Any]], resources: Sequence[Resource[Any]]) -> Response:
    """RFC 7644, section 4, has a filter refused here with 403."""
    if "filter" in request.query_params:
        raise Problem(PERMISSION_DENIED, "What describes the service is not filtered. Read all of it.")
    listed = kind(total_results=len(resources), start_index=1, items_per_page=len(resources), resources=list(resources))
    return _json(listed.model_dump_json(scim_ctx=Context.RESOURCE_QUERY_RESPONSE))


def _one(request: ScimRequest, resources: Sequence[Resource[Any]]) -> Response:
    resource_id = request.path_params["id"]
    for resource in resources:
        if resource.id == resource_id:
            return _json(resource.model_dump_json(scim_ctx=Context.RESOURCE_QUERY_RESPONSE))
    raise Problem(NOT_FOUND, "There is nothing with this id. Read the whole list.")


def _user(request: ScimRequest, person: Person, parameters: ResponseParameters[User], status: int = 200) -> Response:
    user = user_of(person, _base(request))
    context = Context.RESOURCE_CREATION_RESPONSE if status == 201 else Context.RESOURCE_QUERY_RESPONSE
    location = shapes.location_of(f"Users/{person.id}", _base(request))
    return _json(
        user.model_dump_json(scim_ctx=context, response_parameters=parameters), status, {"Location": str(location)}
    )


def _of_model(error: SCIMException | ValidationError) -> Problem:
    cause = error.__cause__ if isinstance(error, SCIMException) else error
    if isinstance(cause, ValidationError):
        first, *_ = Error.from_validation_errors(cause)
    elif isinstance(error, SCIMException):
        first = error.to_error()
    sentence = " ".join((first.detail or "").split())[:_LONGEST_SENTENCE].rstrip(".")
    return refused(first.scim_type or "invalidValue", f"{sentence}.")


def _json(text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(text, status, dict(headers or {}), MEDIA_TYPE)


def _base(request: ScimRequest) -> str:
    return f"{own_url(request)}/"


ANSWERS: Mapping[str, Answering] = {
    "scimServiceProviderConfig": service_provider_config,
    "scimListResourceTypes": resource_types,
    "scimGetResourceType": resource_type,
    "scimListSchemas": schemas,
    "scimGetSchema": schema,
    "scimListGroups": list_groups,
    "scimListUsers": list_users,
    "scimCreateUser": create_user,
    "scimSearchUsers": search_users,
    "scimSearch": search_users,
    "scimGetUser": get_user,
    "scimReplaceUser": replace_user,
    "scimPatchUser": patch_user,
    "scimDeleteUser": delete_user,
}
"""By the names of the routes."""

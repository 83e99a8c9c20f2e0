"""The OpenAPI document: FastAPI's, completed with every response of a route.

In the code, the model of an object has the suffix `Out`; in the document the object has the plain name.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from functools import wraps
from inspect import signature
from typing import Annotated, Any

from fastapi import Query
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic.warnings import UnsupportedFieldAttributeWarning
from starlette.responses import Response
from starlette.routing import BaseRoute

from ipucloud import __version__
from ipucloud.api.credentials import SAFE_METHODS
from ipucloud.api.examples import describe, drop_repeated, exemplify, refusals
from ipucloud.api.health import HealthRoute
from ipucloud.api.messages import messages
from ipucloud.api.nouns import every_route
from ipucloud.api.routing import ERRORS, ApiRoute
from ipucloud.api.shapes import IDEMPOTENCY_KEY, REQUIRED_IDEMPOTENCY_KEY
from ipucloud.api.shared import share
from ipucloud.contract.problems import ProblemOut
from ipucloud.identity.roles import PERMISSIONS, Role
from ipucloud.kernel.errors import (
    BODY_TOO_LARGE,
    CROSS_SITE_REQUEST,
    IDEMPOTENCY_IN_PROGRESS,
    IDEMPOTENCY_KEY_REQUIRED,
    IDEMPOTENCY_KEY_REUSED,
    INTERNAL_ERROR,
    INVALID_CURSOR,
    MALFORMED_REQUEST,
    MEDIA_TYPE,
    NOT_FOUND,
    PERMISSION_DENIED,
    RATE_LIMITED,
    REGISTRY,
    SOURCE_NOT_ALLOWED,
    UNAUTHENTICATED,
    UNAVAILABLE,
    UNSUPPORTED_MEDIA_TYPE,
    VALIDATION_FAILED,
    ErrorCode,
)

DESCRIPTION = """\
Create, use, pay for and delete clusters of Graphcore IPUs.

Send `Authorization: Bearer <token>`. Errors are `application/problem+json` (RFC 9457): branch on `code`. Repeat a
POST or PATCH safely with `Idempotency-Key`, and update what you have read with `If-Match`. Lists are paginated with
`next_cursor`. Asynchronous requests return 202 with an operation: poll it with `?wait=60` until it is done.
"""
TAGS = {
    "whoami": "The caller's token and what it may do.",
    "session": "Signing browsers in.",
    "sign-in-providers": "OpenID Connect providers through which people sign in.",
    "me": "The person whose the token is, and its memberships.",
    "login": "Tokens for people at the command line.",
    "members": "People in a project.",
    "invitations": "How people become members.",
    "projects": "Projects own clusters, quotas and tokens.",
    "s3-connections": "S3 buckets that exports are delivered to, and that servers of clusters can reach.",
    "ssh-authority": "What signs the SSH certificates of the project's members.",
    "ssh-keys": "Public keys that may log in to new clusters.",
    "regions": "Where machines are, and how many clusters fit there now.",
    "flavors": "Cluster sizes that are sold, with prices.",
    "images": "Operating systems with the Poplar SDK.",
    "prices": "Current and future prices.",
    "overview": "A project at a glance.",
    "quotas": "How many machines a project may hold.",
    "quota-requests": "Requests for higher quotas, and the operator's decisions.",
    "reservations": "Capacity for a time to come.",
    "addresses": "Public addresses that outlive clusters.",
    "volumes": "Storage that outlives clusters.",
    "snapshots": "Copies of volumes and of servers, from which new ones are made.",
    "clusters": "Clusters, their partitions, jobs, topology and V-IPU controller.",
    "operations": "Progress of asynchronous requests: poll, wait, cancel.",
    "fault-reports": "Faults of hardware that you reported to the operator, and the answers.",
    "metrics": "How busy clusters are, for Prometheus.",
    "usage": "Minutes and cost of clusters so far.",
    "billing": "Accounts, charges, reports, invoices, payments and exports.",
    "budgets": "Alerts and limits on a month's cost.",
    "events": "What happened in a project, in order.",
    "cloud-events": "The same, in the format of CloudEvents 1.0.",
    "event-types": "Every type of event, with its data.",
    "audit-log": "Who asked for what, with which result.",
    "webhooks": "Events sent to a server of yours.",
    "tokens": "Tokens of projects and of the platform.",
    "hardware": "IPUs and machine types, with the vendor's figures.",
    "recipes": "Models of the model garden.",
    "tools": "Software that runs on Poplar servers.",
    "operator": "Hardware, work and capacity of the platform, for its operators.",
    "health": "Whether a process is alive and ready.",
}
"""The nouns of paths, in the order in which a customer meets them."""
_SECURITY = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token of a project, a billing account or the platform. `APIKey <token>` is also accepted. "
        "Browsers send the cookie of `POST /v1/session` instead.",
    }
}
_TEXT = {"type": "string"}
_HEADERS: dict[str, dict[str, Any]] = {
    "Request-Id": {
        "description": "The request's id; the caller's own if it sent a well-formed one.",
        "schema": _TEXT,
        "required": True,
    },
    "RateLimit-Policy": {
        "description": "The limit of the token or address, and its window in seconds.",
        "schema": _TEXT,
    },
    "RateLimit": {"description": "Remaining requests, and seconds until the limit is fully restored.", "schema": _TEXT},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
    "ETag": {"description": "The object's entity tag, for If-Match and If-None-Match.", "schema": _TEXT},
    "Location": {"description": "Path of the created object.", "schema": _TEXT},
    "WWW-Authenticate": {"description": "How to authenticate.", "schema": _TEXT},
    "Idempotent-Replayed": {"description": "`true`: the stored response to an earlier request.", "schema": _TEXT},
}
_OF_STATUS = {
    201: ("Location",),
    202: ("Location", "Retry-After"),
    401: ("WWW-Authenticate",),
    412: ("ETag",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}


def build(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """The complete document of an application with these routes; what operations have in common is written once."""
    document = whole(routes)
    share(document)
    return document


def whole(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """The same with each operation's parameters and responses written out."""
    documented = [route for route in every_route(routes) if isinstance(route, ApiRoute | HealthRoute)]
    with warnings.catch_warnings():  # FastAPI silences this one for models that are not built later, as ours are
        warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)
        document = get_openapi(
            title="ipucloud",
            version=__version__,
            summary="A cloud of Graphcore IPUs",
            description=DESCRIPTION,
            routes=[_described(route) for route in documented],
            license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
            servers=[{"url": "/", "description": "The service that serves this document"}],
        )
    components = document["components"]
    components["schemas"].update(_problem_schemas())
    for name in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(name, None)
    webhooks, schemas, parameters = messages()
    if shared := components["schemas"].keys() & schemas.keys():
        raise ValueError(f"bodies of requests and messages share the names {sorted(shared)}")
    components["schemas"].update(schemas)
    components["parameters"] = parameters
    document["webhooks"] = webhooks
    components["headers"] = _HEADERS
    components["securitySchemes"] = _SECURITY
    for route in documented:
        (method,) = route.methods or ("GET",)
        _complete(document["paths"][route.path_format][method.lower()], route, method)
    describe(components["schemas"])
    drop_repeated(document)
    exemplify(document)
    document["tags"] = [{"name": name, "description": text} for name, text in TAGS.items()]
    return rename(document)


def _described(route: ApiRoute | HealthRoute) -> APIRoute:
    """The route as FastAPI describes it. To FastAPI a model is a body if nothing says that it is the query."""

    @wraps(route.endpoint)
    async def endpoint() -> Response:
        raise NotImplementedError  # FastAPI answers no request

    declared = signature(route.endpoint, eval_str=True)
    endpoint.__signature__ = declared.replace(  # type: ignore[attr-defined]  # what `inspect` reads
        parameters=[
            each.replace(annotation=Annotated[each.annotation, Query()]) if each.name == "query" else each
            for each in declared.parameters.values()
        ]
    )
    return APIRoute(route.path, endpoint, methods=route.methods, **route.description)


def _complete(operation: dict[str, Any], route: ApiRoute | HealthRoute, method: str) -> None:
    operation["responses"].pop("422", None)
    if isinstance(route, ApiRoute):
        operation["security"] = [] if route.permission is None else [{"token": []}]
        operation["tags"] = [_noun(route.path_format)]
        if method in {"POST", "PATCH"} and route.permission is not None:
            needed = IDEMPOTENCY_KEY_REQUIRED.code in operation[ERRORS]
            operation.setdefault("parameters", []).append(REQUIRED_IDEMPOTENCY_KEY if needed else IDEMPOTENCY_KEY)
    errors = sorted(_errors(route, method, operation), key=lambda error: (error.status, error.code))
    for status in {error.status: None for error in errors}:
        operation["responses"][str(status)] = _refusal([error for error in errors if error.status == status])
    if _has_header(operation, "If-None-Match"):
        operation["responses"]["304"] = {"description": "The caller has the current object"}
    for status, response in operation["responses"].items():
        if response.get("content", {}).get("application/json") == {"schema": {}}:
            del response["content"]["application/json"]  # FastAPI's default, for answers that are a file
        names = ["Request-Id", *_OF_STATUS.get(int(status), ())]
        if isinstance(route, ApiRoute):
            names += ["RateLimit-Policy", "RateLimit"]
        if int(status) < 400 and _has_header(operation, "If-None-Match", "If-Match") and status != "202":
            names.append("ETag")
        if int(status) < 400 and _has_header(operation, "Idempotency-Key"):
            names.append("Idempotent-Replayed")
        response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
    operation["responses"] = dict(sorted(operation["responses"].items()))


def _errors(route: ApiRoute | HealthRoute, method: str, operation: dict[str, Any]) -> Iterator[ErrorCode]:
    """Every error of the route: its own and those of its kind."""
    yield INTERNAL_ERROR
    yield UNAVAILABLE
    if not isinstance(route, ApiRoute):
        return
    yield from (REGISTRY[code] for code in operation[ERRORS])
    yield from (UNAUTHENTICATED, RATE_LIMITED, VALIDATION_FAILED)
    if route.permission is not None:
        yield SOURCE_NOT_ALLOWED
    if route.permission is not None and PERMISSIONS[route.permission] != frozenset(Role):
        yield PERMISSION_DENIED
    if route.permission is not None and method not in SAFE_METHODS:
        yield CROSS_SITE_REQUEST
    if "{" in route.path_format:
        yield NOT_FOUND
    if method in {"POST", "PATCH", "PUT"}:
        yield from (MALFORMED_REQUEST, BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE)
    if _has_header(operation, "Idempotency-Key"):
        yield from (IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED)
    if any(parameter["name"] == "cursor" for parameter in operation.get("parameters", ())):
        yield INVALID_CURSOR


def _refusal(errors: Iterable[ErrorCode]) -> dict[str, Any]:
    codes = {error.code: error.title for error in errors}
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": refusals(codes)}
    return {
        "description": "; ".join(f"`{code}`: {title}" for code, title in codes.items()),
        "content": {MEDIA_TYPE: problem},
    }


def _has_header(operation: dict[str, Any], *names: str) -> bool:
    return any(parameter["name"] in names for parameter in operation.get("parameters", ()))


def _problem_schemas() -> dict[str, Any]:
    schema = ProblemOut.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs"), "Problem": schema}


def _noun(path: str) -> str:
    """The path's tag: `clusters` for `/v1/projects/{project}/clusters/{cluster}/usage`."""
    nouns = [part.partition(":")[0] for part in path.split("/")[2:] if not part.startswith("{")]
    return nouns[1] if nouns[0] == "projects" and len(nouns) > 1 else nouns[0]


_SECTIONS = ("schemas", "examples")
_NAMES = {
    "BudgetTag": "BudgetTagCreate",
    "BudgetThreshold": "BudgetThresholdCreate",
    "ClusterItemOut": "ClusterSummary",
    "ClusterScheduleOut": "ClusterScheduleState",
    "NewKeyOut": "NewVipuKey",
    "PartitionDetailOut": "PartitionDetails",
    "PartitionItemOut": "PartitionSummary",
    "StatusOut": "Readiness",
    "SumsOut": "ReportSums",
    "TryOut": "DeliveryAttempt",
}


def public(model: str) -> str:
    """The component's name for the name of its model."""
    return _NAMES.get(model, model.removesuffix("Out"))


def rename(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the public names. Raises ValueError when two components would have one name."""
    components = document["components"]
    names = {
        f"#/components/{section}/{model}": f"#/components/{section}/{public(model)}"
        for section in _SECTIONS
        for model in components[section]
    }
    if len(set(names.values())) < len(names):
        raise ValueError("two components would have one name: name one of them in _NAMES")
    for section in _SECTIONS:
        components[section] = {public(model): value for model, value in components[section].items()}
    for schema in components["schemas"].values():
        schema.pop("title", None)  # the name of its model
    renamed: dict[str, Any] = _replaced(document, names)
    return renamed


def _replaced(node: Any, names: dict[str, str]) -> Any:
    if isinstance(node, dict):
        return {key: _replaced(value, names) for key, value in node.items()}
    if isinstance(node, list):
        return [_replaced(value, names) for value in node]
    return names.get(node, node) if isinstance(node, str) else node

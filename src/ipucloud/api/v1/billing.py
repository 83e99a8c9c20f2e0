"""Billing accounts, the account of a project, and the charges of a cluster."""

from __future__ import annotations

from uuid import UUID

import orjson
from pydantic_core import to_json
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON, changed_since, expected_version, tag, tagged
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import behind, only_page, page
from ipucloud.api.problems import invalid
from ipucloud.api.reads import read_platform, reading, reading_account
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import IF_MATCH, IF_NONE_MATCH, AccountId, ClusterId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.money import payer_of, refuse_unknown_scheme, refuse_unprintable
from ipucloud.api.writes import actor, change, change_platform
from ipucloud.billing.accounts import store as accounts
from ipucloud.billing.ledger.transfers import balances_shown
from ipucloud.billing.reports.explain import MAX_DAYS, charges_of, knows_cluster
from ipucloud.contract.accounts import (
    AccountChoice,
    BillingAccountCreate,
    BillingAccountOut,
    BillingAccountPage,
    BillingAccountPatch,
    ProjectAccountOut,
)
from ipucloud.contract.charges import ChargePage, ChargePeriod
from ipucloud.contract.lists import Listed
from ipucloud.db.documents import list_parameters
from ipucloud.db.statements import Statements
from ipucloud.identity import projects
from ipucloud.identity.access import Principal, Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import PRECONDITION_FAILED, FieldError, not_found

routes = router()


@routes.get(
    "/v1/billing/accounts",
    **operation("listBillingAccounts", "List billing accounts", Permission.ACCOUNT_READ, gives=BillingAccountPage),
)
async def list_billing_accounts(request: Request, query: Listed) -> Response:
    """List all billing accounts, including those that were created with a project; a payer's list has its own."""
    parameters = {"currency": services_of(request).settings.currency, **list_parameters(query, behind(query, request))}
    return page(query, request, await read_platform(request, accounts.LIST_ACCOUNTS[query.order], **parameters))


@routes.post(
    "/v1/billing/accounts",
    **operation(
        "createBillingAccount",
        "Create a billing account",
        Permission.PLATFORM_WRITE,
        gives=BillingAccountOut,
        status=201,
        description="Created",
    ),
)
async def create_billing_account(request: Request, body: BillingAccountCreate) -> Response:
    """Create an account without projects. Every project already has its own account, with the project's id."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        refuse_unprintable(body)
        refuse_unknown_scheme(body.e_invoice)
        account_id = await accounts.create(
            connection, **body.model_dump() | {"e_invoice": body.e_invoice.model_dump(exclude_none=True)}
        )
        document, version = await _document(request, connection, account_id)
        location = f"/v1/billing/accounts/{account_id}"
        return Answer(201, document, {"Location": location, "ETag": tag(version, document)}, account_id)

    return await change_platform(request, effect)


@routes.get(
    "/v1/billing/accounts/{account:ref}",
    **operation(
        "getBillingAccount",
        "Read a billing account",
        Permission.ACCOUNT_READ,
        gives=BillingAccountOut,
        headers=(IF_NONE_MATCH,),
    ),
)
async def get_billing_account(request: Request, account: AccountId) -> Response:
    """Return a billing account."""
    async with reading_account(request, account) as connection:
        document, version = await _document(request, connection, account)
    return tagged(request, document, version)


@routes.patch(
    "/v1/billing/accounts/{account:ref}",
    **operation(
        "updateBillingAccount",
        "Change a billing account",
        Permission.PLATFORM_WRITE,
        gives=BillingAccountOut,
        errors=(PRECONDITION_FAILED,),
        headers=(IF_MATCH,),
    ),
)
async def update_billing_account(request: Request, account: AccountId, body: BillingAccountPatch) -> Response:
    """Change the account's details on invoices. Its currency cannot be changed."""
    if_version = expected_version(request)

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        refuse_unprintable(body)
        refuse_unknown_scheme(body.e_invoice)
        changes = body.model_dump(exclude_none=True)
        changed = await accounts.update(connection, account, changes, if_version=if_version)
        document, version = await _document(request, connection, account)
        if not changed:
            raise changed_since(version, document)
        return Answer(200, document, {"ETag": tag(version, document)}, account)

    return await change_platform(request, effect)


@routes.get(
    "/v1/projects/{project}/billing/account",
    **operation("getProjectAccount", "Read the project's account", Permission.USAGE_READ, gives=ProjectAccountOut),
)
async def get_project_account(request: Request, project: ProjectRef) -> Response:
    """Return the account that pays for the project now, with its balances up to the last closed hour."""
    async with reading(request, project, of_payer=True) as (connection, scope):
        account, currency = await payer_of(request, connection, scope.project_id)
        document, _ = await accounts.account_document(connection, account, currency=currency)
        balances = await balances_shown(connection, account, currency)
    return Response(to_json(orjson.loads(document) | {"balances": balances}), media_type=JSON)


@routes.put(
    "/v1/projects/{project}/billing/account",
    **operation(
        "assignProjectAccount",
        "Set the project's account",
        Permission.PLATFORM_WRITE,
        gives=BillingAccountOut,
    ),
)
async def assign_project_account(request: Request, project: ProjectRef, body: AccountChoice) -> Response:
    """Set the account that pays from one of the next two full hours on. Earlier hours stay with the present one."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await projects.lock(connection, scope.project_id)
        document, version = await _document(request, connection, body.account_id)
        currency = services_of(request).settings.currency
        await accounts.assign(connection, actor(request, scope), body.account_id, default=currency)
        return Answer(200, document, {"ETag": tag(version, document)})

    return await change(request, project, effect)


@routes.get(
    "/v1/projects/{project}/clusters/{cluster:ref}/charges",
    **operation("listCharges", "List a cluster's charges", Permission.USAGE_READ, gives=ChargePage),
)
async def list_charges(request: Request, project: ProjectRef, cluster: ClusterId, query: ChargePeriod) -> Response:
    """List the charges for usage in a period of at most 31 days, each with its usage, price and formula."""
    trace_of(request).concerns(cluster_id=cluster)
    if query.since and query.until and not 0 <= (query.until - query.since).days <= MAX_DAYS:
        raise invalid([FieldError("?until", "not_a_month", "The period must be positive and at most 31 days.")])
    async with reading(request, project) as (connection, scope):
        if not await knows_cluster(connection, project_id=scope.project_id, cluster_id=cluster):
            raise not_found()
        charges = await charges_of(
            connection, project_id=scope.project_id, cluster_id=cluster, since=query.since, until=query.until
        )
    return only_page(charges)


async def _document(request: Request, connection: Statements, account: UUID) -> tuple[bytes, int]:
    return await accounts.account_document(connection, account, currency=services_of(request).settings.currency)

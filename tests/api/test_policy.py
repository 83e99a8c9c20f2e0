"""Who may do what: every operation of the document against every kind of caller.

`POLICY` is written by hand and says the same as the code only if both are right; an operation without a row fails.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa

from ipucloud.api.app import create_app
from ipucloud.billing.budgets.store import NewBudget, Owner, create
from ipucloud.billing.invoices.payments import record_payment
from ipucloud.billing.prepaid.store import set_prepaid
from ipucloud.billing.price_book import NewPrice, add, book
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.identity.roles import Role
from ipucloud.identity.tokens import new_token
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money
from ipucloud.webhooks.tables import webhook_deliveries, webhooks
from tests.api.support import PUBLIC_KEY, Api, cluster_json, price_json, problem, running, s3_connection_json
from tests.support.cloud import Cloud
from tests.support.exports import make_export, some_connection, some_schedule
from tests.support.factories import Project, make_project, make_token, seed_world
from tests.support.invoices import make_invoice
from tests.support.partitions import make_partition
from tests.support.postgres import TestServer

pytestmark = pytest.mark.anyio

EVERYBODY = frozenset(Role)
WORKING = frozenset({Role.OPERATOR, Role.OWNER, Role.ADMIN})
OWNING = frozenset({Role.OWNER, Role.ADMIN})
PLATFORM = frozenset({Role.ADMIN})
PAYING = frozenset({Role.BILLING, Role.OWNER, Role.ADMIN})

POLICY: dict[str, frozenset[Role]] = {
    "whoami": EVERYBODY,
    "listIpus": EVERYBODY,
    "listMachineTypes": EVERYBODY,
    "listRegions": EVERYBODY,
    "getRegion": EVERYBODY,
    "getRegionCapacity": EVERYBODY,
    "listFlavors": EVERYBODY,
    "getFlavor": EVERYBODY,
    "listImages": EVERYBODY,
    "listTools": EVERYBODY,
    "listRecipes": EVERYBODY,
    "listPrices": EVERYBODY,
    "listProjects": EVERYBODY,
    "createProject": PLATFORM,
    "getProject": EVERYBODY,
    "updateProject": PLATFORM,
    "deleteProject": PLATFORM,
    "listTokens": OWNING | {Role.SUPPORT},
    "createToken": OWNING,
    "getToken": OWNING | {Role.SUPPORT},
    "revokeToken": OWNING,
    "listSshKeys": EVERYBODY,
    "createSshKey": WORKING,
    "getSshKey": EVERYBODY,
    "deleteSshKey": WORKING,
    "listQuotas": EVERYBODY,
    "replaceQuotas": PLATFORM,
    "listClusters": EVERYBODY,
    "createCluster": WORKING,
    "estimateCluster": EVERYBODY,
    "getCluster": EVERYBODY,
    "updateCluster": WORKING,
    "deleteCluster": WORKING,
    "listPoplarServers": EVERYBODY,
    "listMachines": EVERYBODY,
    "listPartitions": EVERYBODY,
    "createPartition": WORKING,
    "getPartition": EVERYBODY,
    "removePartition": WORKING,
    "resetPartition": WORKING,
    "getPartitionConfig": EVERYBODY,
    "getTopology": EVERYBODY,
    "getVipu": EVERYBODY,
    "rotateVipuKey": WORKING,
    "listWebhooks": EVERYBODY,
    "createWebhook": WORKING,
    "getWebhook": EVERYBODY,
    "updateWebhook": WORKING,
    "deleteWebhook": WORKING,
    "pingWebhook": WORKING,
    "rotateWebhookSecret": WORKING,
    "listDeliveries": EVERYBODY,
    "getDelivery": EVERYBODY,
    "redeliver": WORKING,
    "getClusterUsage": EVERYBODY,
    "listOperations": EVERYBODY,
    "getOperation": EVERYBODY,
    "cancelOperation": WORKING,
    "listEvents": EVERYBODY,
    "getProjectUsage": EVERYBODY,
    "getBillingUsage": EVERYBODY,
    "createBillingAccount": PLATFORM,
    "getBillingAccount": PLATFORM,
    "updateBillingAccount": PLATFORM,
    "getProjectAccount": EVERYBODY,
    "assignProjectAccount": PLATFORM,
    "listCharges": EVERYBODY,
    "createExport": PAYING,
    "listExports": PAYING | {Role.SUPPORT},
    "getExport": PAYING | {Role.SUPPORT},
    "downloadExport": PAYING | {Role.SUPPORT},
    "createS3Connection": PAYING,
    "listS3Connections": PAYING | {Role.SUPPORT},
    "getS3Connection": PAYING | {Role.SUPPORT},
    "deleteS3Connection": PAYING,
    "createExportSchedule": PAYING,
    "listExportSchedules": PAYING | {Role.SUPPORT},
    "deleteExportSchedule": PAYING,
    "getProjectReport": EVERYBODY,
    "getAccountReport": PLATFORM,
    "listInvoices": PAYING | {Role.SUPPORT},
    "getInvoiceDraft": PAYING | {Role.SUPPORT},
    "getInvoice": PAYING | {Role.SUPPORT},
    "listAccountInvoices": PLATFORM,
    "getAccountInvoice": PLATFORM,
    "issueCreditNote": PLATFORM,
    "getBalance": PAYING | {Role.SUPPORT},
    "listCredits": PAYING | {Role.SUPPORT},
    "topUpWallet": PAYING,
    "listAccountCredits": PLATFORM,
    "grantCredit": PLATFORM,
    "listPayments": PLATFORM,
    "recordPayment": PLATFORM,
    "recordRefund": PLATFORM,
    "getSeller": PLATFORM,
    "updateSeller": PLATFORM,
    "listTaxRates": PLATFORM,
    "addTaxRate": PLATFORM,
    "readPriceBook": PLATFORM,
    "addPrices": PLATFORM,
    "withdrawPrice": PLATFORM,
    "listProjectPrices": EVERYBODY,
    "getProjectForecast": EVERYBODY,
    "getAccountForecast": PLATFORM,
    "listBudgets": EVERYBODY,
    "createBudget": PAYING,
    "getBudget": EVERYBODY,
    "updateBudget": PAYING,
    "deleteBudget": PAYING,
    "listAccountBudgets": PLATFORM,
    "createAccountBudget": PLATFORM,
    "getAccountBudget": PLATFORM,
    "updateAccountBudget": PLATFORM,
    "deleteAccountBudget": PLATFORM,
    "getProjectFunds": EVERYBODY,
    "getPrepaid": PLATFORM,
    "setPrepaid": PLATFORM,
    "endPrepaid": PLATFORM,
}
EURO = {"amount": "1.00", "currency": "EUR"}
TAX_RATE: dict[str, object] = {"country": "XK", "rate": "0.18", "source": "a letter"}
OPEN_TO_ALL = frozenset({"livez", "readyz"})
"""Operations without authentication."""

BUDGET: dict[str, object] = {"amount": {"amount": "5", "currency": "EUR"}, "thresholds": [{"percent": 50}]}
BODIES: dict[str, Callable[[int], dict[str, object]]] = {
    "createProject": lambda number: {"slug": f"made-{number}", "name": "Made"},
    "updateProject": lambda _: {"name": "Renamed"},
    "createToken": lambda number: {"name": f"token-{number}", "role": "viewer"},
    "createSshKey": lambda number: {"name": f"key-{number}", "public_key": PUBLIC_KEY},
    "replaceQuotas": lambda _: {"items": [{"region": "luxembourg-2", "machine_type": "m2000", "limit": 500}]},
    "createCluster": lambda number: cluster_json(f"made-{number}"),
    "createBillingAccount": lambda number: {"name": f"Account {number}", "currency": "EUR"},
    "updateBillingAccount": lambda number: {"legal_name": f"Account {number} Ltd"},
    "addPrices": lambda number: {"items": [price_json(f"sku-{number}")]},
    "createBudget": lambda number: BUDGET | {"name": f"made-{number}"},
    "updateBudget": lambda number: {"name": f"renamed-{number}"},
    "createAccountBudget": lambda number: BUDGET | {"name": f"made-{number}"},
    "updateAccountBudget": lambda number: {"name": f"renamed-{number}"},
    "setPrepaid": lambda _: {"when_empty": "warn"},
    "issueCreditNote": lambda number: {"net": "0.01", "reason": f"reason {number}"},
    "topUpWallet": lambda _: {"amount": EURO},
    "grantCredit": lambda _: {"amount": EURO, "reason": "welcome", "expires_at": "2126-01-01T00:00:00Z"},
    "recordPayment": lambda number: {"amount": EURO, "reference": f"payment {number}"},
    "recordRefund": lambda number: {"amount": EURO, "reference": f"refund {number}"},
    "updateSeller": lambda number: {"legal_name": f"Seller {number}"},
    "addTaxRate": lambda number: TAX_RATE | {"valid_from": f"{2100 + number}-01-01"},
    "estimateCluster": lambda number: cluster_json(f"made-{number}"),
    "updateCluster": lambda number: {"tags": {"number": str(number)}},
    "createPartition": lambda number: {"name": f"made-{number}", "size": 4},
    "resetPartition": lambda _: {},
    "rotateVipuKey": lambda _: {},
    "createWebhook": lambda _: {"url": "https://hooks.example.com/"},
    "updateWebhook": lambda number: {"description": f"number {number}"},
    "rotateWebhookSecret": lambda _: {},
    "createExport": lambda _: {"month": "2026-04"},
    "createS3Connection": lambda number: s3_connection_json(f"made-{number}"),
}
FAR = datetime(2126, 1, 1, tzinfo=UTC)
_numbers = count(1)


@dataclass(frozen=True)
class Documented:
    """One operation of the OpenAPI document."""

    id: str
    method: str
    path: str
    success: int

    @property
    def scoped(self) -> bool:
        return "{project}" in self.path


def documented() -> list[Documented]:
    paths = create_app(Settings.model_construct()).openapi()["paths"]
    return [
        Documented(
            operation["operationId"], method.upper(), path, min(int(status) for status in operation["responses"])
        )
        for path, methods in paths.items()
        for method, operation in methods.items()
    ]


OPERATIONS = {operation.id: operation for operation in documented()}


@dataclass
class Tenancy:
    """A started application with two projects, and callers of every kind."""

    api: Api
    stranger: httpx.AsyncClient
    refused: dict[str, httpx.AsyncClient]
    by_role: dict[Role, httpx.AsyncClient]
    made: dict[str, UUID] = field(default_factory=dict)

    async def target(self, operation: Documented, project: Project) -> dict[str, str]:
        """What the path names, made new: an operation may use it up."""
        cloud, number = self.api.cloud, next(_numbers)
        names = {"project": str(project.id), "region": "luxembourg-2", "flavor": "m2000-pod4"}
        if "{cluster}" in operation.path or "{operation}" in operation.path:
            accepted = await cloud.create(f"target-{number}", project=project)
            names |= {"cluster": str(accepted.cluster_id), "operation": str(accepted.operation_id)}
        names |= await self._secret(operation, project, names)
        if "/partitions" in operation.path:
            await cloud.finish_create(accepted.cluster_id)
            async with cloud.database.begin() as connection:
                await make_partition(connection, project.id, accepted.cluster_id)
            names["partition"] = "training"
        if "/billing/invoices" in operation.path:
            async with cloud.database.begin() as connection:
                names["number"] = await make_invoice(connection, project.id)
        if operation.id == "recordRefund":
            async with cloud.database.begin() as connection:
                euro = Money.of("1.00", "EUR")
                await record_payment(connection, project.id, euro, reference=f"for {number}", invoice=None)
        names |= await self._delivered(operation, project)
        if "{account}" in operation.path:
            names["account"] = str(project.id)
        if "{budget}" in operation.path or operation.id == "endPrepaid":
            names["budget"] = await self._money(operation, project, f"target-{number}")
        if "{price}" in operation.path:
            new = NewPrice(None, f"sku-{number}", "r", Money.of(1, "EUR"), FAR, None, "test")
            async with cloud.database.begin() as connection:
                await add(connection, [new])
                names["price"] = str(next(each.id for each in await book(connection) if each.sku == new.sku))
        if "{token}" in operation.path:
            async with cloud.database.begin() as connection:
                names["token"] = str((await make_token(connection, project.id)).id)
        if "{key}" in operation.path:
            owner = self.api.client(project.token.secret)
            made = await owner.post(
                f"/v1/projects/{project.id}/ssh-keys", json={"name": f"target-{number}", "public_key": PUBLIC_KEY}
            )
            names["key"] = made.json()["id"]
        return names

    async def _secret(self, operation: Documented, project: Project, names: dict[str, str]) -> dict[str, str]:
        """What has a secret of its own: a webhook, or a cluster's user at a secure controller."""
        if operation.id == "rotateVipuKey":
            await self.api.cloud.finish_create(UUID(names["cluster"]))
            await self.api.cloud.execute("UPDATE site_regions SET vipu_secure = true")
        return await self._webhook(project) if "/webhooks" in operation.path else {}

    async def _webhook(self, project: Project) -> dict[str, str]:
        """The only webhook of a project, and its only delivery."""
        names = {"webhook": new_id(), "delivery": new_id()}
        async with self.api.cloud.database.begin() as connection:
            for table in (webhook_deliveries, webhooks):
                await connection.execute(sa.delete(table).where(table.c.project_id == project.id))
            await connection.execute(
                sa.insert(webhooks).values(
                    id=names["webhook"],
                    project_id=project.id,
                    url="https://hooks.example.com/",
                    event_types=[],
                    secret="sealed",
                    after_transaction=1,
                    after_id=0,
                )
            )
            await connection.execute(
                sa.insert(webhook_deliveries).values(
                    id=names["delivery"],
                    project_id=project.id,
                    webhook_id=names["webhook"],
                    type="webhook.ping",
                    payload="{}",
                    state="failed",
                )
            )
        return {name: str(each) for name, each in names.items()}

    async def _delivered(self, operation: Documented, project: Project) -> dict[str, str]:
        """An export, or where it is delivered to."""
        async with self.api.cloud.database.begin() as connection:
            if "{export}" in operation.path:
                return {"export": str(await make_export(connection, project.id))}
            if "/s3-connections" in operation.path:
                return {"connection": str(await some_connection(connection, project.id, "free"))}
            if "{schedule}" in operation.path:
                return {"schedule": str(await some_schedule(connection, project.id))}
            if operation.id == "createExportSchedule":
                return {"connection": str(await some_connection(connection, project.id, "scheduled"))}
        return {}

    async def _money(self, operation: Documented, project: Project, name: str) -> str:
        """A budget of the project or its account, which pays ahead; the budget's id."""
        owner = Owner("account" if "{account}" in operation.path else "project", project.id)
        async with self.api.cloud.database.begin() as connection:
            await set_prepaid(connection, project.id, currency="EUR", when_empty="warn")
            return str(await create(connection, owner, NewBudget(name, Money.of(5, "EUR"), None, []), None))

    async def ask(self, operation: Documented, caller: httpx.AsyncClient, names: dict[str, str]) -> httpx.Response:
        headers = {}
        if operation.id == "replaceQuotas":
            read = await self.by_role[Role.ADMIN].get(operation.path.format(**names))
            headers["If-Match"] = read.headers.get("etag", '"0"')
        body = BODIES[operation.id](next(_numbers)) if operation.id in BODIES else None
        if operation.id == "createExportSchedule":
            body = {"connection": names["connection"]}
        if operation.id == "assignProjectAccount":
            body = {"account_id": str(self.api.cloud.project.id)}
        return await caller.request(operation.method, operation.path.format(**names), json=body, headers=headers)


@pytest.fixture(scope="module")
async def tenancy(postgres: TestServer) -> AsyncIterator[Tenancy]:
    with postgres.fresh_database() as scratch:
        database = Database(scratch.app_url)
        async with database.begin() as connection:
            world = await seed_world(connection, pod_count=20, host_count=320)
            other = await make_project(connection)
            expired, revoked = [await make_token(connection, world.project.id) for _ in range(2)]
            for token, column in ((expired, "expires_at"), (revoked, "revoked_at")):
                await connection.execute(
                    sa.text(f"UPDATE tokens SET {column} = app_now() WHERE id = :id"),  # noqa: S608
                    {"id": token.id},
                )
        async with running(Cloud(database, world), scratch.app_url) as api:
            secret = world.project.token.secret
            yield Tenancy(
                api,
                stranger=api.client(other.token.secret),
                refused={
                    "no token": api.client(),
                    "no scheme": api.client(Authorization=secret),
                    "another scheme": api.client(Authorization=f"Basic {secret}"),
                    "mistyped": api.client(secret[:-1] + ("0" if secret[-1] != "0" else "1")),
                    "unknown": api.client(new_token("test").secret),
                    "expired": api.client(expired.secret),
                    "revoked": api.client(revoked.secret),
                },
                by_role={role: await api.caller(role) for role in Role},
            )
        await database.close()


def test_every_operation_has_a_row() -> None:
    assert set(OPERATIONS) == POLICY.keys() | OPEN_TO_ALL


@pytest.mark.parametrize("name", POLICY)
async def test_without_a_live_token_nothing_is_answered(tenancy: Tenancy, name: str) -> None:
    operation = OPERATIONS[name]
    names = await tenancy.target(operation, tenancy.api.cloud.project)
    before = await tenancy.api.snapshot()
    for kind, caller in tenancy.refused.items():
        answer = await tenancy.ask(operation, caller, names)
        assert answer.status_code == 401, kind
        problem(answer, 401, "unauthenticated")
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert await tenancy.api.snapshot() == before


@pytest.mark.parametrize("name", [name for name in POLICY if OPERATIONS[name].scoped])
async def test_a_project_of_somebody_else_is_not_there(tenancy: Tenancy, name: str) -> None:
    operation = OPERATIONS[name]
    foreign = await tenancy.target(operation, tenancy.api.cloud.project)
    unknown = {key: str(new_id()) for key in foreign}
    before = await tenancy.api.snapshot()
    answers = [await tenancy.ask(operation, tenancy.stranger, names) for names in (foreign, unknown)]
    assert same_but_for_the_request(*answers)
    assert await tenancy.api.snapshot() == before


@pytest.mark.parametrize(
    "name", [name for name in POLICY if OPERATIONS[name].path.count("{") > 1 and OPERATIONS[name].scoped]
)
async def test_objects_of_another_project_are_not_there_in_ones_own(tenancy: Tenancy, name: str) -> None:
    operation, mine = OPERATIONS[name], await tenancy.api.other_project()
    foreign = await tenancy.target(operation, tenancy.api.cloud.project) | {"project": mine.slug}
    unknown = {key: str(new_id()) for key in foreign} | {"project": mine.slug}
    caller = tenancy.api.client(mine.token.secret)
    before = await tenancy.api.snapshot()
    answers = [await tenancy.ask(operation, caller, names) for names in (foreign, unknown)]
    assert same_but_for_the_request(*answers)
    assert await tenancy.api.snapshot() == before


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("name", POLICY)
async def test_a_role_may_do_what_the_table_says(tenancy: Tenancy, name: str, role: Role) -> None:
    operation = OPERATIONS[name]
    project = tenancy.api.cloud.project
    if name == "deleteProject":
        project = await tenancy.api.other_project()
    names = await tenancy.target(operation, project)
    caller = tenancy.by_role[role]
    if project is not tenancy.api.cloud.project and role not in {Role.ADMIN, Role.SUPPORT}:
        caller = await tenancy.api.caller(role, project)
    if role in POLICY[name]:
        answer = await tenancy.ask(operation, caller, names)
        assert answer.status_code == operation.success, answer.text
    else:
        before = await tenancy.api.snapshot()
        problem(await tenancy.ask(operation, caller, names), 403, "permission_denied")
        assert await tenancy.api.snapshot() == before


async def test_a_revoked_token_is_refused_from_the_next_request_on(tenancy: Tenancy) -> None:
    api = tenancy.api
    made = (await api.owner.post(f"{api.base}/tokens", json={"name": "short", "role": "viewer"})).json()
    caller = api.client(made["token"])
    assert (await caller.get("/v1/whoami")).json()["token"]["id"] == made["id"]
    assert (await api.owner.delete(f"{api.base}/tokens/{made['id']}")).status_code == 204
    problem(await caller.get("/v1/whoami"), 401, "unauthenticated")


async def test_the_other_scheme_and_every_name_of_a_project(tenancy: Tenancy) -> None:
    project = tenancy.api.cloud.project
    caller = tenancy.api.client(Authorization=f"apikey {project.token.secret}")
    for name in (project.id, project.number, project.slug, str(project.id).upper()):
        answer = await caller.get(f"/v1/projects/{name}")
        assert answer.json()["slug"] == project.slug


async def test_a_project_token_lists_its_project_only(tenancy: Tenancy) -> None:
    mine = (await tenancy.stranger.get("/v1/projects")).json()["items"]
    assert len(mine) == 1
    everything = (await tenancy.by_role[Role.SUPPORT].get("/v1/projects")).json()["items"]
    assert len(everything) > 1


async def test_no_query_is_asked_for_a_token_that_cannot_be_one(
    tenancy: Tenancy, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def counted(*_: object) -> Awaitable[Any]:
        raise AssertionError("the database was asked")

    monkeypatch.setattr(type(tenancy.api.services.reader), "one", counted)
    for kind in ("no token", "no scheme", "another scheme", "mistyped"):
        problem(await tenancy.refused[kind].get("/v1/whoami"), 401, "unauthenticated")


def same_but_for_the_request(first: httpx.Response, second: httpx.Response) -> bool:
    """Two 404 with equal bytes, but for the path and the id of the request."""
    bodies = []
    for answer in (first, second):
        document = problem(answer, 404, "not_found")
        bodies.append(answer.text.replace(document["instance"], "").replace(document["request_id"], ""))
    return bodies[0] == bodies[1]

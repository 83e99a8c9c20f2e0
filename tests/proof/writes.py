"""Every write of the API, by its operation id: a request to send, on a project of its own.

The operations are those of the committed document; one without a case here fails a test.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import sqlalchemy as sa

from ipucloud.billing.invoices import payments
from ipucloud.identity.roles import Role
from ipucloud.kernel.money import Money
from ipucloud.operations.store import end_operation
from ipucloud.schema import metadata
from tests.api.support import PUBLIC_KEY, cluster_json, key, price_json, s3_connection_json
from tests.support.cloud import Cloud
from tests.support.factories import Project, Token, make_project, make_token
from tests.support.invoices import begin_books, make_invoice
from tests.support.partitions import make_partition

EURO = {"amount": "1.00", "currency": "EUR"}
LETTERS = str.maketrans("0123456789", "abcdefghij")
DOCUMENT = Path(__file__).parents[2] / "docs" / "openapi.json"
WRITING = frozenset({"post", "put", "patch", "delete"})

Footprint = dict[str, tuple[int, int]]


def _counts(table: sa.Table) -> sa.Select[str, int, Any]:
    versions = sa.func.sum(table.c.version) if "version" in table.c else sa.literal(0)
    return sa.select(sa.literal(table.name), sa.func.count(), sa.func.coalesce(versions, 0)).select_from(table)


_FOOTPRINT = sa.union_all(*(_counts(table) for table in metadata.sorted_tables))


HOOK = "https://hooks.example.com/"


@dataclass(frozen=True)
class Write:
    """A request as its sender repeats it, word by word. `other_body`: what the key must not be used for again."""

    method: str
    path: str
    secret: str
    body: Mapping[str, object] | None = None
    other_body: Mapping[str, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def keyed(self) -> bool:
        return "Idempotency-Key" in self.headers

    async def send(self, client: httpx.AsyncClient, **changes: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.secret}", **self.headers}
        return await client.request(self.method, self.path, json=changes.get("body", self.body), headers=headers)


@dataclass
class Office:
    """Where writes are prepared: `client` reaches an undisturbed API."""

    cloud: Cloud
    admin: Token
    client: httpx.AsyncClient
    _numbers: count[int] = field(default_factory=lambda: count(1))

    async def project(self) -> Project:
        async with self.cloud.database.begin() as connection:
            return await make_project(connection)

    def fresh(self) -> str:
        return f"fresh-{next(self._numbers)}"

    async def etag(self, path: str) -> str:
        headers = {"Authorization": f"Bearer {self.admin.secret}"}
        return (await self.client.get(path, headers=headers)).raise_for_status().headers["etag"]

    async def id_of(self, path: str, body: Mapping[str, object], secret: str) -> UUID:
        """Make something by a POST; its id."""
        answer = await self.client.post(path, json=body, headers={"Authorization": f"Bearer {secret}"})
        return UUID(answer.raise_for_status().json()["id"])

    async def footprint(self) -> Footprint:
        """Rows of every table, and the sum of their versions."""
        async with self.cloud.database.begin() as connection:
            return {name: (rows, int(versions)) for name, rows, versions in await connection.execute(_FOOTPRINT)}


def change(before: Footprint, after: Footprint) -> Footprint:
    """What was added, table by table."""
    moved = {name: (after[name][0] - rows, after[name][1] - versions) for name, (rows, versions) in before.items()}
    return {name: value for name, value in moved.items() if value != (0, 0)}


async def make_office(cloud: Cloud, client: httpx.AsyncClient) -> Office:
    async with cloud.database.begin() as connection:
        await begin_books(connection, (await make_project(connection)).id)
        return Office(cloud, await make_token(connection, None, Role.ADMIN), client)


async def create_project(office: Office) -> Write:
    body = {"slug": office.fresh(), "name": "Research"}
    other = body | {"name": "Development"}
    return Write("POST", "/v1/projects", office.admin.secret, body, other, key())


async def update_project(office: Office) -> Write:
    path = f"/v1/projects/{(await office.project()).slug}"
    return Write("PATCH", path, office.admin.secret, {"name": "Renamed"}, {"name": "Otherwise"}, key())


async def delete_project(office: Office) -> Write:
    return Write("DELETE", f"/v1/projects/{(await office.project()).slug}", office.admin.secret)


async def create_cluster(office: Office) -> Write:
    project = await office.project()
    path = f"/v1/projects/{project.slug}/clusters"
    return Write("POST", path, project.token.secret, cluster_json(), cluster_json("ernie"), key())


async def delete_cluster(office: Office) -> Write:
    project = await office.project()
    made = await office.cloud.create(project=project)
    return Write("DELETE", f"/v1/projects/{project.slug}/clusters/{made.cluster_id}", project.token.secret)


async def update_cluster(office: Office) -> Write:
    project = await office.project()
    made = await office.cloud.create(project=project)
    path = f"/v1/projects/{project.slug}/clusters/{made.cluster_id}"
    return Write("PATCH", path, project.token.secret, {"tags": {"a": "b"}}, {"tags": {"a": "c"}}, key())


async def estimate_cluster(office: Office) -> Write:
    project = await office.project()
    path = f"/v1/projects/{project.slug}/clusters:estimate"
    return Write("POST", path, project.token.secret, cluster_json(), cluster_json("ernie"), key())


async def _cluster_in_use(office: Office) -> tuple[Project, str]:
    """A project, and the path of its cluster, which has a partition `training`."""
    project = await office.project()
    made = await office.cloud.create(project=project)
    async with office.cloud.database.begin() as connection:
        await connection.execute(
            sa.text("UPDATE clusters SET state = 'active', ready_at = app_now() WHERE id = :id"),
            {"id": made.cluster_id},
        )
        await end_operation(
            connection,
            project_id=project.id,
            cluster_id=made.cluster_id,
            state="failed",
            error={"code": "made_for_a_test"},
        )
        await make_partition(connection, project.id, made.cluster_id)
    return project, f"/v1/projects/{project.slug}/clusters/{made.cluster_id}"


async def create_partition(office: Office) -> Write:
    project, path = await _cluster_in_use(office)
    body = {"name": "inference", "size": 2}
    return Write("POST", f"{path}/partitions", project.token.secret, body, body | {"size": 4}, key())


async def reset_partition(office: Office) -> Write:
    project, path = await _cluster_in_use(office)
    body = {"relocatable": False}
    return Write("POST", f"{path}/partitions/training:reset", project.token.secret, body, {"relocatable": True}, key())


async def remove_partition(office: Office) -> Write:
    project, path = await _cluster_in_use(office)
    return Write("DELETE", f"{path}/partitions/training", project.token.secret)


async def rotate_vipu_key(office: Office) -> Write:
    project, path = await _cluster_in_use(office)
    await office.cloud.execute("UPDATE site_regions SET vipu_secure = true")
    body = {"end_server_key": False}
    return Write("POST", f"{path}/vipu:rotate-key", project.token.secret, body, {"end_server_key": True}, key())


async def create_webhook(office: Office) -> Write:
    project = await office.project()
    path, body = f"/v1/projects/{project.slug}/webhooks", {"url": HOOK}
    return Write("POST", path, project.token.secret, body, body | {"description": "other"}, key())


async def _webhook(office: Office) -> tuple[Project, str]:
    """A webhook of a project, and its path."""
    project = await office.project()
    path = f"/v1/projects/{project.slug}/webhooks"
    return project, f"{path}/{await office.id_of(path, {'url': HOOK}, project.token.secret)}"


async def update_webhook(office: Office) -> Write:
    project, path = await _webhook(office)
    body = {"description": "ours"}
    return Write("PATCH", path, project.token.secret, body, {"description": "theirs"}, key())


async def delete_webhook(office: Office) -> Write:
    project, path = await _webhook(office)
    return Write("DELETE", path, project.token.secret)


async def ping_webhook(office: Office) -> Write:
    project, path = await _webhook(office)
    return Write("POST", f"{path}:ping", project.token.secret, headers=key())


async def rotate_webhook_secret(office: Office) -> Write:
    project, path = await _webhook(office)
    body = {"keep_previous_seconds": 60}
    return Write("POST", f"{path}:rotate-secret", project.token.secret, body, {"keep_previous_seconds": 0}, key())


async def redeliver(office: Office) -> Write:
    project, path = await _webhook(office)
    delivery = await office.id_of(f"{path}:ping", {}, project.token.secret)
    return Write("POST", f"{path}/deliveries/{delivery}:redeliver", project.token.secret, headers=key())


async def cancel_operation(office: Office) -> Write:
    project = await office.project()
    made = await office.cloud.create(project=project)
    path = f"/v1/projects/{project.slug}/operations/{made.operation_id}:cancel"
    return Write("POST", path, project.token.secret, headers=key())


async def replace_quotas(office: Office) -> Write:
    path = f"/v1/projects/{(await office.project()).slug}/quotas"
    item = {"region": "luxembourg-2", "machine_type": "m2000", "limit": 77}
    headers = {"If-Match": await office.etag(path)}
    return Write("PUT", path, office.admin.secret, {"items": [item]}, headers=headers)


async def create_billing_account(office: Office) -> Write:
    body = {"name": "Research", "currency": "EUR"}
    return Write("POST", "/v1/billing/accounts", office.admin.secret, body, body | {"name": "Development"}, key())


async def update_billing_account(office: Office) -> Write:
    path = f"/v1/billing/accounts/{(await office.project()).id}"
    return Write("PATCH", path, office.admin.secret, {"tax_id": "LU1"}, {"tax_id": "LU2"}, key())


async def assign_project_account(office: Office) -> Write:
    project, payer = await office.project(), await office.project()
    path = f"/v1/projects/{project.slug}/billing/account"
    return Write("PUT", path, office.admin.secret, {"account_id": str(payer.id)})


async def add_prices(office: Office) -> Write:
    item = price_json(office.fresh())
    other = item | {"source": "another"}
    return Write("POST", "/v1/billing/prices", office.admin.secret, {"items": [item]}, {"items": [other]}, key())


async def withdraw_price(office: Office) -> Write:
    headers = {"Authorization": f"Bearer {office.admin.secret}"}
    sku, path = office.fresh(), "/v1/billing/prices"
    (await office.client.post(path, json={"items": [price_json(sku)]}, headers=headers)).raise_for_status()
    book = (await office.client.get(path, headers=headers)).json()["items"]
    [made] = [each["id"] for each in book if each["sku"] == sku]
    return Write("DELETE", f"{path}/{made}", office.admin.secret)


async def issue_credit_note(office: Office) -> Write:
    project = await office.project()
    async with office.cloud.database.begin() as connection:
        number = await make_invoice(connection, project.id)
    path, body = f"/v1/billing/invoices/{number}:credit-note", {"net": "0.50", "reason": "a rack lost power"}
    return Write("POST", path, office.admin.secret, body, body | {"net": "0.60"}, key())


async def top_up_wallet(office: Office) -> Write:
    project = await office.project()
    path = f"/v1/projects/{project.slug}/billing/top-ups"
    return Write("POST", path, project.token.secret, {"amount": EURO}, {"amount": EURO | {"amount": "2.00"}}, key())


async def grant_credit(office: Office) -> Write:
    path = f"/v1/billing/accounts/{(await office.project()).id}/credits"
    body = {"amount": EURO, "reason": "welcome", "expires_at": "2126-01-01T00:00:00Z"}
    return Write("POST", path, office.admin.secret, body, body | {"reason": "another"}, key())


async def record_payment(office: Office) -> Write:
    path = f"/v1/billing/accounts/{(await office.project()).id}/payments"
    body = {"amount": EURO, "reference": office.fresh()}
    return Write("POST", path, office.admin.secret, body, body | {"reference": office.fresh()}, key())


async def record_refund(office: Office) -> Write:
    account = (await office.project()).id
    async with office.cloud.database.begin() as connection:
        money = Money.of("5.00", "EUR")
        await payments.record_payment(connection, account, money, reference="first", invoice=None)
    body = {"amount": EURO, "reference": office.fresh()}
    path = f"/v1/billing/accounts/{account}/refunds"
    return Write("POST", path, office.admin.secret, body, body | {"reference": office.fresh()}, key())


async def update_seller(office: Office) -> Write:
    body = {"legal_name": office.fresh()}
    return Write("PATCH", "/v1/billing/seller", office.admin.secret, body, {"legal_name": office.fresh()}, key())


async def add_tax_rate(office: Office) -> Write:
    body = {"country": "XK", "kind": office.fresh().translate(LETTERS), "rate": "0.18", "valid_from": "2100-01-01"}
    body |= {"source": "a letter"}
    return Write("POST", "/v1/billing/tax-rates", office.admin.secret, body, body | {"rate": "0.19"}, key())


BUDGET = {"amount": {"amount": "5", "currency": "EUR"}, "thresholds": [{"percent": 50}]}


async def create_budget(office: Office) -> Write:
    project = await office.project()
    body = BUDGET | {"name": "All"}
    return Write(
        "POST", f"/v1/projects/{project.slug}/budgets", project.token.secret, body, body | {"name": "B"}, key()
    )


async def _budget(office: Office) -> tuple[str, str]:
    project = await office.project()
    path = f"/v1/projects/{project.slug}/budgets"
    return f"{path}/{await office.id_of(path, BUDGET | {'name': 'All'}, project.token.secret)}", project.token.secret


async def update_budget(office: Office) -> Write:
    path, secret = await _budget(office)
    return Write("PATCH", path, secret, {"name": "Some"}, {"name": "Others"}, key())


async def delete_budget(office: Office) -> Write:
    return Write("DELETE", *await _budget(office))


async def create_account_budget(office: Office) -> Write:
    path = f"/v1/billing/accounts/{(await office.project()).id}/budgets"
    body = BUDGET | {"name": "All"}
    return Write("POST", path, office.admin.secret, body, body | {"name": "B"}, key())


async def _account_budget(office: Office) -> tuple[str, str]:
    path = f"/v1/billing/accounts/{(await office.project()).id}/budgets"
    return f"{path}/{await office.id_of(path, BUDGET | {'name': 'All'}, office.admin.secret)}", office.admin.secret


async def update_account_budget(office: Office) -> Write:
    path, secret = await _account_budget(office)
    return Write("PATCH", path, secret, {"name": "Some"}, {"name": "Others"}, key())


async def delete_account_budget(office: Office) -> Write:
    return Write("DELETE", *await _account_budget(office))


async def set_prepaid(office: Office) -> Write:
    path = f"/v1/billing/accounts/{(await office.project()).id}/prepaid"
    return Write("PUT", path, office.admin.secret, {"when_empty": "refuse_creates"})


async def end_prepaid(office: Office) -> Write:
    write = await set_prepaid(office)
    (await write.send(office.client)).raise_for_status()
    return Write("DELETE", write.path, office.admin.secret)


async def create_export(office: Office) -> Write:
    project = await office.project()
    path = f"/v1/projects/{project.slug}/billing/exports"
    return Write("POST", path, project.token.secret, {"month": "2026-04"}, {"month": "2026-03"}, key())


async def _bucket(office: Office) -> tuple[str, str, UUID]:
    """A project's path and token, and its S3 connection."""
    project = await office.project()
    base, secret = f"/v1/projects/{project.slug}/billing", project.token.secret
    return base, secret, await office.id_of(f"{base}/s3-connections", s3_connection_json(), secret)


async def create_s3_connection(office: Office) -> Write:
    project = await office.project()
    path = f"/v1/projects/{project.slug}/billing/s3-connections"
    return Write("POST", path, project.token.secret, s3_connection_json(), s3_connection_json("sea"), key())


async def delete_s3_connection(office: Office) -> Write:
    base, secret, made = await _bucket(office)
    return Write("DELETE", f"{base}/s3-connections/{made}", secret)


async def create_export_schedule(office: Office) -> Write:
    base, secret, made = await _bucket(office)
    body = {"connection": str(made)}
    return Write("POST", f"{base}/export-schedules", secret, body, body | {"every": "month"}, key())


async def delete_export_schedule(office: Office) -> Write:
    base, secret, made = await _bucket(office)
    schedule = await office.id_of(f"{base}/export-schedules", {"connection": str(made)}, secret)
    return Write("DELETE", f"{base}/export-schedules/{schedule}", secret)


async def create_ssh_key(office: Office) -> Write:
    project = await office.project()
    body = {"name": "desk", "public_key": PUBLIC_KEY}
    path = f"/v1/projects/{project.slug}/ssh-keys"
    return Write("POST", path, project.token.secret, body, body | {"name": "bench"}, key())


async def delete_ssh_key(office: Office) -> Write:
    project = await office.project()
    path, secret = f"/v1/projects/{project.slug}/ssh-keys", project.token.secret
    made = await office.id_of(path, {"name": "desk", "public_key": PUBLIC_KEY}, secret)
    return Write("DELETE", f"{path}/{made}", secret)


async def create_token(office: Office) -> Write:
    project = await office.project()
    body = {"name": "ci", "role": "viewer"}
    path = f"/v1/projects/{project.slug}/tokens"
    return Write("POST", path, project.token.secret, body, body | {"role": "operator"}, key())


async def revoke_token(office: Office) -> Write:
    project = await office.project()
    path, secret = f"/v1/projects/{project.slug}/tokens", project.token.secret
    made = await office.id_of(path, {"name": "ci", "role": "viewer"}, secret)
    return Write("DELETE", f"{path}/{made}", secret)


WRITES: dict[str, Callable[[Office], Awaitable[Write]]] = {
    "createProject": create_project,
    "updateProject": update_project,
    "createBillingAccount": create_billing_account,
    "updateBillingAccount": update_billing_account,
    "assignProjectAccount": assign_project_account,
    "addPrices": add_prices,
    "withdrawPrice": withdraw_price,
    "setPrepaid": set_prepaid,
    "endPrepaid": end_prepaid,
    "createBudget": create_budget,
    "updateBudget": update_budget,
    "deleteBudget": delete_budget,
    "createAccountBudget": create_account_budget,
    "updateAccountBudget": update_account_budget,
    "deleteAccountBudget": delete_account_budget,
    "issueCreditNote": issue_credit_note,
    "topUpWallet": top_up_wallet,
    "grantCredit": grant_credit,
    "recordPayment": record_payment,
    "recordRefund": record_refund,
    "updateSeller": update_seller,
    "addTaxRate": add_tax_rate,
    "deleteProject": delete_project,
    "createCluster": create_cluster,
    "deleteCluster": delete_cluster,
    "updateCluster": update_cluster,
    "estimateCluster": estimate_cluster,
    "createPartition": create_partition,
    "resetPartition": reset_partition,
    "removePartition": remove_partition,
    "rotateVipuKey": rotate_vipu_key,
    "createWebhook": create_webhook,
    "updateWebhook": update_webhook,
    "deleteWebhook": delete_webhook,
    "pingWebhook": ping_webhook,
    "rotateWebhookSecret": rotate_webhook_secret,
    "redeliver": redeliver,
    "cancelOperation": cancel_operation,
    "replaceQuotas": replace_quotas,
    "createExport": create_export,
    "createS3Connection": create_s3_connection,
    "deleteS3Connection": delete_s3_connection,
    "createExportSchedule": create_export_schedule,
    "deleteExportSchedule": delete_export_schedule,
    "createSshKey": create_ssh_key,
    "deleteSshKey": delete_ssh_key,
    "createToken": create_token,
    "revokeToken": revoke_token,
}

REPEATED_WITHOUT_KEY: dict[str, int] = {
    "assignProjectAccount": 200,
    "withdrawPrice": 404,
    "deleteBudget": 404,
    "deleteAccountBudget": 404,
    "setPrepaid": 200,
    "endPrepaid": 404,
    "deleteProject": 404,
    "deleteCluster": 202,
    "deleteWebhook": 404,
    "removePartition": 202,
    "replaceQuotas": 412,
    "deleteS3Connection": 404,
    "deleteExportSchedule": 404,
    "deleteSshKey": 404,
    "revokeToken": 204,
}
"""What the same request is told once it took effect, where no key makes it a replay."""


@cache
def documented() -> frozenset[str]:
    """The operation ids of every write of the document."""
    paths = json.loads(DOCUMENT.read_text())["paths"]
    return frozenset(
        operation["operationId"]
        for methods in paths.values()
        for method, operation in methods.items()
        if method in WRITING
    )

"""The document against the service: requests that fit it, and requests that do not, made by Schemathesis."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4
from zlib import crc32

import pytest
import schemathesis
import sqlalchemy as sa
import uvicorn
from hypothesis import HealthCheck, settings
from pydantic import SecretStr

from ipucloud.api.app import Application, create_app
from ipucloud.catalogue.load import load
from ipucloud.clusters.operations.create import create
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.identity import key_store
from ipucloud.identity.roles import Role
from ipucloud.operations.ending import preempt_all
from tests.api.bodies import STREAMS
from tests.api.support import PUBLIC_KEY, UNLIMITED
from tests.support.factories import make_token, seed_world
from tests.support.filled_in import committed
from tests.support.invoices import make_invoice
from tests.support.partitions import make_partition
from tests.support.pointers import resolves
from tests.support.postgres import TestServer
from tests.support.world import cluster_body

EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "0"))
"""How many random requests each operation gets, besides those at the bounds of what its schema allows.

They fit the schema: of those that do not, some would be strings again in a query, and rightly accepted. They change
with the code, from which Hypothesis takes constants, so that the whole suite has none.
"""
"""Which third of the paths is asked for; all without it."""
MORE_THAN_A_SCHEMA_SAYS = [
    "createCluster",  # what the catalogue and the project's keys allow
    "estimateCluster",
    "createJob",  # the cluster's servers and currency, the length of all words together
    "createService",  # the cluster's servers, the length of all words together
    "deployService",
    "createPartition",  # what the controller's rules and the cluster's hardware allow
    "getPartitionConfig",  # the GCDs that there are
    "updateCluster",  # an expiry lies in the future
    "createToken",
    "rotateToken",
    "signIn",  # a live token or code
    "switchSession",  # of a browser
    "logIn",  # a password
    "beginProviderSignIn",  # a provider
    "fetchDeviceToken",  # a device code
    "showDeviceLogin",
    "approveDeviceLogin",  # of a person's session
    "denyDeviceLogin",
    "logOut",
    "changePassword",
    "showInvitation",  # a secret
    "acceptInvitation",
    "createInvitation",  # e-mail addresses
    "createAccountInvitation",
    "createPlatformToken",
    "rotatePlatformToken",
    "createWebhook",  # where messages may go
    "updateWebhook",
    "createAccountWebhook",
    "updateAccountWebhook",
    "createSshKey",  # keys are judged by their numbers
    "signSshKey",
    "createSnapshot",  # volumes that there are
    "createAddress",  # regions where addresses are offered
    "createVolume",  # regions where volumes are offered
    "createReservation",  # times and capacity
    "estimateReservation",
    "createQuotaRequest",
    "grantQuotaRequest",  # above the present limit
    "replaceQuotas",  # regions and machine types there are
    "getProjectUsage",  # a period does not end before it begins
    "getBillingUsage",
    "getProjectSummary",  # a month that has begun
    "getAccountSummary",
    "listCharges",
    "getProjectReport",  # full hours, each group once
    "getAccountReport",
    "createExport",  # months that have begun
    "createExportSchedule",
    "createS3Connection",  # endpoints of one form
    "createAccountExport",
    "createAccountExportSchedule",
    "createAccountS3Connection",
    "rebuildCluster",  # user data of a supported form
    "resizeCluster",  # a wait has an end only if there is one, and in the future
    "estimateClusterResize",
    "resumeCluster",
    "getClusterMetrics",  # a bounded number of steps
    "getServiceMetrics",
    "readPriceBook",  # regions, currencies and accounts there are
    "addPrices",  # whole seconds, in the future
    "previewPriceCorrection",  # in the past
    "correctPrice",
    "issueCreditNote",  # whole cents, above 0
    "topUpWallet",
    "grantCredit",
    "recordPayment",
    "recordRefund",
    "addTaxRate",  # 0 to 1; printable
    "updateSeller",  # printable on invoices
    "createBillingAccount",
    "updateBillingAccount",
    "createProject",
    "createBudget",  # whole cents, each threshold once; nothing can be suspended yet
    "updateBudget",
    "createAccountBudget",
    "updateAccountBudget",
    "setPrepaid",
    "setDunning",  # in order
    "setTopUp",  # one level, a limit that is no less than the amount
    "getDefragmentation",  # a flavor that the region sells
    "createSimulatedFault",  # hardware that there is; a link of a machine only
    "startFreeze",  # a region that there is
    "validateHardware",  # hardware that there is
    "startMaintenance",
    "drainHardware",
    "quarantineHardware",
    "returnToService",
    "replaceExpectedInventory",  # each name and serial number once; places are a pod and a slot
    "acceptShownHardware",  # names with a finding, or everything
]
NOT_OF_ONES_OWN_MAKING = ("cursor", "after")
"""Parameters whose values only the service makes; so is the header `Last-Event-ID`."""


@contextmanager
def listening(app: Application) -> Iterator[str]:
    """The application behind a real listener, in a thread with a loop of its own."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            thread.join(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


async def prepare(url: str) -> tuple[list[str], dict[str, str]]:
    """A project with one of everything; tokens of its owner, a viewer and an administrator, and what paths may name."""
    database = Database(url)
    async with database.begin() as connection:
        world = await seed_world(connection)
        admin = await make_token(connection, None, Role.ADMIN)
        viewer, spare = [await make_token(connection, world.project.id, Role.VIEWER) for _ in range(2)]
        accepted = await create(connection, world.project.actor, cluster_body(), catalogue=load(), settings=Settings())
        await connection.execute(
            sa.text("UPDATE clusters SET state = 'active', ready_at = app_now() WHERE id = :id"),
            {"id": accepted.target_id},
        )
        await preempt_all(
            connection, project_id=world.project.id, cluster_id=accepted.target_id, reason="A test takes its place."
        )
        await make_partition(connection, world.project.id, accepted.target_id)
        number = await make_invoice(connection, world.project.id)
        key, _ = await key_store.add(connection, world.project.actor, name="desk", public_key=PUBLIC_KEY)
    await database.close()
    names = {
        "project": world.project.slug,
        "cluster": str(accepted.target_id),
        "operation": str(accepted.operation_id),
        "token": str(spare.id),
        "key": str(key),
        "partition": "training",
        "region": "luxembourg-2",
        "account": str(world.project.id),
        "number": number,
    }
    return [world.project.token.secret, viewer.secret, admin.secret], names


@dataclass(frozen=True)
class Target:
    """Where the service listens, whose tokens ask, and what paths may name."""

    url: str
    secrets: list[str]
    names: dict[str, str]

    def caller(self, case: schemathesis.Case[Any]) -> dict[str, str]:
        """The headers of one of the callers: the same for the same case, each for about as many cases."""
        text = repr((case.operation.label, case.path_parameters, case.query, case.body))
        return {"Authorization": f"Bearer {self.secrets[crc32(text.encode()) % len(self.secrets)]}"}


@pytest.fixture(scope="module")
def target(postgres: TestServer) -> Iterator[Target]:
    with postgres.fresh_database() as scratch:
        secrets, names = asyncio.run(prepare(scratch.app_url))
        values: dict[str, Any] = {
            "database_url": SecretStr(scratch.app_url),
            "secrets_key": SecretStr("A" * 43),
            **UNLIMITED,
        }
        with listening(create_app(Settings(**values))) as url:
            yield Target(url, secrets, names)


CONFIG = schemathesis.Config.from_dict(
    {
        "generation": {
            "max-examples": EXAMPLES or 1,
            "deterministic": not EXAMPLES,
            "mode": "positive" if EXAMPLES else "all",
            "database": "none",
            "allow-x00": False,
        },
        "phases": {"fuzzing": {"enabled": bool(EXAMPLES)}},
        "checks": {
            "missing_required_header": {"expected-statuses": [400, 401, 403, 404, 406, 415, 422, 428]},
            "positive_data_acceptance": {"expected-statuses": ["2xx", "3xx", 401, 403, 404, 409, 412, 429]},
        },
        "operations": [
            {"include-operation-id": name, "checks": {"positive_data_acceptance": {"enabled": False}}}
            for name in MORE_THAN_A_SCHEMA_SAYS
        ],
    }
)
schema = schemathesis.openapi.from_dict(committed(), config=CONFIG)


@schema.parametrize()
@settings(suppress_health_check=list(HealthCheck))
def test_the_service_is_what_the_document_says(case: schemathesis.Case[Any], target: Target) -> None:
    headers = target.caller(case)
    if case.meta is None or case.meta.generation.mode.is_positive:
        case.path_parameters = {name: target.names.get(name, value) for name, value in case.path_parameters.items()}
        for name in NOT_OF_ONES_OWN_MAKING:
            case.query.pop(name, None)
        case.headers.pop("Last-Event-ID", None)
        if "wait" in case.query or case.operation.definition.raw["operationId"] in STREAMS:
            case.query["wait"] = 0
        if "Idempotency-Key" in case.headers:
            case.headers["Idempotency-Key"] = str(uuid4())
    answer = case.call_and_validate(base_url=target.url, headers=headers, timeout=90)
    if answer.status_code == 422 and isinstance(case.body, dict | list):
        for fault in answer.json().get("errors", ()):
            assert fault["pointer"].startswith("?") or resolves(fault["pointer"], case.body), fault

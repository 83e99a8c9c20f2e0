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
MORE_THAN_A_SCHEMA_SAYS = """
    createCluster estimateCluster createJob createService deployService createPartition getPartitionConfig
    rebuildCluster
        - what the catalogue, the project's keys, the cluster and its controller allow, and the length of all words
    createSnapshot createAddress createVolume createReservation estimateReservation createQuotaRequest
    grantQuotaRequest replaceQuotas getDefragmentation createSimulatedFault startFreeze validateHardware
    startMaintenance drainHardware quarantineHardware returnToService replaceExpectedInventory acceptShownHardware
        - what there is, and what is offered
    updateCluster resizeCluster estimateClusterResize resumeCluster getClusterMetrics getServiceMetrics
    getProjectUsage getBillingUsage getProjectSummary getAccountSummary getProjectReport getAccountReport listCharges
    createExport createExportSchedule createAccountExport createAccountExportSchedule
        - times that lie in the future or the past, in order, and not too far apart
    updateAddress updateMember
        - networks, without bits of a host
    createToken rotateToken createPlatformToken rotatePlatformToken signIn switchSession logIn beginProviderSignIn
    fetchDeviceToken showDeviceLogin approveDeviceLogin denyDeviceLogin logOut changePassword showInvitation
    acceptInvitation createInvitation createAccountInvitation createSshKey signSshKey
        - live tokens, codes, secrets and passwords; e-mail addresses; keys are judged by their numbers
    createWebhook updateWebhook createAccountWebhook updateAccountWebhook createS3Connection createAccountS3Connection
        - where messages and files may go
    readPriceBook addPrices previewPriceCorrection correctPrice issueCreditNote topUpWallet grantCredit recordPayment
    recordRefund reversePayment addTaxRate updateSeller createBillingAccount updateBillingAccount createProject
    createBudget updateBudget createAccountBudget updateAccountBudget setPrepaid setDunning setTopUp
        - whole cents, above 0; printable on invoices; in order, each once
"""
"""Operations, and what they want beyond the schema."""
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
            for line in MORE_THAN_A_SCHEMA_SAYS.splitlines()
            if " - " not in line
            for name in line.split()
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

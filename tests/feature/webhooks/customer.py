"""A customer with webhooks: the events that they get, the worker that sends them, and what their server received."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from pydantic import SecretStr
from standardwebhooks import Webhook

from ipucloud.config import Settings
from ipucloud.contract.event_payloads.clusters import ClusterEntered, ClusterRequested
from ipucloud.contract.event_payloads.projects import OperationOf, TokenMade
from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.contract.webhooks import WebhookCreate
from ipucloud.db.engine import Database
from ipucloud.events.log import record
from ipucloud.identity.members import Home
from ipucloud.kernel.clock import SystemClock
from ipucloud.kernel.sealing import new_key, read_keys
from ipucloud.webhooks import store
from ipucloud.worker.main import assemble_webhooks
from tests.support.factories import Project
from tests.support.feed import settled
from tests.support.postgres import Database as Scratch
from tests.support.receiver import ReceivedRequest, Receiver
from tests.support.waiting import PATIENCE
from tests.support.world import at_work

SUBJECT = UUID(int=7)
DATA = {
    "cluster.created": ClusterRequested(region="luxembourg-2", flavor="m2000-pod16"),
    "cluster.active": ClusterEntered(),
    "operation.succeeded": OperationOf(kind="cluster.create"),
    "operation.failed": OperationOf(kind="cluster.create"),
    "token.created": TokenMade(name="ci", role="operator"),
}


@asynccontextmanager
async def messenger(url: str, settings: Settings) -> AsyncIterator[None]:
    """A worker that sends webhooks and e-mails."""
    database = Database(url, pool_size=4)
    engine = assemble_webhooks(database, settings, SystemClock(), draw=random.Random(1))  # noqa: S311
    try:
        async with at_work(engine):
            yield
    finally:
        await database.close()


class Customer:
    """A project with webhooks, and the worker that sends them."""

    def __init__(self, database: Database, project: Project, scratch: Scratch) -> None:
        self.database = database
        self.project = project
        self.home = Home(project.id, None, "r1")
        self.scratch = scratch
        self.key = new_key()
        self.keys = read_keys(self.key)
        self.settings = Settings(
            secrets_key=SecretStr(self.key), webhook_private_addresses=True, webhook_interval=0.02, poll_seconds=0.02
        )

    async def hook(self, receiver: Receiver, *types: str, query: str = "") -> store.Made:
        body = WebhookCreate(url=receiver.url + query, event_types=list(types))
        async with self.database.begin() as connection:
            return await store.create(connection, self.home, body, self.keys)

    async def emit(self, kind: str = "cluster.created", subject: UUID = SUBJECT, *, shown: bool = True) -> None:
        """Record an event. If `shown`, wait until nothing can come in front of it any more."""
        async with self.database.begin() as connection:
            await record(
                connection,
                REGISTRY[kind],
                project_id=self.project.id,
                subject_id=subject,
                subject_type=REGISTRY[kind].subjects[0],
                request_id="r1",
                data=DATA.get(kind),
            )
        if shown:
            await settled(self.database)

    def worker(self, **changes: Any) -> AbstractAsyncContextManager[None]:
        return messenger(self.database.url, self.settings.model_copy(update=changes))

    async def value(self, statement: str, **values: object) -> Any:
        async with self.database.read() as connection:
            return (await connection.execute(sa.text(statement), values)).scalar_one_or_none()

    async def tries(self) -> int:
        """Of the only delivery, as far as they are on record."""
        return int(await self.value("SELECT coalesce(max(jsonb_array_length(log)), 0) FROM webhook_deliveries"))


def messages(receiver: Receiver) -> dict[str, ReceivedRequest]:
    """What arrived, by the message's id: one whose answer comes late is sent again."""
    return {got.headers["webhook-id"]: got for got in receiver.got}


async def until(holds: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            result = holds()
            if await result if asyncio.iscoroutine(result) else result:
                return
            await asyncio.sleep(0.01)


def verified(secret: str, got: ReceivedRequest) -> Any:
    return Webhook(secret).verify(got.body, got.headers)


async def tried(customer: Customer, tries: int) -> bool:
    """So many tries are on record, and the worker has put the end-point down until the next."""
    held = "SELECT count(*) FROM work WHERE kind = 'webhook' AND lease_owner IS NOT NULL"
    return await customer.tries() >= tries and await customer.value(held) == 0
